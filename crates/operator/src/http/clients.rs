//! `/operator/v1/clients`: OAuth clients.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::subscription::Products;
use serde::{Deserialize, Serialize};
use store::ClientUpdate;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::document::{AlreadyExists, BadBody, BadQuery, NotFound, RevisionConflict};
use super::input::{JsonBody, OptionalJsonBody, PathParams, QueryParams, RequestOrigin};
use super::paging::{ListParams, next_text};
use super::product::{Product, ProductList, product_list, products_of};
use super::schema_types::{BoundedList, ChosenId, LogoutUri, Name, Overlap, RedirectUri, Revision, Status};
use super::team_change::TeamChange;
use super::{HandlerResult, Routes, SharedState, created, no_store};
use crate::admin;
use crate::error::AdminError;

pub(super) type RedirectUris = BoundedList<RedirectUri, 1, 20>;
type LogoutUris = BoundedList<LogoutUri, 0, 10>;

/// An application that users sign in to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Client {
    /// The `client_id`.
    #[schema(examples("panel-de-ventas"))]
    id: String,
    #[schema(examples("Panel de ventas"))]
    name: String,
    #[schema(examples(json!(["https://app.example/callback"])))]
    redirect_uris: Vec<String>,
    #[schema(examples(json!(["https://app.example/bye"])))]
    post_logout_uris: Vec<String>,
    pkce: Pkce,
    /// Whether users must consent before the application gets access.
    consent: bool,
    callback_id_token: CallbackIdToken,
    /// The products whose data the application may read. They decide which scopes it may request.
    products: Vec<Product>,
    /// The id of the team that owns the client; null: none.
    #[schema(required = true, examples("panel"))]
    team: Option<String>,
    /// For sandbox tenants alone: it opens no real tenant.
    sandbox: bool,
    standing: Status,
    #[schema(format = DateTime)]
    created_at: String,
    /// Incremented by every update; send it with a change to make sure that nothing changed in between.
    #[schema(minimum = 1, examples(1))]
    revision: u64,
}

impl From<store::Client> for Client {
    fn from(stored: store::Client) -> Self {
        Self {
            id: stored.id.to_string(),
            name: stored.name,
            redirect_uris: stored.redirect_uris,
            post_logout_uris: stored.post_logout_uris,
            pkce: stored.pkce.into(),
            consent: stored.consent == store::Consent::Required,
            callback_id_token: stored.callback_id_token.into(),
            products: product_list(stored.products),
            team: stored.team.map(|team| team.to_string()),
            sandbox: stored.is_sandbox,
            standing: stored.status.into(),
            created_at: stored.created_at.iso(),
            revision: stored.revision,
        }
    }
}

/// The client's use of PKCE.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Pkce {
    Required,
    IfSent,
    Ignore,
}

impl From<store::Pkce> for Pkce {
    fn from(stored: store::Pkce) -> Self {
        match stored {
            store::Pkce::Required => Self::Required,
            store::Pkce::IfSent => Self::IfSent,
            store::Pkce::Ignore => Self::Ignore,
        }
    }
}

impl From<Pkce> for store::Pkce {
    fn from(pkce: Pkce) -> Self {
        match pkce {
            Pkce::Required => Self::Required,
            Pkce::IfSent => Self::IfSent,
            Pkce::Ignore => Self::Ignore,
        }
    }
}

/// When the callback carries an id_token: `auto` (with the scope `openid`, if the request has a `nonce` and no PKCE
/// challenge), `always` (with the scope `openid`) or `never`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", try_from = "serde_json::Value")]
enum CallbackIdToken {
    Auto,
    Always,
    Never,
}

/// The mode, or the boolean of version 0.1: true is `auto`, false is `never`.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it describes what `CallbackIdToken` reads")]
enum CallbackIdTokenInput {
    Mode(CallbackIdToken),
    Former(bool),
}

/// Version 0.1 had a boolean, which is still accepted.
impl TryFrom<serde_json::Value> for CallbackIdToken {
    type Error = &'static str;

    fn try_from(value: serde_json::Value) -> Result<Self, Self::Error> {
        match (value.as_str(), value.as_bool()) {
            (Some("auto"), _) | (_, Some(true)) => Ok(Self::Auto),
            (Some("always"), _) => Ok(Self::Always),
            (Some("never"), _) | (_, Some(false)) => Ok(Self::Never),
            _ => Err("expected one of `auto`, `always`, `never`"),
        }
    }
}

impl From<store::CallbackIdToken> for CallbackIdToken {
    fn from(stored: store::CallbackIdToken) -> Self {
        match stored {
            store::CallbackIdToken::Auto => Self::Auto,
            store::CallbackIdToken::Always => Self::Always,
            store::CallbackIdToken::Never => Self::Never,
        }
    }
}

impl From<CallbackIdToken> for store::CallbackIdToken {
    fn from(value: CallbackIdToken) -> Self {
        match value {
            CallbackIdToken::Auto => Self::Auto,
            CallbackIdToken::Always => Self::Always,
            CallbackIdToken::Never => Self::Never,
        }
    }
}

fn consent_of(is_required: bool) -> store::Consent {
    if is_required { store::Consent::Required } else { store::Consent::None }
}

/// Clients, oldest first.
#[derive(Serialize, ToSchema)]
struct ClientPage {
    clients: Vec<Client>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    next: Option<String>,
}

/// A new client.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewClient {
    name: Name,
    /// The `client_id`; a GUID is generated by default.
    id: Option<ChosenId>,
    #[schema(inline)]
    redirect_uris: RedirectUris,
    #[schema(inline)]
    post_logout_uris: Option<LogoutUris>,
    /// `if-sent` by default.
    pkce: Option<Pkce>,
    /// False by default.
    consent: Option<bool>,
    /// `auto` by default.
    #[schema(value_type = Option<CallbackIdTokenInput>)]
    callback_id_token: Option<CallbackIdToken>,
    /// All products by default.
    #[schema(inline)]
    products: Option<ProductList>,
    /// The id of the team that owns the client; none by default.
    team: Option<ChosenId>,
}

/// Changes; a member that is left out stays as it is, and a list replaces the old one.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ClientChange {
    name: Option<Name>,
    #[schema(inline)]
    redirect_uris: Option<RedirectUris>,
    #[schema(inline)]
    post_logout_uris: Option<LogoutUris>,
    pkce: Option<Pkce>,
    consent: Option<bool>,
    #[schema(value_type = Option<CallbackIdTokenInput>)]
    callback_id_token: Option<CallbackIdToken>,
    #[schema(inline)]
    products: Option<ProductList>,
    /// The id of the team that owns the client; null: none.
    #[serde(default)]
    #[schema(value_type = Option<ChosenId>)]
    team: TeamChange,
    /// False opens real tenants to a client that was approved for the sandbox alone.
    sandbox: Option<bool>,
    standing: Option<Status>,
    /// The revision that you read: with another one stored, nothing changes and the response is 409
    /// (`revision_conflict`). Without it, the change is applied to whatever is stored.
    revision: Option<Revision>,
}

/// A new client with its secret, which is returned only once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ClientMade)]
struct CreatedClient {
    client: Client,
    #[schema(examples("hV3t1mZ2o9w0yXq8s7r6u5v4t3s2r1q0pOnMlKjIhGf"))]
    client_secret: String,
}

/// How to replace the secret.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = SecretAsk)]
struct ReplaceSecretRequest {
    overlap: Option<Overlap>,
}

/// A new secret, which is returned only once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SecretMade)]
struct CreatedSecret {
    #[schema(examples("hV3t1mZ2o9w0yXq8s7r6u5v4t3s2r1q0pOnMlKjIhGf"))]
    client_secret: String,
    /// The end of the old secret's validity.
    #[schema(format = DateTime)]
    old_valid_until: String,
}

pub(super) fn routes() -> Routes {
    vec![routes!(list, add), routes!(show, change), routes!(replace_secret)]
}

/// List clients
#[utoipa::path(
    get,
    path = "/operator/v1/clients",
    operation_id = "listClients",
    tag = "Clients",
    params(ListParams),
    responses((status = 200, description = "A page of clients", body = ClientPage), BadQuery)
)]
async fn list(State(state): SharedState, QueryParams(params): QueryParams<ListParams>) -> HandlerResult {
    let page = state.admin.store.list_clients(&params.into()).await.map_err(AdminError::from)?;
    let next = next_text(page.next.as_ref());
    Ok(Json(ClientPage { clients: page.rows.into_iter().map(Client::from).collect(), next }).into_response())
}

/// Register a client
///
/// The response holds its secret, which cannot be read again.
#[utoipa::path(
    post,
    path = "/operator/v1/clients",
    operation_id = "addClient",
    tag = "Clients",
    request_body = NewClient,
    responses(
        (status = 201, description = "The client is registered", body = CreatedClient,
            headers(
                ("Location" = String, description = "The client's path"),
                ("Cache-Control" = String, description = "no-store")
            )),
        BadBody,
        NotFound,
        AlreadyExists
    )
)]
async fn add(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(new): JsonBody<NewClient>,
) -> HandlerResult {
    let new_client = admin::NewClient {
        id: new.id.map(|id| id.0),
        name: new.name.0,
        redirect_uris: redirect_texts(new.redirect_uris),
        post_logout_uris: new.post_logout_uris.map(logout_texts).unwrap_or_default(),
        pkce: new.pkce.unwrap_or(Pkce::IfSent).into(),
        consent: consent_of(new.consent.unwrap_or(false)),
        callback_id_token: new.callback_id_token.map(Into::into).unwrap_or_default(),
        products: new.products.map_or_else(Products::all, products_of),
        team: new.team.map(|team| team.0),
    };
    let (client, secret) = state.admin.acting(authority).add_client(new_client).await?;
    let created_client = CreatedClient { client: client.into(), client_secret: secret.reveal().to_owned() };
    Ok(no_store(created(&["clients", &created_client.client.id], &created_client)))
}

pub(super) fn redirect_texts(uris: RedirectUris) -> Vec<String> {
    uris.0.into_iter().map(|uri| uri.0).collect()
}

fn logout_texts(uris: LogoutUris) -> Vec<String> {
    uris.0.into_iter().map(|uri| uri.0).collect()
}

/// Show a client
#[utoipa::path(
    get,
    path = "/operator/v1/clients/{client}",
    operation_id = "getClient",
    tag = "Clients",
    params(("client" = String, Path, description = "The `client_id`")),
    responses((status = 200, description = "The client", body = Client), NotFound)
)]
async fn show(State(state): SharedState, PathParams(id): PathParams<String>) -> HandlerResult {
    Ok(Json(Client::from(state.admin.client(&id).await?)).into_response())
}

/// Change a client
///
/// A disabled client can neither start sign-ins nor use its tokens; enabling it restores both.
#[utoipa::path(
    patch,
    path = "/operator/v1/clients/{client}",
    operation_id = "changeClient",
    tag = "Clients",
    params(("client" = String, Path, description = "The `client_id`")),
    request_body = ClientChange,
    responses((status = 200, description = "The changed client", body = Client), BadBody, NotFound, RevisionConflict)
)]
async fn change(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(id): PathParams<String>,
    JsonBody(change): JsonBody<ClientChange>,
) -> HandlerResult {
    let update = ClientUpdate {
        name: change.name.map(|name| name.0),
        redirect_uris: change.redirect_uris.map(redirect_texts),
        post_logout_uris: change.post_logout_uris.map(logout_texts),
        pkce: change.pkce.map(Into::into),
        consent: change.consent.map(consent_of),
        callback_id_token: change.callback_id_token.map(Into::into),
        products: change.products.map(products_of),
        team: change.team.update(),
        is_sandbox: change.sandbox,
        status: change.standing.map(Into::into),
    };
    let revision = change.revision.map(|revision| revision.0);
    let client = state.admin.acting(authority).update_client(&id, update, revision).await?;
    Ok(Json(Client::from(client)).into_response())
}

/// Replace a client's secret
///
/// The response holds the new secret, which cannot be read again. The old one stays valid for the overlap.
#[utoipa::path(
    post,
    path = "/operator/v1/clients/{client}/secret",
    operation_id = "replaceClientSecret",
    tag = "Clients",
    params(("client" = String, Path, description = "The `client_id`")),
    request_body = Option<ReplaceSecretRequest>,
    responses(
        (status = 200, description = "The new secret", body = CreatedSecret,
            headers(("Cache-Control" = String, description = "no-store"))),
        BadBody,
        NotFound
    )
)]
async fn replace_secret(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(id): PathParams<String>,
    OptionalJsonBody(request): OptionalJsonBody<ReplaceSecretRequest>,
) -> HandlerResult {
    let rotated = state
        .admin
        .acting(authority)
        .rotate_client_secret(&id, request.overlap.unwrap_or_default().0)
        .await?;
    let secret = CreatedSecret {
        client_secret: rotated.secret.reveal().to_owned(),
        old_valid_until: rotated.previous_valid_until.iso(),
    };
    Ok(no_store(Json(secret).into_response()))
}
