//! One client: its addresses, products and secrets.

use operator::admin::{AUTHORIZATIONS_COUNTED_MAX, Permission};
use pages::{BackchannelLogoutView, PageContext, PageError, Params, Response};
use store::{CallbackIdToken, ClientUpdate, Consent, Status};

use super::form::{lines, named, optional, overlap, products, require, revision, team, text};
use crate::applications::text::clients::ClientText;
use crate::applications::views::client::{ClientPage, SecretRow, pkce_named, shown_secret};
use crate::applications::views::clients::ClientRow;
use crate::applications::views::parts::TeamRef;
use crate::applications::views::secrets::SecretsPage;
use crate::context::Context;
use crate::shell::Section;

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    let admin = context.admin();
    let client = admin.client(context.segment("client")).await?;
    let team = match &client.team {
        Some(id) => {
            let found = context.console.ports.store.find_team(id).await?;
            Some(TeamRef { id: id.to_string(), name: found.map(|team| team.name) })
        }
        None => None,
    };
    let previous = admin.previous_secret_until(&client.id).await?;
    let authorizations = admin.count_authorizations(&client.id).await?;
    Ok(context.show(&ClientPage {
        row: ClientRow::new(&client, team),
        secrets: if client.kind.is_public() { Vec::new() } else { SecretRow::all(previous) },
        authorizations,
        has_more_authorizations: authorizations >= AUTHORIZATIONS_COUNTED_MAX,
        scopes: scopes(&client),
        logout: BackchannelLogoutView::read(&*context.console.ports.store, &client).await?,
        client,
    }))
}

/// The scopes of the client's products, beside those that every client has.
fn scopes(client: &store::Client) -> Vec<&'static str> {
    let all = domain::Scope::ALL.into_iter().fold(domain::Scopes::default(), domain::Scopes::with);
    all.allowed_for(client.products).names()
}

pub(crate) async fn post_one(context: &Context, form: &Params) -> Result<Response, PageError> {
    require(context, Permission::Keys)?;
    match form.get("do") {
        Some("change") => change(context, form).await,
        Some("disable") => set_status(context, Status::Disabled, "client_disabled").await,
        Some("enable") => set_status(context, Status::Active, "client_enabled").await,
        Some("rotate") => rotate(context, form).await,
        _ => Err(PageError::no_action()),
    }
}

fn here(context: &Context) -> String {
    context.console_path(&format!("clients/{}", context.segment("client")))
}

pub(super) fn values(client: &store::Client) -> ClientRow {
    let team = client.team.as_ref().map(|id| TeamRef { id: id.to_string(), name: None });
    ClientRow::new(client, team)
}

async fn change(context: &Context, form: &Params) -> Result<Response, PageError> {
    let (admin, id) = (context.admin(), context.segment("client"));
    let kind = admin.client(id).await?.kind;
    let id_token = form.get("id_token");
    let update = ClientUpdate {
        name: Some(text(form, "name")),
        redirect_uris: Some(lines(form, "redirect_uris")),
        post_logout_uris: Some(lines(form, "logout_uris")),
        pkce: (!kind.is_public()).then(|| pkce_named(form.get("pkce"))),
        consent: Some(if form.is_set("consent") { Consent::Required } else { Consent::None }),
        callback_id_token: CallbackIdToken::ALL.into_iter().find(|one| Some(one.as_str()) == id_token),
        products: Some(products(form)),
        team: Some(team(form)),
        is_sandbox: Some(form.is_set("sandbox")),
        backchannel_logout_uri: Some(optional(form, "backchannel_logout_uri")),
        status: None,
    };
    let client = named(admin.update_client(id, update, revision(form)).await)?;
    Ok(context.done(&here(context), "client_changed", &values(&client)))
}

async fn set_status(context: &Context, status: Status, code: &'static str) -> Result<Response, PageError> {
    let client = context.admin().set_client_status(context.segment("client"), status).await?;
    Ok(context.done(&here(context), code, &values(&client)))
}

async fn rotate(context: &Context, form: &Params) -> Result<Response, PageError> {
    let (admin, id) = (context.admin(), context.segment("client"));
    let client = admin.client(id).await?;
    let rotated = admin.rotate_client_secret(id, overlap(form)).await?;
    Ok(context.show(&SecretsPage {
        section: Section::Clients,
        title: |lang| ClientText::of(lang).new_secret,
        back: here(context),
        id: client.id.to_string(),
        name: client.name,
        secrets: vec![shown_secret(&rotated.secret)],
        old_valid_until: Some(rotated.previous_valid_until),
    }))
}
