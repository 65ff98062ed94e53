//! What a team's subscriptions open: keys of a disabled team, and webhooks of the team's clients.

use domain::subscription::{Product, Products};
use domain::{Area, ClientId, Secret, Suspension, TeamId};
use store::{Client, ClientUpdate, Status, Subscription, SubscriptionUpdate, TeamUpdate, UpdateOutcome};

use super::authorizations::{ALL, sign_in, tenant_with_member};
use super::clients::{client, subscription};
use super::fixture::{Fixture, by};
use super::teams::team;
use super::webhook_fixtures::owner;

async fn add_subscription(fixture: &Fixture, one: Subscription) -> Subscription {
    let keys = ["first", "second"].map(|slot| Secret::new(format!("{slot} of {}", one.id)));
    fixture.store.add_subscription(&one, &keys[0], &keys[1], &by()).await.unwrap();
    one
}

async fn set_team_status(fixture: &Fixture, id: &str, status: Status) {
    let update = TeamUpdate { status: Some(status), ..TeamUpdate::default() };
    let updated = fixture.store.update_team(&TeamId::new(id), &update, None, &by()).await.unwrap();
    assert!(updated.is_updated());
}

pub(crate) async fn key_of_a_disabled_team_finds_nothing(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    store.add_team(&team(&fixture, "panel"), &by()).await.unwrap();
    let of_team = Subscription { team: Some(TeamId::new("panel")), ..subscription(&fixture, "s1") };
    let of_team = add_subscription(&fixture, of_team).await;
    let of_nobody = add_subscription(&fixture, subscription(&fixture, "s2")).await;
    let found = async |id: &str| {
        let key = Secret::new(format!("second of {id}"));
        store.find_subscription_by_key(&key, now).await.unwrap()
    };
    assert_eq!(found("s1").await, Some(of_team.clone()));
    set_team_status(&fixture, "panel", Status::Disabled).await;
    assert_eq!(found("s1").await, None);
    assert_eq!(found("s2").await, Some(of_nobody));
    assert_eq!(store.find_subscription(&of_team.id).await, Ok(Some(of_team.clone())), "it still exists");
    set_team_status(&fixture, "panel", Status::Active).await;
    assert_eq!(found("s1").await, Some(of_team.clone()));
    let leave =
        SubscriptionUpdate { team: Some(None), is_sandbox: Some(true), ..SubscriptionUpdate::default() };
    let left = Subscription { team: None, is_sandbox: true, revision: 2, ..of_team.clone() };
    let updated = store.update_subscription(&of_team.id, &leave, None, &by()).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(left.clone())));
    set_team_status(&fixture, "panel", Status::Disabled).await;
    assert_eq!(found("s1").await, Some(left));
}

/// Why webhooks of accounting are suspended; what the engine reads must say the same.
async fn suspension(fixture: &Fixture, tenant: &super::test_tenant::TestTenant) -> Option<Suspension> {
    let access = fixture.store.owner_access(&owner(tenant)).await.unwrap();
    let owners = fixture.store.owners_access(&[owner(tenant)]).await.unwrap();
    assert_eq!(owners[&owner(tenant)], access);
    let disabled = fixture.store.disabled_owners().await.unwrap();
    let listed = disabled.team_clients.iter().find(|(id, _)| *id == owner(tenant).client);
    let expected = access.team_products.filter(|products| *products != Products::all());
    assert_eq!(listed.map(|(_, products)| *products), expected);
    access.suspension(Area::Accounting)
}

pub(crate) async fn webhooks_follow_the_subscriptions_of_the_clients_team(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    sign_in(&fixture, &tenant, "maria", "g1", ALL).await;
    assert_eq!(suspension(&fixture, &tenant).await, None, "a client without a team needs no subscription");
    for id in ["panel", "other"] {
        store.add_team(&team(&fixture, id), &by()).await.unwrap();
    }
    let erp = ClientId::new("erp");
    let join = async |update: ClientUpdate| {
        assert!(store.update_client(&erp, &update, None, &by()).await.unwrap().is_updated());
    };
    join(ClientUpdate { team: Some(Some(TeamId::new("panel"))), ..ClientUpdate::default() }).await;
    let missing = Some(Suspension::TeamSubscriptionMissing);
    assert_eq!(suspension(&fixture, &tenant).await, missing);

    // Those of nobody, of another team, of another product and of the sandbox do not count.
    let of = |id: &str, team: Option<&str>, product| Subscription {
        team: team.map(TeamId::new),
        products: [product].into_iter().collect(),
        ..subscription(&fixture, id)
    };
    for one in [
        of("s1", None, Product::Accounting),
        of("s2", Some("other"), Product::Accounting),
        of("s3", Some("panel"), Product::Payroll),
        Subscription { is_sandbox: true, ..of("s4", Some("panel"), Product::Accounting) },
        Subscription { status: Status::Disabled, ..of("s5", Some("panel"), Product::Accounting) },
    ] {
        add_subscription(&fixture, one).await;
        assert_eq!(suspension(&fixture, &tenant).await, missing);
    }
    let last = add_subscription(&fixture, of("s6", Some("panel"), Product::Accounting)).await;
    assert_eq!(suspension(&fixture, &tenant).await, None);
    let access = store.owner_access(&owner(&tenant)).await.unwrap();
    assert_eq!(access.team_products.unwrap().names(), ["accounting", "payroll"]);

    for (status, expected) in [(Status::Disabled, missing), (Status::Active, None)] {
        store.set_subscription_status(&last.id, status, &by()).await.unwrap();
        assert_eq!(suspension(&fixture, &tenant).await, expected, "the subscription is {status:?}");
    }
    for (status, expected) in [(Status::Disabled, missing), (Status::Active, None)] {
        set_team_status(&fixture, "panel", status).await;
        assert_eq!(suspension(&fixture, &tenant).await, expected, "the team is {status:?}");
    }
    for (is_sandbox, expected) in [(true, missing), (false, None)] {
        join(ClientUpdate { is_sandbox: Some(is_sandbox), ..ClientUpdate::default() }).await;
        assert_eq!(suspension(&fixture, &tenant).await, expected, "sandbox: {is_sandbox}");
    }
    assert!(store.cancel_subscription(&last.id, fixture.now(), &by()).await.unwrap());
    assert_eq!(suspension(&fixture, &tenant).await, missing, "a cancelled subscription");
    join(ClientUpdate { team: Some(None), ..ClientUpdate::default() }).await;
    assert_eq!(suspension(&fixture, &tenant).await, None, "it has left the team");
}

/// Real tenants are closed to a client of the sandbox, also where no team's subscription decides.
pub(crate) async fn webhooks_of_a_sandbox_client_without_a_team_are_suspended(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    sign_in(&fixture, &tenant, "maria", "g1", ALL).await;
    for (id, is_sandbox) in [("s1", false), ("s2", true)] {
        add_subscription(&fixture, Subscription { is_sandbox, ..subscription(&fixture, id) }).await;
    }
    assert_eq!(suspension(&fixture, &tenant).await, None);
    let missing = Some(Suspension::TeamSubscriptionMissing);
    for (is_sandbox, expected, products) in [(true, missing, Some(Products::default())), (false, None, None)]
    {
        let version = store.invalidation().access_version();
        let update = ClientUpdate { is_sandbox: Some(is_sandbox), ..ClientUpdate::default() };
        let updated = store.update_client(&owner(&tenant).client, &update, None, &by()).await.unwrap();
        assert!(updated.is_updated());
        assert_eq!(suspension(&fixture, &tenant).await, expected, "sandbox: {is_sandbox}");
        let access = store.owner_access(&owner(&tenant)).await.unwrap();
        assert_eq!(access.team_products, products);
        assert!(store.invalidation().access_version() > version, "the engine learns of it");
    }
}

pub(crate) async fn changes_of_a_team_bump_the_access_version(fixture: Fixture) {
    let store = &fixture.store;
    store.add_team(&team(&fixture, "panel"), &by()).await.unwrap();
    let of_team = Client { team: Some(TeamId::new("panel")), ..client(&fixture, "erp") };
    store.add_client(&of_team, &Secret::new("secret"), &by()).await.unwrap();
    let mut last = store.invalidation().access_version();
    let mut assert_bumped = |what: &str| {
        let now = store.invalidation().access_version();
        assert!(now > last, "{what}");
        last = now;
    };
    let one = Subscription { team: Some(TeamId::new("panel")), ..subscription(&fixture, "s1") };
    add_subscription(&fixture, one.clone()).await;
    assert_bumped("a team's new subscription");
    set_team_status(&fixture, "panel", Status::Disabled).await;
    assert_bumped("a team's status");
    let leave = ClientUpdate { team: Some(None), ..ClientUpdate::default() };
    assert!(store.update_client(&of_team.id, &leave, None, &by()).await.unwrap().is_updated());
    assert_bumped("a client's team");
    let leave = SubscriptionUpdate { team: Some(None), ..SubscriptionUpdate::default() };
    assert!(store.update_subscription(&one.id, &leave, None, &by()).await.unwrap().is_updated());
    assert_bumped("a subscription's team");
}
