//! Responses: pages under a strict Content-Security-Policy, JSON, CSV, redirects.

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
    LOCATION, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use maud::Markup;
use serde::Serialize;

use crate::csv::Csv;

pub type Response = axum::response::Response;

const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

fn response(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, content_type),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "same-origin"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (VARY, "accept, accept-language, cookie"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

pub fn page(status: StatusCode, markup: Markup) -> Response {
    let mut response = response(status, "text/html; charset=utf-8", markup.into_string());
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}

pub fn json(status: StatusCode, body: &impl Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(body) => response(status, "application/json", body),
        Err(error) => {
            tracing::error!(%error, "a view could not be written as JSON");
            response(StatusCode::INTERNAL_SERVER_ERROR, "application/json", "{}")
        }
    }
}

/// The name of a file that lacks rows says so.
pub(crate) fn csv(csv: &Csv, has_more: bool) -> Response {
    let mut response = response(StatusCode::OK, "text/csv; charset=utf-8", csv.to_text());
    let part = if has_more { "-part" } else { "" };
    let disposition = format!("attachment; filename=\"{}{part}.csv\"", csv.name);
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        response.headers_mut().insert(CONTENT_DISPOSITION, value);
    }
    response
}

/// After a form: the browser reads the page, and reloading it repeats nothing.
pub fn see_other(to: &str) -> Response {
    let mut response = response(StatusCode::SEE_OTHER, "text/plain", Body::empty());
    match HeaderValue::from_str(to) {
        Ok(location) => {
            response.headers_mut().insert(LOCATION, location);
        }
        Err(_) => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
    }
    response
}

/// Server-sent events.
pub(crate) fn events(body: Body) -> Response {
    let mut response = response(StatusCode::OK, "text/event-stream", body);
    // Proxies must not collect the events.
    response
        .headers_mut()
        .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
