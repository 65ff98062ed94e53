//! The home of a team, and the way to it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use domain::subscription::Products;
use domain::{Resource, Ticks, WebhookStatus};
use operator::admin::{TeamWebhook, TeamWebhookFilter};
use pages::{PageContext, PageError, Params, Response};
use store::{AuditKind, AuditQuery, Client, DeliveryQuery, KeySlot, ListQuery, Status, Subscription};

use crate::Portal;
use crate::context::{Context, team_path};
use crate::http::applications::client_scopes;
use crate::http::sandbox;
use crate::views::home::{FailingWebhook, Home, Progress};

/// How many of the team's things the checklist looks at: the oldest ones tell enough.
const LOOKED_AT: usize = 20;
/// The same for webhooks, and how many are listed as failing for each reason: each costs a count of what waits for it.
const WEBHOOKS_LOOKED_AT: usize = 10;
const FAILING_LISTED: usize = 5;

/// `/portal/`: the developer's first team, or what to do without one.
pub(crate) async fn choose_team(State(portal): State<Arc<Portal>>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let result = async {
        let visitor = portal.site.realm.visitor(&mut parts).await?.ok_or(PageError::SignIn)?;
        let teams = portal.developer(&visitor).teams().await?;
        Ok::<_, PageError>(match teams.first() {
            Some((team, _)) => pages::see_other(&team_path(&portal, team, "")),
            None => pages::page(StatusCode::OK, portal.no_team_page(&visitor)),
        })
    };
    match result.await {
        Ok(response) => response,
        Err(error) => portal.anonymous_error(&mut parts, error).await,
    }
}

pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    Ok(context.show(&home(context).await?))
}

/// Puts the key of the first usable subscription into the lines to copy.
pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let Some("fill") = form.get("do") else { return Err(PageError::no_action()) };
    context.require_fresh()?;
    let home = home(context).await?;
    let id = home.subscription.as_deref().ok_or(PageError::NotFound)?;
    let key = context.developer().reveal_key(id, KeySlot::Primary).await?.reveal().to_owned();
    Ok(context.show(&Home { key: Some(key), ..home }))
}

async fn home(context: &Context) -> Result<Home, PageError> {
    let (developer, team) = (context.developer(), context.team.id.as_str());
    let query = ListQuery { rows_max: LOOKED_AT, ..ListQuery::default() };
    let filter = TeamWebhookFilter { rows_max: Some(WEBHOOKS_LOOKED_AT), ..TeamWebhookFilter::default() };
    // At the same time: each waits for the store.
    let (subscriptions, clients, webhooks, failing, (sandbox, _)) = tokio::try_join!(
        async { Ok(developer.subscriptions(team, &query).await?.rows) },
        async { Ok(developer.clients(team, &query).await?.rows) },
        async { Ok(developer.webhooks(team, &filter).await?.rows) },
        failing_webhooks(context, &filter),
        sandbox::found(context),
    )?;
    let (has_signed_in, has_called, has_delivery) = tokio::try_join!(
        has_signed_in(context, &clients),
        has_called(context, &subscriptions),
        has_delivery(context, &webhooks),
    )?;
    let usable = subscriptions.iter().find(|one| is_usable(one));
    let progress = Progress {
        has_key: usable.is_some(),
        has_client: clients.iter().any(|client| client.status == Status::Active),
        has_signed_in,
        has_called,
        has_webhook: webhooks.iter().any(|one| one.webhook.handshake.accepted),
        has_delivery,
    };
    let client = clients.iter().find(|client| client.status == Status::Active);
    Ok(Home {
        subscription: usable.map(|one| one.id.to_string()),
        key: None,
        team: context.team.name.clone(),
        progress,
        client: client.map(|client| client.id.to_string()),
        redirect_uri: client.and_then(|client| client.redirect_uris.first().cloned()),
        scopes: client.map(client_scopes).unwrap_or_default().join(" "),
        sandbox,
        resource: client.and_then(|client| first_resource(client, &subscriptions)),
        failing,
    })
}

/// Whether the gate accepts its keys.
pub(crate) fn is_usable(subscription: &Subscription) -> bool {
    subscription.status == Status::Active && subscription.cancelled_at.is_none()
}

/// The first resource whose webhooks the client may have: those of accounting begin with customers.
fn first_resource(client: &Client, subscriptions: &[Subscription]) -> Option<Resource> {
    let opened = subscriptions.iter().filter(|one| is_usable(one)).map(|one| one.products);
    let opened = opened.fold(Products::default(), Products::union);
    let candidates = [Resource::customers()].into_iter().chain(Resource::invoicing());
    let is_open = |product| client.products.contains(product) && opened.contains(product);
    candidates
        .filter(|resource| !resource.event_kinds().is_empty())
        .find(|resource| is_open(resource.area().product()))
}

/// Webhooks that do not deliver now: disabled by the service, suspended, or failing.
async fn failing_webhooks(
    context: &Context,
    filter: &TeamWebhookFilter,
) -> Result<Vec<FailingWebhook>, PageError> {
    let (developer, team) = (context.developer(), context.team.id.as_str());
    let filter = TeamWebhookFilter { rows_max: Some(FAILING_LISTED), ..filter.clone() };
    let of_status = |status| TeamWebhookFilter { status: Some(status), ..filter.clone() };
    let failing = TeamWebhookFilter { only_failing: true, ..filter.clone() };
    let (disabled, suspended) =
        (of_status(WebhookStatus::DisabledByService), of_status(WebhookStatus::Suspended));
    let (disabled, suspended, failing) = tokio::try_join!(
        developer.webhooks(team, &disabled),
        developer.webhooks(team, &suspended),
        developer.webhooks(team, &failing),
    )?;
    let mut rows: Vec<FailingWebhook> = Vec::new();
    for one in [disabled, suspended, failing].iter().flat_map(|page| &page.rows).map(failing_webhook) {
        if !rows.iter().any(|known| known.id == one.id) {
            rows.push(one);
        }
    }
    Ok(rows)
}

fn failing_webhook(one: &TeamWebhook) -> FailingWebhook {
    FailingWebhook {
        id: one.webhook.id.to_string(),
        url: one.webhook.url.clone(),
        state: match () {
            () if one.webhook.disabled.is_some() => "disabled",
            () if one.status == WebhookStatus::Suspended => "suspended",
            () => "failing",
        },
        since: one.failing_since.map(Ticks::iso),
        since_at: one.failing_since,
        behind: one.behind,
    }
}

/// Whether somebody has authorized one of the team's clients.
async fn has_signed_in(context: &Context, clients: &[Client]) -> Result<bool, PageError> {
    for client in clients {
        let query = AuditQuery {
            kind: Some(AuditKind::Granted),
            client: Some(client.id.clone()),
            rows_max: 1,
            ..AuditQuery::default()
        };
        if !context.portal.ports.store.audit(&query).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn has_called(context: &Context, subscriptions: &[Subscription]) -> Result<bool, PageError> {
    for one in subscriptions {
        let keys = context.developer().subscription(&one.id.to_string()).await?.keys;
        if keys.iter().any(|key| key.last_used_at.is_some()) {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn has_delivery(context: &Context, webhooks: &[TeamWebhook]) -> Result<bool, PageError> {
    for one in webhooks.iter().filter(|one| one.webhook.handshake.accepted) {
        // Only the newest one: the statistics would count what waits.
        let newest = DeliveryQuery {
            webhook: one.webhook.id,
            before: None,
            since: None,
            only_failed: false,
            rows_max: 1,
        };
        if !context.portal.ports.store.successful_deliveries(&newest).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
