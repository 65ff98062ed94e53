//! Sandboxes: one per team, apart from everything else, and back to the beginning after a reset.

use std::collections::HashSet;

use domain::subscription::Products;
use domain::{Area, ClientId, Guid, Secret, Suspension, TeamId};
use store::{
    Client, ClientUpdate, FactorEffects, Membership, NewSandbox, RECEIVED_MAX, ReceivedRequest, ReceiverMode,
    ResetSandbox, Sandbox, SandboxOutcome, Status, StoreError, Subscription, SubscriptionUpdate, TeamUpdate,
    Tenant, WebhookOwner,
};

use super::authorizations::{ALL, sign_in};
use super::clients::{client, subscription};
use super::directory::{membership, user};
use super::fixture::{Fixture, by, concurrently, new_tenant};
use super::second_factors::{codes, totp};
use super::teams::team;
use super::test_tenant::{TestTenant, company};
use super::webhook_fixtures::{create_webhook, new_webhook};

fn sandbox_tenant(fixture: &Fixture, team: &str, number: u8) -> Tenant {
    let id = format!("sandbox-{team}-{number}");
    Tenant { sandbox_of: Some(TeamId::new(team)), ..new_tenant(&id, fixture.now()) }
}

fn sandbox_member(fixture: &Fixture, team: &str, tenant: &Tenant) -> Membership {
    membership(fixture, &format!("m-{}", tenant.id), &format!("sandbox-user-{team}"), &tenant.id)
}

pub(crate) fn new_sandbox(fixture: &Fixture, team: &str, number: u8) -> NewSandbox {
    let tenant = sandbox_tenant(fixture, team, number);
    NewSandbox {
        membership: sandbox_member(fixture, team, &tenant),
        tenant,
        account: user(fixture, &format!("sandbox-user-{team}")),
        password: Secret::new(format!("sample-password-{number}")),
        receiver: Guid::from_bytes([number; 16]),
    }
}

pub(crate) fn reset_of(fixture: &Fixture, team: &str, number: u8) -> ResetSandbox {
    let tenant = sandbox_tenant(fixture, team, number);
    ResetSandbox {
        membership: sandbox_member(fixture, team, &tenant),
        tenant,
        password: Secret::new(format!("sample-password-{number}")),
        password_hash: format!("hash-{number}"),
    }
}

pub(crate) async fn add_sandbox(fixture: &Fixture, id: &str, number: u8) -> Sandbox {
    fixture.store.add_team(&team(fixture, id), &by()).await.unwrap();
    let made = fixture.store.add_sandbox(&TeamId::new(id), &new_sandbox(fixture, id, number), &by()).await;
    let Ok(SandboxOutcome::Done(made)) = made else { panic!("{made:?}") };
    made
}

pub(crate) async fn sandbox_is_made_once_and_stored_unchanged(fixture: Fixture) {
    let (store, panel) = (&fixture.store, TeamId::new("panel"));
    let new = new_sandbox(&fixture, "panel", 1);
    assert_eq!(store.add_sandbox(&panel, &new, &by()).await, Ok(SandboxOutcome::TeamNotFound));
    let made = add_sandbox(&fixture, "panel", 1).await;
    let expected = Sandbox {
        team: panel.clone(),
        tenant: new.tenant.id.clone(),
        tenant_status: Some(Status::Active),
        user: new.account.id.clone(),
        email: new.account.email.clone(),
        password: Secret::new("sample-password-1"),
        receiver: new.receiver,
        receiver_mode: ReceiverMode::Accept,
        created_at: fixture.now(),
        loaded_at: None,
    };
    assert_eq!(made, expected);
    assert!(!made.is_ready());
    store.mark_sandbox_loaded(&made.tenant, fixture.now()).await.unwrap();
    let loaded = Sandbox { loaded_at: Some(fixture.now()), ..made.clone() };
    assert!(loaded.is_ready());
    assert_eq!(store.find_sandbox(&panel).await, Ok(Some(loaded.clone())));
    assert_eq!(store.find_sandbox_by_receiver(new.receiver).await, Ok(Some(loaded.clone())));
    assert_eq!(store.find_sandbox_by_receiver(Guid::from_bytes([9; 16])).await, Ok(None));
    assert_eq!(store.find_sandbox(&TeamId::new("other")).await, Ok(None));
    assert_eq!(store.find_tenant(&made.tenant).await.unwrap().unwrap().sandbox_of, Some(panel.clone()));
    let again = store.add_sandbox(&panel, &new_sandbox(&fixture, "panel", 2), &by()).await;
    assert_eq!(again, Ok(SandboxOutcome::Exists(loaded.clone())));
    let other = add_sandbox(&fixture, "other", 7).await;
    assert_eq!(store.list_sandboxes(None, 9).await, Ok(vec![other.clone(), loaded.clone()]));
    assert_eq!(store.list_sandboxes(Some(&other.team), 9).await, Ok(vec![loaded.clone()]));
    assert_eq!(store.list_sandboxes(None, 1).await, Ok(vec![other]));

    for mode in ReceiverMode::ALL {
        let changed = Sandbox { receiver_mode: mode, ..loaded.clone() };
        assert_eq!(store.set_receiver_mode(&panel, mode, &by()).await, Ok(Some(changed.clone())));
        assert_eq!(store.find_sandbox(&panel).await, Ok(Some(changed)));
        assert_eq!(ReceiverMode::from_name(mode.as_str()), Some(mode));
    }
    assert_eq!(store.set_receiver_mode(&TeamId::new("x"), ReceiverMode::Fail, &by()).await, Ok(None));
    // The operator disables and enables it as any tenant.
    store.set_tenant_status(&made.tenant, Status::Disabled, &by()).await.unwrap();
    assert!(!store.find_sandbox(&panel).await.unwrap().unwrap().is_ready());
}

pub(crate) async fn concurrent_requests_make_one_sandbox(fixture: Fixture) {
    fixture.store.add_team(&team(&fixture, "panel"), &by()).await.unwrap();
    let all: Vec<NewSandbox> = (0..8).map(|number| new_sandbox(&fixture, "panel", number)).collect();
    let outcomes = concurrently(8, &[&fixture.store], |number, store| {
        let new = all[number].clone();
        async move { store.add_sandbox(&TeamId::new("panel"), &new, &by()).await.unwrap() }
    })
    .await;
    let made = outcomes.iter().filter(|outcome| matches!(outcome, SandboxOutcome::Done(_))).count();
    assert_eq!(made, 1, "{outcomes:?}");
    let tenants: HashSet<String> = outcomes
        .into_iter()
        .map(|outcome| match outcome {
            SandboxOutcome::Done(one) | SandboxOutcome::Exists(one) => one.tenant.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(tenants.len(), 1);
}

pub(crate) async fn users_of_sandboxes_and_of_tenants_never_mix(fixture: Fixture) {
    let (store, real) = (&fixture.store, fixture.add_tenant().await);
    let (panel, other) = (add_sandbox(&fixture, "panel", 1).await, add_sandbox(&fixture, "other", 2).await);
    let maria = user(&fixture, "maria");
    let into = |tenant| membership(&fixture, "m1", "maria", tenant);
    for sandbox in [&panel, &other] {
        let joined = store.add_account(&maria, &[into(&sandbox.tenant)], &by()).await;
        assert_eq!(joined, Err(StoreError::SandboxApart));
    }
    assert_eq!(store.find_account(&maria.id).await, Ok(None), "nothing is left of the refused account");
    store.add_account(&maria, &[into(&real.id)], &by()).await.unwrap();
    for (user, tenant) in [
        ("maria", &panel.tenant),
        ("sandbox-user-panel", &real.id),
        ("sandbox-user-panel", &other.tenant),
        ("sandbox-user-other", &panel.tenant),
    ] {
        let joined = store.add_membership(&membership(&fixture, "m9", user, tenant), &by()).await;
        assert_eq!(joined, Err(StoreError::SandboxApart), "{user} {tenant}");
    }
    let own = store.active_memberships(&panel.user).await.unwrap();
    assert_eq!(own.iter().map(|one| &one.tenant.id).collect::<Vec<_>>(), [&panel.tenant]);
    // Also after the operator has erased the tenant.
    assert!(store.erase_tenant(&panel.tenant, &by()).await.unwrap());
    let joined = membership(&fixture, "m9", "sandbox-user-panel", &real.id);
    assert_eq!(store.add_membership(&joined, &by()).await, Err(StoreError::SandboxApart));
}

pub(crate) async fn reset_goes_back_to_the_beginning(fixture: Fixture) {
    let (store, panel) = (&fixture.store, TeamId::new("panel"));
    let reset = reset_of(&fixture, "panel", 2);
    assert_eq!(store.reset_sandbox(&panel, &reset, &by()).await, Ok(SandboxOutcome::NotFound));
    let before = add_sandbox(&fixture, "panel", 1).await;
    let old = TestTenant::new(store.clone(), before.tenant.clone());
    old.accept([company("c1")]).await;
    store.mark_sandbox_loaded(&before.tenant, fixture.now()).await.unwrap();
    store.add_client(&client(&fixture, "erp"), &Secret::new("s"), &by()).await.unwrap();
    sign_in(&fixture, &old, before.user.as_str(), "g1", ALL).await;
    let webhook = create_webhook(store, new_webhook(&fixture, &old, "a")).await;
    store.set_receiver_mode(&panel, ReceiverMode::Fail, &by()).await.unwrap();
    store.add_received_request(&panel, &before.tenant, &received(1)).await.unwrap();
    store.set_account_status(&before.user, Status::Disabled, &by()).await.unwrap();
    let factor = totp(1, before.user.as_str(), fixture.now());
    let effects = FactorEffects::default();
    let _ = store.add_second_factor(&factor, &codes(&fixture), None, &effects, &by()).await.unwrap();
    let access = store.invalidation().access_version();

    let Ok(SandboxOutcome::Done(after)) = store.reset_sandbox(&panel, &reset, &by()).await else {
        panic!("it is reset");
    };
    let expected = Sandbox {
        tenant: reset.tenant.id.clone(),
        password: Secret::new("sample-password-2"),
        receiver_mode: ReceiverMode::Accept,
        loaded_at: None,
        ..before.clone()
    };
    assert_eq!(after, expected);
    assert_eq!(store.find_sandbox(&panel).await, Ok(Some(expected)));
    assert!(store.invalidation().access_version() > access);
    assert_eq!(store.find_tenant(&before.tenant).await, Ok(None));
    assert_eq!(store.find_webhook(webhook.id).await.unwrap().filter(|one| one.deleted_at.is_none()), None);
    assert_eq!(store.is_grant_live(&domain::GrantId::new("g1")).await, Ok(false));
    assert_eq!(store.received_requests(&panel, None, 9).await, Ok(Vec::new()));
    let account = store.find_account(&before.user).await.unwrap().unwrap();
    assert_eq!((account.status, account.password_hash.as_str()), (Status::Disabled, "hash-2"));
    assert!(!store.second_factors(&before.user).await.unwrap().is_enrolled());
    // A user whom the operator has disabled stays disabled.
    store.set_account_status(&before.user, Status::Active, &by()).await.unwrap();
    let memberships = store.active_memberships(&before.user).await.unwrap();
    assert_eq!(memberships.iter().map(|one| &one.tenant.id).collect::<Vec<_>>(), [&after.tenant]);
    assert_eq!(memberships[0].tenant.sandbox_of, Some(panel));
    // What was made for the old tenant neither marks the new one nor is shown in it.
    store.add_received_request(&after.team, &before.tenant, &received(2)).await.unwrap();
    assert_eq!(store.received_requests(&after.team, None, 9).await, Ok(Vec::new()));
    store.mark_sandbox_loaded(&before.tenant, fixture.now()).await.unwrap();
    assert_eq!(store.find_sandbox(&after.team).await.unwrap().unwrap().loaded_at, None);
    // What the operator has disabled stays as it is.
    store.set_tenant_status(&after.tenant, Status::Disabled, &by()).await.unwrap();
    let refused = store.reset_sandbox(&after.team, &reset_of(&fixture, "panel", 3), &by()).await;
    assert_eq!(refused, Ok(SandboxOutcome::Disabled));
    assert_eq!(store.find_sandbox(&after.team).await.unwrap().unwrap().tenant, after.tenant);
}

pub(crate) async fn sandbox_without_a_tenant_is_reset(fixture: Fixture) {
    let store = &fixture.store;
    let made = add_sandbox(&fixture, "panel", 1).await;
    assert!(store.erase_tenant(&made.tenant, &by()).await.unwrap());
    let gone = store.find_sandbox(&made.team).await.unwrap().unwrap();
    assert_eq!(gone, Sandbox { tenant_status: None, ..made.clone() });
    let reset = store.reset_sandbox(&made.team, &reset_of(&fixture, "panel", 2), &by()).await;
    let Ok(SandboxOutcome::Done(after)) = reset else { panic!("{reset:?}") };
    assert_eq!(after.tenant_status, Some(Status::Active));
}

/// The products of the client in the sandbox; all that the engine reads must say the same.
async fn products(fixture: &Fixture, sandbox: &Sandbox, client: &str) -> (Products, Option<Suspension>) {
    let owner = WebhookOwner { tenant: sandbox.tenant.clone(), client: ClientId::new(client) };
    let access = fixture.store.owner_access(&owner).await.unwrap();
    let owners = fixture.store.owners_access(std::slice::from_ref(&owner)).await.unwrap();
    assert_eq!(owners[&owner], access);
    let disabled = fixture.store.disabled_owners().await.unwrap();
    let listed = disabled.sandboxes.iter().find(|one| one.tenant == owner.tenant).unwrap();
    let products = access.team_products.unwrap();
    assert_eq!(listed.products_of(&owner.client), products);
    (products, access.suspension(Area::Accounting))
}

pub(crate) async fn only_credentials_of_its_team_open_a_sandbox(fixture: Fixture) {
    let store = &fixture.store;
    let (panel, other) = (add_sandbox(&fixture, "panel", 1).await, add_sandbox(&fixture, "other", 2).await);
    let of = |team: &str| Some(TeamId::new(team));
    for (id, team, is_sandbox) in [
        ("erp", of("panel"), false),
        ("play", of("panel"), true),
        ("foreign", of("other"), false),
        ("free", None, false),
    ] {
        let one = Client { team, is_sandbox, ..client(&fixture, id) };
        store.add_client(&one, &Secret::new(id), &by()).await.unwrap();
    }
    let tenant = TestTenant::new(store.clone(), panel.tenant.clone());
    sign_in(&fixture, &tenant, panel.user.as_str(), "g1", ALL).await;
    let missing = Some(Suspension::TeamSubscriptionMissing);
    assert_eq!(products(&fixture, &panel, "erp").await, (Products::default(), missing));
    let one = Subscription { team: of("panel"), is_sandbox: true, ..subscription(&fixture, "s1") };
    store.add_subscription(&one, &Secret::new("a"), &Secret::new("b"), &by()).await.unwrap();
    let open = one.products;
    assert_eq!(products(&fixture, &panel, "erp").await, (open, None));
    assert_eq!(products(&fixture, &panel, "play").await.0, open);
    for (sandbox, client) in [(&panel, "foreign"), (&panel, "free"), (&panel, "none"), (&other, "erp")] {
        assert_eq!(products(&fixture, sandbox, client).await.0, Products::default(), "{client}");
    }
    let real = SubscriptionUpdate { is_sandbox: Some(false), ..SubscriptionUpdate::default() };
    assert!(store.update_subscription(&one.id, &real, None, &by()).await.unwrap().is_updated());
    assert_eq!(products(&fixture, &panel, "erp").await, (open, None), "a real subscription opens it too");
    for (status, expected) in [(Status::Disabled, missing), (Status::Active, None)] {
        let update = TeamUpdate { status: Some(status), ..TeamUpdate::default() };
        assert!(store.update_team(&panel.team, &update, None, &by()).await.unwrap().is_updated());
        assert_eq!(products(&fixture, &panel, "erp").await.1, expected, "{status:?}");
    }
    let leave = ClientUpdate { team: Some(None), ..ClientUpdate::default() };
    assert!(store.update_client(&ClientId::new("erp"), &leave, None, &by()).await.unwrap().is_updated());
    assert_eq!(products(&fixture, &panel, "erp").await.1, missing, "it has left the team");
}

pub(crate) async fn events_of_a_day_are_bounded(fixture: Fixture) {
    let store = &fixture.store;
    let sandbox = add_sandbox(&fixture, "panel", 1).await;
    let take = async |day| store.take_sandbox_events(&sandbox.team, day, 1, 2).await.unwrap();
    assert!(take(7).await && take(7).await && !take(7).await);
    assert!(take(8).await, "another day");
    assert_eq!(store.take_sandbox_events(&TeamId::new("none"), 7, 1, 2).await, Ok(false));
    let outcomes = concurrently(8, &[&fixture.store], |_, store| async move {
        store.take_sandbox_events(&TeamId::new("panel"), 9, 1, 3).await.unwrap()
    })
    .await;
    assert_eq!(outcomes.into_iter().filter(|is_taken| *is_taken).count(), 3);
}

fn received(number: u64) -> ReceivedRequest {
    ReceivedRequest {
        number,
        at: domain::Ticks(i64::try_from(number).unwrap()),
        webhook: (number.is_multiple_of(2)).then(|| Guid::from_bytes([3; 16])),
        event: "Svc.ACC.Customers.CustomerCreated".into(),
        method: "POST".into(),
        target: "/portal/receiver/x?echo=ñ".into(),
        headers: vec![("webhook-id".into(), "msg_1".into()), ("x".into(), "\"".into())],
        body: "{\"a\":1}".into(),
        verified: vec!["webhook-signature".into()],
        problem: "the secret is another one".into(),
        status: (!number.is_multiple_of(3)).then_some(200),
    }
}

pub(crate) async fn receiver_keeps_the_newest_requests(fixture: Fixture) {
    let store = &fixture.store;
    let (panel, other) = (add_sandbox(&fixture, "panel", 1).await, add_sandbox(&fixture, "other", 2).await);
    let count = RECEIVED_MAX as u64 + 3;
    for number in 1..=count {
        store.add_received_request(&panel.team, &panel.tenant, &received(number)).await.unwrap();
    }
    store.add_received_request(&other.team, &other.tenant, &received(1)).await.unwrap();
    store.add_received_request(&TeamId::new("none"), &panel.tenant, &received(1)).await.unwrap();
    let all = store.received_requests(&panel.team, None, 1000).await.unwrap();
    let expected: Vec<ReceivedRequest> = (4..=count).rev().map(received).collect();
    assert_eq!(all, expected);
    let page = store.received_requests(&panel.team, Some(count - 1), 2).await.unwrap();
    assert_eq!(page, [received(count - 2), received(count - 3)]);
    assert_eq!(store.received_requests(&other.team, None, 9).await, Ok(vec![received(1)]));
    assert_eq!(store.received_requests(&TeamId::new("none"), None, 9).await, Ok(Vec::new()));
}
