//! The one list of the portal's routes. Tests iterate it with another team's ids.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::request::Parts;
use axum::routing::{any, get};
use identity::SANDBOX_CALLBACK_PATH;
use pages::{PageError, Response, Route};

use crate::Portal;
use crate::context::Context;
use crate::http::{
    applications, calls, deliveries, errors, events, front, home, notices, reference, sandbox,
    sandbox_receiver, sign_in, signature, subscriptions, team, webhook, webhooks,
};

/// A page that is only read.
macro_rules! page {
    ($path:literal, $page:path) => {
        pages::page!($path, Context, $page)
    };
}

/// A page with forms.
macro_rules! page_with_actions {
    ($path:literal, $page:path, $action:path) => {
        pages::page_with_actions!($path, Context, $page, $action)
    };
}

/// Every page of a team, below `/portal/teams/{team}/`.
fn routes() -> Vec<Route<Context>> {
    vec![
        page_with_actions!("", home::get, home::post),
        page_with_actions!("subscriptions", subscriptions::list, subscriptions::post_list),
        page_with_actions!("subscriptions/{subscription}", subscriptions::one, subscriptions::post_one),
        page_with_actions!("applications", applications::list, applications::post_list),
        page_with_actions!("applications/{client}", applications::one, applications::post_one),
        page_with_actions!("applications/{client}/sign-in", sign_in::get, sign_in::post),
        page_with_actions!("sandbox", sandbox::get, sandbox::post),
        page_with_actions!("sandbox/receiver", sandbox_receiver::get, sandbox_receiver::post),
        page!("sandbox/received/{number}", sandbox_receiver::received),
        page!("calls", calls::list),
        page!("webhooks", webhooks::list),
        page_with_actions!("webhooks/{webhook}", webhook::one, webhook::post_one),
        page!("webhooks/{webhook}/deliveries", deliveries::list),
        page_with_actions!("webhooks/{webhook}/deliveries/{sequence}", deliveries::one, deliveries::post_one),
        page!("events", events::list),
        page_with_actions!("events/{event}", events::get, events::post),
        page_with_actions!("reference", reference::get, reference::post),
        page_with_actions!("signature", signature::get, signature::post),
        page_with_actions!("notices", notices::get, notices::post),
        page_with_actions!("team", team::get, team::post),
    ]
}

/// The paths below `/portal/teams/{team}/`, and whether they take a form; for the test that other teams' are not found.
pub fn team_routes() -> Vec<(&'static str, bool)> {
    routes().iter().map(|route| (route.path, route.action.is_some())).collect()
}

/// Serves the front page and the portal.
pub fn router(portal: Arc<Portal>) -> Router {
    let base = portal.base_path().to_owned();
    let mut router = Router::new()
        .route("/", get(front::get))
        .route(errors::PATH, get(errors::get))
        .route(&base, get(home::choose_team))
        .route(&format!("{base}/"), get(home::choose_team))
        .route(&format!("{base}{SANDBOX_CALLBACK_PATH}"), get(sign_in::callback))
        .route(&portal.brand_paths.logo, get(brand_logo))
        .route(&portal.brand_paths.colour, get(brand_colour));
    // Most links that lead nowhere are below the portal: a person gets a page, a program JSON.
    router = router.route(&format!("{base}/{{*unknown}}"), any(not_found));
    for route in routes() {
        router = router.route(&format!("{base}/teams/{{team}}/{}", route.path), pages::handlers(&route));
    }
    let realm = portal.site.realm.clone();
    realm.keep_language(router.with_state(portal))
}

async fn not_found(State(portal): State<Arc<Portal>>, mut parts: Parts) -> Response {
    portal.anonymous_error(&mut parts, PageError::NotFound).await
}

async fn brand_logo(State(portal): State<Arc<Portal>>) -> Response {
    found(portal.logo()).await
}

async fn brand_colour(State(portal): State<Arc<Portal>>) -> Response {
    found(portal.colour()).await
}

async fn found(file: Option<Response>) -> Response {
    match file {
        Some(file) => file,
        None => axum::response::IntoResponse::into_response(web::error_response::not_found().await),
    }
}
