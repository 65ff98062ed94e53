//! `/operator/v1/users`: the people who sign in.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::{Realm, Secret, TenantId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::document::{AlreadyExists, BadBody, BadQuery, NotFound, RevisionConflict};
use super::input::{JsonBody, PathParams, QueryParams, RequestOrigin};
use super::paging::{SearchParams, next_text};
use super::schema_types::{BoundedList, ChosenId, Email, FamilyName, Name, Password, Revision, Status};
use super::{HandlerResult, Routes, SharedState, created};
use crate::admin;

type TenantIds = BoundedList<ChosenId, 0, 100>;

/// A person who signs in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct User {
    #[schema(examples("0b5e0a51-6a5c-4d0e-9d0f-6f6f4c6f7a11"))]
    id: String,
    #[schema(examples("lucia@example.com"))]
    email: String,
    #[schema(examples("Lucía"))]
    given_name: String,
    /// Empty: none.
    #[schema(examples("Peñalver"))]
    family_name: String,
    #[schema(value_type = Lang)]
    lang: String,
    standing: Status,
    #[schema(format = DateTime)]
    created_at: String,
    /// Incremented by every update; send it with a change to make sure that nothing changed in between.
    #[schema(minimum = 1, examples(1))]
    revision: u64,
}

impl From<store::Account> for User {
    fn from(stored: store::Account) -> Self {
        Self {
            id: stored.id.to_string(),
            email: stored.email,
            given_name: stored.given_name,
            family_name: stored.family_name,
            lang: stored.lang,
            standing: stored.status.into(),
            created_at: stored.created_at.iso(),
            revision: stored.revision,
        }
    }
}

/// The language of a person's pages and mails.
#[derive(Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Lang {
    #[default]
    Es,
    En,
}

impl Lang {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Es => "es",
            Self::En => "en",
        }
    }
}

/// Users, oldest first unless they are searched.
#[derive(Serialize, ToSchema)]
struct UserPage {
    users: Vec<User>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    next: Option<String>,
}

/// A new user.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewUser {
    email: Email,
    given_name: Name,
    /// None by default.
    family_name: Option<FamilyName>,
    password: Password,
    /// Spanish by default.
    lang: Option<Lang>,
    /// The ids of the tenants that the user is a member of.
    #[schema(inline)]
    tenants: Option<TenantIds>,
}

/// Changes; a member that is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UserChange {
    standing: Option<Status>,
    /// A new password ends the user's browser sessions; grants to applications stay.
    password: Option<Password>,
    given_name: Option<Name>,
    /// The empty text removes it.
    family_name: Option<FamilyName>,
    lang: Option<Lang>,
    /// The revision that you read: with another one stored, nothing changes and the response is 409
    /// (`revision_conflict`). Without it, the change is applied to whatever is stored.
    revision: Option<Revision>,
}

pub(super) fn routes() -> Routes {
    vec![routes!(list, add), routes!(show, change)]
}

/// List users
#[utoipa::path(
    get,
    path = "/operator/v1/users",
    operation_id = "listUsers",
    tag = "Users",
    params(SearchParams),
    responses((status = 200, description = "A page of users", body = UserPage), BadQuery)
)]
async fn list(State(state): SharedState, QueryParams(params): QueryParams<SearchParams>) -> HandlerResult {
    let (filter, query) = params.into_parts();
    let page = state.admin.accounts(Realm::Users, &filter, &query).await?;
    let next = next_text(page.next.as_ref());
    Ok(Json(UserPage { users: page.rows.into_iter().map(User::from).collect(), next }).into_response())
}

/// Add a user
///
/// The user and their memberships are added together, or neither is.
#[utoipa::path(
    post,
    path = "/operator/v1/users",
    operation_id = "addUser",
    tag = "Users",
    request_body = NewUser,
    responses(
        (status = 201, description = "The new user", body = User,
            headers(("Location" = String, description = "The user's path"))),
        BadBody,
        NotFound,
        AlreadyExists
    )
)]
async fn add(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(new): JsonBody<NewUser>,
) -> HandlerResult {
    let tenants: Vec<TenantId> = new
        .tenants
        .map(|list| list.0)
        .unwrap_or_default()
        .into_iter()
        .map(|id| TenantId::new(id.0))
        .collect();
    let new_user = admin::NewUser {
        email: new.email.0,
        given_name: new.given_name.0,
        family_name: new.family_name.map(|name| name.0).unwrap_or_default(),
        lang: new.lang.unwrap_or_default().as_str().to_owned(),
        password: Secret::new(new.password.0),
        tenants,
    };
    let user: User = state.admin.acting(authority).add_user(new_user).await?.into();
    Ok(created(&["users", &user.id], &user))
}

/// Show a user
#[utoipa::path(
    get,
    path = "/operator/v1/users/{user}",
    operation_id = "getUser",
    tag = "Users",
    params(("user" = String, Path, description = "The user's id or e-mail address")),
    responses((status = 200, description = "The user", body = User), NotFound)
)]
async fn show(State(state): SharedState, PathParams(name): PathParams<String>) -> HandlerResult {
    let user = state.admin.find_user(&name).await?;
    Ok(Json(User::from(user)).into_response())
}

/// Change a user
///
/// Disables or enables the account, sets a new password, or changes name or language. A disabled user cannot sign in, and the user's tokens are refused within two seconds. Enabling the user
/// restores every token that has not expired.
#[utoipa::path(
    patch,
    path = "/operator/v1/users/{user}",
    operation_id = "changeUser",
    tag = "Users",
    params(("user" = String, Path, description = "The user's id or e-mail address")),
    request_body = UserChange,
    responses((status = 200, description = "The changed user", body = User), BadBody, NotFound, RevisionConflict)
)]
async fn change(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
    JsonBody(change): JsonBody<UserChange>,
) -> HandlerResult {
    let user = state.admin.find_user(&name).await?;
    let user_change = admin::UserChange {
        status: change.standing.map(Into::into),
        password: change.password.map(|password| Secret::new(password.0)),
        given_name: change.given_name.map(|name| name.0),
        family_name: change.family_name.map(|name| name.0),
        lang: change.lang.map(|lang| lang.as_str().to_owned()),
    };
    let revision = change.revision.map(|revision| revision.0);
    let user = state.admin.acting(authority).update_user(&user, user_change, revision).await?;
    Ok(Json(User::from(user)).into_response())
}
