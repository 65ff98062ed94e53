//! Request extractors of the pages: query parameters, and forms that one of the provider's own pages submitted.

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
use crate::pages::ErrorKind;
use crate::params::Params;
use crate::site::Site;

/// Longer queries are refused.
pub(super) const QUERY_BYTES_MAX: usize = 24 * 1024;

/// The query's parameters.
impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default().as_bytes()))
    }
}

/// A form that one of the provider's own pages submitted. Any other form is rejected with an error page.
pub(super) struct SameSiteForm(pub(super) Params);

impl FromRequest<Arc<Site>> for SameSiteForm {
    type Rejection = Response;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let Ok(browser) = BrowserContext::from_request_parts(&mut parts, site).await;
        let form = form_body::form(&parts.headers, body).await;
        let same_site = form
            .and_then(|form| if browser.is_cross_site { Err(FormError::CrossSite) } else { Ok(Self(form)) });
        same_site.map_err(|error| PageError::from(error).page(site, &browser))
    }
}

impl Site {
    /// The response, or the error page.
    pub(super) fn render(&self, browser: &BrowserContext, result: Result<Response, PageError>) -> Response {
        result.unwrap_or_else(|error| error.page(self, browser))
    }

    /// Redirects a form of another site to the same request as a GET, because browsers send no SameSite=Lax
    /// cookies with a cross-site POST.
    pub(super) async fn redirect_post_to_get(
        &self,
        browser: &BrowserContext,
        page: &str,
        headers: &HeaderMap,
        body: Body,
    ) -> Response {
        let redirect = form_body::form(headers, body).await.map_err(PageError::from).and_then(|params| {
            let query = params.to_query();
            if query.len() > QUERY_BYTES_MAX {
                return Err(too_long());
            }
            Ok(response::redirect(&self.path(&format!("{page}?{query}"))))
        });
        self.render(browser, redirect)
    }
}

pub(super) fn too_long() -> PageError {
    PageError::new(StatusCode::URI_TOO_LONG, ErrorKind::BadRequest, "The request is too long.")
}
