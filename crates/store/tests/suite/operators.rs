//! Operators and the named tokens of their API.

use std::time::Duration;

use domain::ids::OperatorTokenId;
use domain::{AccountId, OperatorRole, Realm, Secret, Ticks};
use store::{
    Account, AccountUpdate, AuditQuery, ListQuery, NamedToken, Status, StoreError, TOKEN_USE_PRECISION,
    TokenState, UpdateOutcome,
};

use super::directory::user;
use super::fixture::{Fixture, by, concurrently};

pub(crate) fn named_token(fixture: &Fixture, id: &str, name: &str) -> NamedToken {
    NamedToken {
        id: OperatorTokenId::new(id),
        name: name.into(),
        role: OperatorRole::Support,
        created_at: fixture.now(),
        created_by: "cli:maría".into(),
        expires_at: Some(fixture.now() + Duration::from_hours(24)),
        last_used_at: None,
        revoked_at: None,
    }
}

pub(crate) async fn tokens_are_stored_unchanged_and_found_by_their_secrets(fixture: Fixture) {
    let store = &fixture.store;
    let nightly = named_token(&fixture, "1", "Carga «nocturna»");
    let eternal =
        NamedToken { expires_at: None, role: OperatorRole::Viewer, ..named_token(&fixture, "2", "b") };
    let (first, second) = (Secret::new("secret-1"), Secret::new("secret-2"));
    store.add_operator_token(&nightly, &first, &by()).await.unwrap();
    store.add_operator_token(&eternal, &second, &by()).await.unwrap();
    assert_eq!(store.find_operator_token_by_secret(&first).await, Ok(Some(nightly.clone())));
    assert_eq!(store.find_operator_token_by_secret(&second).await, Ok(Some(eternal.clone())));
    assert_eq!(store.find_operator_token(&nightly.id).await, Ok(Some(nightly.clone())));
    assert_eq!(store.find_operator_token_by_name(&nightly.name).await, Ok(Some(nightly.clone())));
    for unknown in ["", "secret", "secret-1\0", "SECRET-1", "1", &nightly.name] {
        assert_eq!(store.find_operator_token_by_secret(&Secret::new(unknown)).await, Ok(None));
    }
    for unknown in ["", "3", "1\0"] {
        assert_eq!(store.find_operator_token(&OperatorTokenId::new(unknown)).await, Ok(None));
        assert_eq!(store.find_operator_token_by_name(unknown).await, Ok(None));
    }
    let page = store.list_operator_tokens(&ListQuery { after: None, rows_max: 1 }).await.unwrap();
    assert_eq!(page.rows, std::slice::from_ref(&nightly));
    let rest = store.list_operator_tokens(&ListQuery { after: page.next, rows_max: 9 }).await.unwrap();
    assert_eq!((rest.rows, rest.next), (vec![eternal], None));
    let exists = Err(StoreError::Exists(format!("a token \"{}\"", nightly.name)));
    let same_name = named_token(&fixture, "3", &nightly.name);
    assert_eq!(store.add_operator_token(&same_name, &Secret::new("secret-3"), &by()).await, exists);
    let same_id = NamedToken { id: nightly.id.clone(), ..named_token(&fixture, "", "c") };
    assert!(store.add_operator_token(&same_id, &Secret::new("secret-3"), &by()).await.is_err());
    let same_secret = named_token(&fixture, "4", "d");
    assert!(store.add_operator_token(&same_secret, &first, &by()).await.is_err());
}

pub(crate) async fn tokens_of_one_creator_are_listed_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    let mut expected = Vec::new();
    for number in 0..9 {
        let (id, name) = (number.to_string(), format!("token {number}"));
        let created_by = if number % 3 == 2 { "operator:ana" } else { "operator:an" };
        let token = NamedToken { created_by: created_by.into(), ..named_token(&fixture, &id, &name) };
        store.add_operator_token(&token, &Secret::new(format!("secret-{number}")), &by()).await.unwrap();
        expected.extend((number % 3 == 2).then_some(token));
        fixture.clock.advance(Duration::from_secs(number % 2));
    }
    let all = store.list_operator_tokens_by("operator:ana", &ListQuery::default()).await.unwrap();
    assert_eq!((all.rows, all.next), (expected.clone(), None));
    let (mut read, mut after) = (Vec::new(), None);
    loop {
        let query = ListQuery { after, rows_max: 1 };
        let page = store.list_operator_tokens_by("operator:ana", &query).await.unwrap();
        read.extend(page.rows);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(read, expected);
    for nobody in ["", "operator:", "operator:ana\0", "operator:Ana"] {
        let none = store.list_operator_tokens_by(nobody, &ListQuery::default()).await.unwrap();
        assert_eq!(none.rows, [], "{nobody:?}");
    }
}

pub(crate) async fn revoked_token_is_revoked_once_and_frees_its_name(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let (token, secret) = (named_token(&fixture, "1", "nightly"), Secret::new("secret-1"));
    store.add_operator_token(&token, &secret, &by()).await.unwrap();
    let later = now + Duration::from_secs(5);
    assert_eq!(store.revoke_operator_token(&token.id, later, &by()).await, Ok(true));
    assert_eq!(store.revoke_operator_token(&token.id, later, &by()).await, Ok(false));
    assert_eq!(store.revoke_operator_token(&OperatorTokenId::new("9"), later, &by()).await, Ok(false));
    let revoked = NamedToken { revoked_at: Some(later), ..token.clone() };
    let found = store.find_operator_token_by_secret(&secret).await.unwrap().unwrap();
    assert_eq!((found.state(now), &found), (TokenState::Revoked, &revoked));
    assert_eq!(store.find_operator_token_by_name("nightly").await, Ok(None));
    let second = named_token(&fixture, "2", "nightly");
    store.add_operator_token(&second, &Secret::new("secret-2"), &by()).await.unwrap();
    assert_eq!(store.find_operator_token_by_name("nightly").await, Ok(Some(second)));

    let entries = store.audit(&AuditQuery { rows_max: 9, ..AuditQuery::default() }).await.unwrap();
    assert_eq!(entries.len(), 3, "{entries:?}");
    for entry in entries.iter().map(|record| &record.entry) {
        assert!(entry.object.as_deref().unwrap().starts_with("operator_token:"), "{entry:?}");
        assert_eq!((&entry.note[..], &entry.context), ("token nightly", &by()));
        assert!(!format!("{entry:?}").contains("secret-"), "{entry:?}");
    }
}

pub(crate) async fn last_use_is_recorded_once_a_minute(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let token = named_token(&fixture, "1", "nightly");
    store.add_operator_token(&token, &Secret::new("secret-1"), &by()).await.unwrap();
    let use_at = async |at: Ticks| {
        store.record_operator_token_use(&token.id, at).await.unwrap();
        store.find_operator_token(&token.id).await.unwrap().unwrap().last_used_at
    };
    assert_eq!(use_at(now).await, Some(now));
    let due = now + TOKEN_USE_PRECISION;
    assert_eq!(use_at(Ticks(due.0 - 1)).await, Some(now));
    assert_eq!(use_at(due).await, Some(due));
    assert_eq!(use_at(now).await, Some(due), "a slow node does not turn it back");
    store.record_operator_token_use(&OperatorTokenId::new("9"), now).await.unwrap();
    let entries = store.audit(&AuditQuery { rows_max: 9, ..AuditQuery::default() }).await.unwrap();
    assert_eq!(entries.len(), 1, "a use leaves no entry: {entries:?}");
}

pub(crate) fn operator(fixture: &Fixture, id: &str, role: OperatorRole, status: Status) -> Account {
    Account { realm: Realm::Operators, role: Some(role), status, ..user(fixture, id) }
}

fn role(role: OperatorRole) -> AccountUpdate {
    AccountUpdate { role: Some(role), ..AccountUpdate::default() }
}

fn status(status: Status) -> AccountUpdate {
    AccountUpdate { status: Some(status), ..AccountUpdate::default() }
}

pub(crate) async fn last_admin_stays(fixture: Fixture) {
    let store = &fixture.store;
    for account in [
        operator(&fixture, "ana", OperatorRole::Admin, Status::Active),
        operator(&fixture, "support", OperatorRole::Support, Status::Active),
        operator(&fixture, "gone", OperatorRole::Admin, Status::Disabled),
        Account { role: Some(OperatorRole::Admin), ..user(&fixture, "user") },
    ] {
        store.add_account(&account, &[], &by()).await.unwrap();
    }
    let change = async |id: &str, update: &AccountUpdate| {
        store.update_operator(&AccountId::new(id), update, None, &by()).await.unwrap()
    };
    let takes_away = [status(Status::Disabled), role(OperatorRole::Support), role(OperatorRole::Viewer)];
    let before = store.find_account(&AccountId::new("ana")).await.unwrap();
    for update in &takes_away {
        assert_eq!(change("ana", update).await, UpdateOutcome::LastAdmin, "{update:?}");
    }
    assert_eq!(store.find_account(&AccountId::new("ana")).await.unwrap(), before);
    let renamed = AccountUpdate { given_name: Some("Ana".into()), ..role(OperatorRole::Admin) };
    assert!(change("ana", &renamed).await.is_updated(), "the role stays");
    assert!(change("support", &status(Status::Disabled)).await.is_updated());
    assert_eq!(change("user", &status(Status::Disabled)).await, UpdateOutcome::NotFound);
    assert_eq!(change("nobody", &status(Status::Disabled)).await, UpdateOutcome::NotFound);
    let stale = store.update_operator(&AccountId::new("ana"), &takes_away[0], Some(1), &by()).await;
    assert_eq!(stale, Ok(UpdateOutcome::RevisionConflict));

    // An unconfirmed admin counts: a sign-in confirms the account.
    assert!(change("gone", &status(Status::Unconfirmed)).await.is_updated());
    assert!(change("ana", &role(OperatorRole::Viewer)).await.is_updated());
    assert_eq!(change("gone", &status(Status::Disabled)).await, UpdateOutcome::LastAdmin);
}

pub(crate) async fn concurrent_changes_leave_an_admin(fixture: Fixture) {
    let store = &fixture.store;
    for round in 0..5 {
        let ids = [0, 1].map(|number| AccountId::new(format!("admin-{round}-{number}")));
        for id in &ids {
            let account = operator(&fixture, id.as_str(), OperatorRole::Admin, Status::Active);
            store.add_account(&account, &[], &by()).await.unwrap();
        }
        let outcomes = concurrently(2, &[store], |number, store| {
            let id = ids[number].clone();
            async move {
                let update = if number == 0 { status(Status::Disabled) } else { role(OperatorRole::Viewer) };
                store.update_operator(&id, &update, None, &by()).await.unwrap()
            }
        })
        .await;
        let refused = outcomes.iter().filter(|outcome| **outcome == UpdateOutcome::LastAdmin).count();
        assert_eq!(refused, 1, "round {round}: {outcomes:?}");
        // The next round has two admins again.
        for id in &ids {
            store.set_account_status(id, Status::Disabled, &by()).await.unwrap();
        }
    }
}
