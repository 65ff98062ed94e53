//! The HTTP endpoints of the identity provider, all below `/auth/core`. `routes.rs` lists them.

mod application_access;
mod authorize;
pub(crate) mod browser;
mod client_auth;
mod discovery;
mod extract;
mod form_body;
mod introspection;
mod login;
mod logout;
mod page_error;
mod permissions;
pub(crate) mod response;
mod revocation;
mod routes;
mod tenant;
mod token;
mod token_rules;
mod userinfo;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::any;

use crate::Identity;
use crate::pages::ErrorKind;
use browser::BrowserContext;
use page_error::PageError;
use response::Response;
pub use routes::post_routes;
pub(crate) use routes::{Documentation, routes};

/// Serves every route below `/auth/core`.
pub fn router(identity: Arc<Identity>) -> Router {
    let base = identity.settings.base_path().to_owned();
    let router = routes()
        .into_iter()
        .fold(Router::new(), |router, route| router.route(&format!("{base}{}", route.path), route.handlers));
    router.route(&format!("{base}/{{*unknown}}"), any(not_found)).with_state(identity)
}

async fn not_found(State(identity): State<Arc<Identity>>, browser: BrowserContext) -> Response {
    PageError::new(StatusCode::NOT_FOUND, ErrorKind::NotFound, "").page(&identity, &browser)
}
