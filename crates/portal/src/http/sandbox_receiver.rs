//! Events of the sandbox on demand, and its built-in receiver.

use domain::event::semantic_name;
use domain::log_entry::LogEntry;
use domain::{Area, Resource, Secret, Suspension};
use operator::admin::TeamWebhookFilter;
use operator::ingest::find_event;
use store::{ReceiverMode, Sandbox, TEAM_WEBHOOKS_MAX, WebhookOwner};
use webhooks::management::{ActionError, BuiltInSubscription};

use super::sandbox::{applications, authorize, found, refused};
use crate::catalogue::catalogue;
use crate::context::Context;
use crate::text::sandbox::ReceiverText;
use crate::views::sandbox::SandboxState;
use crate::views::sandbox_received::{ReceivedPage, ReceivedRow};
use crate::views::sandbox_receiver::{BuiltInWebhook, MadeEvents, ReceiverPage, SubscribedWebhooks};
use pages::webhooks::Reader;
use pages::webhooks::row::WebhookRow;
use pages::webhooks::text::suspension::suspension;
use pages::webhooks::text::webhooks::action_refusal;
use pages::{Format, PageContext, PageError, Params, Response};

const ROWS: usize = 25;
/// The webhooks that the page lists.
const WEBHOOKS_MAX: usize = 20;
/// The resources of one form.
const RESOURCES_MAX: usize = 5;
/// Longer names of events are none.
const EVENT_CHARS_MAX: usize = 200;

pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    Ok(context.show(&page(context, None).await?))
}

pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    match form.get("do") {
        Some("make") => make(context, form).await,
        Some("subscribe") => subscribe(context, form).await,
        Some("mode") => {
            let text = ReceiverText::of(context.lang());
            let mode = form.get("mode").and_then(ReceiverMode::from_name);
            let mode = mode.ok_or_else(|| PageError::Refused(text.choose_mode.to_owned()))?;
            let changed = context.sandboxes().set_receiver_mode(context.team.id.as_str(), mode).await;
            changed.map_err(|error| refused(context, error))?;
            let values = serde_json::json!({ "receiverMode": mode.as_str() });
            Ok(context.done(&context.here(&[], []), "receiver_mode", &values))
        }
        _ => Err(PageError::no_action()),
    }
}

async fn page(context: &Context, subscribed: Option<SubscribedWebhooks>) -> Result<ReceiverPage, PageError> {
    let (state, sandbox) = found(context).await?;
    let Some(sandbox) = sandbox.filter(|_| state == SandboxState::Ready) else {
        return Ok(ReceiverPage::unavailable(state));
    };
    let (sandboxes, team) = (context.sandboxes(), context.team.id.as_str());
    let before = context.query.get("before").and_then(|number| number.parse().ok());
    let is_csv = context.format == Format::Csv;
    let rows_max = if is_csv { store::RECEIVED_MAX } else { ROWS };
    let mut received = sandboxes.received(team, before, rows_max + 1).await?;
    let has_more = received.len() > rows_max;
    received.truncate(rows_max);
    let rows: Vec<ReceivedRow> = received.iter().map(ReceivedRow::new).collect();
    let webhooks = webhooks_to(context, &sandbox).await?;
    Ok(ReceiverPage {
        state,
        receiver_url: context.portal.ports.management.built_in_receiver_url(sandbox.receiver),
        receiver_mode: sandbox.receiver_mode.as_str(),
        mode: sandbox.receiver_mode,
        tenant: sandbox.tenant.to_string(),
        made: made_before(context, &sandbox).await?,
        subscribed,
        has_more_webhooks: webhooks.len() > WEBHOOKS_MAX,
        webhooks: webhooks.into_iter().take(WEBHOOKS_MAX).collect(),
        next: rows.last().filter(|_| has_more).map(|row| row.number),
        received: rows,
        applications: applications(context).await?,
    })
}

/// The webhooks of the sandbox whose URL is that of its built-in receiver.
async fn webhooks_to(context: &Context, sandbox: &Sandbox) -> Result<Vec<BuiltInWebhook>, PageError> {
    let filter = TeamWebhookFilter {
        tenant: Some(sandbox.tenant.to_string()),
        url_contains: Some(sandbox.receiver.to_string()),
        rows_max: Some(WEBHOOKS_MAX + 1),
        ..TeamWebhookFilter::default()
    };
    let page = context.developer().webhooks(context.team.id.as_str(), &filter).await?;
    Ok(page.rows.iter().map(BuiltInWebhook::new).collect())
}

/// The event that the URL names by its sequence, as it was made.
async fn made_before(context: &Context, sandbox: &Sandbox) -> Result<Option<MadeEvents>, PageError> {
    let Some(sequence) = context.query.get("made").and_then(|number| number.parse().ok()) else {
        return Ok(None);
    };
    let entries = context.sandboxes().made_events(context.team.id.as_str(), sequence).await?;
    made_events(context, sandbox, &entries).await
}

/// What was made, and the webhooks that get the last one of it.
async fn made_events(
    context: &Context,
    sandbox: &Sandbox,
    entries: &[LogEntry],
) -> Result<Option<MadeEvents>, PageError> {
    let Some(last) = entries.last() else { return Ok(None) };
    let filter = TeamWebhookFilter {
        tenant: Some(sandbox.tenant.to_string()),
        event: Some((last.resource, last.kind)),
        rows_max: Some(WEBHOOKS_MAX),
        ..TeamWebhookFilter::default()
    };
    let webhooks = context.developer().webhooks(context.team.id.as_str(), &filter).await?;
    Ok(Some(MadeEvents {
        events: entries.iter().map(|one| semantic_name(one.resource, one.kind)).collect(),
        record: last.correlation_id.to_string(),
        company: Some(last.company.to_string()).filter(|company| !company.is_empty()),
        sequence: last.sequence,
        webhooks: webhooks.rows.iter().map(|one| WebhookRow::new(one, None)).collect(),
        resource: last.resource,
    }))
}

/// Makes an event happen. The browser gets to the page that shows it; reloading that page repeats nothing.
async fn make(context: &Context, form: &Params) -> Result<Response, PageError> {
    let named = form.get("event").map(str::trim).unwrap_or_default();
    let name = catalogue().find(named).map_or(named, |event| event.name.as_str());
    if name.chars().count() > EVENT_CHARS_MAX || find_event(name).is_none() {
        return Err(PageError::Refused(ReceiverText::of(context.lang()).choose_event.to_owned()));
    }
    let (sandboxes, team) = (context.sandboxes(), context.team.id.as_str());
    let made = Box::pin(sandboxes.make_event(team, name)).await;
    let made = made.map_err(|error| refused(context, error))?;
    if context.format == Format::Html {
        let sequence = made.sequence.to_string();
        let shown = context.here(&["made", "event", "before"], [("made", sequence.as_str())]);
        return Ok(pages::see_other(&shown));
    }
    let sandbox = sandboxes.sandbox(team).await?.ok_or(PageError::NotFound)?;
    let entries = sandboxes.made_events(team, made.sequence).await?;
    let shown = made_events(context, &sandbox, &entries).await?;
    Ok(pages::json(axum::http::StatusCode::OK, &shown))
}

/// Makes webhooks of a client to the built-in receiver, for all events of the chosen resources.
async fn subscribe(context: &Context, form: &Params) -> Result<Response, PageError> {
    let text = ReceiverText::of(context.lang());
    let resources: Option<Vec<Resource>> =
        form.all("resource").take(RESOURCES_MAX + 1).map(parse_resource).collect();
    let resources = resources.filter(|all| (1..=RESOURCES_MAX).contains(&all.len()));
    let resources = resources.ok_or_else(|| PageError::Refused(text.choose_resource.to_owned()))?;
    let (sandboxes, team) = (context.sandboxes(), context.team.id.as_str());
    let entered = sandboxes.enterable(team, form.get("client").unwrap_or_default()).await;
    let (sandbox, client, audit) = entered.map_err(|error| refused(context, error))?;
    let owner = WebhookOwner { tenant: sandbox.tenant.clone(), client: client.id.clone() };
    for resource in &resources {
        require_access(context, &owner, resource.area()).await?;
    }
    let ports = &context.portal.ports;
    let secret = ports.random.token();
    let mut made = Vec::new();
    for (resource, kinds) in missing_webhooks(context, &sandbox, &owner, &resources).await? {
        let new = BuiltInSubscription {
            owner: owner.clone(),
            user: sandbox.user.clone(),
            receiver: sandbox.receiver,
            resource,
            kinds,
            name: client.name.clone(),
            secret: Secret::new(secret.clone()),
        };
        let subscribed = ports.management.subscribe_to_built_in(new, audit).await;
        made.push(subscribed.map_err(|error| not_subscribed(context, error))?.id.to_string());
    }
    if made.is_empty() {
        return Err(PageError::Refused(text.exists.to_owned()));
    }
    Ok(context.show(&page(context, Some(SubscribedWebhooks { webhooks: made, secret })).await?))
}

fn parse_resource(name: &str) -> Option<Resource> {
    let (area, resource) = name.split_once('.')?;
    let found = Resource::find(Area::parse(area)?, resource)?;
    Some(found).filter(|resource| !resource.event_kinds().is_empty())
}

/// The webhooks that the client does not have to the receiver yet.
async fn missing_webhooks(
    context: &Context,
    sandbox: &Sandbox,
    owner: &WebhookOwner,
    resources: &[Resource],
) -> Result<Vec<(Resource, Vec<domain::event::EventKind>)>, PageError> {
    let filter = TeamWebhookFilter {
        tenant: Some(owner.tenant.to_string()),
        client: Some(owner.client.to_string()),
        url_contains: Some(sandbox.receiver.to_string()),
        rows_max: Some(TEAM_WEBHOOKS_MAX),
        ..TeamWebhookFilter::default()
    };
    let known = context.developer().webhooks(context.team.id.as_str(), &filter).await?.rows;
    let is_known = |resource: Resource, kinds: &[domain::event::EventKind]| {
        let has_all = |one: &store::Webhook| kinds.iter().all(|kind| one.kinds.contains(*kind));
        known.iter().any(|one| one.webhook.resource == resource && has_all(&one.webhook))
    };
    let all = resources.iter().flat_map(|resource| {
        BuiltInSubscription::kinds_by_webhook(*resource).into_iter().map(|kinds| (*resource, kinds))
    });
    Ok(all.filter(|(resource, kinds)| !is_known(*resource, kinds)).collect())
}

/// The client may get the area's events of the sandbox. What its user can give is given; what the team has to ask for is
/// refused.
async fn require_access(context: &Context, owner: &WebhookOwner, area: Area) -> Result<(), PageError> {
    let store = &context.portal.ports.store;
    let refused = |why| PageError::Refused(suspension(context.lang(), Reader::Developer, why).to_owned());
    match store.owner_access(owner).await?.suspension(area) {
        None => return Ok(()),
        Some(
            why @ (Suspension::TenantDisabled
            | Suspension::ClientDisabled
            | Suspension::ProductMissing
            | Suspension::TeamSubscriptionMissing),
        ) => return Err(refused(why)),
        Some(_) => authorize(context, &owner.client, None).await?,
    };
    store.owner_access(owner).await?.suspension(area).map_or(Ok(()), |why| Err(refused(why)))
}

fn not_subscribed(context: &Context, error: ActionError) -> PageError {
    match action_refusal(context.lang(), &error) {
        Some(why) => PageError::Refused(why),
        None => error.into(),
    }
}

/// One request that the receiver got.
pub(crate) async fn received(context: &Context) -> Result<Response, PageError> {
    let number = context.segment("number").parse().map_err(|_| PageError::NotFound)?;
    if !context.portal.settings.sandbox.is_open {
        return Ok(context.show(&ReceiverPage::unavailable(SandboxState::Closed)));
    }
    let request = context.sandboxes().received_request(context.team.id.as_str(), number).await?;
    Ok(context.show(&ReceivedPage::new(request)))
}
