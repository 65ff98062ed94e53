//! What a page is asked with, read before its handler runs: the query, or a form of one of our own pages.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};

use super::answer::{self, Answer};
use super::body::{self, NotAForm};
use super::failed::Failed;
use super::visit::Visit;
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
pub(super) struct OwnForm(pub(super) Params);

impl FromRequest<Arc<Identity>> for OwnForm {
    type Rejection = Answer;

    async fn from_request(request: Request, identity: &Arc<Identity>) -> Result<Self, Answer> {
        let (mut parts, body) = request.into_parts();
        let Ok(visit) = Visit::from_request_parts(&mut parts, identity).await;
        let form = body::form(&parts.headers, body).await;
        let own =
            form.and_then(|form| if visit.is_foreign { Err(NotAForm::Foreign) } else { Ok(Self(form)) });
        own.map_err(|not| Failed::from(not).page(identity, &visit))
    }
}

impl Identity {
    /// What came of a request, or the page that says why nothing did.
    pub(super) fn shown(&self, visit: &Visit, done: Result<Answer, Failed>) -> Answer {
        done.unwrap_or_else(|failed| failed.page(self, visit))
    }

    /// Another site's form goes on as a GET: browsers keep cookies back from the form itself.
    pub(super) async fn as_get(&self, visit: &Visit, page: &str, headers: &HeaderMap, body: Body) -> Answer {
        let gone_on = body::form(headers, body).await.map_err(Failed::from).and_then(|params| {
            let query = params.to_query();
            if query.len() > QUERY_BYTES_MAX {
                return Err(too_long());
            }
            Ok(answer::redirect(&self.path(&format!("{page}?{query}"))))
        });
        self.shown(visit, gone_on)
    }
}

pub(super) fn too_long() -> Failed {
    Failed::new(StatusCode::URI_TOO_LONG, ErrorKind::BadRequest, "the request is too long")
}
