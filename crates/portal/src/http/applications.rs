//! The applications (OAuth clients) of the team.

use domain::subscription::Product;
use domain::{ClientId, ClientKind, Ticks};
use operator::admin::{RedirectUriState, TeamClient};
use store::{Client, Consent, ListQuery, Pkce, RequestKind, RequestState, Status};

use super::subscriptions::{open_requests, overlap, withdraw};
use crate::context::Context;
use crate::views::applications::{AddressRow, ApplicationPage, ApplicationRow, ApplicationsPage};
use crate::views::requests::RequestRow;
use pages::{BackchannelLogoutView, PageContext, PageError, Params, Response};

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let clients = context.developer().clients(context.team.id.as_str(), &ListQuery::default()).await?;
    let requests = open_requests(context, |kind| matches!(kind, RequestKind::Client { .. })).await?;
    Ok(context.show(&ApplicationsPage { applications: clients.rows.iter().map(row).collect(), requests }))
}

pub(crate) async fn post_list(context: &Context, form: &Params) -> Result<Response, PageError> {
    match form.get("do") {
        Some("ask") => {
            let text = |name| form.get(name).unwrap_or_default().trim().to_owned();
            let kind = form.get("kind").and_then(ClientKind::parse).unwrap_or_default();
            let uris = form.all("redirect_uri").map(|uri| uri.trim().to_owned());
            let kind = RequestKind::Client {
                name: text("name"),
                kind,
                redirect_uris: uris.filter(|uri| !uri.is_empty()).collect(),
                products: form.all("product").filter_map(Product::from_name).collect(),
                pkce: if kind.is_public() || form.is_set("pkce") { Pkce::Required } else { Pkce::IfSent },
                is_sandbox: form.is_set("sandbox"),
            };
            ask(context, kind, &text("note"), "applications").await
        }
        Some("withdraw") => withdraw(context, form, "applications").await,
        _ => Err(PageError::no_action()),
    }
}

async fn ask(context: &Context, kind: RequestKind, note: &str, page: &str) -> Result<Response, PageError> {
    let request = context.developer().ask(context.team.id.as_str(), kind, note).await?;
    let code = if request.state == RequestState::Approved { "approved" } else { "asked" };
    Ok(context.done(&context.team_path(page), code, &RequestRow::new(&request)))
}

fn row(client: &Client) -> ApplicationRow {
    ApplicationRow {
        id: client.id.to_string(),
        name: client.name.clone(),
        kind: client.kind.as_str(),
        client_kind: client.kind,
        products: client.products.names(),
        is_sandbox: client.is_sandbox,
        is_active: client.status == Status::Active,
        since: client.created_at.iso(),
        since_at: client.created_at,
    }
}

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    Ok(context.show(&page(context, None).await?))
}

/// The application that the path names, if it is the team's.
pub(crate) async fn own(context: &Context) -> Result<TeamClient, PageError> {
    let found = context.developer().client(context.segment("client")).await?;
    if found.client.team.as_ref() == Some(&context.team.id) { Ok(found) } else { Err(PageError::NotFound) }
}

async fn page(context: &Context, new_secret: Option<String>) -> Result<ApplicationPage, PageError> {
    let found = own(context).await?;
    let client = &found.client;
    let address = |one: &operator::admin::RedirectUri| {
        let (state, request, reason) = match &one.state {
            RedirectUriState::Registered => ("registered", None, ""),
            RedirectUriState::Pending { request, .. } => ("pending", Some(request), ""),
            RedirectUriState::Refused { request, reason, .. } => ("refused", Some(request), reason.as_str()),
        };
        AddressRow {
            uri: one.uri.clone(),
            state,
            request: request.map(ToString::to_string),
            reason: reason.to_owned(),
        }
    };
    Ok(ApplicationPage {
        application: row(client),
        addresses: found.redirect_uris.iter().map(address).collect(),
        logout: BackchannelLogoutView::read(&*context.portal.ports.store, client).await?,
        scopes: client_scopes(client),
        has_consent: client.consent == Consent::Required,
        requires_pkce: client.pkce_rule() == Pkce::Required,
        previous_secret_until: found.previous_secret_until.map(Ticks::iso),
        previous_secret_until_at: found.previous_secret_until,
        issuer: context.portal.settings.issuer.clone(),
        new_secret,
    })
}

/// The scopes of the client's products, beside those that every client has.
pub(crate) fn client_scopes(client: &Client) -> Vec<&'static str> {
    let all = domain::Scope::ALL.into_iter().fold(domain::Scopes::default(), domain::Scopes::with);
    all.allowed_for(client.products).names()
}

pub(crate) async fn post_one(context: &Context, form: &Params) -> Result<Response, PageError> {
    let id = context.segment("client");
    // Only through the pages of its own team.
    page(context, None).await?;
    let developer = context.developer();
    let here = format!("applications/{id}");
    match form.get("do") {
        Some("rename") => {
            let client = developer.rename_client(id, form.get("name").unwrap_or_default()).await?;
            Ok(context.done(&context.team_path(&here), "saved", &row(&client)))
        }
        Some("set_logout_address") => {
            let uri = form.get("backchannel_logout_uri").unwrap_or_default().trim();
            let uri = (!uri.is_empty()).then(|| uri.to_owned());
            let client = developer.set_backchannel_logout_uri(id, uri).await?;
            Ok(context.done(&context.team_path(&here), "saved", &row(&client)))
        }
        Some("rotate") => {
            context.require_fresh()?;
            let rotated = developer.rotate_client_secret(id, overlap(form)).await?;
            Ok(context.show(&page(context, Some(rotated.secret.reveal().to_owned())).await?))
        }
        Some("add_address") => {
            let uri = form.get("redirect_uri").unwrap_or_default().trim().to_owned();
            ask(context, RequestKind::RedirectUri { client: ClientId::new(id), uri }, "", &here).await
        }
        Some("remove_address") => {
            let client = developer.remove_redirect_uri(id, form.get("uri").unwrap_or_default()).await?;
            Ok(context.done(&context.team_path(&here), "saved", &row(&client)))
        }
        Some("withdraw") => withdraw(context, form, &here).await,
        _ => Err(PageError::no_action()),
    }
}
