//! Tenants, users and memberships: stored unchanged, unique, and updated only if they exist.

use std::time::Duration;

use domain::{AccountId, Guid, MembershipId, OperatorRole, Realm, TenantId};
use store::{
    Account, AccountUpdate, FIRST_REVISION, ListQuery, Membership, Status, StoreError, Tenant, UpdateOutcome,
};

use super::fixture::{Fixture, by, new_tenant};

pub(crate) fn user(fixture: &Fixture, id: &str) -> Account {
    Account {
        id: AccountId::new(id),
        realm: Realm::Users,
        role: None,
        email: format!("{id}@asesoría.example"),
        given_name: "María \"Txiki\"".into(),
        family_name: String::new(),
        lang: "eu".into(),
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".into(),
        status: Status::Active,
        created_at: fixture.now(),
        updated_at: fixture.now(),
        revision: FIRST_REVISION,
    }
}

pub(crate) fn membership(fixture: &Fixture, id: &str, user: &str, tenant: &TenantId) -> Membership {
    Membership {
        id: MembershipId::new(id),
        user: AccountId::new(user),
        tenant: tenant.clone(),
        modules: "ACC;PAY".into(),
        key_user_correlation_id: Guid::from_bytes([9; 16]),
        equipo_user_id: "E-7".into(),
        second_client_id: "S-8".into(),
        created_at: fixture.now(),
        last_used_at: None,
        is_admin: false,
    }
}

pub(crate) async fn tenants_are_stored_unchanged(fixture: Fixture) {
    let store = &fixture.store;
    // Added in another order than their times of creation.
    let second = Tenant { status: Status::Disabled, ..new_tenant("a", fixture.now()) };
    let first = new_tenant("b", fixture.now() + Duration::from_secs(1));
    store.add_tenant(&first, &by()).await.unwrap();
    store.add_tenant(&second, &by()).await.unwrap();
    assert_eq!(store.find_tenant(&first.id).await, Ok(Some(first.clone())));
    assert_eq!(store.find_tenant(&second.id).await, Ok(Some(second.clone())));
    for unknown in ["", "B", "b ", "b\0"] {
        assert_eq!(store.find_tenant(&TenantId::new(unknown)).await, Ok(None));
    }
    assert_eq!(
        store.list_tenants(&ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![second, first.clone()]),
        "by time, then by id"
    );

    let same_id = Tenant { name: "Otra".into(), ..new_tenant("b", fixture.now()) };
    assert_eq!(store.add_tenant(&same_id, &by()).await, Err(StoreError::Exists("a tenant \"b\"".into())));
    assert_eq!(store.set_tenant_status(&first.id, Status::Disabled, &by()).await, Ok(true));
    let disabled = Tenant { status: Status::Disabled, revision: 2, ..first.clone() };
    assert_eq!(store.find_tenant(&first.id).await, Ok(Some(disabled)));
    assert_eq!(store.set_tenant_status(&first.id, Status::Active, &by()).await, Ok(true));
    assert_eq!(store.find_tenant(&first.id).await, Ok(Some(Tenant { revision: 3, ..first })));
    assert_eq!(store.set_tenant_status(&TenantId::new("c"), Status::Active, &by()).await, Ok(false));
}

pub(crate) async fn users_are_stored_unchanged(fixture: Fixture) {
    let store = &fixture.store;
    let maria = Account { created_at: fixture.now() + Duration::from_secs(1), ..user(&fixture, "maria") };
    let (jon, ane) = (user(&fixture, "jon"), user(&fixture, "ane"));
    for user in [&maria, &jon, &ane] {
        store.add_account(user, &[], &by()).await.unwrap();
    }
    assert_eq!(store.find_account_by_email(Realm::Users, &maria.email).await, Ok(Some(maria.clone())));
    assert_eq!(store.find_account(&maria.id).await, Ok(Some(maria.clone())));
    for unknown in ["", "MARIA", "maria\0"] {
        assert_eq!(store.find_account(&AccountId::new(unknown)).await, Ok(None), "{unknown:?}");
    }
    for unknown in ["", "MARIA@asesoría.example", "maria@asesoria.example", "maria\0"] {
        assert_eq!(store.find_account_by_email(Realm::Users, unknown).await, Ok(None), "{unknown:?}");
    }
    assert_eq!(
        store.list_accounts(Realm::Users, &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![ane, jon, maria.clone()]),
        "by time, then by id"
    );

    let exists = |email: &str| Err(StoreError::Exists(format!("a user \"{email}\"")));
    let same_email = Account { id: AccountId::new("otra"), ..maria.clone() };
    assert_eq!(store.add_account(&same_email, &[], &by()).await, exists(&maria.email));
    let same_id = Account { email: "otra@x.example".into(), ..maria.clone() };
    assert_eq!(store.add_account(&same_id, &[], &by()).await, exists("otra@x.example"));

    assert_eq!(store.set_account_status(&maria.id, Status::Disabled, &by()).await, Ok(true));
    assert_eq!(store.set_password_hash(&maria.id, "$argon2id$new", &by()).await, Ok(true));
    let password_hash = "$argon2id$new".into();
    let changed = Account { status: Status::Disabled, password_hash, revision: 3, ..maria.clone() };
    assert_eq!(store.find_account_by_email(Realm::Users, &maria.email).await, Ok(Some(changed)));
    assert_eq!(store.set_account_status(&AccountId::new("nobody"), Status::Active, &by()).await, Ok(false));
    assert_eq!(store.set_password_hash(&AccountId::new("nobody"), "x", &by()).await, Ok(false));
    assert_eq!(
        store.list_accounts(Realm::Users, &ListQuery::default()).await.map(|page| page.rows).unwrap().len(),
        3
    );
}

pub(crate) async fn accounts_of_the_realms_never_mix(fixture: Fixture) {
    let store = &fixture.store;
    let in_realm = |realm: Realm, role| Account {
        id: AccountId::new(realm.as_str()),
        realm,
        role,
        ..user(&fixture, "maria")
    };
    let all = [
        in_realm(Realm::Users, None),
        in_realm(Realm::Developers, None),
        in_realm(Realm::Operators, Some(OperatorRole::Support)),
    ];
    for account in &all {
        store.add_account(account, &[], &by()).await.unwrap();
    }
    for account in &all {
        let found = store.find_account_by_email(account.realm, &account.email).await;
        assert_eq!(found, Ok(Some(account.clone())));
        let listed = store.list_accounts(account.realm, &ListQuery::default()).await.unwrap();
        assert_eq!(listed.rows, std::slice::from_ref(account));
    }
    let exists = StoreError::Exists(format!("an operator \"{}\"", all[2].email));
    let second = Account { id: AccountId::new("second"), ..all[2].clone() };
    assert_eq!(store.add_account(&second, &[], &by()).await, Err(exists));
    fixture.clock.advance(Duration::from_secs(90));
    let update = AccountUpdate {
        given_name: Some("Ana".into()),
        family_name: Some("Gil Ñúñez".into()),
        lang: Some("en".into()),
        role: Some(OperatorRole::Admin),
        ..AccountUpdate::default()
    };
    let changed = store.update_account(&all[2].id, &update, None, &by()).await.unwrap();
    let expected = Account {
        given_name: "Ana".into(),
        family_name: "Gil Ñúñez".into(),
        updated_at: fixture.now(),
        lang: "en".into(),
        role: Some(OperatorRole::Admin),
        revision: 2,
        ..all[2].clone()
    };
    assert_eq!(changed, UpdateOutcome::Updated(expected.clone()));
    assert_eq!(expected.full_name(), "Ana Gil Ñúñez");

    // A change of the password is no change of the profile; an empty family name removes it.
    fixture.clock.advance(Duration::from_secs(90));
    assert_eq!(store.set_password_hash(&expected.id, "new", &by()).await, Ok(true));
    let stored = store.find_account(&expected.id).await.unwrap().unwrap();
    assert_eq!((stored.updated_at, &*stored.family_name), (expected.updated_at, "Gil Ñúñez"));
    let update = AccountUpdate { family_name: Some(String::new()), ..AccountUpdate::default() };
    let changed = store.update_account(&expected.id, &update, None, &by()).await.unwrap();
    let UpdateOutcome::Updated(changed) = changed else { panic!("{changed:?}") };
    assert_eq!((changed.updated_at, changed.full_name().as_str()), (fixture.now(), "Ana"));
}

pub(crate) async fn memberships_are_stored_unchanged(fixture: Fixture) {
    let store = &fixture.store;
    let (bilbao, vigo) = (fixture.add_tenant().await.id, fixture.add_tenant().await.id);
    let (maria, jon) = (AccountId::new("maria"), AccountId::new("jon"));
    let late = Membership {
        created_at: fixture.now() + Duration::from_secs(1),
        modules: String::new(),
        last_used_at: Some(fixture.now()),
        ..membership(&fixture, "m1", "maria", &bilbao)
    };
    let early = membership(&fixture, "m2", "maria", &vigo);
    let other = membership(&fixture, "m3", "jon", &bilbao);
    for membership in [&late, &early, &other] {
        store.add_membership(membership, &by()).await.unwrap();
    }
    assert_eq!(
        store.list_memberships(&maria, &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![early.clone(), late.clone()])
    );
    assert_eq!(
        store.list_memberships(&jon, &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![other.clone()])
    );
    assert_eq!(
        store.list_memberships(&AccountId::new("nobody"), &ListQuery::default()).await.map(|page| page.rows),
        Ok(Vec::new())
    );

    let exists = Err(StoreError::Exists("such a membership".into()));
    let same_pair = membership(&fixture, "m4", "maria", &vigo);
    assert_eq!(store.add_membership(&same_pair, &by()).await, exists);
    let same_id = membership(&fixture, "m1", "jon", &vigo);
    assert_eq!(store.add_membership(&same_id, &by()).await, exists);

    assert_eq!(store.remove_membership(&maria, &vigo, &by()).await, Ok(true));
    assert_eq!(store.remove_membership(&maria, &vigo, &by()).await, Ok(false));
    assert_eq!(
        store.list_memberships(&maria, &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![late])
    );
    assert_eq!(
        store.list_memberships(&jon, &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![other])
    );
    store.add_membership(&same_pair, &by()).await.unwrap();
}
