//! What a page is asked with, read before its handler runs: the query, or a form of one of our own pages.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};

use super::browser::BrowserContext;
use super::form_body::{self, FormError};
use super::page_error::PageError;
use super::response::{self, Response};
use crate::Identity;
use crate::pages::ErrorKind;
use crate::params::Params;

/// Longer requests are refused.
pub(super) const QUERY_BYTES_MAX: usize = 24 * 1024;

/// The query's parameters.
impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default().as_bytes()))
    }
}

/// A form that one of our own pages sent; anything else is answered with a page that says so.
pub(super) struct SameSiteForm(pub(super) Params);

impl FromRequest<Arc<Identity>> for SameSiteForm {
    type Rejection = Response;

    async fn from_request(request: Request, identity: &Arc<Identity>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let Ok(browser) = BrowserContext::from_request_parts(&mut parts, identity).await;
        let form = form_body::form(&parts.headers, body).await;
        let own = form
            .and_then(|form| if browser.is_cross_site { Err(FormError::CrossSite) } else { Ok(Self(form)) });
        own.map_err(|not| PageError::from(not).page(identity, &browser))
    }
}

impl Identity {
    /// What came of a request, or the page that says why nothing did.
    pub(super) fn render(&self, browser: &BrowserContext, done: Result<Response, PageError>) -> Response {
        done.unwrap_or_else(|failed| failed.page(self, browser))
    }

    /// Another site's form goes on as a GET: browsers keep cookies back from the form itself.
    pub(super) async fn redirect_post_to_get(
        &self,
        browser: &BrowserContext,
        page: &str,
        headers: &HeaderMap,
        body: Body,
    ) -> Response {
        let gone_on = form_body::form(headers, body).await.map_err(PageError::from).and_then(|params| {
            let query = params.to_query();
            if query.len() > QUERY_BYTES_MAX {
                return Err(too_long());
            }
            Ok(response::redirect(&self.path(&format!("{page}?{query}"))))
        });
        self.render(browser, gone_on)
    }
}

pub(super) fn too_long() -> PageError {
    PageError::new(StatusCode::URI_TOO_LONG, ErrorKind::BadRequest, "the request is too long")
}
