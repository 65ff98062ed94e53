//! Seats: a user's places in tenants, with all that a token says of them.

use std::time::Duration;

use domain::{MembershipId, Secret, TenantId, UserId};
use store::{Membership, Status, StoreError, Tenant, TenantMembership};

use super::codes::code;
use super::directory::{membership, user};
use super::stage::{Stage, tenant};

/// A tenant with this name in which a user has a seat.
async fn seat(stage: &Stage, user_id: &str, tenant_id: &str, name: &str) -> TenantMembership {
    let tenant = Tenant { name: name.into(), ..tenant(tenant_id, stage.now()) };
    stage.store.add_tenant(&tenant).await.unwrap();
    let membership = membership(stage, &format!("m {tenant_id}"), user_id, &tenant.id);
    stage.store.add_membership(&membership).await.unwrap();
    TenantMembership { user: user(stage, user_id), tenant, membership }
}

pub(crate) async fn a_seat_is_found_whole(stage: Stage) {
    let store = &stage.store;
    for name in ["maria", "jon"] {
        store.add_user(&user(&stage, name)).await.unwrap();
    }
    let north = seat(&stage, "maria", "north", "Norte").await;
    let south = seat(&stage, "jon", "south", "Sur").await;
    let (maria, jon) = (UserId::new("maria"), UserId::new("jon"));
    assert_eq!(store.find_tenant_membership(&maria, &north.tenant.id).await, Ok(Some(north.clone())));
    assert_eq!(store.find_tenant_membership(&jon, &south.tenant.id).await, Ok(Some(south.clone())));
    assert_eq!(store.find_tenant_membership(&maria, &south.tenant.id).await, Ok(None));
    for nobody in ["", "maria\0", "none"] {
        assert_eq!(store.find_tenant_membership(&UserId::new(nobody), &north.tenant.id).await, Ok(None));
        assert_eq!(store.find_tenant_membership(&maria, &TenantId::new(nobody)).await, Ok(None));
        assert_eq!(store.active_memberships(&UserId::new(nobody)).await, Ok(Vec::new()));
    }

    // Whatever the standing of either.
    store.set_user_status(&maria, Status::Disabled).await.unwrap();
    store.set_tenant_status(&north.tenant.id, Status::Disabled).await.unwrap();
    let found = store.find_tenant_membership(&maria, &north.tenant.id).await.unwrap().unwrap();
    assert_eq!((found.user.status, found.tenant.status), (Status::Disabled, Status::Disabled));
    assert!(!found.is_active());
    assert_eq!(store.active_memberships(&maria).await, Ok(Vec::new()));

    store.remove_membership(&jon, &south.tenant.id).await.unwrap();
    assert_eq!(store.find_tenant_membership(&jon, &south.tenant.id).await, Ok(None));
    store.erase_tenant(&north.tenant.id).await.unwrap();
    assert_eq!(store.find_tenant_membership(&maria, &north.tenant.id).await, Ok(None));
}

/// A membership of which the user or the tenant is not there is no seat.
pub(crate) async fn a_membership_alone_is_no_seat(stage: Stage) {
    let store = &stage.store;
    store.add_user(&user(&stage, "maria")).await.unwrap();
    let here = stage.desk().await.tenant;
    let nowhere = TenantId::new("nowhere");
    store.add_membership(&membership(&stage, "m1", "ghost", &here)).await.unwrap();
    store.add_membership(&membership(&stage, "m2", "maria", &nowhere)).await.unwrap();
    for (user, tenant) in [("ghost", &here), ("maria", &nowhere)] {
        assert_eq!(store.find_tenant_membership(&UserId::new(user), tenant).await, Ok(None));
        assert_eq!(store.active_memberships(&UserId::new(user)).await, Ok(Vec::new()));
    }
}

async fn open_names(stage: &Stage) -> Vec<String> {
    let seats = stage.store.active_memberships(&UserId::new("maria")).await.unwrap();
    assert!(seats.iter().all(TenantMembership::is_active));
    seats.into_iter().map(|seat| seat.tenant.name).collect()
}

pub(crate) async fn open_seats_come_last_used_first_then_by_name(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    for name in ["maria", "jon"] {
        store.add_user(&user(&stage, name)).await.unwrap();
    }
    for (id, name) in [("t1", "Ñandú"), ("t2", "azul"), ("t3", "Beta"), ("t4", "Alfa"), ("t0", "Beta")] {
        seat(&stage, "maria", id, name).await;
    }
    seat(&stage, "jon", "t9", "Otra").await;
    assert_eq!(open_names(&stage).await, ["Alfa", "Beta", "Beta", "azul", "Ñandú"]);
    let ids: Vec<_> = store.active_memberships(&UserId::new("maria")).await.unwrap();
    assert_eq!(ids[1].tenant.id.as_str(), "t0", "the same name: by id");

    let choose = async |number: u64, tenant: &str| {
        let at = now + Duration::from_secs(number);
        let chosen = MembershipId::new(format!("m {tenant}"));
        store.store_code(&Secret::new(format!("code {number}")), &code(at), &chosen, at).await.unwrap();
    };
    choose(1, "t2").await;
    choose(2, "t3").await;
    assert_eq!(open_names(&stage).await, ["Beta", "azul", "Alfa", "Beta", "Ñandú"]);
    choose(3, "t2").await;
    assert_eq!(open_names(&stage).await, ["azul", "Beta", "Alfa", "Beta", "Ñandú"]);
    choose(4, "nowhere").await;
    let seats = store.active_memberships(&UserId::new("maria")).await.unwrap();
    assert_eq!(seats[0].membership.last_used_at, Some(now + Duration::from_secs(3)));
    assert_eq!(seats[2].membership.last_used_at, None);

    store.set_tenant_status(&TenantId::new("t2"), Status::Disabled).await.unwrap();
    store.remove_membership(&UserId::new("maria"), &TenantId::new("t4")).await.unwrap();
    assert_eq!(open_names(&stage).await, ["Beta", "Beta", "Ñandú"]);
}

/// A code that is refused has not been chosen for.
pub(crate) async fn a_choice_is_kept_with_its_code(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let here = stage.desk().await.tenant;
    let one = membership(&stage, "m1", "maria", &here);
    store.add_membership(&one).await.unwrap();
    let later = now + Duration::from_secs(9);
    let chosen = |at| Membership { last_used_at: Some(at), ..one.clone() };
    store.store_code(&Secret::new("code"), &code(now), &one.id, now).await.unwrap();
    assert_eq!(store.memberships(&one.user).await, Ok(vec![chosen(now)]));
    let twice = store.store_code(&Secret::new("code"), &code(now), &one.id, later).await;
    assert_eq!(twice, Err(StoreError::Exists("such a code".into())));
    assert_eq!(store.memberships(&one.user).await, Ok(vec![chosen(now)]));
    store.store_code(&Secret::new("other"), &code(now), &one.id, later).await.unwrap();
    assert_eq!(store.memberships(&one.user).await, Ok(vec![chosen(later)]));
}
