//! Tenant memberships with their user and tenant, as tokens need them.

use std::time::Duration;

use domain::{AccountId, MembershipId, Secret, TenantId};
use store::{ListQuery, Membership, Status, StoreError, Tenant, TenantMembership};

use super::codes::code;
use super::directory::{membership, user};
use super::fixture::{Fixture, by, new_tenant};

/// Adds a tenant with this name and a user's membership of it.
async fn add_tenant_membership(
    fixture: &Fixture,
    user_id: &str,
    tenant_id: &str,
    name: &str,
) -> TenantMembership {
    let tenant = Tenant { name: name.into(), ..new_tenant(tenant_id, fixture.now()) };
    fixture.store.add_tenant(&tenant, &by()).await.unwrap();
    let membership = membership(fixture, &format!("m {tenant_id}"), user_id, &tenant.id);
    fixture.store.add_membership(&membership, &by()).await.unwrap();
    TenantMembership { user: user(fixture, user_id), tenant, membership }
}

pub(crate) async fn tenant_membership_is_found_with_user_and_tenant(fixture: Fixture) {
    let store = &fixture.store;
    for name in ["maria", "jon"] {
        store.add_account(&user(&fixture, name), &[], &by()).await.unwrap();
    }
    let north = add_tenant_membership(&fixture, "maria", "north", "Norte").await;
    let south = add_tenant_membership(&fixture, "jon", "south", "Sur").await;
    let (maria, jon) = (AccountId::new("maria"), AccountId::new("jon"));
    assert_eq!(store.find_tenant_membership(&maria, &north.tenant.id).await, Ok(Some(north.clone())));
    assert_eq!(store.find_tenant_membership(&jon, &south.tenant.id).await, Ok(Some(south.clone())));
    assert_eq!(store.find_tenant_membership(&maria, &south.tenant.id).await, Ok(None));
    for unknown in ["", "maria\0", "none"] {
        assert_eq!(store.find_tenant_membership(&AccountId::new(unknown), &north.tenant.id).await, Ok(None));
        assert_eq!(store.find_tenant_membership(&maria, &TenantId::new(unknown)).await, Ok(None));
        assert_eq!(store.active_memberships(&AccountId::new(unknown)).await, Ok(Vec::new()));
    }

    // Whatever the status of either.
    store.set_account_status(&maria, Status::Disabled, &by()).await.unwrap();
    store.set_tenant_status(&north.tenant.id, Status::Disabled, &by()).await.unwrap();
    let found = store.find_tenant_membership(&maria, &north.tenant.id).await.unwrap().unwrap();
    assert_eq!((found.user.status, found.tenant.status), (Status::Disabled, Status::Disabled));
    assert!(!found.is_active());
    assert_eq!(store.active_memberships(&maria).await, Ok(Vec::new()));

    store.remove_membership(&jon, &south.tenant.id, &by()).await.unwrap();
    assert_eq!(store.find_tenant_membership(&jon, &south.tenant.id).await, Ok(None));
    store.erase_tenant(&north.tenant.id, &by()).await.unwrap();
    assert_eq!(store.find_tenant_membership(&maria, &north.tenant.id).await, Ok(None));
}

/// A membership is found only if its user and its tenant exist.
pub(crate) async fn membership_without_user_or_tenant_is_not_found(fixture: Fixture) {
    let store = &fixture.store;
    store.add_account(&user(&fixture, "maria"), &[], &by()).await.unwrap();
    let tenant_id = fixture.add_tenant().await.id;
    let nowhere = TenantId::new("nowhere");
    store.add_membership(&membership(&fixture, "m1", "ghost", &tenant_id), &by()).await.unwrap();
    store.add_membership(&membership(&fixture, "m2", "maria", &nowhere), &by()).await.unwrap();
    for (user, tenant) in [("ghost", &tenant_id), ("maria", &nowhere)] {
        assert_eq!(store.find_tenant_membership(&AccountId::new(user), tenant).await, Ok(None));
        assert_eq!(store.active_memberships(&AccountId::new(user)).await, Ok(Vec::new()));
    }
}

async fn active_tenant_names(fixture: &Fixture) -> Vec<String> {
    let memberships = fixture.store.active_memberships(&AccountId::new("maria")).await.unwrap();
    assert!(memberships.iter().all(TenantMembership::is_active));
    memberships.into_iter().map(|found| found.tenant.name).collect()
}

pub(crate) async fn active_memberships_come_last_used_first_then_by_name(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    for name in ["maria", "jon"] {
        store.add_account(&user(&fixture, name), &[], &by()).await.unwrap();
    }
    for (id, name) in [("t1", "Ñandú"), ("t2", "azul"), ("t3", "Beta"), ("t4", "Alfa"), ("t0", "Beta")] {
        add_tenant_membership(&fixture, "maria", id, name).await;
    }
    add_tenant_membership(&fixture, "jon", "t9", "Otra").await;
    assert_eq!(active_tenant_names(&fixture).await, ["Alfa", "Beta", "Beta", "azul", "Ñandú"]);
    let ids: Vec<_> = store.active_memberships(&AccountId::new("maria")).await.unwrap();
    assert_eq!(ids[1].tenant.id.as_str(), "t0", "equal names are sorted by id");

    let store_code_for = async |number: u64, tenant: &str| {
        let at = now + Duration::from_secs(number);
        let membership_id = MembershipId::new(format!("m {tenant}"));
        store
            .store_code(&Secret::new(format!("code {number}")), &code(at), &membership_id, at, &by())
            .await
            .unwrap();
    };
    store_code_for(1, "t2").await;
    store_code_for(2, "t3").await;
    assert_eq!(active_tenant_names(&fixture).await, ["Beta", "azul", "Alfa", "Beta", "Ñandú"]);
    store_code_for(3, "t2").await;
    assert_eq!(active_tenant_names(&fixture).await, ["azul", "Beta", "Alfa", "Beta", "Ñandú"]);
    store_code_for(4, "nowhere").await;
    let memberships = store.active_memberships(&AccountId::new("maria")).await.unwrap();
    assert_eq!(memberships[0].membership.last_used_at, Some(now + Duration::from_secs(3)));
    assert_eq!(memberships[2].membership.last_used_at, None);

    store.set_tenant_status(&TenantId::new("t2"), Status::Disabled, &by()).await.unwrap();
    store.remove_membership(&AccountId::new("maria"), &TenantId::new("t4"), &by()).await.unwrap();
    assert_eq!(active_tenant_names(&fixture).await, ["Beta", "Beta", "Ñandú"]);
}

/// Storing a code updates the membership's last use; a refused code does not.
pub(crate) async fn storing_a_code_records_the_membership_use(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let tenant_id = fixture.add_tenant().await.id;
    let first = membership(&fixture, "m1", "maria", &tenant_id);
    store.add_membership(&first, &by()).await.unwrap();
    let later = now + Duration::from_secs(9);
    let used_at = |at| Membership { last_used_at: Some(at), ..first.clone() };
    store.store_code(&Secret::new("code"), &code(now), &first.id, now, &by()).await.unwrap();
    assert_eq!(
        store.list_memberships(&first.user, &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![used_at(now)])
    );
    let twice = store.store_code(&Secret::new("code"), &code(now), &first.id, later, &by()).await;
    assert_eq!(twice, Err(StoreError::Exists("such a code".into())));
    assert_eq!(
        store.list_memberships(&first.user, &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![used_at(now)])
    );
    store.store_code(&Secret::new("other"), &code(now), &first.id, later, &by()).await.unwrap();
    assert_eq!(
        store.list_memberships(&first.user, &ListQuery::default()).await.map(|page| page.rows),
        Ok(vec![used_at(later)])
    );
}
