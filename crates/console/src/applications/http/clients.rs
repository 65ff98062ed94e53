//! The list of clients, and new ones.

use domain::ClientKind;
use operator::admin::{NewClient, Permission};
use pages::{PageContext, PageError, Params, Response};
use store::{CallbackIdToken, Consent};

use super::client::values;
use super::form::{lines, named, optional, products, require, text};
use super::lists::{filter, read, team_names, team_ref};
use crate::applications::text::clients::ClientText;
use crate::applications::views::client::{pkce_named, shown_secret};
use crate::applications::views::clients::{ClientRow, ClientsPage};
use crate::applications::views::secrets::SecretsPage;
use crate::context::Context;
use crate::shell::Section;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let (admin, filter) = (context.admin(), filter(context));
    let (rows, next) = read(context, |query| {
        let (admin, filter) = (admin.clone(), filter.clone());
        async move { admin.clients(&filter, &query).await }
    })
    .await?;
    let names = team_names(context, rows.iter().filter_map(|one| one.team.as_ref())).await?;
    let row = |one| ClientRow::new(one, one.team.as_ref().map(|team| team_ref(team, &names)));
    Ok(context.show(&ClientsPage { clients: rows.iter().map(row).collect(), next }))
}

pub(crate) async fn post_list(context: &Context, form: &Params) -> Result<Response, PageError> {
    require(context, Permission::Keys)?;
    if form.get("do") != Some("add") {
        return Err(PageError::no_action());
    }
    let kind = form.get("kind").and_then(ClientKind::parse).unwrap_or_default();
    let new = NewClient {
        id: optional(form, "id"),
        name: text(form, "name"),
        kind,
        redirect_uris: lines(form, "redirect_uris"),
        post_logout_uris: lines(form, "logout_uris"),
        backchannel_logout_uri: optional(form, "backchannel_logout_uri"),
        // A public client must use PKCE, whatever the form's other field says.
        pkce: (!kind.is_public()).then(|| pkce_named(form.get("pkce"))),
        consent: if form.is_set("consent") { Consent::Required } else { Consent::None },
        callback_id_token: CallbackIdToken::default(),
        products: products(form),
        team: optional(form, "team"),
    };
    let (client, secret) = named(context.admin().add_client(new).await)?;
    let page = context.console_path(&format!("clients/{}", client.id));
    let Some(secret) = secret else {
        return Ok(context.done(&page, "client_added", &values(&client)));
    };
    Ok(context.show(&SecretsPage {
        section: Section::Clients,
        title: |lang| ClientText::of(lang).new_client,
        back: page,
        id: client.id.to_string(),
        name: client.name,
        secrets: vec![shown_secret(&secret)],
        old_valid_until: None,
    }))
}
