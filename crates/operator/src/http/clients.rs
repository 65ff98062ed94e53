//! `/operator/v1/clients`: the applications that send users to sign in.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::Ticks;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::document::{BadBody, BadQuery, Missing, Taken};
use super::input::{Asked, Body, BodyOrNone, Named};
use super::paging::{Listed, PageAsk, page};
use super::words::{ChosenId, Few, LogoutUri, Name, Overlap, RedirectUri, Standing};
use super::{Answered, Desk, Routes, made, unkept};
use crate::admin::{AdminError, ClientChange as Change, NewClient as Wanted};

type RedirectUris = Few<RedirectUri, 1, 20>;
type LogoutUris = Few<LogoutUri, 0, 10>;

/// An application that is registered for sign-in.
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
    /// Whether users are asked before the application gets what it asks for.
    consent: bool,
    /// Whether the callback carries an id_token where `openid` and a `nonce` were asked.
    callback_id_token: bool,
    standing: Standing,
    #[schema(format = DateTime)]
    created_at: String,
}

impl From<store::Client> for Client {
    fn from(kept: store::Client) -> Self {
        Self {
            id: kept.id.to_string(),
            name: kept.name,
            redirect_uris: kept.redirect_uris,
            post_logout_uris: kept.post_logout_uris,
            pkce: kept.pkce.into(),
            consent: kept.consent == store::Consent::Required,
            callback_id_token: kept.callback_id_token,
            standing: kept.status.into(),
            created_at: kept.created_at.iso(),
        }
    }
}

/// Whether a client must prove that the code was meant for it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Pkce {
    Required,
    IfSent,
    Ignore,
}

impl From<store::Pkce> for Pkce {
    fn from(kept: store::Pkce) -> Self {
        match kept {
            store::Pkce::Required => Self::Required,
            store::Pkce::IfSent => Self::IfSent,
            store::Pkce::Ignore => Self::Ignore,
        }
    }
}

impl From<Pkce> for store::Pkce {
    fn from(word: Pkce) -> Self {
        match word {
            Pkce::Required => Self::Required,
            Pkce::IfSent => Self::IfSent,
            Pkce::Ignore => Self::Ignore,
        }
    }
}

fn consent_of(is_asked: bool) -> store::Consent {
    if is_asked { store::Consent::Required } else { store::Consent::None }
}

/// Clients, oldest first.
#[derive(Serialize, ToSchema)]
struct ClientPage {
    clients: Vec<Client>,
    /// Ask with `after` for what follows; null at the end.
    #[schema(required = true)]
    next: Option<String>,
}

/// A client to be registered.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewClient {
    name: Name,
    /// The `client_id`; a GUID is made where none is given.
    id: Option<ChosenId>,
    #[schema(inline)]
    redirect_uris: RedirectUris,
    #[schema(inline)]
    post_logout_uris: Option<LogoutUris>,
    /// `if-sent` where none is given.
    pkce: Option<Pkce>,
    /// False where it is not given.
    consent: Option<bool>,
    /// True where it is not given.
    callback_id_token: Option<bool>,
}

/// What is to be changed; what is not given stays, a list that is given takes the place of the old one.
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
    callback_id_token: Option<bool>,
    standing: Option<Standing>,
}

/// A new client with its secret, which is shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ClientMade {
    client: Client,
    #[schema(examples("hV3t1mZ2o9w0yXq8s7r6u5v4t3s2r1q0pOnMlKjIhGf"))]
    client_secret: String,
}

/// How a secret is replaced.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SecretAsk {
    overlap: Option<Overlap>,
}

/// A new secret, which is shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SecretMade {
    #[schema(examples("hV3t1mZ2o9w0yXq8s7r6u5v4t3s2r1q0pOnMlKjIhGf"))]
    client_secret: String,
    /// Until when the old secret stays valid.
    #[schema(format = DateTime)]
    old_valid_until: String,
}

impl Listed for store::Client {
    fn place(&self) -> (Ticks, &str) {
        (self.created_at, self.id.as_str())
    }
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
    params(PageAsk),
    responses((status = 200, description = "A page of clients", body = ClientPage), BadQuery)
)]
async fn list(State(desk): Desk, Asked(ask): Asked<PageAsk>) -> Answered {
    let all = desk.admin.store.clients().await.map_err(AdminError::from)?;
    let (some, next) = page(all, &ask);
    Ok(Json(ClientPage { clients: some.into_iter().map(Client::from).collect(), next }).into_response())
}

/// Register a client
///
/// Its secret is shown in this answer and never again.
#[utoipa::path(
    post,
    path = "/operator/v1/clients",
    operation_id = "addClient",
    tag = "Clients",
    request_body = NewClient,
    responses(
        (status = 201, description = "The client is registered", body = ClientMade,
            headers(
                ("Location" = String, description = "The client's path"),
                ("Cache-Control" = String, description = "no-store")
            )),
        BadBody,
        Taken
    )
)]
async fn add(State(desk): Desk, Body(new): Body<NewClient>) -> Answered {
    let wanted = Wanted {
        id: new.id.map(|id| id.0),
        name: new.name.0,
        redirect_uris: redirect_texts(new.redirect_uris),
        post_logout_uris: new.post_logout_uris.map(logout_texts).unwrap_or_default(),
        pkce: new.pkce.unwrap_or(Pkce::IfSent).into(),
        consent: consent_of(new.consent.unwrap_or(false)),
        callback_id_token: new.callback_id_token.unwrap_or(true),
    };
    let (client, secret) = desk.admin.add_client(wanted).await?;
    let shown = ClientMade { client: client.into(), client_secret: secret.reveal().to_owned() };
    Ok(unkept(made(&["clients", &shown.client.id], &shown)))
}

fn redirect_texts(uris: RedirectUris) -> Vec<String> {
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
    responses((status = 200, description = "The client", body = Client), Missing)
)]
async fn show(State(desk): Desk, Named(id): Named<String>) -> Answered {
    Ok(Json(Client::from(desk.admin.client(&id).await?)).into_response())
}

/// Change a client
///
/// A disabled client can neither send users to sign in nor use its tokens; enabled again, it goes on.
#[utoipa::path(
    patch,
    path = "/operator/v1/clients/{client}",
    operation_id = "changeClient",
    tag = "Clients",
    params(("client" = String, Path, description = "The `client_id`")),
    request_body = ClientChange,
    responses((status = 200, description = "The client as it is now", body = Client), BadBody, Missing)
)]
async fn change(State(desk): Desk, Named(id): Named<String>, Body(asked): Body<ClientChange>) -> Answered {
    let change = Change {
        name: asked.name.map(|name| name.0),
        redirect_uris: asked.redirect_uris.map(redirect_texts),
        post_logout_uris: asked.post_logout_uris.map(logout_texts),
        pkce: asked.pkce.map(Into::into),
        consent: asked.consent.map(consent_of),
        callback_id_token: asked.callback_id_token,
        status: asked.standing.map(Into::into),
    };
    Ok(Json(Client::from(desk.admin.set_client(&id, change).await?)).into_response())
}

/// Give a client a new secret
///
/// It is shown in this answer and never again. The old one stays valid for the overlap.
#[utoipa::path(
    post,
    path = "/operator/v1/clients/{client}/secret",
    operation_id = "replaceClientSecret",
    tag = "Clients",
    params(("client" = String, Path, description = "The `client_id`")),
    request_body = Option<SecretAsk>,
    responses(
        (status = 200, description = "The new secret", body = SecretMade,
            headers(("Cache-Control" = String, description = "no-store"))),
        BadBody,
        Missing
    )
)]
async fn replace_secret(
    State(desk): Desk,
    Named(id): Named<String>,
    BodyOrNone(ask): BodyOrNone<SecretAsk>,
) -> Answered {
    let new = desk.admin.rotate_client_secret(&id, ask.overlap.unwrap_or_default().0).await?;
    let shown = SecretMade {
        client_secret: new.secret.reveal().to_owned(),
        old_valid_until: new.previous_valid_until.iso(),
    };
    Ok(unkept(Json(shown).into_response()))
}
