//! Builds responses: pages under a strict Content-Security-Policy, redirects, the authorization response to the
//! client, and JSON that must not be cached.

use aws_lc_rs::digest::{SHA256, digest};
use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, LOCATION, REFERRER_POLICY,
    RETRY_AFTER, X_FRAME_OPTIONS,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::Markup;
use serde::Serialize;

use crate::authorization_request::{ResponseMode, ResponseTarget};
use crate::pages::{self, FORM_POST_SCRIPT};
use crate::params::query;
use domain::redirect_uri::OUT_OF_BAND;
use ui::Lang;

pub(crate) type Response = axum::response::Response;

fn response(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// A page. Its forms may be submitted to this host and redirected to `destination`.
pub(crate) fn page(status: StatusCode, markup: Markup, destination: Option<&str>) -> Response {
    let form_action =
        destination.and_then(origin).map_or("'self'".into(), |origin| format!("'self' {origin}"));
    with_policy(status, markup, &format!("style-src 'self'; img-src 'self'; form-action {form_action}"))
}

fn with_policy(status: StatusCode, markup: Markup, policy: &str) -> Response {
    let mut response = response(status, Body::from(markup.into_string()));
    let policy = format!("default-src 'none'; {policy}; base-uri 'none'; frame-ancestors 'none'");
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // A policy that is not a valid header value is replaced by the strictest one.
    let strictest = HeaderValue::from_static("default-src 'none'; base-uri 'none'; frame-ancestors 'none'");
    let policy = HeaderValue::from_str(&policy).unwrap_or(strictest);
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    response
}

/// Scheme, host and port of a URL; `None` for URIs without an authority.
fn origin(uri: &str) -> Option<&str> {
    let host_at = uri.find("://")? + 3;
    let path_at = uri.get(host_at..)?.find(['/', '?', '#']).map_or(uri.len(), |at| host_at + at);
    uri.get(..path_at)
}

/// A 302 redirect.
pub(crate) fn redirect(to: &str) -> Response {
    let mut response = response(StatusCode::FOUND, Body::empty());
    match HeaderValue::from_str(to) {
        Ok(location) => {
            response.headers_mut().insert(LOCATION, location);
        }
        Err(_) => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
    }
    response
}

pub(crate) fn with_retry_after(mut response: Response, seconds: u64) -> Response {
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// A JSON response that must not be cached.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let Ok(body) = serde_json::to_vec(body) else {
        return response(StatusCode::INTERNAL_SERVER_ERROR, Body::empty());
    };
    let mut response = response(status, Body::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert("pragma", HeaderValue::from_static("no-cache"));
    response
}

/// Sends parameters to the client's redirect URI. `None` for the out-of-band URI, which cannot receive them.
pub(crate) fn callback(
    target: &ResponseTarget,
    params: &[(&str, &str)],
    lang: Lang,
    assets: &str,
) -> Option<Response> {
    if target.redirect_uri == OUT_OF_BAND {
        return None;
    }
    Some(match target.mode {
        ResponseMode::Query => {
            let uri = &target.redirect_uri;
            let separator = if uri.contains('?') { '&' } else { '?' };
            redirect(&format!("{uri}{separator}{}", query(params.iter().copied())))
        }
        ResponseMode::FormPost => {
            let model = pages::FormPostPage { lang, assets, action: &target.redirect_uri, fields: params };
            let hash = STANDARD.encode(digest(&SHA256, FORM_POST_SCRIPT.as_bytes()));
            let action = origin(&target.redirect_uri).unwrap_or("'none'");
            let policy =
                format!("style-src 'self'; img-src 'self'; script-src 'sha256-{hash}'; form-action {action}");
            with_policy(StatusCode::OK, pages::form_post(&model), &policy)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn origin_is_scheme_host_and_port() {
        assert_eq!(origin("https://app.example/cb?x=1"), Some("https://app.example"));
        assert_eq!(origin("http://localhost:8765/callback"), Some("http://localhost:8765"));
        assert_eq!(origin("https://app.example"), Some("https://app.example"));
        assert_eq!(origin("urn:ietf:wg:oauth:2.0:oob"), None);
    }
}
