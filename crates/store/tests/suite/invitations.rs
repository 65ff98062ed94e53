//! Invitations: one open one per address, links that work once, and accounts that are made in one transaction.

use std::time::Duration;

use domain::ids::InvitationId;
use domain::{AccountId, OperatorRole, Realm, Secret, TenantId, Ticks};
use store::{
    AcceptOutcome, Actor, INVITATION_LIFE, Invitation, InvitationFilter, InvitationLink, InvitationOutcome,
    InvitationState, InvitedPerson, ListQuery, Mail, RetentionCutoffs, Status, StoreError, TeamRole,
};

use super::audit::entries_of_all;
use super::directory::user;
use super::fixture::{Fixture, by, concurrently};
use super::mails::mail;
use super::teams::team;

pub(crate) fn invitation(fixture: &Fixture, id: &str, realm: Realm) -> Invitation {
    Invitation {
        id: InvitationId::new(id),
        realm,
        email: "ana@asesoría.example".into(),
        name: "Ana \"Ñ\"".into(),
        lang: "es".into(),
        tenants: Vec::new(),
        role: (realm == Realm::Operators).then_some(OperatorRole::Support),
        team: if realm == Realm::Developers { "panel".into() } else { String::new() },
        is_team_owner: realm == Realm::Developers,
        invited_by: Actor::OperatorAccount(AccountId::new("jefa")),
        created_at: fixture.now(),
        expires_at: fixture.now() + INVITATION_LIFE,
        accepted_at: None,
        revoked_at: None,
    }
}

fn link<'a>(fixture: &Fixture, token: &'a Secret, mail: Option<&'a Mail>) -> InvitationLink<'a> {
    InvitationLink { token, expires_at: fixture.now() + INVITATION_LIFE, mail }
}

pub(crate) async fn make(fixture: &Fixture, one: &Invitation, token: &str) {
    let token = Secret::new(token);
    fixture.store.make_invitation(one, &link(fixture, &token, None), &by()).await.unwrap();
}

pub(crate) fn person(id: &str) -> InvitedPerson {
    InvitedPerson {
        id: AccountId::new(id),
        email: "chosen@example.com".into(),
        given_name: "Ana Gil".into(),
        lang: "en".into(),
        password_hash: "$argon2id$hash".into(),
    }
}

async fn accept(fixture: &Fixture, realm: Realm, token: &str) -> AcceptOutcome {
    fixture.store.accept_invitation(realm, &Secret::new(token), &person("ana"), &by()).await.unwrap()
}

async fn kinds(fixture: &Fixture) -> Vec<&'static str> {
    let mut kinds: Vec<_> =
        entries_of_all(&fixture.store).await.iter().map(|entry| entry.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds
}

pub(crate) async fn invitation_is_stored_unchanged_and_found_by_its_link(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let tenant = fixture.add_tenant().await;
    for realm in Realm::ALL {
        let mut one = invitation(&fixture, realm.person(), realm);
        if realm == Realm::Users {
            one.tenants = vec![tenant.id.clone()];
        }
        make(&fixture, &one, &format!("link of {}", realm.person())).await;
        assert_eq!(store.find_invitation(&one.id).await, Ok(Some(one.clone())));
        assert_eq!(store.find_open_invitation(realm, &one.email).await, Ok(Some(one.clone())));
        let token = Secret::new(format!("link of {}", realm.person()));
        let reopened = fixture.reopen().await.store;
        assert_eq!(reopened.find_invitation_by_token(realm, &token, now).await, Ok(Some(one.clone())));
        let end = one.expires_at;
        assert_eq!(store.find_invitation_by_token(realm, &token, end).await, Ok(None), "expired");
        for other in Realm::ALL.into_iter().filter(|other| *other != realm) {
            assert_eq!(store.find_invitation_by_token(other, &token, now).await, Ok(None), "{other:?}");
            assert_eq!(accept(&fixture, other, token.reveal()).await, AcceptOutcome::LinkIsVoid);
        }
    }
    assert_eq!(store.find_invitation_by_token(Realm::Users, &Secret::new("x"), now).await, Ok(None));
    assert_eq!(store.find_open_invitation(Realm::Users, "x\0").await, Ok(None));
}

pub(crate) async fn accepted_invitation_makes_one_account_and_ends(fixture: Fixture) {
    let store = &fixture.store;
    let (tenant, erased) = (fixture.add_tenant().await, fixture.add_tenant().await);
    let mut users = invitation(&fixture, "i1", Realm::Users);
    users.tenants = vec![tenant.id.clone(), erased.id.clone()];
    make(&fixture, &users, "link").await;
    store.erase_tenant(&erased.id, &by()).await.unwrap();
    fixture.clock.advance(Duration::from_secs(60));
    let AcceptOutcome::Accepted(account) = accept(&fixture, Realm::Users, "link").await else { panic!() };
    let expected = store::Account {
        id: AccountId::new("ana"),
        email: users.email.clone(),
        given_name: "Ana Gil".into(),
        lang: "en".into(),
        password_hash: "$argon2id$hash".into(),
        status: Status::Active,
        ..user(&fixture, "ana")
    };
    assert_eq!(account, expected);
    assert_eq!(store.find_account(&account.id).await, Ok(Some(account.clone())));
    let memberships = store.list_memberships(&account.id, &ListQuery::default()).await.unwrap().rows;
    let tenants: Vec<&TenantId> = memberships.iter().map(|one| &one.tenant).collect();
    assert_eq!(tenants, [&tenant.id], "the other tenant was erased");
    let ended = store.find_invitation(&users.id).await.unwrap().unwrap();
    assert_eq!(ended, Invitation { accepted_at: Some(fixture.now()), ..users.clone() });
    assert_eq!(ended.state(fixture.now()), InvitationState::Accepted);

    // Used once, and an ended invitation cannot come back.
    assert_eq!(accept(&fixture, Realm::Users, "link").await, AcceptOutcome::LinkIsVoid);
    let token = Secret::new("again");
    let resent = store.resend_invitation(&users.id, &link(&fixture, &token, None), &by()).await;
    assert_eq!(resent, Ok(InvitationOutcome::Ended(ended.clone())));
    assert_eq!(store.revoke_invitation(&users.id, &by()).await, Ok(InvitationOutcome::Ended(ended)));
    assert_eq!(accept(&fixture, Realm::Users, "again").await, AcceptOutcome::LinkIsVoid);
    assert_eq!(
        kinds(&fixture).await,
        [
            "invitation_accepted",
            "invitation_made",
            "membership_added",
            "tenant_added",
            "tenant_added",
            "tenant_erased",
            "user_added"
        ]
    );
}

pub(crate) async fn operator_gets_the_invited_role(fixture: Fixture) {
    make(&fixture, &invitation(&fixture, "i1", Realm::Operators), "link").await;
    let AcceptOutcome::Accepted(account) = accept(&fixture, Realm::Operators, "link").await else { panic!() };
    assert_eq!((account.realm, account.role), (Realm::Operators, Some(OperatorRole::Support)));
    assert_eq!(kinds(&fixture).await, ["invitation_accepted", "invitation_made", "operator_added"]);
}

pub(crate) async fn developer_joins_the_team(fixture: Fixture) {
    let store = &fixture.store;
    let panel = team(&fixture, "panel");
    store.add_team(&panel, &by()).await.unwrap();
    make(&fixture, &invitation(&fixture, "i1", Realm::Developers), "link").await;
    let AcceptOutcome::Accepted(account) = accept(&fixture, Realm::Developers, "link").await else {
        panic!()
    };
    let member = store.find_team_member(&panel.id, &account.id).await.unwrap().unwrap();
    assert_eq!(member.role, TeamRole::Owner);
    assert_eq!(
        kinds(&fixture).await,
        ["developer_added", "invitation_accepted", "invitation_made", "team_added", "team_member_added"]
    );
}

/// The first operator has no address yet.
pub(crate) async fn invitation_without_an_address_takes_the_chosen_one(fixture: Fixture) {
    let first = Invitation { email: String::new(), ..invitation(&fixture, "i1", Realm::Operators) };
    make(&fixture, &first, "link").await;
    let AcceptOutcome::Accepted(account) = accept(&fixture, Realm::Operators, "link").await else { panic!() };
    assert_eq!(account.email, "chosen@example.com");
    make(&fixture, &Invitation { id: InvitationId::new("i2"), ..first }, "second").await;
    assert_eq!(accept(&fixture, Realm::Operators, "second").await, AcceptOutcome::AccountExists);
}

pub(crate) async fn concurrent_acceptances_make_one_account(fixture: Fixture) {
    make(&fixture, &invitation(&fixture, "i1", Realm::Developers), "link").await;
    let other = fixture.reopen().await.store;
    let outcomes = concurrently(12, &[&fixture.store, &other], |number, store| async move {
        let person = person(&format!("ana-{number}"));
        store.accept_invitation(Realm::Developers, &Secret::new("link"), &person, &by()).await.unwrap()
    })
    .await;
    let accepted = outcomes.iter().filter(|one| matches!(one, AcceptOutcome::Accepted(_))).count();
    let void = outcomes.iter().filter(|one| **one == AcceptOutcome::LinkIsVoid).count();
    assert_eq!((accepted, void), (1, 11), "{outcomes:?}");
    let all = fixture.store.list_accounts(Realm::Developers, &ListQuery::default()).await.unwrap().rows;
    assert_eq!(all.len(), 1);
}

pub(crate) async fn new_invitation_replaces_the_open_one(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let first = invitation(&fixture, "i1", Realm::Users);
    make(&fixture, &first, "first").await;
    make(&fixture, &invitation(&fixture, "i0", Realm::Developers), "developer").await;
    fixture.clock.advance(Duration::from_secs(1));
    let second = invitation(&fixture, "i2", Realm::Users);
    make(&fixture, &second, "second").await;
    let revoked = Invitation { revoked_at: Some(fixture.now()), ..first.clone() };
    assert_eq!(store.find_invitation(&first.id).await, Ok(Some(revoked)));
    assert_eq!(accept(&fixture, Realm::Users, "first").await, AcceptOutcome::LinkIsVoid);
    assert_eq!(store.find_open_invitation(Realm::Users, &first.email).await, Ok(Some(second.clone())));
    let developer = Secret::new("developer");
    let found = store.find_invitation_by_token(Realm::Developers, &developer, now).await;
    assert!(found.unwrap().is_some(), "another realm's invitation stays");
    let AcceptOutcome::Accepted(_) = accept(&fixture, Realm::Users, "second").await else { panic!() };
    let made = ["invitation_made"; 3];
    assert_eq!(
        kinds(&fixture).await,
        [&["invitation_accepted"], &made[..], &["invitation_revoked", "user_added"]].concat()
    );
}

pub(crate) async fn concurrent_invitations_leave_one_open(fixture: Fixture) {
    let other = fixture.reopen().await.store;
    let all: Vec<Invitation> =
        (0..8).map(|number| invitation(&fixture, &format!("i{number}"), Realm::Users)).collect();
    let results = concurrently(8, &[&fixture.store, &other], |number, store| {
        let one = all[number].clone();
        async move {
            let token = Secret::new(format!("link {number}"));
            let link = InvitationLink { token: &token, expires_at: one.expires_at, mail: None };
            store.make_invitation(&one, &link, &by()).await
        }
    })
    .await;
    assert!(results.iter().any(Result::is_ok));
    for result in results {
        assert!(matches!(result, Ok(()) | Err(StoreError::Exists(_))), "{result:?}");
    }
    let filter = InvitationFilter { state: Some(InvitationState::Pending), ..InvitationFilter::default() };
    let open = fixture.store.list_invitations(&filter, fixture.now(), &ListQuery::default()).await.unwrap();
    assert_eq!(open.rows.len(), 1);
}

pub(crate) async fn resent_invitation_has_one_new_link(fixture: Fixture) {
    let store = &fixture.store;
    let one = invitation(&fixture, "i1", Realm::Users);
    make(&fixture, &one, "first").await;
    fixture.clock.advance(INVITATION_LIFE);
    assert_eq!(one.state(fixture.now()), InvitationState::Expired);
    assert_eq!(accept(&fixture, Realm::Users, "first").await, AcceptOutcome::LinkIsVoid);
    let (token, queued) = (Secret::new("second"), mail(1, fixture.now()));
    let new_link = link(&fixture, &token, Some(&queued));
    let resent = store.resend_invitation(&one.id, &new_link, &by()).await.unwrap();
    let expected = Invitation { expires_at: fixture.now() + INVITATION_LIFE, ..one.clone() };
    assert_eq!(resent, InvitationOutcome::Changed(expected.clone()));
    assert_eq!(store.find_invitation(&one.id).await, Ok(Some(expected)));
    assert_eq!(store.waiting_mails(fixture.now()).await, Ok(1));
    assert_eq!(accept(&fixture, Realm::Users, "first").await, AcceptOutcome::LinkIsVoid);
    let AcceptOutcome::Accepted(_) = accept(&fixture, Realm::Users, "second").await else { panic!() };
    let unknown = store.resend_invitation(&InvitationId::new("x"), &new_link, &by()).await;
    assert_eq!(unknown, Ok(InvitationOutcome::NotFound));
    assert_eq!(store.waiting_mails(fixture.now()).await, Ok(1), "no mail without its invitation");
}

pub(crate) async fn revoked_invitation_cannot_be_accepted(fixture: Fixture) {
    let store = &fixture.store;
    let one = invitation(&fixture, "i1", Realm::Users);
    make(&fixture, &one, "link").await;
    let revoked = Invitation { revoked_at: Some(fixture.now()), ..one.clone() };
    assert_eq!(
        store.revoke_invitation(&one.id, &by()).await,
        Ok(InvitationOutcome::Changed(revoked.clone()))
    );
    assert_eq!(store.revoke_invitation(&one.id, &by()).await, Ok(InvitationOutcome::Ended(revoked)));
    assert_eq!(accept(&fixture, Realm::Users, "link").await, AcceptOutcome::LinkIsVoid);
    let nobody = store.revoke_invitation(&InvitationId::new("x"), &by()).await;
    assert_eq!(nobody, Ok(InvitationOutcome::NotFound));
    assert_eq!(kinds(&fixture).await, ["invitation_made", "invitation_revoked"]);
}

pub(crate) async fn address_with_an_account_is_refused(fixture: Fixture) {
    let store = &fixture.store;
    let one = invitation(&fixture, "i1", Realm::Users);
    make(&fixture, &one, "link").await;
    store.add_account(&user(&fixture, "ana"), &[], &by()).await.unwrap();
    // The account came after the invitation.
    let late = store.accept_invitation(Realm::Users, &Secret::new("link"), &person("other"), &by()).await;
    assert_eq!(late, Ok(AcceptOutcome::AccountExists));
    assert_eq!(store.find_account(&AccountId::new("other")).await, Ok(None));
    assert!(store.find_invitation(&one.id).await.unwrap().unwrap().is_open(), "nothing changed");
    let (token, queued) = (Secret::new("second"), mail(1, fixture.now()));
    let again = invitation(&fixture, "i2", Realm::Users);
    let refused = store.make_invitation(&again, &link(&fixture, &token, Some(&queued)), &by()).await;
    assert_eq!(refused, Err(StoreError::Exists("a user \"ana@asesoría.example\"".into())));
    let unknown = Invitation {
        email: "jon@example.com".into(),
        tenants: vec![TenantId::new("nowhere")],
        ..invitation(&fixture, "i3", Realm::Users)
    };
    let refused = store.make_invitation(&unknown, &link(&fixture, &token, Some(&queued)), &by()).await;
    assert_eq!(refused, Err(StoreError::UnknownTenant("nowhere".into())));
    assert_eq!(store.waiting_mails(fixture.now()).await, Ok(0), "no mail without its invitation");
    // In another realm the address has no account.
    make(&fixture, &invitation(&fixture, "i4", Realm::Operators), "operator").await;
}

pub(crate) async fn invitations_are_listed_by_realm_and_state(fixture: Fixture) {
    let store = &fixture.store;
    let states = ["accepted", "revoked", "expired", "pending"];
    for (number, state) in states.iter().enumerate() {
        let mut one = invitation(&fixture, state, Realm::Users);
        one.email = format!("{state}@example.com");
        one.created_at = fixture.now() + Duration::from_secs(number as u64);
        if *state == "expired" {
            one.expires_at = fixture.now();
        }
        let token = Secret::new(*state);
        let link = InvitationLink { token: &token, expires_at: one.expires_at, mail: None };
        store.make_invitation(&one, &link, &by()).await.unwrap();
    }
    make(&fixture, &invitation(&fixture, "developer", Realm::Developers), "developer").await;
    let AcceptOutcome::Accepted(_) = accept(&fixture, Realm::Users, "accepted").await else { panic!() };
    let InvitationOutcome::Changed(_) =
        store.revoke_invitation(&InvitationId::new("revoked"), &by()).await.unwrap()
    else {
        panic!()
    };
    let list = async |realm, state, query: &ListQuery| {
        let filter = InvitationFilter { realm, state, ..InvitationFilter::default() };
        let page = store.list_invitations(&filter, fixture.now(), query).await.unwrap();
        (page.rows.iter().map(|one| one.id.to_string()).collect::<Vec<_>>(), page.next)
    };
    let all = ListQuery::default();
    for state in InvitationState::ALL {
        assert_eq!(list(Some(Realm::Users), Some(state), &all).await.0, [state.as_str()]);
    }
    assert_eq!(list(Some(Realm::Users), None, &all).await.0, states);
    let pending = list(None, Some(InvitationState::Pending), &all).await.0;
    assert_eq!(pending, ["developer", "pending"]);
    let (first, next) = list(Some(Realm::Users), None, &ListQuery { after: None, rows_max: 3 }).await;
    assert_eq!(first, states[..3]);
    let (rest, next) = list(Some(Realm::Users), None, &ListQuery { after: next, rows_max: 3 }).await;
    assert_eq!((rest, next), (vec!["pending".to_owned()], None));
    let developer = store.find_invitation(&InvitationId::new("developer")).await.unwrap().unwrap();
    for (team, expected) in
        [(developer.team.as_str(), vec![developer.clone()]), ("z", Vec::new()), ("", Vec::new())]
    {
        let filter =
            InvitationFilter { team: Some(domain::TeamId::new(team)), ..InvitationFilter::default() };
        let page = store.list_invitations(&filter, fixture.now(), &all).await.unwrap();
        assert_eq!(page.rows, expected, "{team:?}");
    }
}

pub(crate) async fn old_invitations_and_links_are_deleted(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let one = invitation(&fixture, "i1", Realm::Users);
    make(&fixture, &one, "link").await;
    let expire = async |now: Ticks, mails: Ticks| {
        let cutoffs = RetentionCutoffs {
            now,
            processes: Ticks(0),
            audit: Ticks(0),
            calls: Ticks(0),
            reads: Ticks(0),
            deliveries: Ticks(0),
            mails,
        };
        let expired = store.expire(cutoffs, 100).await.unwrap();
        (expired.invitations, expired.links)
    };
    let end = one.expires_at;
    let after = Ticks(end.0 + 1);
    assert_eq!(expire(end, now).await, (0, 0));
    assert_eq!(expire(after, now).await, (0, 1), "the link is void, the invitation is still listed");
    assert_eq!(expire(after, end).await, (0, 0));
    assert!(store.find_invitation(&one.id).await.unwrap().is_some());
    assert_eq!(expire(after, after).await, (1, 0));
    assert_eq!(store.find_invitation(&one.id).await, Ok(None));
}
