//! Forms and JSON bodies of actions. Each carries the session's token, so that no other site can submit one.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use http_body_util::{BodyExt as _, Limited};

use crate::error::PageError;
use crate::params::Params;
use crate::request::PageRequest;

/// Longer bodies are refused.
const BODY_BYTES_MAX: usize = 512 * 1024;

/// The name of the field with the session's token.
pub(crate) const TOKEN_FIELD: &str = "token";

/// A submitted form, not yet accepted.
#[derive(Debug)]
pub struct SubmittedForm(Result<Params, PageError>);

impl<S: Sync> FromRequest<S> for SubmittedForm {
    type Rejection = std::convert::Infallible;

    async fn from_request(request: Request, _: &S) -> Result<Self, Self::Rejection> {
        let (parts, body) = request.into_parts();
        let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        Ok(Self(read(content_type.unwrap_or_default(), body).await))
    }
}

async fn read(content_type: &str, body: Body) -> Result<Params, PageError> {
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await;
    let too_long =
        || PageError::Refused(format!("the body is unreadable or longer than {BODY_BYTES_MAX} bytes"));
    let body = body.map_err(|_| too_long())?.to_bytes();
    if content_type.starts_with("application/x-www-form-urlencoded") {
        Ok(Params::parse(&body))
    } else if content_type.starts_with("application/json") {
        Params::from_json(&body).ok_or_else(|| PageError::Refused("the body is not a JSON object".into()))
    } else {
        Err(PageError::Refused("send application/x-www-form-urlencoded or application/json".into()))
    }
}

impl PageRequest {
    /// The form, if one of this session's pages has submitted it.
    pub async fn accept(&self, form: SubmittedForm) -> Result<Params, PageError> {
        let form = form.0?;
        let is_cross_site = self.site.realm.is_cross_site(&mut self.parts.clone()).await;
        let is_own = self.visitor.owns_form(form.get(TOKEN_FIELD).unwrap_or_default());
        if is_own && !is_cross_site { Ok(form) } else { Err(PageError::FormExpired) }
    }
}
