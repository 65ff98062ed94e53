//! Which grants still count: a grant lives as long as it, its client, its user and its tenant do.

use std::time::Duration;

use domain::{ClientId, GrantId, Secret, TenantId, Ticks, UserId};
use store::{Client, Grant, RefreshToken, Status};

use super::applications::client;
use super::codes::{chosen, code, context, grant, makes, ours, taking};
use super::directory::{membership, user};
use super::refresh::rotation;
use super::stage::{Stage, tenant};

/// Makes a grant, with a refresh token where one is named.
async fn give(stage: &Stage, given: &Grant, token: Option<&str>) {
    let secret = Secret::new(format!("code of {}", given.id));
    let now = stage.now();
    stage.store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
    let judge = makes(given, token.map(|token| (token, given.expires_at)));
    stage.store.take_code(&taking(&secret, &ours(), now), judge).await.unwrap();
}

/// A client, a user and a tenant with this name, and a grant of theirs.
async fn household(stage: &Stage, name: &str) -> Grant {
    let (store, now) = (&stage.store, stage.now());
    store.add_client(&client(stage, name), &Secret::new("secret")).await.unwrap();
    store.add_user(&user(stage, name)).await.unwrap();
    store.add_tenant(&tenant(name, now)).await.unwrap();
    let tenant = TenantId::new(name);
    store.add_membership(&membership(stage, name, name, &tenant)).await.unwrap();
    let client = ClientId::new(name);
    let given = Grant { client, user: UserId::new(name), tenant, ..grant(name, now) };
    give(stage, &given, None).await;
    given
}

pub(crate) async fn a_grant_dies_with_what_it_stands_on(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let other = household(&stage, "other").await;
    let ways = ["revoked", "no user", "no tenant", "no client", "no member", "erased"];
    for way in ways {
        let given = household(&stage, way).await;
        assert_eq!(store.is_grant_live(&given.id).await, Ok(true), "{way}");
        let (user, tenant) = (&given.user, &given.tenant);
        let changed = match way {
            "revoked" => store.revoke_grant(&given.id, now, &context(), "").await,
            "no user" => store.set_user_status(user, Status::Disabled).await,
            "no tenant" => store.set_tenant_status(tenant, Status::Disabled).await,
            "no client" => {
                let disabled = Client { status: Status::Disabled, ..client(&stage, way) };
                store.update_client(&disabled).await
            }
            "no member" => store.remove_membership(user, tenant).await,
            _ => store.erase_tenant(tenant).await,
        };
        assert_eq!(changed, Ok(true), "{way}");
        assert_eq!(store.is_grant_live(&given.id).await, Ok(false), "{way}");
        assert_eq!(store.is_grant_live(&other.id).await, Ok(true), "{way} of another");
    }
    for nobody in ["", "none", "other\0", "OTHER"] {
        assert_eq!(store.is_grant_live(&GrantId::new(nobody)).await, Ok(false), "{nobody:?}");
    }
}

pub(crate) async fn a_grant_comes_back_with_what_it_stands_on(stage: Stage) {
    let store = &stage.store;
    let given = household(&stage, "norte").await;
    let (user, tenant) = (&given.user, &given.tenant);
    for status in [Status::Disabled, Status::Active] {
        store.set_user_status(user, status).await.unwrap();
        assert_eq!(store.is_grant_live(&given.id).await, Ok(status == Status::Active));
    }
    store.remove_membership(user, tenant).await.unwrap();
    // To belong elsewhere does not help.
    store.add_tenant(&super::stage::tenant("sur", stage.now())).await.unwrap();
    store.add_membership(&membership(&stage, "m2", "norte", &TenantId::new("sur"))).await.unwrap();
    assert_eq!(store.is_grant_live(&given.id).await, Ok(false));
    store.add_membership(&membership(&stage, "m3", "norte", tenant)).await.unwrap();
    assert_eq!(store.is_grant_live(&given.id).await, Ok(true));

    // A tenant that takes an erased one's name does not take its grants.
    store.erase_tenant(tenant).await.unwrap();
    store.add_tenant(&super::stage::tenant("norte", stage.now())).await.unwrap();
    store.add_membership(&membership(&stage, "m4", "norte", tenant)).await.unwrap();
    assert_eq!(store.is_grant_live(&given.id).await, Ok(false));
}

pub(crate) async fn a_user_sees_live_grants_last_used_first(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let maria = UserId::new("maria");
    assert_eq!(store.live_grants(&maria, now).await, Ok(Vec::new()));
    let mut given = Vec::new();
    for number in 1..=5_u32 {
        let made = Grant { expires_at: now + Duration::from_secs(500), ..grant(&format!("g{number}"), now) };
        give(&stage, &made, Some(&format!("token-{}", 10 * number))).await;
        given.push(made);
    }
    give(&stage, &Grant { user: UserId::new("jon"), ..grant("theirs", now) }, None).await;
    let ids = async |at: Ticks| -> Vec<String> {
        let live = store.live_grants(&maria, at).await.unwrap();
        live.iter().map(|grant| grant.id.to_string()).collect()
    };
    assert_eq!(store.live_grants(&maria, now).await, Ok(given), "the same moment: by id");

    for (number, seconds) in [(2, 10), (4, 20), (1, 15)] {
        let at = now + Duration::from_secs(seconds);
        store.rotate_refresh(&rotation(10 * number, at)).await.unwrap();
    }
    let later = now + Duration::from_secs(30);
    assert_eq!(ids(later).await, ["g4", "g1", "g2", "g3", "g5"]);
    assert_eq!(
        store.live_grants(&maria, later).await.unwrap()[0].last_used_at,
        now + Duration::from_secs(20)
    );

    store.revoke_grant(&GrantId::new("g1"), later, &context(), "").await.unwrap();
    assert_eq!(ids(later).await, ["g4", "g2", "g3", "g5"]);
    let slid_to = now + Duration::from_secs(900);
    let slid = store::RefreshRotation { successor_expires_at: Some(slid_to), ..rotation(50, later) };
    store.rotate_refresh(&slid).await.unwrap();
    let end = now + Duration::from_secs(500);
    assert_eq!(ids(Ticks(end.0 - 1)).await, ["g5", "g4", "g2", "g3"]);
    assert_eq!(ids(end).await, ["g5"]);
    assert_eq!(ids(slid_to).await, [""; 0]);
    for nobody in ["", "MARIA", "maria\0"] {
        assert_eq!(store.live_grants(&UserId::new(nobody), now).await, Ok(Vec::new()));
    }
}

pub(crate) async fn a_refresh_token_is_looked_up_without_being_used(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let tenant = stage.desk().await.tenant;
    let made = Grant { tenant: tenant.clone(), ..grant("g1", now) };
    give(&stage, &made, Some("token-1")).await;
    let (first, second) = (Secret::new("token-1"), Secret::new("token-2"));
    let fresh = RefreshToken { grant: made.clone(), expires_at: made.expires_at, is_used: false };
    for _ in 0..2 {
        assert_eq!(store.find_refresh_token(&first).await, Ok(Some(fresh.clone())));
    }
    for nobody in ["", "token-2", "g1"] {
        assert_eq!(store.find_refresh_token(&Secret::new(nobody)).await, Ok(None));
    }

    let later = now + Duration::from_secs(5);
    store.rotate_refresh(&rotation(1, later)).await.unwrap();
    let used = Grant { last_used_at: later, ..made.clone() };
    let next = RefreshToken { grant: used.clone(), ..fresh };
    assert_eq!(store.find_refresh_token(&second).await, Ok(Some(next.clone())));
    let timing = RefreshToken { is_used: true, ..next.clone() };
    assert_eq!(store.find_refresh_token(&first).await, Ok(Some(timing)));

    store.revoke_grant(&made.id, later, &context(), "").await.unwrap();
    let revoked = RefreshToken { grant: Grant { revoked_at: Some(later), ..used }, ..next };
    assert_eq!(store.find_refresh_token(&second).await, Ok(Some(revoked)), "live or not");
    store.erase_tenant(&tenant).await.unwrap();
    assert_eq!(store.find_refresh_token(&second).await, Ok(None));
}
