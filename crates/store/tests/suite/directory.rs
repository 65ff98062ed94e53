//! Tenants, users and memberships: kept as they were given, unique, changed only where they are there.

use std::time::Duration;

use domain::{Guid, MembershipId, TenantId, UserId};
use store::{FIRST_REVISION, ListQuery, Membership, Status, StoreError, Tenant, User};

use super::stage::{Stage, tenant};

pub(crate) fn user(stage: &Stage, id: &str) -> User {
    User {
        id: UserId::new(id),
        email: format!("{id}@asesoría.example"),
        given_name: "María \"Txiki\"".into(),
        lang: "eu".into(),
        password_hash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".into(),
        status: Status::Active,
        created_at: stage.now(),
        revision: FIRST_REVISION,
    }
}

pub(crate) fn membership(stage: &Stage, id: &str, user: &str, tenant: &TenantId) -> Membership {
    Membership {
        id: MembershipId::new(id),
        user: UserId::new(user),
        tenant: tenant.clone(),
        modules: "ACC;PAY".into(),
        key_user_correlation_id: Guid::from_bytes([9; 16]),
        equipo_user_id: "E-7".into(),
        second_client_id: "S-8".into(),
        created_at: stage.now(),
        last_used_at: None,
    }
}

pub(crate) async fn tenants_are_kept_as_given(stage: Stage) {
    let store = &stage.store;
    // Added in another order than their times of creation.
    let second = Tenant { status: Status::Disabled, ..tenant("a", stage.now()) };
    let first = tenant("b", stage.now() + Duration::from_secs(1));
    store.add_tenant(&first).await.unwrap();
    store.add_tenant(&second).await.unwrap();
    assert_eq!(store.find_tenant(&first.id).await, Ok(Some(first.clone())));
    assert_eq!(store.find_tenant(&second.id).await, Ok(Some(second.clone())));
    for nobody in ["", "B", "b ", "b\0"] {
        assert_eq!(store.find_tenant(&TenantId::new(nobody)).await, Ok(None));
    }
    assert_eq!(
        store.list_tenants(&ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![second, first.clone()]),
        "by time, then by id"
    );

    let same_id = Tenant { name: "Otra".into(), ..tenant("b", stage.now()) };
    assert_eq!(store.add_tenant(&same_id).await, Err(StoreError::Exists("a tenant \"b\"".into())));
    assert_eq!(store.set_tenant_status(&first.id, Status::Disabled).await, Ok(true));
    let disabled = Tenant { status: Status::Disabled, revision: 2, ..first.clone() };
    assert_eq!(store.find_tenant(&first.id).await, Ok(Some(disabled)));
    assert_eq!(store.set_tenant_status(&first.id, Status::Active).await, Ok(true));
    assert_eq!(store.find_tenant(&first.id).await, Ok(Some(Tenant { revision: 3, ..first })));
    assert_eq!(store.set_tenant_status(&TenantId::new("c"), Status::Active).await, Ok(false));
}

pub(crate) async fn users_are_kept_as_given(stage: Stage) {
    let store = &stage.store;
    let maria = User { created_at: stage.now() + Duration::from_secs(1), ..user(&stage, "maria") };
    let (jon, ane) = (user(&stage, "jon"), user(&stage, "ane"));
    for one in [&maria, &jon, &ane] {
        store.add_user(one, &[]).await.unwrap();
    }
    assert_eq!(store.find_user_by_email(&maria.email).await, Ok(Some(maria.clone())));
    assert_eq!(store.find_user(&maria.id).await, Ok(Some(maria.clone())));
    for nobody in ["", "MARIA", "maria\0"] {
        assert_eq!(store.find_user(&UserId::new(nobody)).await, Ok(None), "{nobody:?}");
    }
    for nobody in ["", "MARIA@asesoría.example", "maria@asesoria.example", "maria\0"] {
        assert_eq!(store.find_user_by_email(nobody).await, Ok(None), "{nobody:?}");
    }
    assert_eq!(
        store.list_users(&ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![ane, jon, maria.clone()]),
        "by time, then by id"
    );

    let exists = |email: &str| Err(StoreError::Exists(format!("a user \"{email}\"")));
    let same_email = User { id: UserId::new("otra"), ..maria.clone() };
    assert_eq!(store.add_user(&same_email, &[]).await, exists(&maria.email));
    let same_id = User { email: "otra@x.example".into(), ..maria.clone() };
    assert_eq!(store.add_user(&same_id, &[]).await, exists("otra@x.example"));

    assert_eq!(store.set_user_status(&maria.id, Status::Disabled).await, Ok(true));
    assert_eq!(store.set_password_hash(&maria.id, "$argon2id$new").await, Ok(true));
    let password_hash = "$argon2id$new".into();
    let changed = User { status: Status::Disabled, password_hash, revision: 3, ..maria.clone() };
    assert_eq!(store.find_user_by_email(&maria.email).await, Ok(Some(changed)));
    assert_eq!(store.set_user_status(&UserId::new("nobody"), Status::Active).await, Ok(false));
    assert_eq!(store.set_password_hash(&UserId::new("nobody"), "x").await, Ok(false));
    assert_eq!(store.list_users(&ListQuery::default()).await.map(|page| page.rows).unwrap().len(), 3);
}

pub(crate) async fn memberships_are_kept_as_given(stage: Stage) {
    let store = &stage.store;
    let (bilbao, vigo) = (stage.desk().await.tenant, stage.desk().await.tenant);
    let (maria, jon) = (UserId::new("maria"), UserId::new("jon"));
    let late = Membership {
        created_at: stage.now() + Duration::from_secs(1),
        modules: String::new(),
        last_used_at: Some(stage.now()),
        ..membership(&stage, "m1", "maria", &bilbao)
    };
    let early = membership(&stage, "m2", "maria", &vigo);
    let other = membership(&stage, "m3", "jon", &bilbao);
    for one in [&late, &early, &other] {
        store.add_membership(one).await.unwrap();
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
        store.list_memberships(&UserId::new("nobody"), &ListQuery::default()).await.map(|page| page.rows),
        Ok(Vec::new())
    );

    let exists = Err(StoreError::Exists("such a membership".into()));
    let same_pair = membership(&stage, "m4", "maria", &vigo);
    assert_eq!(store.add_membership(&same_pair).await, exists);
    let same_id = membership(&stage, "m1", "jon", &vigo);
    assert_eq!(store.add_membership(&same_id).await, exists);

    assert_eq!(store.remove_membership(&maria, &vigo).await, Ok(true));
    assert_eq!(store.remove_membership(&maria, &vigo).await, Ok(false));
    assert_eq!(
        store.list_memberships(&maria, &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![late])
    );
    assert_eq!(
        store.list_memberships(&jon, &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![other])
    );
    store.add_membership(&same_pair).await.unwrap();
}
