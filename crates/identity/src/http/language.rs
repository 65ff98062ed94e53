//! Keeps the language that a person selects on a page of the portal or the console (`lang`): the pages that follow are in it,
//! too.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::SET_COOKIE;
use axum::middleware::{Next, from_fn_with_state};
use domain::Secret;
use ui::Lang;

use super::response::Response;
use crate::params::Params;
use crate::site::Site;

/// The routes, which keep the language.
pub(super) fn keep(site: Arc<Site>, router: Router) -> Router {
    router.layer(from_fn_with_state(site, keep_selected))
}

async fn keep_selected(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let params = Params::parse(request.uri().query().unwrap_or_default().as_bytes());
    let selected = params.get("lang").and_then(|tag| Lang::ALL.into_iter().find(|lang| lang.tag() == tag));
    let mut response = next.run(request).await;
    let cookie =
        selected.and_then(|lang| site.cookies.set_lasting(site.cookies.lang, &Secret::new(lang.tag())));
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}
