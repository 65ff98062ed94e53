//! The HTTP endpoints of the identity provider, all below `/auth/core`. `routes.rs` lists them.

mod account;
mod application_access;
mod authorization_response;
mod authorize;
pub(crate) mod browser;
mod client_auth;
mod cors;
mod discovery;
mod extract;
mod forgot;
mod form_body;
mod introspection;
mod invitation;
mod language;
mod link;
mod login;
mod logout;
mod own_factors;
mod page_error;
mod passkey_sign_in;
mod permissions;
mod realm_pages;
mod reset;
pub(crate) mod response;
mod revocation;
mod routes;
mod sandbox_run;
mod second_factor;
mod session;
mod tenant;
mod token;
mod token_rules;
mod userinfo;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::any;
use domain::Realm;

use crate::Identity;
use crate::pages::ErrorKind;
use crate::site::Site;
pub use authorization_response::AuthorizationResponse;
use browser::BrowserContext;
pub(crate) use client_auth::EndpointError;
use page_error::PageError;
pub use realm_pages::{RealmPages, Visitor};
use response::Response;
pub use routes::post_routes;
pub(crate) use routes::{Documentation, Route, routes};
use routes::{account_routes, provider_routes};
pub use sandbox_run::SandboxRun;
pub(crate) use token::TokenResponse;

/// What the fuzz targets call.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing {
    pub(crate) use super::browser::cookie;
    pub(crate) use super::client_auth::fuzzing::client_credentials;
    pub(crate) use super::client_auth::{EndpointError, matches_challenge};
}

/// Serves every route of the identity provider, below `/auth/core`, with the pages of the users.
pub fn router(identity: Arc<Identity>) -> Router {
    let site = Arc::new(Site::new(identity, Realm::Users));
    let all = provider_routes().into_iter().chain(account_routes());
    let unknown = format!("{}/{{*unknown}}", site.base_path);
    serve(&site.base_path, all).route(&unknown, any(not_found)).with_state(site)
}

/// Serves the account pages of a realm: sign-in, sign-out, the account itself. Its home is the portal's or the console's.
pub fn realm_router(identity: Arc<Identity>, realm: Realm) -> Router {
    let site = Arc::new(Site::new(identity, realm));
    let router = serve(&site.base_path, account_routes()).with_state(site.clone());
    language::keep(site, router)
}

fn serve(base_path: &str, routes: impl IntoIterator<Item = Route>) -> Router<Arc<Site>> {
    routes.into_iter().fold(Router::new(), |router, route| {
        router.route(&format!("{base_path}{}", route.path), route.handlers)
    })
}

async fn not_found(State(site): State<Arc<Site>>, browser: BrowserContext) -> Response {
    PageError::new(StatusCode::NOT_FOUND, ErrorKind::NotFound, "").page(&site, &browser)
}
