//! How the identity provider answers: pages under a strict policy, redirects, the client's callback,
//! and JSON that nobody may keep.

use aws_lc_rs::digest::{SHA256, digest};
use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, LOCATION, REFERRER_POLICY,
    RETRY_AFTER, X_FRAME_OPTIONS,
};
use axum::http::{Response, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::Markup;
use serde::Serialize;

use crate::pages::{self, FORM_POST_SCRIPT};
use crate::params::query;
use crate::request::{Reply, ResponseMode};
use domain::redirect_uri::OUT_OF_BAND;
use ui::Lang;

pub(crate) type Answer = Response<Body>;

fn answer(status: StatusCode, body: Body) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    answer
}

/// A page. Its forms may lead here and, by redirect, to `destination`.
pub(crate) fn page(status: StatusCode, markup: Markup, destination: Option<&str>) -> Answer {
    let form_action =
        destination.and_then(origin).map_or("'self'".into(), |origin| format!("'self' {origin}"));
    policed(status, markup, &format!("style-src 'self'; img-src 'self'; form-action {form_action}"))
}

fn policed(status: StatusCode, markup: Markup, policy: &str) -> Answer {
    let mut answer = answer(status, Body::from(markup.into_string()));
    let policy = format!("default-src 'none'; {policy}; base-uri 'none'; frame-ancestors 'none'");
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // A policy that cannot be written is replaced by the strictest.
    let strictest = HeaderValue::from_static("default-src 'none'; base-uri 'none'; frame-ancestors 'none'");
    let policy = HeaderValue::from_str(&policy).unwrap_or(strictest);
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    answer
}

/// Scheme, host and port of an address; none for those that are no web addresses.
fn origin(uri: &str) -> Option<&str> {
    let host_at = uri.find("://")? + 3;
    let path_at = uri.get(host_at..)?.find(['/', '?', '#']).map_or(uri.len(), |at| host_at + at);
    uri.get(..path_at)
}

/// Sends the browser on, as a GET.
pub(crate) fn redirect(to: &str) -> Answer {
    let mut answer = answer(StatusCode::FOUND, Body::empty());
    match HeaderValue::from_str(to) {
        Ok(location) => {
            answer.headers_mut().insert(LOCATION, location);
        }
        Err(_) => *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
    }
    answer
}

pub(crate) fn with_retry_after(mut answer: Answer, seconds: u64) -> Answer {
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    answer
}

/// JSON that is for its receiver alone.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Answer {
    let Ok(body) = serde_json::to_vec(body) else {
        return answer(StatusCode::INTERNAL_SERVER_ERROR, Body::empty());
    };
    let mut answer = answer(status, Body::from(body));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer.headers_mut().insert("pragma", HeaderValue::from_static("no-cache"));
    answer
}

/// Brings parameters to the client's own address. None for the out-of-band address, which has no place
/// for them.
pub(crate) fn callback(reply: &Reply, params: &[(&str, &str)], lang: Lang, assets: &str) -> Option<Answer> {
    if reply.redirect_uri == OUT_OF_BAND {
        return None;
    }
    Some(match reply.mode {
        ResponseMode::Query => {
            let uri = &reply.redirect_uri;
            let joint = if uri.contains('?') { '&' } else { '?' };
            redirect(&format!("{uri}{joint}{}", query(params.iter().copied())))
        }
        ResponseMode::FormPost => {
            let model = pages::FormPost { lang, assets, action: &reply.redirect_uri, fields: params };
            let hash = STANDARD.encode(digest(&SHA256, FORM_POST_SCRIPT.as_bytes()));
            let action = origin(&reply.redirect_uri).unwrap_or("'none'");
            let policy =
                format!("style-src 'self'; img-src 'self'; script-src 'sha256-{hash}'; form-action {action}");
            policed(StatusCode::OK, pages::form_post(&model), &policy)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        assert_eq!(origin("https://app.example/cb?x=1"), Some("https://app.example"));
        assert_eq!(origin("http://localhost:8765/callback"), Some("http://localhost:8765"));
        assert_eq!(origin("https://app.example"), Some("https://app.example"));
        assert_eq!(origin("urn:ietf:wg:oauth:2.0:oob"), None);
    }
}
