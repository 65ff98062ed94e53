//! The one list of the console's routes. Tests iterate it in every role.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::request::Parts;
use axum::routing::{any, get};
use pages::{PageError, Response, Route};

use crate::context::Context;
use crate::{Console, accounts, applications, audit, data, operations, overview, webhooks};

/// A page that is only read.
macro_rules! page {
    ($path:literal, $page:path) => {
        pages::page!($path, $crate::context::Context, $page)
    };
}

/// A page with forms.
macro_rules! page_with_actions {
    ($path:literal, $page:path, $action:path) => {
        pages::page_with_actions!($path, $crate::context::Context, $page, $action)
    };
}

pub(crate) use {page, page_with_actions};

/// Every page, below `/console/`.
fn routes() -> Vec<Route<Context>> {
    [
        overview::routes(),
        applications::routes(),
        accounts::routes(),
        data::routes(),
        webhooks::routes(),
        audit::routes(),
        operations::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The paths below `/console/`, and whether they take a form; for tests.
pub fn console_routes() -> Vec<(&'static str, bool)> {
    routes().iter().map(|route| (route.path, route.action.is_some())).collect()
}

/// Serves the console. `/` leads to it.
pub fn router(console: Arc<Console>) -> Router {
    let base = console.base_path().to_owned();
    let mut router = Router::new().route("/", get(to_console)).route(&base, get(to_console));
    // Most links that lead nowhere are below the console: a person gets a page, a program JSON.
    router = router.route(&format!("{base}/{{*unknown}}"), any(not_found));
    for route in routes() {
        router = router.route(&format!("{base}/{}", route.path), pages::handlers(&route));
    }
    let realm = console.site.realm.clone();
    realm.keep_language(router.with_state(console))
}

async fn to_console(State(console): State<Arc<Console>>) -> Response {
    pages::see_other(&format!("{}/", console.base_path()))
}

async fn not_found(State(console): State<Arc<Console>>, mut parts: Parts) -> Response {
    console.anonymous_error(&mut parts, PageError::NotFound).await
}
