//! The map of the identity provider's addresses, all under `/auth/core`.

pub(crate) mod answer;
mod authorize;
mod body;
mod client_auth;
pub(crate) mod discovery;
mod failed;
mod introspect;
mod login;
mod logout;
mod permissions;
mod revoke;
mod tenant;
mod token;
mod userinfo;
pub(crate) mod visit;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{
    CACHE_CONTROL, HeaderValue, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};

use crate::Identity;
use crate::pages::ErrorKind;
use answer::Answer;
use failed::Failed;
use visit::Visit;

/// Everything under `/auth/core`.
pub fn router(identity: Arc<Identity>) -> Router {
    let routes = Router::new()
        .route("/.well-known/openid-configuration", get(discovery::configuration).options(discovery::options))
        .route("/.well-known/jwks", get(discovery::jwks).options(discovery::options))
        .route("/.well-known/openid-configuration/jwks", get(discovery::jwks).options(discovery::options))
        .route("/connect/authorize", get(authorize::get).post(authorize::post))
        .route("/connect/token", post(token::post))
        .route("/connect/userinfo", get(userinfo::get).post(userinfo::post))
        .route("/connect/revocation", post(revoke::post))
        .route("/connect/introspect", post(introspect::post))
        .route("/connect/endsession", get(logout::end_session_get).post(logout::end_session_post))
        .route("/login", get(login::get).post(login::post))
        .route("/tenant", get(tenant::get).post(tenant::post))
        .route("/logout", get(logout::get).post(logout::post))
        .route("/permissions", get(permissions::get).post(permissions::post))
        .route("/look/{asset}", get(discovery::asset))
        .fallback(not_found);
    let base = identity.settings.base_path().to_owned();
    Router::new()
        .nest(&base, routes)
        .layer(from_fn_with_state(identity.clone(), guarded))
        .with_state(identity)
}

async fn not_found(State(identity): State<Arc<Identity>>, visit: Visit) -> Answer {
    Failed::new(StatusCode::NOT_FOUND, ErrorKind::NotFound, "").page(&identity, &visit)
}

/// What every answer carries.
async fn guarded(State(identity): State<Arc<Identity>>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if identity.settings.is_https() {
        let year = HeaderValue::from_static("max-age=31536000; includeSubDomains");
        headers.insert(STRICT_TRANSPORT_SECURITY, year);
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
