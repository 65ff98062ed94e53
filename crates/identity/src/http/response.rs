//! Builds responses: pages under a strict Content-Security-Policy, redirects, the authorization response to the
//! client, and JSON that must not be cached.

use std::borrow::Cow;

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

use super::browser::BrowserContext;
use crate::authorization_request::{ResponseMode, ResponseTarget};
use crate::pages::{self, ContinuePage, FORM_POST_SCRIPT};
use crate::params::query;
use domain::redirect_uri::{OUT_OF_BAND, is_embedded, private_use_scheme};
use ui::Lang;

const SELF: &str = "'self'";

pub(crate) type Response = axum::response::Response;

fn response(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// A page. Its forms are submitted to this host and answered by it.
pub(crate) fn page(status: StatusCode, markup: Markup) -> Response {
    page_with_forms(status, markup, SELF)
}

/// A page whose forms may lead to the sources of `form_action`.
pub(crate) fn page_with_forms(status: StatusCode, markup: Markup, form_action: &str) -> Response {
    with_policy(status, markup, &format!("style-src 'self'; img-src 'self'; form-action {form_action}"))
}

/// A page with a script that is one of the static files.
pub(crate) fn page_with_script(status: StatusCode, markup: Markup, form_action: &str) -> Response {
    let policy = format!("style-src 'self'; img-src 'self'; script-src 'self'; form-action {form_action}");
    with_policy(status, markup, &policy)
}

/// The sources of `form-action` for a page whose form finally leads to `destination`.
///
/// Chromium and Safari apply the directive to every redirect that follows the form, also to those of the application
/// behind the callback. So a form's answer to a browser is a page (`send_to_client`), which ends that chain, and `'self'`
/// is enough. A browser without fetch metadata gets the redirect, and any web address must be allowed: old versions, and
/// every browser where this provider is reached over plain http. The host `oob` and private-use schemes always get the
/// redirect: browsers on phones open an application only from a person's own action, which a redirect still is and a page
/// that goes on by itself is not.
pub(crate) fn form_action(sends_fetch_metadata: bool, destination: Option<&str>) -> Cow<'static, str> {
    if let Some(scheme) = destination.and_then(private_use_scheme) {
        return format!("'self' {scheme}:").into();
    }
    match destination {
        Some(uri) if is_embedded(uri) => "'self' http://oob".into(),
        Some(uri) if !sends_fetch_metadata && uri != OUT_OF_BAND => "'self' https: http:".into(),
        _ => SELF.into(),
    }
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

/// Sends the browser to a URL of the client: after a form with a page that goes on by itself, else with a redirect.
pub(crate) fn send_to_client(to: &str, browser: &BrowserContext, lang: Lang, assets: &str) -> Response {
    let is_for_an_application = is_embedded(to) || private_use_scheme(to).is_some();
    if browser.is_form_submission && !is_for_an_application {
        page(StatusCode::OK, pages::continue_page(&ContinuePage { lang, assets, to }))
    } else {
        redirect(to)
    }
}

pub(crate) fn with_retry_after(mut response: Response, seconds: u64) -> Response {
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

pub(crate) fn with_retry_after_if(response: Response, seconds: Option<u64>) -> Response {
    match seconds {
        Some(seconds) => with_retry_after(response, seconds),
        None => response,
    }
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
    browser: &BrowserContext,
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
            let to = format!("{uri}{separator}{}", query(params.iter().copied()));
            send_to_client(&to, browser, lang, assets)
        }
        ResponseMode::FormPost => {
            let model = pages::FormPostPage { lang, assets, action: &target.redirect_uri, fields: params };
            let hash = STANDARD.encode(digest(&SHA256, FORM_POST_SCRIPT.as_bytes()));
            // The application may answer the form with a redirect to any web address.
            let policy = format!(
                "style-src 'self'; img-src 'self'; script-src 'sha256-{hash}'; form-action https: http:"
            );
            with_policy(StatusCode::OK, pages::form_post(&model), &policy)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{OUT_OF_BAND, form_action};

    #[test]
    fn forms_lead_to_this_host_unless_the_browser_gets_a_redirect() {
        let app = Some("https://app.example/cb");
        assert_eq!(form_action(true, app), "'self'");
        assert_eq!(form_action(false, app), "'self' https: http:");
        for sends_fetch_metadata in [true, false] {
            assert_eq!(form_action(sends_fetch_metadata, None), "'self'");
            assert_eq!(form_action(sends_fetch_metadata, Some(OUT_OF_BAND)), "'self'");
            assert_eq!(form_action(sends_fetch_metadata, Some("http://oob/a")), "'self' http://oob");
            let app = Some("com.example.my-app:/callback?x=1");
            assert_eq!(form_action(sends_fetch_metadata, app), "'self' com.example.my-app:");
        }
    }
}
