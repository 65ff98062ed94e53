//! A listener behind a proxy that serves it below a path prefix. Some proxies remove the prefix, others pass it on; both work.
//!
//! Pages are routed below the prefix, because their links are; everything else is routed without it.

use axum::Router;
use axum::extract::Request;
use axum::http::Uri;
use axum::http::header::{HeaderValue, LOCATION};
use axum::http::uri::PathAndQuery;
use axum::response::Response;
use tower::ServiceExt as _;

/// The router below `prefix` (`/aldaba`, or empty). `pages` is the path of the pages (`/console`), whose routes and links
/// begin with the prefix.
pub fn below_prefix(router: Router, prefix: &str, pages: &'static str) -> Router {
    if prefix.is_empty() {
        return router;
    }
    let (asked, answered) = (prefix.to_owned(), prefix.to_owned());
    let rewrite = move |mut request: Request| {
        if let Some(uri) = routed_uri(request.uri(), &asked, pages) {
            *request.uri_mut() = uri;
        }
        request
    };
    let add_prefix = move |mut response: Response| {
        if let Some(location) = prefixed_location(response.headers().get(LOCATION), &answered) {
            response.headers_mut().insert(LOCATION, location);
        }
        response
    };
    Router::new().fallback_service(router.map_request(rewrite).map_response(add_prefix))
}

/// The URI that the routes know; none if it is the same.
fn routed_uri(uri: &Uri, prefix: &str, pages: &str) -> Option<Uri> {
    let path = routed_path(uri.path(), prefix, pages);
    if path == uri.path() {
        return None;
    }
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(format!("{path}{query}")).ok()?);
    Uri::from_parts(parts).ok()
}

fn routed_path(path: &str, prefix: &str, pages: &str) -> String {
    let rest = below(path, prefix).unwrap_or(path);
    if below(rest, pages).is_some() {
        return format!("{prefix}{rest}");
    }
    if rest.is_empty() { "/".to_owned() } else { rest.to_owned() }
}

/// What follows `start` in a path, if it is whole segments of it.
fn below<'a>(path: &'a str, start: &str) -> Option<&'a str> {
    path.strip_prefix(start).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The `Location` of what is routed without the prefix; pages write it themselves.
fn prefixed_location(location: Option<&HeaderValue>, prefix: &str) -> Option<HeaderValue> {
    let path = location?.to_str().ok()?;
    let is_path = path.starts_with('/') && !path.starts_with("//") && below(path, prefix).is_none();
    is_path.then(|| HeaderValue::from_str(&format!("{prefix}{path}")).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_the_prefix_and_other_routes_do_not() {
        for (path, routed) in [
            ("/aldaba/console/login", "/aldaba/console/login"),
            ("/console/login", "/aldaba/console/login"),
            ("/console", "/aldaba/console"),
            ("/aldaba/operator/v1/tenants", "/operator/v1/tenants"),
            ("/operator/v1/tenants", "/operator/v1/tenants"),
            ("/aldaba", "/"),
            ("/aldaba/", "/"),
            ("/", "/"),
            ("/aldabas/console", "/aldabas/console"),
            ("/consoles", "/consoles"),
        ] {
            assert_eq!(routed_path(path, "/aldaba", "/console"), routed, "{path}");
        }
    }

    #[test]
    fn query_and_host_stay() {
        let uri = |text: &str| text.parse::<Uri>().unwrap();
        let routed = |text: &str| routed_uri(&uri(text), "/aldaba", "/console").map(|uri| uri.to_string());
        assert_eq!(routed("/console/?a=b&c").as_deref(), Some("/aldaba/console/?a=b&c"));
        let absolute = routed("https://ops.example.com/aldaba/metrics?x");
        assert_eq!(absolute.as_deref(), Some("https://ops.example.com/metrics?x"));
        assert_eq!(routed("/aldaba/console/?a=b"), None);
    }

    #[test]
    fn locations_of_this_host_get_the_prefix_once() {
        let with = |text: &'static str| {
            let location = prefixed_location(Some(&HeaderValue::from_static(text)), "/aldaba")?;
            location.to_str().map(str::to_owned).ok()
        };
        assert_eq!(with("/operator/v1/tenants/a").as_deref(), Some("/aldaba/operator/v1/tenants/a"));
        for other in ["/aldaba/console/", "https://app.example/callback", "//app.example/", ""] {
            assert_eq!(with(other), None, "{other}");
        }
    }
}
