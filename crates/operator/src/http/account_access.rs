//! Sessions, links that set a new password, and the authorizations of users.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use domain::{ClientId, Realm, TenantId};
use serde::{Deserialize, Serialize};
use store::WebhookOwner;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::document::{BadQuery, NotFound};
use super::input::{PathParams, QueryParams, RequestOrigin};
use super::paging::PageSize;
use super::schema_types::ChosenId;
use super::{HandlerResult, Routes, SharedState, no_store};
use crate::admin::{Admin, Authority, SentReset, UserAuthorization};
use crate::page_size::ROWS_DEFAULT;

/// How many sessions were ended.
#[derive(Serialize, ToSchema)]
struct EndedSessions {
    #[schema(minimum = 0, examples(1))]
    ended: u64,
}

/// A link that sets a new password.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PasswordReset {
    #[schema(examples("lucia@example.com"))]
    email: String,
    /// The link works until then.
    #[schema(format = DateTime)]
    expires_at: String,
    /// The one-time link, where no mail server is configured: pass it on. It is not shown again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    link: Option<String>,
}

impl From<SentReset> for PasswordReset {
    fn from(sent: SentReset) -> Self {
        Self {
            email: sent.account.email,
            expires_at: sent.expires_at.iso(),
            link: sent.link.map(|link| link.reveal().to_owned()),
        }
    }
}

/// What a user has allowed an application for a tenant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserAuthorization)]
struct AuthorizationView {
    /// The tenant's id.
    #[schema(examples("asesoria-penalver"))]
    tenant: String,
    /// The application's id.
    #[schema(examples("panel"))]
    client: String,
    #[schema(examples(json!(["openid", "SVC.ES.NEWPOL.ACC.API"])))]
    scopes: Vec<String>,
    #[schema(format = DateTime)]
    created_at: String,
    /// Why it is not valid now: `user_disabled`, `membership_removed`, …; null if it is valid.
    #[schema(required = true)]
    obstacle: Option<String>,
}

impl From<UserAuthorization> for AuthorizationView {
    fn from(one: UserAuthorization) -> Self {
        let access = &one.authorization.access;
        Self {
            tenant: access.tenant.to_string(),
            client: access.client.to_string(),
            scopes: one.authorization.scopes.to_string().split_whitespace().map(str::to_owned).collect(),
            created_at: one.authorization.created_at.iso(),
            obstacle: one.obstacle.map(|why| why.as_str().to_owned()),
        }
    }
}

/// Authorizations, by tenant and application.
#[derive(Serialize, ToSchema)]
struct AuthorizationPage {
    authorizations: Vec<AuthorizationView>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    next: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AuthorizationParams {
    /// The largest number of items on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
    /// The `next` of the previous page; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}:[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
    )]
    after: Option<AuthorizationCursor>,
}

/// `<tenant>:<client>`
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct AuthorizationCursor(WebhookOwner);

impl TryFrom<String> for AuthorizationCursor {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parse = || {
            let (tenant, client) = text.split_once(':')?;
            let id = |text: &str| ChosenId::try_from(text.to_owned()).ok().map(|id| id.0);
            Some(Self(WebhookOwner {
                tenant: TenantId::new(id(tenant)?),
                client: ClientId::new(id(client)?),
            }))
        };
        parse().ok_or_else(|| format!("{text:?} is not the next of an earlier page"))
    }
}

pub(super) fn routes() -> Routes {
    vec![
        routes!(reset_user_password),
        routes!(reset_developer_password),
        routes!(reset_operator_password),
        routes!(end_user_sessions),
        routes!(end_developer_sessions),
        routes!(end_operator_sessions),
        routes!(list_authorizations),
        routes!(withdraw_authorization),
    ]
}

/// Send a user a link that sets a new password
///
/// The user gets a link by mail, which works once, for an hour. Where no mail server is configured, the response contains
/// the link: pass it on. The password stays until the user sets another one; second factors stay.
#[utoipa::path(
    post,
    path = "/operator/v1/users/{user}/reset-password",
    operation_id = "resetUserPassword",
    tag = "Users",
    params(("user" = String, Path, description = "The user's id or e-mail address")),
    responses((status = 200, description = "The link", body = PasswordReset), NotFound)
)]
async fn reset_user_password(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
) -> HandlerResult {
    reset(&state.admin, authority, Realm::Users, &name).await
}

/// Send a developer a link that sets a new password
///
/// As for users.
#[utoipa::path(
    post,
    path = "/operator/v1/developers/{developer}/reset-password",
    operation_id = "resetDeveloperPassword",
    tag = "Developers",
    params(("developer" = String, Path, description = "The developer's id or e-mail address")),
    responses((status = 200, description = "The link", body = PasswordReset), NotFound)
)]
async fn reset_developer_password(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
) -> HandlerResult {
    reset(&state.admin, authority, Realm::Developers, &name).await
}

/// Send an operator a link that sets a new password
///
/// As for users.
#[utoipa::path(
    post,
    path = "/operator/v1/operators/{operator}/reset-password",
    operation_id = "resetOperatorPassword",
    tag = "Operators",
    params(("operator" = String, Path, description = "The operator's id or e-mail address")),
    responses((status = 200, description = "The link", body = PasswordReset), NotFound)
)]
async fn reset_operator_password(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
) -> HandlerResult {
    reset(&state.admin, authority, Realm::Operators, &name).await
}

async fn reset(admin: &Admin, authority: Authority, realm: Realm, name: &str) -> HandlerResult {
    let sent = admin.acting(authority).send_password_reset(realm, name).await?;
    Ok(no_store(Json(PasswordReset::from(sent)).into_response()))
}

/// End a user's sessions
///
/// The user has to sign in again in every browser. Grants to applications stay. Without any session, nothing happens.
#[utoipa::path(
    post,
    path = "/operator/v1/users/{user}/end-sessions",
    operation_id = "endUserSessions",
    tag = "Users",
    params(("user" = String, Path, description = "The user's id or e-mail address")),
    responses((status = 200, description = "How many there were", body = EndedSessions), NotFound)
)]
async fn end_user_sessions(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
) -> HandlerResult {
    end(&state.admin, authority, Realm::Users, &name).await
}

/// End a developer's sessions
///
/// The developer has to sign in again in every browser.
#[utoipa::path(
    post,
    path = "/operator/v1/developers/{developer}/end-sessions",
    operation_id = "endDeveloperSessions",
    tag = "Developers",
    params(("developer" = String, Path, description = "The developer's id or e-mail address")),
    responses((status = 200, description = "How many there were", body = EndedSessions), NotFound)
)]
async fn end_developer_sessions(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
) -> HandlerResult {
    end(&state.admin, authority, Realm::Developers, &name).await
}

/// End an operator's sessions
///
/// The operator has to sign in again in every browser.
#[utoipa::path(
    post,
    path = "/operator/v1/operators/{operator}/end-sessions",
    operation_id = "endOperatorSessions",
    tag = "Operators",
    params(("operator" = String, Path, description = "The operator's id or e-mail address")),
    responses((status = 200, description = "How many there were", body = EndedSessions), NotFound)
)]
async fn end_operator_sessions(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
) -> HandlerResult {
    end(&state.admin, authority, Realm::Operators, &name).await
}

async fn end(admin: &Admin, authority: Authority, realm: Realm, name: &str) -> HandlerResult {
    let ended = admin.acting(authority).end_sessions(realm, name).await?;
    Ok(Json(EndedSessions { ended }).into_response())
}

/// List what a user has allowed applications
///
/// Without what has ended.
#[utoipa::path(
    get,
    path = "/operator/v1/users/{user}/authorizations",
    operation_id = "listUserAuthorizations",
    tag = "Users",
    params(("user" = String, Path, description = "The user's id or e-mail address"), AuthorizationParams),
    responses((status = 200, description = "A page of authorizations", body = AuthorizationPage), BadQuery, NotFound)
)]
async fn list_authorizations(
    State(state): SharedState,
    PathParams(name): PathParams<String>,
    QueryParams(params): QueryParams<AuthorizationParams>,
) -> HandlerResult {
    let user = state.admin.find_user(&name).await?;
    let rows_max = params.page_size.map_or(ROWS_DEFAULT, |size| size.0);
    let after = params.after.as_ref().map(|cursor| &cursor.0);
    let mut found = state.admin.user_authorizations(&user, after, rows_max + 1).await?;
    let has_more = found.len() > rows_max;
    found.truncate(rows_max);
    let last = found.last().filter(|_| has_more).map(|last| &last.authorization.access);
    let next = last.map(|access| format!("{}:{}", access.tenant, access.client));
    let authorizations = found.into_iter().map(AuthorizationView::from).collect();
    Ok(Json(AuthorizationPage { authorizations, next }).into_response())
}

/// End what a user has allowed an application for a tenant
///
/// Its tokens are refused within two seconds, and webhooks that no other user's authorization covers are suspended. The user
/// may allow it again.
#[utoipa::path(
    delete,
    path = "/operator/v1/users/{user}/authorizations/{tenant}/{client}",
    operation_id = "withdrawUserAuthorization",
    tag = "Users",
    params(
        ("user" = String, Path, description = "The user's id or e-mail address"),
        ("tenant" = String, Path, description = "The tenant's id"),
        ("client" = String, Path, description = "The application's id")
    ),
    responses((status = 204, description = "The authorization has ended"), NotFound)
)]
async fn withdraw_authorization(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams((name, tenant, client)): PathParams<(String, String, String)>,
) -> HandlerResult {
    let user = state.admin.find_user(&name).await?;
    state.admin.acting(authority).withdraw_authorization(&user, &tenant, &client).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
