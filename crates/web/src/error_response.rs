//! Error responses. Handlers return the problem; the outermost layer writes the body, because it knows the request's
//! id.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use domain::problem::Problem;
use domain::{ErrorCode, Refusal};

/// A problem and the headers to send with it.
#[derive(Clone, Debug)]
pub struct ErrorResponse {
    pub problem: Problem,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The true reason, which is not sent: an extension of the response.
    pub refusal: Option<Refusal>,
}

impl ErrorResponse {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Problem::new(code, message).into()
    }

    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Sets the true reason, which the response does not show.
    pub fn because(mut self, refusal: Refusal) -> Self {
        self.refusal = Some(refusal);
        self
    }
}

impl From<Problem> for ErrorResponse {
    fn from(problem: Problem) -> Self {
        Self { problem, headers: Vec::new(), refusal: None }
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> axum::response::Response {
        let status = StatusCode::from_u16(self.problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        response.headers_mut().extend(self.headers);
        response.extensions_mut().insert(self.problem);
        if let Some(refusal) = self.refusal {
            response.extensions_mut().insert(refusal);
        }
        response
    }
}

/// Writes the body of a response that carries a problem.
pub(crate) fn write_body(mut response: Response<Body>, request_id: &str) -> Response<Body> {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else {
        return response;
    };
    let text = serde_json::to_vec(&problem.body(request_id)).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.map(|_| Body::from(text))
}

/// The response for an unknown path.
pub async fn not_found() -> ErrorResponse {
    ErrorResponse::new(ErrorCode::PathNotFound, "There is nothing at this address.")
}

/// The response for a method that the path does not support.
pub async fn method_not_allowed() -> ErrorResponse {
    ErrorResponse::new(ErrorCode::MethodNotAllowed, "This address does not take this method.")
}
