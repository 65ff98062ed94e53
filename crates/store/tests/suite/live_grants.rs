//! Live grants: a grant is live while it is not revoked and its client, user, tenant and membership are active.

use std::time::Duration;

use domain::{AccountId, ClientId, GrantId, Secret, TenantId, Ticks};
use store::{Grant, RefreshToken, Status};

use super::clients::client;
use super::codes::{approve, code, context, exchange, grant, membership_id, our_client};
use super::directory::{membership, user};
use super::fixture::{Fixture, by, new_tenant};
use super::refresh_tokens::rotation;
use super::sessions::{session, sign_in_entry};

/// Issues a grant, with a refresh token if one is named.
async fn issue_grant(fixture: &Fixture, issued: &Grant, token: Option<&str>) {
    let secret = Secret::new(format!("code of {}", issued.id));
    let now = fixture.now();
    fixture.store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
    let decision = approve(issued, token.map(|token| (token, issued.expires_at)));
    fixture.store.take_code(&exchange(&secret, &our_client(), now), decision).await.unwrap();
}

/// Adds a client, a user and a tenant with this name, and issues a grant for them.
pub(crate) async fn issue_grant_with_owners(fixture: &Fixture, name: &str) -> Grant {
    let (store, now) = (&fixture.store, fixture.now());
    store.add_client(&client(fixture, name), &Secret::new("secret"), &by()).await.unwrap();
    store.add_account(&user(fixture, name), &[], &by()).await.unwrap();
    store.add_tenant(&new_tenant(name, now), &by()).await.unwrap();
    let tenant = TenantId::new(name);
    store.add_membership(&membership(fixture, name, name, &tenant), &by()).await.unwrap();
    let client = ClientId::new(name);
    let issued = Grant { client, user: AccountId::new(name), tenant, ..grant(name, now) };
    issue_grant(fixture, &issued, None).await;
    issued
}

pub(crate) async fn grant_needs_an_active_client_user_tenant_and_membership(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let other = issue_grant_with_owners(&fixture, "other").await;
    let causes = ["revoked", "no user", "no tenant", "no client", "no member", "erased"];
    for cause in causes {
        let issued = issue_grant_with_owners(&fixture, cause).await;
        assert_eq!(store.is_grant_live(&issued.id).await, Ok(true), "{cause}");
        let (user, tenant) = (&issued.user, &issued.tenant);
        let changed = match cause {
            "revoked" => store.revoke_grant(&issued.id, now, &context(), "").await,
            "no user" => store.set_account_status(user, Status::Disabled, &by()).await,
            "no tenant" => store.set_tenant_status(tenant, Status::Disabled, &by()).await,
            "no client" => {
                store.set_client_status(&client(&fixture, cause).id, Status::Disabled, &by()).await
            }
            "no member" => store.remove_membership(user, tenant, &by()).await,
            _ => store.erase_tenant(tenant, &by()).await,
        };
        assert_eq!(changed, Ok(true), "{cause}");
        assert_eq!(store.is_grant_live(&issued.id).await, Ok(false), "{cause}");
        assert_eq!(store.is_grant_live(&other.id).await, Ok(true), "{cause}: another grant");
    }
    for unknown in ["", "none", "other\0", "OTHER"] {
        assert_eq!(store.is_grant_live(&GrantId::new(unknown)).await, Ok(false), "{unknown:?}");
    }
}

pub(crate) async fn unconfirmed_users_grant_is_live_after_the_next_sign_in(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let [one, other] =
        [issue_grant_with_owners(&fixture, "norte").await, issue_grant_with_owners(&fixture, "sur").await];
    for issued in [&one, &other] {
        assert_eq!(store.set_account_status(&issued.user, Status::Unconfirmed, &by()).await, Ok(true));
        assert_eq!(store.is_grant_live(&issued.id).await, Ok(false));
        assert_eq!(store.active_memberships(&issued.user).await, Ok(Vec::new()));
    }
    let before = store.find_account(&one.user).await.unwrap().unwrap();
    store
        .begin_session(&Secret::new("s"), &session("norte", now), None, None, &sign_in_entry("norte", now))
        .await
        .unwrap();
    let after = store.find_account(&one.user).await.unwrap().unwrap();
    assert_eq!((before.status, after.status), (Status::Unconfirmed, Status::Active));
    assert_eq!(after.revision, before.revision + 1);
    assert_eq!(store.is_grant_live(&one.id).await, Ok(true));
    assert_eq!(store.is_grant_live(&other.id).await, Ok(false), "only who signs in confirms");
    // A sign-in does not enable a disabled user, and an active one stays unchanged.
    store.set_account_status(&other.user, Status::Disabled, &by()).await.unwrap();
    for (name, status) in [("sur", Status::Disabled), ("norte", Status::Active)] {
        let id = Secret::new(format!("again {name}"));
        store.begin_session(&id, &session(name, now), None, None, &sign_in_entry(name, now)).await.unwrap();
        assert_eq!(store.find_account(&AccountId::new(name)).await.unwrap().unwrap().status, status);
    }
    assert_eq!(store.find_account(&one.user).await.unwrap().unwrap().revision, after.revision);
}

pub(crate) async fn grant_is_live_again_after_reactivation(fixture: Fixture) {
    let store = &fixture.store;
    let issued = issue_grant_with_owners(&fixture, "norte").await;
    let (user, tenant) = (&issued.user, &issued.tenant);
    for status in [Status::Disabled, Status::Active] {
        store.set_account_status(user, status, &by()).await.unwrap();
        assert_eq!(store.is_grant_live(&issued.id).await, Ok(status == Status::Active));
    }
    store.remove_membership(user, tenant, &by()).await.unwrap();
    // A membership of another tenant does not count.
    store.add_tenant(&new_tenant("sur", fixture.now()), &by()).await.unwrap();
    store.add_membership(&membership(&fixture, "m2", "norte", &TenantId::new("sur")), &by()).await.unwrap();
    assert_eq!(store.is_grant_live(&issued.id).await, Ok(false));
    store.add_membership(&membership(&fixture, "m3", "norte", tenant), &by()).await.unwrap();
    assert_eq!(store.is_grant_live(&issued.id).await, Ok(false), "it is another membership");

    // A new tenant with the id of an erased one does not get its grants.
    store.erase_tenant(tenant, &by()).await.unwrap();
    store.add_tenant(&new_tenant("norte", fixture.now()), &by()).await.unwrap();
    store.add_membership(&membership(&fixture, "m4", "norte", tenant), &by()).await.unwrap();
    assert_eq!(store.is_grant_live(&issued.id).await, Ok(false));
}

pub(crate) async fn live_grants_are_listed_last_used_first(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let maria = AccountId::new("maria");
    assert_eq!(store.live_grants(&maria, now).await, Ok(Vec::new()));
    let mut issued = Vec::new();
    for number in 1..=5_u32 {
        let new_grant =
            Grant { expires_at: now + Duration::from_secs(500), ..grant(&format!("g{number}"), now) };
        issue_grant(&fixture, &new_grant, Some(&format!("token-{}", 10 * number))).await;
        issued.push(new_grant);
    }
    issue_grant(&fixture, &Grant { user: AccountId::new("jon"), ..grant("theirs", now) }, None).await;
    let ids = async |at: Ticks| -> Vec<String> {
        let live = store.live_grants(&maria, at).await.unwrap();
        live.iter().map(|grant| grant.id.to_string()).collect()
    };
    assert_eq!(store.live_grants(&maria, now).await, Ok(issued), "equal times are sorted by id");

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
    for unknown in ["", "MARIA", "maria\0"] {
        assert_eq!(store.live_grants(&AccountId::new(unknown), now).await, Ok(Vec::new()));
    }
}

pub(crate) async fn refresh_token_lookup_does_not_use_it(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let tenant = fixture.add_tenant().await.id;
    let new_grant = Grant { tenant: tenant.clone(), ..grant("g1", now) };
    issue_grant(&fixture, &new_grant, Some("token-1")).await;
    let (first, second) = (Secret::new("token-1"), Secret::new("token-2"));
    let fresh = RefreshToken { grant: new_grant.clone(), expires_at: new_grant.expires_at, is_used: false };
    for _ in 0..2 {
        assert_eq!(store.find_refresh_token(&first).await, Ok(Some(fresh.clone())));
    }
    for unknown in ["", "token-2", "g1"] {
        assert_eq!(store.find_refresh_token(&Secret::new(unknown)).await, Ok(None));
    }

    let later = now + Duration::from_secs(5);
    store.rotate_refresh(&rotation(1, later)).await.unwrap();
    let used = Grant { last_used_at: later, ..new_grant.clone() };
    let next = RefreshToken { grant: used.clone(), ..fresh };
    assert_eq!(store.find_refresh_token(&second).await, Ok(Some(next.clone())));
    let used_token = RefreshToken { is_used: true, ..next.clone() };
    assert_eq!(store.find_refresh_token(&first).await, Ok(Some(used_token)));

    store.revoke_grant(&new_grant.id, later, &context(), "").await.unwrap();
    let revoked = RefreshToken { grant: Grant { revoked_at: Some(later), ..used }, ..next };
    assert_eq!(
        store.find_refresh_token(&second).await,
        Ok(Some(revoked)),
        "a revoked grant's token is found too"
    );
    store.erase_tenant(&tenant, &by()).await.unwrap();
    assert_eq!(store.find_refresh_token(&second).await, Ok(None));
}
