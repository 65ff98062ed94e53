//! The reference page.

use domain::subscription::Product;
use domain::{Area, ClientId, Scope};
use pages::{PageContext, PageError, Params, Response};
use store::{KeySlot, ListQuery, Status, Subscription};

use crate::context::Context;
use crate::views::reference::{Api, Choice, HandOver, HandedToken, ReferencePage};

pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    Ok(context.show(&page(context).await?))
}

async fn page(context: &Context) -> Result<ReferencePage, PageError> {
    let settings = &context.portal.settings;
    let all = context.developer().subscriptions(context.team.id.as_str(), &ListQuery::default()).await?;
    let is_usable = |one: &&Subscription| one.cancelled_at.is_none() && one.status == Status::Active;
    let mut subscriptions: Vec<&Subscription> = all.rows.iter().filter(is_usable).collect();
    // Those for the sandbox alone first.
    subscriptions.sort_by_key(|one| !one.is_sandbox);
    let clients = context.developer().clients(context.team.id.as_str(), &ListQuery::default()).await?.rows;
    let clients = clients.iter().filter(|client| client.status == Status::Active);
    Ok(ReferencePage {
        is_sandbox_open: settings.sandbox.is_open,
        subscriptions: subscriptions.into_iter().map(|one| Choice::new(&one.id, &one.name)).collect(),
        applications: clients.map(|one| Choice::new(&one.id, &one.name)).collect(),
        handed_over: None,
        apis: Product::ALL.into_iter().flat_map(|product| apis(&settings.base_url, product)).collect(),
        docs_url: settings.docs_url.clone(),
        openapi_url: format!("{}/openapi.json", settings.base_url),
        asyncapi_url: format!("{}/asyncapi.json", settings.base_url),
        discovery_url: format!("{}/.well-known/openid-configuration", settings.issuer),
    })
}

/// Shows the key of a subscription and a new token of the team's sandbox, ready for the page that tries calls.
pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    if form.get("do") != Some("prefill") {
        return Err(PageError::no_action());
    }
    context.require_fresh()?;
    let (id, client) = (form.get("subscription").unwrap_or_default(), form.get("application"));
    let page = page(context).await?;
    // Only what is offered, which is this team's.
    let is_offered = |choices: &[Choice], id: &str| choices.iter().any(|one| one.id == id);
    if !is_offered(&page.subscriptions, id) || client.is_some_and(|id| !is_offered(&page.applications, id)) {
        return Err(PageError::NotFound);
    }
    let token = match client {
        Some(client) => Some(sandbox_token(context, client).await?),
        None => None,
    };
    let key = context.developer().reveal_key(id, KeySlot::Primary).await?.reveal().to_owned();
    Ok(context.show(&ReferencePage { handed_over: Some(HandOver { key, token }), ..page }))
}

/// A token of the sandbox's user, for a client of the team. The sandbox is made if there is none yet.
async fn sandbox_token(context: &Context, client: &str) -> Result<HandedToken, PageError> {
    let team = &context.team.id;
    context.sandboxes().create_sandbox(team.as_str()).await?;
    let (developer, audit) = (&context.visitor.account.id, &context.visitor.audit);
    let (identity, client) = (&context.portal.ports.identity, ClientId::new(client));
    let tokens = Box::pin(identity.sandbox_token(developer, team, &client, None, audit)).await?;
    Ok(HandedToken {
        access_token: tokens.access_token.reveal().to_owned(),
        expires_in: tokens.token_response["expires_in"].as_u64().unwrap_or_default(),
    })
}

/// The APIs of a product: one per area of the catalogue.
fn apis(base_url: &str, product: Product) -> impl Iterator<Item = Api> {
    let areas = Area::ALL.into_iter().filter(move |area| area.product() == product);
    areas.map(move |area| Api {
        product,
        area: area.as_str(),
        url: format!("{base_url}{}", area.prefix()),
        scope: area.scope().map(Scope::name),
        // Payroll has no webhooks.
        webhook_scope: (area != Area::Payroll).then(|| Scope::Webhooks.name()),
    })
}
