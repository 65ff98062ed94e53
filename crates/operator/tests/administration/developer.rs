//! What developers do with what their team owns: subscriptions and keys, clients and secrets, webhooks. To other teams it
//! does not exist, and every action is in the audit.

use std::time::Duration;

use axum::http::Method;
use domain::subscription::Products;
use domain::{
    AccountId, ClientId, GrantId, Guid, MembershipId, Realm, RequestId, Resource, Scopes, Secret, Suspension,
    TenantId, WebhookId, WebhookStatus,
};
use operator::admin::{
    AdminError, DeveloperAdmin, NewClient, NewSubscription, RedirectUriState, TeamWebhookFilter,
    WebhookContent,
};
use serde_json::json;
use store::{
    Actor, AuditContext, AuditKind, AuditQuery, AuthorizationCode, CallCount, CallbackIdToken, CodeExchange,
    Consent, Grant, KeySlot, ListQuery, NewGrant, NewWebhook, Pkce, RequestDecision, RequestKind, Status,
    SubscribeOutcome, TeamUpdate, WebhookChange, WebhookOwner,
};

use super::fixture::Api;
use super::teams::{developer, full_admin, teams};

/// What a team owns.
struct Owned {
    subscription: String,
    client: String,
    webhook: String,
}

const URI: &str = "https://app.example/callback";
const OVERLAP: Duration = Duration::from_hours(1);

async fn own(api: &Api, team: &str) -> Owned {
    let admin = full_admin(api);
    let new = NewSubscription {
        name: team.into(),
        products: Products::all(),
        daily_quota: None,
        team: Some(team.into()),
    };
    let subscription = admin.add_subscription(new).await.unwrap().0.id.to_string();
    let client = format!("app-{team}");
    let new = NewClient {
        id: Some(client.clone()),
        name: team.into(),
        kind: domain::ClientKind::Web,
        redirect_uris: vec![URI.into(), format!("{URI}/second")],
        post_logout_uris: Vec::new(),
        backchannel_logout_uri: None,
        pkce: Some(Pkce::Required),
        consent: Consent::Required,
        callback_id_token: CallbackIdToken::Auto,
        products: Products::all(),
        team: Some(team.into()),
    };
    admin.add_client(new).await.unwrap();
    let webhook = subscribe(api, &client).await.to_string();
    Owned { subscription, client, webhook }
}

async fn subscribe(api: &Api, client: &str) -> WebhookId {
    let id = api.admin.random.guid();
    let new = NewWebhook {
        id,
        owner: WebhookOwner { tenant: TenantId::new("norte"), client: ClientId::new(client) },
        user: AccountId::new("maria"),
        resource: Resource::customers(),
        kinds: Resource::customers().event_kinds().into_iter().collect(),
        name: "Panel".into(),
        description: String::new(),
        url: format!("https://receiver.example/{id}"),
        secret: Secret::new("hush"),
        host_mismatch: String::new(),
        enabled: true,
    };
    let made = api.store.subscribe(new, 1000, &AuditContext::default()).await.unwrap();
    assert!(matches!(made, SubscribeOutcome::Created(_)), "{made:?}");
    id
}

/// A user of the tenant signs in to the client.
async fn authorize(api: &Api, client: &str) {
    let (store, now, client) = (&api.store, api.admin.clock.now(), ClientId::new(client));
    let user = store.find_account_by_email(Realm::Users, "maria@example.com").await.unwrap().unwrap().id;
    let (id, tenant) = (api.admin.random.guid(), TenantId::new("norte"));
    let code = Secret::new(format!("code {id}"));
    let expires_at = now + Duration::from_hours(1);
    let row = AuthorizationCode {
        client: client.clone(),
        user: user.clone(),
        tenant: tenant.clone(),
        expires_at,
        details: String::new(),
    };
    let context = AuditContext::default();
    store.store_code(&code, &row, &MembershipId::new(""), now, &context).await.unwrap();
    let grant = Grant {
        id: GrantId::from(id),
        client: client.clone(),
        user,
        tenant,
        details: String::new(),
        created_at: now,
        last_used_at: now,
        expires_at,
        revoked_at: None,
    };
    let scopes = Scopes::parse("SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.COR.API SVC.ES.Webhooks").scopes;
    let new = NewGrant { grant, scopes, refresh: None, session: None };
    let exchange = CodeExchange { code, client, now, context };
    store.take_code(&exchange, Box::new(|_| Some(new))).await.unwrap();
}

/// Team panel (ana, leo) and team other (eva), a tenant with a user, and what both teams own.
async fn installation() -> (Api, Owned, Owned) {
    let api = teams().await;
    api.add("/tenants", &json!({"name": "Norte", "id": "norte"})).await;
    let user = json!({"email": "maria@example.com", "givenName": "María", "password": "una bien larga", "tenants": ["norte"]});
    api.add("/users", &user).await;
    let (panel, other) = (own(&api, "panel").await, own(&api, "other").await);
    (api, panel, other)
}

fn error<T>(result: Result<T, AdminError>) -> AdminError {
    result.err().expect("it is refused")
}

fn conflict<T>(result: Result<T, AdminError>) -> &'static str {
    match error(result) {
        AdminError::Conflict { code, .. } => code.as_str(),
        other => panic!("{other:?}"),
    }
}

/// Everything that a developer can do with what a team owns, by name: what became of it.
async fn every_function(by: &DeveloperAdmin, team: &str, owned: &Owned) -> Vec<(&'static str, AdminError)> {
    let Owned { subscription, client, webhook } = owned;
    let (list, filter, slot) = (ListQuery::default(), TeamWebhookFilter::default(), KeySlot::Primary);
    let results = vec![
        ("subscriptions", by.subscriptions(team, &list).await.err()),
        ("subscription", by.subscription(subscription).await.err()),
        ("usage", by.usage(subscription, 7).await.err()),
        ("reveal_key", by.reveal_key(subscription, slot).await.err()),
        ("regenerate_key", by.regenerate_key(subscription, slot, OVERLAP).await.err()),
        ("clients", by.clients(team, &list).await.err()),
        ("client", by.client(client).await.err()),
        ("rename_client", by.rename_client(client, "Nuevo").await.err()),
        ("rotate_client_secret", by.rotate_client_secret(client, OVERLAP).await.err()),
        ("remove_redirect_uri", by.remove_redirect_uri(client, URI).await.err()),
        ("webhooks", by.webhooks(team, &filter).await.err()),
        ("webhook", by.webhook(webhook).await.err()),
        ("require_webhook", by.require_webhook(webhook).await.err()),
        ("changeable_webhook", by.changeable_webhook(webhook).await.err()),
        ("webhook_with_content", by.webhook_with_content(webhook).await.err()),
    ];
    results.into_iter().filter_map(|(name, error)| Some((name, error?))).collect()
}

#[tokio::test]
async fn nothing_of_another_team_exists() {
    let (api, panel, other) = installation().await;
    for (name, team, owned) in [("leo", "other", &other), ("ana", "other", &other), ("eva", "panel", &panel)]
    {
        let refused = every_function(&developer(&api, name), team, owned).await;
        assert_eq!(refused.len(), 15, "{name}: {refused:?}");
        for (function, error) in refused {
            assert!(matches!(error, AdminError::NotFound(_)), "{name} {function}: {error:?}");
        }
    }
    // A developer who was disabled sees nothing of their own team either.
    assert_eq!(api.patch("/developers/leo", &json!({"standing": "disabled"})).await.0, 200);
    let refused = every_function(&developer(&api, "leo"), "panel", &panel).await;
    assert!(refused.iter().all(|(_, error)| matches!(error, AdminError::NotFound(_))), "{refused:?}");
    assert_eq!(refused.len(), 15);
}

#[tokio::test]
async fn what_belongs_to_no_team_exists_for_no_developer() {
    let (api, panel, _) = installation().await;
    for path in [format!("/clients/{}", panel.client), format!("/subscriptions/{}", panel.subscription)] {
        assert_eq!(api.patch(&path, &json!({"team": null})).await.0, 200, "{path}");
    }
    let refused = every_function(&developer(&api, "ana"), "panel", &panel).await;
    let names: Vec<&str> = refused.iter().map(|(name, _)| *name).collect();
    assert_eq!(refused.len(), 12, "all but the lists: {names:?}");
    assert!(refused.iter().all(|(_, error)| matches!(error, AdminError::NotFound(_))), "{refused:?}");
    let list = developer(&api, "ana").webhooks("panel", &TeamWebhookFilter::default()).await.unwrap();
    assert!(list.rows.is_empty(), "the client left the team, and its webhooks with it");
}

#[tokio::test]
async fn member_uses_what_the_team_owns_and_the_audit_names_the_developer() {
    let (api, panel, _) = installation().await;
    authorize(&api, &panel.client).await;
    let leo = developer(&api, "leo");
    let refused = every_function(&leo, "panel", &panel).await;
    assert!(refused.is_empty(), "{refused:?}");
    let query = AuditQuery { rows_max: 1000, ..AuditQuery::default() };
    let records = api.store.audit(&query).await.unwrap();
    let by_leo =
        |record: &&store::AuditRecord| record.entry.context.actor == Actor::Developer(AccountId::new("leo"));
    let mut kinds: Vec<&str> =
        records.iter().filter(by_leo).map(|record| record.entry.kind.as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            AuditKind::ClientChanged.as_str(),
            AuditKind::ClientChanged.as_str(),
            AuditKind::ClientSecretRotated.as_str(),
            AuditKind::SubscriptionKeyRevealed.as_str(),
            AuditKind::SubscriptionKeyRotated.as_str(),
        ]
    );
    // The actions on webhooks take their context from here.
    assert_eq!(
        leo.changeable_webhook(&panel.webhook).await.unwrap().1.actor,
        Actor::Developer(AccountId::new("leo"))
    );
}

#[tokio::test]
async fn disabled_team_reads_and_changes_nothing() {
    let (api, panel, _) = installation().await;
    let disable = TeamUpdate { status: Some(Status::Disabled), ..TeamUpdate::default() };
    full_admin(&api).update_team("panel", disable, None).await.unwrap();
    let ana = developer(&api, "ana");
    for code in [
        conflict(ana.regenerate_key(&panel.subscription, KeySlot::Primary, OVERLAP).await),
        conflict(ana.rename_client(&panel.client, "x").await),
        conflict(ana.rotate_client_secret(&panel.client, OVERLAP).await),
        conflict(ana.remove_redirect_uri(&panel.client, URI).await),
        conflict(ana.changeable_webhook(&panel.webhook).await),
    ] {
        assert_eq!(code, "team_disabled");
    }
    assert!(ana.subscription(&panel.subscription).await.is_ok() && ana.client(&panel.client).await.is_ok());
}

#[tokio::test]
async fn keys_are_revealed_and_regenerated_with_an_overlap() {
    let (api, panel, _) = installation().await;
    let (ana, id, slot) = (developer(&api, "ana"), &panel.subscription, KeySlot::Secondary);
    let first = ana.reveal_key(id, slot).await.unwrap();
    let rotated = ana.regenerate_key(id, slot, OVERLAP).await.unwrap();
    assert_eq!(ana.reveal_key(id, slot).await.unwrap(), rotated.secret);
    for key in [&first, &rotated.secret] {
        assert_eq!(key.reveal().len(), 32);
        let found = api.store.find_subscription_by_key(key, api.admin.clock.now()).await.unwrap();
        assert!(found.is_some(), "both are valid during the overlap");
    }
    let shown = ana.subscription(id).await.unwrap();
    let keys: Vec<_> = shown.keys.iter().map(|key| (key.slot, key.is_revealable, key.valid_until)).collect();
    assert_eq!(
        keys,
        [
            (KeySlot::Primary, true, None),
            (slot, true, None),
            (slot, false, Some(rotated.previous_valid_until))
        ]
    );
    let too_long = ana.regenerate_key(id, slot, Duration::from_hours(169)).await;
    assert!(error(too_long).to_string().contains("168 hours at most"));
    full_admin(&api).cancel_subscription(id).await.unwrap();
    assert!(matches!(error(ana.reveal_key(id, slot).await), AdminError::Cancelled(_)));
    assert!(matches!(error(ana.regenerate_key(id, slot, OVERLAP).await), AdminError::Cancelled(_)));
}

#[tokio::test]
async fn limits_and_usage_are_those_that_apply() {
    let (api, panel, _) = installation().await;
    let (ana, id) = (developer(&api, "ana"), &panel.subscription);
    let limits = ana.subscription(id).await.unwrap().limits;
    assert_eq!((limits.rate_per_minute, limits.calls_per_day), (Some(300), Some(10_000)), "as configured");
    full_admin(&api).set_daily_quota(id, Some(7)).await.unwrap();
    let today = api.admin.clock.now().day();
    let subscription = domain::ids::SubscriptionId::new(id.as_str());
    let calls = |day, calls| CallCount {
        subscription: subscription.clone(),
        day,
        route: "/accounting/api/customers".into(),
        calls,
        failed: 1,
    };
    let counted = [calls(today, 5), calls(today - 6, 4), calls(today - 7, 3)];
    api.store.record_usage(&counted, &[]).await.unwrap();
    let shown = ana.subscription(id).await.unwrap();
    assert_eq!((shown.limits.calls_per_day, shown.calls_today), (Some(7), 5), "its own quota");
    let usage = ana.usage(id, 7).await.unwrap();
    assert_eq!((usage.calls, usage.failed, usage.days.len()), (9, 2, 2));
    assert_eq!(usage.days[0].routes[0].route, "/accounting/api/customers");
    assert_eq!(ana.usage(id, 0).await.unwrap().calls, 5, "today at least");
    assert!(matches!(error(ana.usage(id, 401).await), AdminError::Invalid(_)));
}

#[tokio::test]
async fn client_shows_its_redirect_addresses_with_their_states() {
    let (api, panel, _) = installation().await;
    let (ana, admin) = (developer(&api, "ana"), full_admin(&api));
    let ask = async |uri: &str| {
        let kind = RequestKind::RedirectUri { client: ClientId::new(panel.client.as_str()), uri: uri.into() };
        ana.ask("panel", kind, "").await.unwrap().id
    };
    let refuse =
        async |id: &RequestId| admin.refuse_request(id.as_str(), "sin contrato", None).await.unwrap();
    let (pending, refused) = (ask("https://a.example/cb").await, ask("https://b.example/cb").await);
    refuse(&refused).await;
    refuse(&ask("https://a.example/cb").await).await;
    let withdrawn = ask("https://c.example/cb").await;
    let decision = RequestDecision::Withdraw;
    let _ = api.store.decide_request(&withdrawn, &decision, None, &AuditContext::default()).await.unwrap();
    let shown = ana.client(&panel.client).await.unwrap();
    let states: Vec<(&str, String)> = shown
        .redirect_uris
        .iter()
        .map(|one| {
            let state = match &one.state {
                RedirectUriState::Registered => "registered".to_owned(),
                RedirectUriState::Pending { request, .. } => format!("pending {request}"),
                RedirectUriState::Refused { request, reason, .. } => format!("refused {request}: {reason}"),
            };
            (one.uri.as_str(), state)
        })
        .collect();
    assert_eq!(
        states,
        [
            (URI, "registered".to_owned()),
            ("https://app.example/callback/second", "registered".to_owned()),
            ("https://a.example/cb", format!("pending {pending}")),
            ("https://b.example/cb", format!("refused {refused}: sin contrato")),
        ]
    );
    assert!(ana.remove_redirect_uri(&panel.client, URI).await.is_ok());
    let last = ana.remove_redirect_uri(&panel.client, "https://app.example/callback/second").await;
    assert!(error(last).to_string().contains("needs one redirect address"));
    let unknown = ana.remove_redirect_uri(&panel.client, "https://none.example").await;
    assert!(matches!(error(unknown), AdminError::NotFound(_)));

    assert_eq!(shown.previous_secret_until, None);
    let rotated = ana.rotate_client_secret(&panel.client, OVERLAP).await.unwrap();
    let until = ana.client(&panel.client).await.unwrap().previous_secret_until;
    assert_eq!(until, Some(rotated.previous_valid_until));
    let now = api.admin.clock.now();
    let id = ClientId::new(panel.client.as_str());
    assert_eq!(api.store.client_secret_matches(&id, &rotated.secret, now).await, Ok(true));
    assert_eq!(ana.rename_client(&panel.client, " Ventas ").await.unwrap().name, "Ventas");
    assert!(matches!(error(ana.rename_client(&panel.client, "").await), AdminError::Invalid(_)));
}

#[tokio::test]
async fn webhook_is_suspended_and_its_content_hidden_once_access_has_ended() {
    let (api, panel, _) = installation().await;
    authorize(&api, &panel.client).await;
    let ana = developer(&api, "ana");
    let webhook = ana.webhook_with_content(&panel.webhook).await.unwrap();
    assert_eq!(ana.may_see_content(&webhook).await.unwrap(), WebhookContent::Visible);
    let shown = ana.webhook(&panel.webhook).await.unwrap();
    assert_eq!((shown.status, shown.suspension), (WebhookStatus::AwaitingContract, None));

    let (tenant, client) = (TenantId::new("norte"), ClientId::new(panel.client.as_str()));
    let (now, context) = (api.admin.clock.now(), AuditContext::default());
    api.store.revoke_tenant_access(&tenant, &client, now, &context, "").await.unwrap();
    let hidden = WebhookContent::Hidden(Suspension::WithdrawnForTenant);
    assert_eq!(ana.may_see_content(&webhook).await.unwrap(), hidden);
    assert_eq!(conflict(ana.webhook_with_content(&panel.webhook).await), "suspended");
    for shown in [
        ana.webhook(&panel.webhook).await.unwrap(),
        ana.webhooks("panel", &TeamWebhookFilter::default()).await.unwrap().rows.remove(0),
    ] {
        assert_eq!(shown.status, WebhookStatus::Suspended);
        assert_eq!(shown.suspension, Some(Suspension::WithdrawnForTenant));
        assert_eq!(shown.explanation(), Suspension::WithdrawnForTenant.explanation());
    }
    // It can still be managed, and one that its owner disabled hides its content too.
    let (webhook, context) = ana.changeable_webhook(&panel.webhook).await.unwrap();
    api.store.change_webhook(webhook.id, None, WebhookChange::Disable, context).await.unwrap();
    assert_eq!(ana.webhook(&panel.webhook).await.unwrap().status, WebhookStatus::Disabled);
    assert_eq!(conflict(ana.webhook_with_content(&panel.webhook).await), "suspended");
    // A new authorization shows it again.
    authorize(&api, &panel.client).await;
    assert!(ana.webhook_with_content(&panel.webhook).await.is_ok());
}

#[tokio::test]
async fn webhooks_are_filtered_and_paged() {
    let (api, panel, other) = installation().await;
    authorize(&api, &panel.client).await;
    let ana = developer(&api, "ana");
    for _ in 0..4 {
        subscribe(&api, &panel.client).await;
    }
    let filter = TeamWebhookFilter { rows_max: Some(2), ..TeamWebhookFilter::default() };
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let page = ana.webhooks("panel", &TeamWebhookFilter { after, ..filter.clone() }).await.unwrap();
        seen.extend(page.rows.iter().map(|one| one.webhook.id));
        let Some(next) = page.next else { break };
        assert_eq!(next.to_string().parse(), Ok(next), "a URL can hold it");
        after = Some(next);
    }
    assert_eq!(seen.len(), 5);
    assert_eq!(seen[0], Guid::parse(&panel.webhook).unwrap());
    let count = async |filter: TeamWebhookFilter| ana.webhooks("panel", &filter).await.unwrap().rows.len();
    let all = TeamWebhookFilter::default;
    assert_eq!(count(TeamWebhookFilter { client: Some(other.client.clone()), ..all() }).await, 0);
    assert_eq!(count(TeamWebhookFilter { url_contains: Some(panel.webhook.clone()), ..all() }).await, 1);
    let awaiting = Some(WebhookStatus::AwaitingContract);
    assert_eq!(count(TeamWebhookFilter { status: awaiting, ..all() }).await, 5);
    assert_eq!(count(TeamWebhookFilter { only_failing: true, ..all() }).await, 0);
    // Where the engine has not noticed yet that access has ended, a filter shows no wrong status.
    let (tenant, client) = (TenantId::new("norte"), ClientId::new(panel.client.as_str()));
    let (now, context) = (api.admin.clock.now(), AuditContext::default());
    api.store.revoke_tenant_access(&tenant, &client, now, &context, "").await.unwrap();
    assert_eq!(count(TeamWebhookFilter { status: awaiting, ..all() }).await, 0);
    let long = TeamWebhookFilter { url_contains: Some("x".repeat(201)), ..all() };
    assert!(matches!(error(ana.webhooks("panel", &long).await), AdminError::Invalid(_)));
}

#[tokio::test]
async fn operators_lists_filter_by_team() {
    let (api, panel, other) = installation().await;
    for (path, rows, panels, others) in [
        ("/clients", "clients", &panel.client, &other.client),
        ("/subscriptions", "subscriptions", &panel.subscription, &other.subscription),
    ] {
        for (team, expected) in [("panel", vec![panels]), ("other", vec![others]), ("none", Vec::new())] {
            let page = api.get(&format!("{path}?team={team}")).await;
            let ids: Vec<&str> =
                page[rows].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
            assert_eq!(ids, expected, "{path} {team}");
        }
        assert_eq!(api.get(path).await[rows].as_array().unwrap().len(), 2);
        let wrong = api.call(Method::GET, &format!("{path}?team=a%20b"), None).await;
        assert_eq!(wrong.0, 400, "{wrong:?}");
    }
}
