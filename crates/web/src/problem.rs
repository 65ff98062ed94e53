//! Turns a problem into an answer. The body is written by the outermost layer, which knows the request's id.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use domain::problem::Problem;

/// A request that is refused: the problem, and headers that go with it.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub problem: Problem,
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

impl Refusal {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Problem::new(status.as_u16(), message).into()
    }

    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self { problem, headers: Vec::new() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> axum::response::Response {
        let status = StatusCode::from_u16(self.problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        response.headers_mut().extend(self.headers);
        response.extensions_mut().insert(self.problem);
        response
    }
}

/// Writes the body of an answer that carries a problem.
pub(crate) fn write_body(mut response: Response<Body>, request_id: &str) -> Response<Body> {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else {
        return response;
    };
    let text = serde_json::to_vec(&problem.body(request_id)).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.map(|_| Body::from(text))
}

/// What a path that is not there answers.
pub async fn not_found() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "There is nothing at this address.")
}

/// What a path answers to a method that it does not have.
pub async fn method_not_allowed() -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "This address does not take this method.")
}
