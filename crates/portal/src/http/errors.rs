//! `/docs/errors`: the list of error codes, open to everybody.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use pages::Response;

use crate::Portal;

/// Beside the API reference, although this page needs no script.
pub(crate) const PATH: &str = "/docs/errors";

pub(crate) async fn get(State(portal): State<Arc<Portal>>, mut parts: Parts) -> Response {
    let lang = portal.site.realm.lang(&mut parts).await;
    pages::page(StatusCode::OK, portal.error_codes_page(lang))
}
