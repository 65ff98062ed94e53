//! The one list of the portal's routes. Tests iterate it with another team's ids.

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::{MethodRouter, get};
use identity::SANDBOX_CALLBACK_PATH;

use crate::Portal;
use crate::context::{Context, Format};
use crate::error::PortalError;
use crate::form::SubmittedForm;
use crate::http::{
    applications, calls, deliveries, events, front, home, notices, reference, sandbox, sandbox_receiver,
    sign_in, signature, subscriptions, team, webhook, webhooks,
};
use crate::live;
use crate::params::Params;
use crate::response::Response;

pub(crate) type PageFuture<'a> = Pin<Box<dyn Future<Output = Result<Response, PortalError>> + Send + 'a>>;
pub(crate) type PageHandler = for<'a> fn(&'a Context) -> PageFuture<'a>;
pub(crate) type ActionHandler = for<'a> fn(&'a Context, &'a Params) -> PageFuture<'a>;

/// One page of a team, below `/portal/teams/{team}/`.
pub(crate) struct TeamRoute {
    path: &'static str,
    page: PageHandler,
    action: Option<ActionHandler>,
}

/// A page that is only read.
macro_rules! page {
    ($path:literal, $page:path) => {{
        fn page(context: &Context) -> PageFuture<'_> {
            Box::pin($page(context))
        }
        TeamRoute { path: $path, page, action: None }
    }};
}

/// A page with forms, which are submitted to its own URL.
macro_rules! page_with_actions {
    ($path:literal, $page:path, $action:path) => {{
        fn page(context: &Context) -> PageFuture<'_> {
            Box::pin($page(context))
        }
        fn action<'a>(context: &'a Context, form: &'a Params) -> PageFuture<'a> {
            Box::pin($action(context, form))
        }
        TeamRoute { path: $path, page, action: Some(action) }
    }};
}

/// Every page of a team.
fn routes() -> Vec<TeamRoute> {
    vec![
        page!("", home::get),
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
        .route(&base, get(home::choose_team))
        .route(&format!("{base}/"), get(home::choose_team))
        .route(&format!("{base}{SANDBOX_CALLBACK_PATH}"), get(sign_in::callback))
        .route(&format!("{base}/brand/logo"), get(brand_logo))
        .route(&format!("{base}/brand/colour.css"), get(brand_colour));
    for route in routes() {
        router = router.route(&format!("{base}/teams/{{team}}/{}", route.path), handlers(&route));
    }
    router.with_state(portal)
}

fn handlers(route: &TeamRoute) -> MethodRouter<Arc<Portal>> {
    let page = route.page;
    let handlers = get(async move |context: Context| {
        let result = if context.format == Format::Events {
            live::events(context.clone(), page)
        } else {
            page(&context).await
        };
        context.render(result).await
    });
    let Some(action) = route.action else { return handlers };
    handlers.post(async move |context: Context, form: SubmittedForm| {
        let result = match context.accept(form).await {
            Ok(form) => action(&context, &form).await,
            Err(error) => Err(error),
        };
        context.render(result).await
    })
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
