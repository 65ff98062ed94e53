//! `/operator/v1/users`: who signs in.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::{Secret, TenantId, Ticks};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::document::{BadBody, BadQuery, Missing, Taken};
use super::input::{Asked, Body, Named};
use super::paging::{Listed, PageAsk, page};
use super::words::{ChosenId, Email, Few, Name, Password, Standing};
use super::{Answered, Desk, Routes, made};
use crate::admin::{AdminError, NewUser as Wanted};

type TenantIds = Few<ChosenId, 0, 100>;

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
    #[schema(value_type = Lang)]
    lang: String,
    standing: Standing,
    #[schema(format = DateTime)]
    created_at: String,
}

impl From<store::User> for User {
    fn from(kept: store::User) -> Self {
        Self {
            id: kept.id.to_string(),
            email: kept.email,
            given_name: kept.given_name,
            lang: kept.lang,
            standing: kept.status.into(),
            created_at: kept.created_at.iso(),
        }
    }
}

/// The language of a user's pages.
#[derive(Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Lang {
    #[default]
    Es,
    En,
}

impl Lang {
    fn as_str(self) -> &'static str {
        match self {
            Self::Es => "es",
            Self::En => "en",
        }
    }
}

/// Users, oldest first.
#[derive(Serialize, ToSchema)]
struct UserPage {
    users: Vec<User>,
    /// Ask with `after` for what follows; null at the end.
    #[schema(required = true)]
    next: Option<String>,
}

/// A user to be made.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewUser {
    email: Email,
    given_name: Name,
    password: Password,
    /// Spanish where none is given.
    lang: Option<Lang>,
    /// The ids of tenants to which the user belongs from the start.
    #[schema(inline)]
    tenants: Option<TenantIds>,
}

/// What is to be changed; what is not given stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UserChange {
    standing: Option<Standing>,
    /// A new password ends the user's browser sessions; what applications were granted goes on.
    password: Option<Password>,
}

impl Listed for store::User {
    fn place(&self) -> (Ticks, &str) {
        (self.created_at, self.id.as_str())
    }
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
    params(PageAsk),
    responses((status = 200, description = "A page of users", body = UserPage), BadQuery)
)]
async fn list(State(desk): Desk, Asked(ask): Asked<PageAsk>) -> Answered {
    let all = desk.admin.store.users().await.map_err(AdminError::from)?;
    let (some, next) = page(all, &ask);
    Ok(Json(UserPage { users: some.into_iter().map(User::from).collect(), next }).into_response())
}

/// Make a user
#[utoipa::path(
    post,
    path = "/operator/v1/users",
    operation_id = "addUser",
    tag = "Users",
    request_body = NewUser,
    responses(
        (status = 201, description = "The user is there", body = User,
            headers(("Location" = String, description = "The user's path"))),
        BadBody,
        Missing,
        Taken
    )
)]
async fn add(State(desk): Desk, Body(new): Body<NewUser>) -> Answered {
    let mut tenants: Vec<TenantId> =
        new.tenants.map(|few| few.0).unwrap_or_default().into_iter().map(|id| TenantId::new(id.0)).collect();
    tenants.sort_unstable();
    tenants.dedup();
    let wanted = Wanted {
        email: new.email.0,
        given_name: new.given_name.0,
        lang: new.lang.unwrap_or_default().as_str().to_owned(),
        password: Secret::new(new.password.0),
        tenants,
    };
    let user: User = desk.admin.add_user(wanted).await?.into();
    Ok(made(&["users", &user.id], &user))
}

/// Show a user
#[utoipa::path(
    get,
    path = "/operator/v1/users/{user}",
    operation_id = "getUser",
    tag = "Users",
    params(("user" = String, Path, description = "The user's id or e-mail address")),
    responses((status = 200, description = "The user", body = User), Missing)
)]
async fn show(State(desk): Desk, Named(name): Named<String>) -> Answered {
    let user = desk.admin.user_named(&name).await?;
    Ok(Json(User::from(user)).into_response())
}

/// Disable or enable a user, or give them a new password
///
/// A disabled user cannot sign in, and tokens that were granted are refused within two seconds. Enabling the
/// user brings back every token that has not ended by itself meanwhile.
#[utoipa::path(
    patch,
    path = "/operator/v1/users/{user}",
    operation_id = "changeUser",
    tag = "Users",
    params(("user" = String, Path, description = "The user's id or e-mail address")),
    request_body = UserChange,
    responses((status = 200, description = "The user as it is now", body = User), BadBody, Missing)
)]
async fn change(State(desk): Desk, Named(name): Named<String>, Body(change): Body<UserChange>) -> Answered {
    let user = desk.admin.user_named(&name).await?;
    if let Some(password) = change.password {
        desk.admin.set_password(&user.email, Secret::new(password.0)).await?;
    }
    if let Some(standing) = change.standing {
        desk.admin.set_user_status(&user.email, standing.into()).await?;
    }
    let user = desk.admin.user_named(user.id.as_str()).await?;
    Ok(Json(User::from(user)).into_response())
}
