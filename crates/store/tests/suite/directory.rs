//! Tenants, users and memberships: stored unchanged, unique, and updated only if they exist.

use std::time::Duration;

use domain::{AccountId, Guid, MembershipId, TenantId};
use store::{FIRST_REVISION, ListQuery, Membership, Status, StoreError, Tenant, User};

use super::fixture::{Fixture, by, new_tenant};

pub(crate) fn user(fixture: &Fixture, id: &str) -> User {
    User {
        id: AccountId::new(id),
        email: format!("{id}@asesoría.example"),
        given_name: "María \"Txiki\"".into(),
        lang: "eu".into(),
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".into(),
        status: Status::Active,
        created_at: fixture.now(),
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
    let maria = User { created_at: fixture.now() + Duration::from_secs(1), ..user(&fixture, "maria") };
    let (jon, ane) = (user(&fixture, "jon"), user(&fixture, "ane"));
    for user in [&maria, &jon, &ane] {
        store.add_user(user, &[], &by()).await.unwrap();
    }
    assert_eq!(store.find_user_by_email(&maria.email).await, Ok(Some(maria.clone())));
    assert_eq!(store.find_user(&maria.id).await, Ok(Some(maria.clone())));
    for unknown in ["", "MARIA", "maria\0"] {
        assert_eq!(store.find_user(&AccountId::new(unknown)).await, Ok(None), "{unknown:?}");
    }
    for unknown in ["", "MARIA@asesoría.example", "maria@asesoria.example", "maria\0"] {
        assert_eq!(store.find_user_by_email(unknown).await, Ok(None), "{unknown:?}");
    }
    assert_eq!(
        store.list_users(&ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![ane, jon, maria.clone()]),
        "by time, then by id"
    );

    let exists = |email: &str| Err(StoreError::Exists(format!("a user \"{email}\"")));
    let same_email = User { id: AccountId::new("otra"), ..maria.clone() };
    assert_eq!(store.add_user(&same_email, &[], &by()).await, exists(&maria.email));
    let same_id = User { email: "otra@x.example".into(), ..maria.clone() };
    assert_eq!(store.add_user(&same_id, &[], &by()).await, exists("otra@x.example"));

    assert_eq!(store.set_user_status(&maria.id, Status::Disabled, &by()).await, Ok(true));
    assert_eq!(store.set_password_hash(&maria.id, "$argon2id$new", &by()).await, Ok(true));
    let password_hash = "$argon2id$new".into();
    let changed = User { status: Status::Disabled, password_hash, revision: 3, ..maria.clone() };
    assert_eq!(store.find_user_by_email(&maria.email).await, Ok(Some(changed)));
    assert_eq!(store.set_user_status(&AccountId::new("nobody"), Status::Active, &by()).await, Ok(false));
    assert_eq!(store.set_password_hash(&AccountId::new("nobody"), "x", &by()).await, Ok(false));
    assert_eq!(store.list_users(&ListQuery::default()).await.map(|page| page.rows).unwrap().len(), 3);
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
