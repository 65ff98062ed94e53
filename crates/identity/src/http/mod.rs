//! The map of the identity provider's addresses, all under `/auth/core`.

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
mod tenant;
mod token;
mod userinfo;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{MethodRouter, any, get, post};

use crate::Identity;
use crate::pages::ErrorKind;
use browser::BrowserContext;
use page_error::PageError;
use response::Response;

/// Everything under `/auth/core`.
pub fn router(identity: Arc<Identity>) -> Router {
    let public = || get(discovery::jwks).options(discovery::options);
    let routes: [(&str, MethodRouter<Arc<Identity>>); 14] = [
        ("/.well-known/openid-configuration", get(discovery::configuration).options(discovery::options)),
        ("/.well-known/jwks", public()),
        ("/.well-known/openid-configuration/jwks", public()),
        ("/connect/authorize", get(authorize::get).post(authorize::post)),
        ("/connect/token", post(token::post)),
        ("/connect/userinfo", get(userinfo::get).post(userinfo::post)),
        ("/connect/revocation", post(revocation::post)),
        ("/connect/introspect", post(introspection::post)),
        ("/connect/endsession", get(logout::end_session_get).post(logout::end_session_post)),
        ("/login", get(login::get).post(login::post)),
        ("/tenant", get(tenant::get).post(tenant::post)),
        ("/logout", get(logout::get).post(logout::post)),
        ("/permissions", get(permissions::get).post(permissions::post)),
        ("/look/{asset}", get(discovery::asset)),
    ];
    let base = identity.settings.base_path().to_owned();
    let mut router = Router::new();
    for (path, methods) in routes {
        router = router.route(&format!("{base}{path}"), methods);
    }
    router.route(&format!("{base}/{{*nothing}}"), any(not_found)).with_state(identity)
}

async fn not_found(State(identity): State<Arc<Identity>>, browser: BrowserContext) -> Response {
    PageError::new(StatusCode::NOT_FOUND, ErrorKind::NotFound, "").page(&identity, &browser)
}
