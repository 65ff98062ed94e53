//! Authorizations: made and widened by code exchanges, ended by withdrawal, revocation and removal; webhooks follow them.

use std::sync::Arc;
use std::time::Duration;

use domain::subscription::{Product, Products};
use domain::{AccountId, Area, ClientId, GrantId, MembershipId, Scopes, Secret, Suspension, Ticks};
use store::{
    AuditKind, AuditQuery, AuthorizationCode, ClientAccess, ClientUpdate, CodeExchange, CodeOutcome, Grant,
    NewGrant, ReplayKind, RetentionCutoffs, Status, Store, SuspensionStep, Webhook, WebhookChange,
};

use super::clients::client;
use super::codes::context;
use super::directory::{membership, user};
use super::fixture::{Fixture, by, concurrently};
use super::test_tenant::TestTenant;
use super::webhook_fixtures::{
    active_webhook, find_webhook, lane, load_webhook, new_checkpoint, new_webhook_of, owner, write_checkpoint,
};

pub(crate) const ALL: &str = "openid SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.COR.API SVC.ES.Webhooks";

/// A tenant with the member maria, and the client "erp".
pub(crate) async fn tenant_with_member(fixture: &Fixture) -> TestTenant {
    let (store, tenant) = (&fixture.store, fixture.add_tenant().await);
    store.add_client(&client(fixture, "erp"), &Secret::new("secret"), &by()).await.unwrap();
    add_member(fixture, &tenant, "maria").await;
    tenant
}

async fn add_member(fixture: &Fixture, tenant: &TestTenant, name: &str) {
    fixture.store.add_account(&user(fixture, name), &[], &by()).await.unwrap();
    fixture.store.add_membership(&membership(fixture, name, name, &tenant.id), &by()).await.unwrap();
}

fn access(tenant: &TestTenant, user: &str) -> ClientAccess {
    ClientAccess { user: AccountId::new(user), client: ClientId::new("erp"), tenant: tenant.id.clone() }
}

fn code_of(id: &str) -> Secret {
    Secret::new(format!("code of {id}"))
}

async fn redeem(store: &Arc<dyn Store>, id: &str, now: Ticks, grant: Option<NewGrant>) -> CodeOutcome {
    let erp = ClientId::new("erp");
    let (code, client) = (code_of(id), grant.as_ref().map_or(erp, |new| new.grant.client.clone()));
    let exchange = CodeExchange { code, client, now, context: context() };
    store.take_code(&exchange, Box::new(move |_| grant)).await.unwrap()
}

/// A user signs in to "erp": a code is exchanged for a grant.
pub(crate) async fn sign_in(
    fixture: &Fixture,
    tenant: &TestTenant,
    user: &str,
    id: &str,
    scopes: &str,
) -> Grant {
    sign_in_as(fixture, access(tenant, user), id, scopes).await
}

async fn sign_in_as(fixture: &Fixture, access: ClientAccess, id: &str, scopes: &str) -> Grant {
    let (store, now) = (&fixture.store, fixture.now());
    let ClientAccess { user, client, tenant } = access;
    let code = AuthorizationCode {
        client: client.clone(),
        user: user.clone(),
        tenant: tenant.clone(),
        expires_at: now + Duration::from_mins(5),
        details: "{}".into(),
    };
    store.store_code(&code_of(id), &code, &MembershipId::new(user.as_str()), now, &by()).await.unwrap();
    let grant = Grant {
        id: GrantId::new(id),
        client,
        user,
        tenant,
        details: "{}".into(),
        created_at: now,
        last_used_at: now,
        expires_at: now + Duration::from_hours(1),
        revoked_at: None,
    };
    let new =
        NewGrant { grant: grant.clone(), scopes: Scopes::parse(scopes).scopes, refresh: None, session: None };
    let outcome = redeem(store, id, now, Some(new)).await;
    assert!(matches!(outcome, CodeOutcome::Redeemed { grant: Some(_), .. }), "{outcome:?}");
    grant
}

/// Why webhooks of accounting are suspended; the loaded webhook must say the same.
async fn suspension(fixture: &Fixture, tenant: &TestTenant, webhook: &Webhook) -> Option<Suspension> {
    let access = fixture.store.owner_access(&owner(tenant)).await.unwrap();
    let loaded = load_webhook(&fixture.store, webhook.id).await;
    assert_eq!(loaded.authorization_gap, access.authorization_gap(Area::Accounting));
    access.suspension(Area::Accounting)
}

async fn last_change(fixture: &Fixture) -> u64 {
    fixture.store.changed_webhooks(0).await.unwrap().last_change
}

pub(crate) async fn exchange_makes_and_widens_an_authorization(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    let webhook = active_webhook(&fixture, &tenant, "w").await;
    assert_eq!(suspension(&fixture, &tenant, &webhook).await, Some(Suspension::NotAuthorized));
    sign_in(&fixture, &tenant, "maria", "g1", "openid SVC.ES.Webhooks").await;
    assert_eq!(suspension(&fixture, &tenant, &webhook).await, Some(Suspension::ScopeMissing));
    let (before, version) = (last_change(&fixture).await, store.invalidation().access_version());
    sign_in(&fixture, &tenant, "maria", "g2", "SVC.ES.NEWPOL.ACC.API").await;
    assert_eq!(suspension(&fixture, &tenant, &webhook).await, None);
    assert_eq!(store.changed_webhooks(before).await.unwrap().webhooks, [webhook.id], "every node reloads it");
    assert!(store.invalidation().access_version() > version);
    let (before, version) = (last_change(&fixture).await, store.invalidation().access_version());
    sign_in(&fixture, &tenant, "maria", "g3", "openid").await;
    let unchanged = (last_change(&fixture).await, store.invalidation().access_version());
    assert_eq!(unchanged, (before, version), "nothing new was allowed");
    let found = store.user_authorizations(&AccountId::new("maria")).await.unwrap();
    let [facts] = &found[..] else { panic!("{found:?}") };
    assert_eq!(facts.authorization.access, access(&tenant, "maria"));
    assert_eq!(facts.authorization.membership, MembershipId::new("maria"));
    let scopes = Scopes::parse("openid SVC.ES.Webhooks SVC.ES.NEWPOL.ACC.API").scopes;
    assert_eq!((facts.authorization.scopes, facts.authorization.created_at), (scopes, fixture.now()));
    let client = ClientId::new("erp");
    assert_eq!(store.authorized_clients(&tenant.id, 10).await, Ok(vec![client.clone()]));
    add_member(&fixture, &tenant, "juan").await;
    sign_in(&fixture, &tenant, "juan", "g4", ALL).await;
    assert_eq!(store.authorized_clients(&tenant.id, 10).await, Ok(vec![client.clone()]), "once");
    for (count_max, expected) in [(10, 2), (1, 1)] {
        assert_eq!(store.count_client_authorizations(&client, count_max).await, Ok(expected));
    }
    store.revoke_tenant_access(&tenant.id, &client, fixture.now(), &context(), "").await.unwrap();
    assert_eq!(store.authorized_clients(&tenant.id, 10).await, Ok(Vec::new()));
    assert_eq!(store.count_client_authorizations(&client, 10).await, Ok(0));
}

pub(crate) async fn clients_of_a_tenant_are_listed_once_each(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    add_member(&fixture, &tenant, "juan").await;
    let other = fixture.add_tenant().await;
    let membership = membership(&fixture, "m3", "maria", &other.id);
    store.add_membership(&membership, &by()).await.unwrap();
    for name in ["a", "b", "c", "z"] {
        let secret = Secret::new(format!("secret of {name}"));
        store.add_client(&client(&fixture, name), &secret, &by()).await.unwrap();
    }
    for (number, (user, name)) in
        [("maria", "c"), ("juan", "a"), ("maria", "a"), ("juan", "b"), ("juan", "z"), ("juan", "c")]
            .into_iter()
            .enumerate()
    {
        let access = ClientAccess { client: ClientId::new(name), ..access(&tenant, user) };
        sign_in_as(&fixture, access, &format!("g{number}"), ALL).await;
    }
    let listed = async |rows_max: usize| {
        let found = store.authorized_clients(&tenant.id, rows_max).await.unwrap();
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(listed(10).await, ["a", "b", "c", "z"]);
    assert_eq!(listed(4).await, ["a", "b", "c", "z"]);
    assert_eq!(listed(2).await, ["a", "b"]);
    assert_eq!(listed(0).await, [""; 0]);
    assert_eq!(store.authorized_clients(&other.id, 10).await, Ok(Vec::new()));
    let of = |user: &str, name: &str| ClientAccess { client: ClientId::new(name), ..access(&tenant, user) };
    store.revoke_client_access(&of("juan", "b"), fixture.now(), &context(), "").await.unwrap();
    store.revoke_client_access(&of("juan", "a"), fixture.now(), &context(), "").await.unwrap();
    assert_eq!(listed(10).await, ["a", "c", "z"], "maria still allows a");

    let find = async |access: ClientAccess| store.find_authorization(&access).await.unwrap();
    let standing = find(of("maria", "a")).await.unwrap();
    assert_eq!((&standing.access, standing.ended), (&of("maria", "a"), None));
    let ended = find(of("juan", "b")).await.unwrap();
    assert_eq!(ended.ended.map(|ended| ended.at), Some(fixture.now()));
    for none in [of("maria", "b"), of("nobody", "a"), of("maria", "a\0"), of("maria", "")] {
        assert_eq!(find(none).await, None);
    }
}

pub(crate) async fn authorization_ends_with_its_cause_and_its_grants(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    let webhook = active_webhook(&fixture, &tenant, "w").await;
    let maria = AccountId::new("maria");
    for (cause, reason) in [
        ("withdrawn", Suspension::Withdrawn),
        ("revoked", Suspension::Revoked),
        ("code reused", Suspension::Revoked),
        ("for the tenant", Suspension::WithdrawnForTenant),
        ("membership", Suspension::MembershipRemoved),
    ] {
        let grant = sign_in(&fixture, &tenant, "maria", cause, ALL).await;
        assert_eq!(suspension(&fixture, &tenant, &webhook).await, None, "{cause}");
        assert_eq!(store.is_grant_live(&grant.id).await, Ok(true), "{cause}");
        let (before, now, version) =
            (last_change(&fixture).await, fixture.now(), store.invalidation().access_version());
        match cause {
            "withdrawn" => {
                let done = store.revoke_client_access(&access(&tenant, "maria"), now, &context(), "").await;
                assert_eq!(done, Ok(vec![grant.id.clone()]));
            }
            "revoked" => {
                assert_eq!(store.revoke_grant(&grant.id, now, &context(), "").await, Ok(true));
            }
            "code reused" => {
                let reused = redeem(store, cause, now, None).await;
                assert_eq!(reused, CodeOutcome::Reused { revoked: Some(grant.id.clone()) });
            }
            "for the tenant" => {
                let client = ClientId::new("erp");
                let done = store.revoke_tenant_access(&tenant.id, &client, now, &context(), "").await;
                assert_eq!(done, Ok(vec![grant.id.clone()]));
            }
            _ => assert_eq!(store.remove_membership(&maria, &tenant.id, &by()).await, Ok(true)),
        }
        assert_eq!(suspension(&fixture, &tenant, &webhook).await, Some(reason), "{cause}");
        assert_eq!(store.is_grant_live(&grant.id).await, Ok(false), "{cause}");
        assert_eq!(store.find_grant(&grant.id).await.unwrap().unwrap().revoked_at, Some(now), "{cause}");
        assert_eq!(store.changed_webhooks(before).await.unwrap().webhooks, [webhook.id], "{cause}");
        assert!(store.invalidation().access_version() > version, "{cause}");
        assert_eq!(store.user_authorizations(&maria).await, Ok(Vec::new()), "{cause}");
    }
    let query = AuditQuery { kind: Some(AuditKind::AccessEnded), rows_max: 10, ..AuditQuery::default() };
    let ended = store.audit(&query).await.unwrap();
    assert_eq!(ended.len(), 5);
    assert!(ended.iter().all(|record| record.entry.client == Some(ClientId::new("erp"))));
}

pub(crate) async fn authorization_outlives_its_tokens(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    let webhook = active_webhook(&fixture, &tenant, "w").await;
    let first = sign_in(&fixture, &tenant, "maria", "g1", ALL).await;
    let second = sign_in(&fixture, &tenant, "maria", "g2", ALL).await;
    store.revoke_grant(&first.id, fixture.now(), &context(), "").await.unwrap();
    assert_eq!(suspension(&fixture, &tenant, &webhook).await, None, "a grant is left");
    let later = second.expires_at + Duration::from_secs(1);
    let cutoffs = RetentionCutoffs {
        now: later,
        processes: Ticks(0),
        audit: Ticks(0),
        calls: Ticks(0),
        reads: Ticks(0),
        deliveries: Ticks(0),
        mails: Ticks(0),
    };
    assert_eq!(store.expire(cutoffs, 100).await.unwrap().grants, 2);
    assert_eq!(suspension(&fixture, &tenant, &webhook).await, None, "expiry does not end it");
    let withdrawn = store.revoke_client_access(&access(&tenant, "maria"), later, &context(), "").await;
    assert_eq!(withdrawn, Ok(Vec::new()));
    assert_eq!(suspension(&fixture, &tenant, &webhook).await, Some(Suspension::Withdrawn));
}

pub(crate) async fn concurrent_revocations_of_the_last_grants_end_the_authorization(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    let (webhook, second) = (active_webhook(&fixture, &tenant, "w").await, fixture.reopen().await.store);
    for round in 0..5 {
        let ids: Vec<GrantId> = (0..4).map(|number| GrantId::new(format!("g{round}-{number}"))).collect();
        for id in &ids {
            sign_in(&fixture, &tenant, "maria", id.as_str(), ALL).await;
        }
        assert_eq!(suspension(&fixture, &tenant, &webhook).await, None);
        let now = fixture.now();
        concurrently(ids.len(), &[store, &second], |number, store| {
            let id = ids[number].clone();
            async move { store.revoke_grant(&id, now, &context(), "").await.unwrap() }
        })
        .await;
        assert_eq!(suspension(&fixture, &tenant, &webhook).await, Some(Suspension::Revoked), "{round}");
    }
}

pub(crate) async fn membership_added_again_is_another_one(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    let webhook = active_webhook(&fixture, &tenant, "w").await;
    let old = sign_in(&fixture, &tenant, "maria", "g1", ALL).await;
    let maria = AccountId::new("maria");
    store.remove_membership(&maria, &tenant.id, &by()).await.unwrap();
    store.add_membership(&membership(&fixture, "m2", "maria", &tenant.id), &by()).await.unwrap();
    assert_eq!(suspension(&fixture, &tenant, &webhook).await, Some(Suspension::MembershipRemoved));
    assert_eq!(store.is_grant_live(&old.id).await, Ok(false));
    let new = sign_in(&fixture, &tenant, "maria", "g2", ALL).await;
    assert_eq!(suspension(&fixture, &tenant, &webhook).await, None);
    assert_eq!(store.is_grant_live(&new.id).await, Ok(true));
    assert_eq!(store.is_grant_live(&old.id).await, Ok(false), "what hung on the old one stays ended");
}

pub(crate) async fn disabled_user_does_not_count_until_enabled(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    let webhook = active_webhook(&fixture, &tenant, "w").await;
    let grant = sign_in(&fixture, &tenant, "maria", "g1", ALL).await;
    let maria = AccountId::new("maria");
    for (status, expected) in [(Status::Disabled, Some(Suspension::UserDisabled)), (Status::Active, None)] {
        let before = last_change(&fixture).await;
        store.set_account_status(&maria, status, &by()).await.unwrap();
        assert_eq!(suspension(&fixture, &tenant, &webhook).await, expected);
        assert_eq!(store.is_grant_live(&grant.id).await, Ok(expected.is_none()));
        assert_eq!(store.changed_webhooks(before).await.unwrap().webhooks, [webhook.id]);
    }
    add_member(&fixture, &tenant, "juan").await;
    sign_in(&fixture, &tenant, "juan", "g2", ALL).await;
    store.set_account_status(&maria, Status::Disabled, &by()).await.unwrap();
    assert_eq!(suspension(&fixture, &tenant, &webhook).await, None, "a colleague's authorization is enough");
    for (status, expected) in [(Status::Disabled, Some(Suspension::TenantDisabled)), (Status::Active, None)] {
        store.set_tenant_status(&tenant.id, status, &by()).await.unwrap();
        assert_eq!(suspension(&fixture, &tenant, &webhook).await, expected);
    }
    for (status, expected) in [(Status::Disabled, Some(Suspension::ClientDisabled)), (Status::Active, None)] {
        store.set_client_status(&ClientId::new("erp"), status, &by()).await.unwrap();
        assert_eq!(suspension(&fixture, &tenant, &webhook).await, expected);
    }
    let payroll = Products::from_iter([Product::Payroll]);
    for (products, expected) in [(payroll, Some(Suspension::ProductMissing)), (Products::all(), None)] {
        let update = ClientUpdate { products: Some(products), ..ClientUpdate::default() };
        assert!(store.update_client(&ClientId::new("erp"), &update, None, &by()).await.unwrap().is_updated());
        assert_eq!(suspension(&fixture, &tenant, &webhook).await, expected);
    }
}

pub(crate) async fn membership_carries_admin(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    let maria = AccountId::new("maria");
    for is_admin in [true, false] {
        assert_eq!(store.set_membership_admin(&maria, &tenant.id, is_admin, &context()).await, Ok(true));
        let found = store.find_tenant_membership(&maria, &tenant.id).await.unwrap().unwrap();
        assert_eq!(found.membership.is_admin, is_admin);
    }
    let nobody = AccountId::new("nobody");
    assert_eq!(store.set_membership_admin(&nobody, &tenant.id, true, &context()).await, Ok(false));
    let query =
        AuditQuery { kind: Some(AuditKind::MembershipChanged), rows_max: 10, ..AuditQuery::default() };
    assert_eq!(store.audit(&query).await.unwrap().len(), 2);
}

/// A code that a user without an authorization has got is of no use after the end of access for the whole tenant.
pub(crate) async fn end_for_the_tenant_deletes_unused_codes(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    let now = fixture.now();
    let code = AuthorizationCode {
        client: ClientId::new("erp"),
        user: AccountId::new("maria"),
        tenant: tenant.id.clone(),
        expires_at: now + Duration::from_mins(5),
        details: "{}".into(),
    };
    store.store_code(&code_of("g1"), &code, &MembershipId::new("maria"), now, &by()).await.unwrap();
    store.revoke_tenant_access(&tenant.id, &ClientId::new("erp"), now, &context(), "ended").await.unwrap();
    assert!(matches!(redeem(store, "g1", now, None).await, CodeOutcome::Unknown));
}

/// Access that comes and goes while the application changes its webhooks: locks have one order.
pub(crate) async fn access_and_webhooks_change_concurrently(fixture: Fixture) {
    const ROUNDS: usize = 12;
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    let webhook = active_webhook(&fixture, &tenant, "w").await;
    sign_in(&fixture, &tenant, "maria", "g", ALL).await;
    let (now, access) = (fixture.now(), access(&tenant, "maria"));
    let others: Vec<_> = (0..ROUNDS)
        .map(|round| new_webhook_of(&fixture, owner(&tenant), &format!("other {round}")))
        .collect();
    concurrently(6, &[store], |number, store| {
        let (access, id, others) = (access.clone(), webhook.id, others.clone());
        async move {
            for (round, other) in others.into_iter().enumerate() {
                let change = if round % 2 == 0 { WebhookChange::Disable } else { WebhookChange::Enable };
                match number {
                    0 => drop(store.revoke_client_access(&access, now, &context(), "").await.unwrap()),
                    1 => drop(store.set_account_status(&access.user, status(round), &by()).await.unwrap()),
                    2 => drop(store.change_webhook(id, None, change, &by()).await.unwrap()),
                    3 => drop(store.subscribe(other, 100, &by()).await.unwrap()),
                    4 => drop(store.request_replay(id, ReplayKind::Events, (0, 1), &by()).await.unwrap()),
                    _ => {
                        store
                            .revoke_tenant_access(&access.tenant, &access.client, now, &context(), "")
                            .await
                            .unwrap();
                    }
                }
            }
        }
    })
    .await;
}

/// What an engine does: it reads the last change, loads the webhook, and then follows the changes.
pub(crate) async fn webhook_added_during_a_withdrawal_learns_of_it(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    for round in 0..20 {
        sign_in(&fixture, &tenant, "maria", &format!("g{round}"), ALL).await;
        let new = new_webhook_of(&fixture, owner(&tenant), &format!("w{round}"));
        let (id, area) = (new.id, new.resource.area());
        let (now, withdrawn) = (fixture.now(), access(&tenant, "maria"));
        let stores = [store];
        let loaded = concurrently(2, &stores, |number, store| {
            let (new, withdrawn) = (new.clone(), withdrawn.clone());
            async move {
                if number == 0 {
                    store.revoke_client_access(&withdrawn, now, &context(), "").await.unwrap();
                    return None;
                }
                store.subscribe(new, 100, &by()).await.unwrap();
                let last_change = store.changed_webhooks(u64::MAX >> 1).await.unwrap().last_change;
                Some((last_change, load_webhook(&store, id).await.authorization_gap))
            }
        });
        let (last_change, gap) = loaded.await.into_iter().flatten().next().unwrap();
        assert!(store.owner_access(&owner(&tenant)).await.unwrap().suspension(area).is_some());
        let changed = store.changed_webhooks(last_change).await.unwrap().webhooks;
        assert!(gap.is_some() || changed.contains(&id), "round {round}: it would be delivered to");
        store.change_webhook(id, None, WebhookChange::Delete, &by()).await.unwrap();
    }
}

fn status(round: usize) -> Status {
    if round.is_multiple_of(2) { Status::Disabled } else { Status::Active }
}

pub(crate) async fn erased_tenant_has_no_authorizations(fixture: Fixture) {
    let (store, tenant) = (&fixture.store, tenant_with_member(&fixture).await);
    sign_in(&fixture, &tenant, "maria", "g1", ALL).await;
    store.erase_tenant(&tenant.id, &by()).await.unwrap();
    assert_eq!(store.user_authorizations(&AccountId::new("maria")).await, Ok(Vec::new()));
    assert_eq!(store.owner_access(&owner(&tenant)).await.unwrap().authorizations, []);
}

pub(crate) async fn suspension_is_stored_and_its_end_resets_retries(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let tenant = fixture.add_tenant().await;
    let webhook = active_webhook(&fixture, &tenant, "w").await;
    let mut first = new_checkpoint(store, &webhook).await;
    first.parked = vec![lane(7, 3, now.minus(Duration::from_hours(9)))];
    first.suspension = Some(SuspensionStep::Suspended { at: now });
    write_checkpoint(store, first).await;
    let mut again = new_checkpoint(store, &webhook).await;
    again.suspension = Some(SuspensionStep::Suspended { at: now + Duration::from_secs(9) });
    write_checkpoint(store, again).await;
    assert_eq!(find_webhook(store, webhook.id).await.suspended_at, Some(now), "the first time counts");
    let mut resumed = new_checkpoint(store, &webhook).await;
    resumed.suspension = Some(SuspensionStep::Resumed);
    write_checkpoint(store, resumed).await;
    let loaded = load_webhook(store, webhook.id).await;
    assert_eq!(loaded.webhook.suspended_at, None);
    let retry = loaded.lanes[0].retry;
    assert_eq!(
        (retry.attempts, retry.first_failed_at, retry.next_at),
        (0, now, now),
        "its window starts anew"
    );
}
