//! The operator's API in process, over a store in memory: any path, query, request id, some headers, and body.

use aldaba::fuzzing::OPERATOR_TOKEN;
use axum::body::Body;
use http::{HeaderName, HeaderValue, Request, Uri};
use http_body_util::{BodyExt as _, Collected};
use serde_json::Value;
use tower::ServiceExt as _;

use super::text;

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
pub(super) const REQUEST_ID: &str = "x-request-id";
/// The headers that an input may set after the request id.
const HEADERS: [(&str, &str); 3] = [("k", "idempotency-key"), ("t", "content-type"), ("a", "accept")];
const JSON: &[u8] = b"application/json";
const REQUEST_ID_CHARS_MAX: usize = 64;

/// A request: `METHOD PATH`, the request id and the body, a line each (the body may have more). After the request id, `|k=`, `|t=` and
/// `|a=` set `Idempotency-Key`, `Content-Type` (else JSON) and `Accept`. The answer is never the service's own fault, an error has a
/// documented body with the id of the response, and only a well-formed request id is taken over.
pub(crate) fn operator_api(data: &[u8]) -> u64 {
    let mut parts = data.splitn(3, |byte| *byte == b'\n');
    let (target, id) = (text(parts.next().unwrap_or_default()), parts.next().unwrap_or_default());
    let body = parts.next().unwrap_or_default();
    let mut head = id.split(|byte| *byte == b'|');
    let id = head.next().unwrap_or_default();
    let headers: Vec<(&str, &[u8])> = head.filter_map(header).collect();
    let (method, path) = target.split_once(' ').unwrap_or(("POST", &target));
    let method = METHODS.iter().find(|known| **known == method).copied().unwrap_or("POST");
    let Ok(uri) = Uri::try_from(format!("/operator/v1{path}")) else { return 0 };
    let request = Request::builder()
        .method(method)
        .uri(uri)
        .header("authorization", format!("Bearer {OPERATOR_TOKEN}"))
        .header(REQUEST_ID, id)
        .body(Body::from(body.to_vec()));
    let Ok(mut request) = request else { return 1 };
    for (name, value) in [("content-type", JSON)].into_iter().chain(headers) {
        let Ok(value) = HeaderValue::from_bytes(value) else { return 1 };
        request.headers_mut().insert(HeaderName::from_static(name), value);
    }
    // A new service each time, so that an input has the same outcome alone.
    let router = aldaba::fuzzing::operator_router();
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return 3 };
    let (status, answered_id, body) = runtime.block_on(async {
        let Ok(response) = router.oneshot(request).await;
        let status = response.status().as_u16();
        let id = response.headers().get(REQUEST_ID).map(|id| id.as_bytes().to_vec()).unwrap_or_default();
        let body = response.into_body().collect().await.map(Collected::to_bytes).unwrap_or_default();
        (status, id, body)
    });
    check_request_id(id, &answered_id);
    assert!(status < 500, "{status}: {}", String::from_utf8_lossy(&body));
    let json: Option<Value> = serde_json::from_slice(&body).ok();
    if status < 400 {
        assert!(body.is_empty() || json.is_some() || method == "GET", "{status} without JSON");
        return u64::from(status);
    }
    // A path or a method without a route gets its body from a layer of the whole service.
    if body.is_empty() && [404, 405].contains(&status) {
        return u64::from(status);
    }
    let Some(json) = json else { panic!("{status} without an error body") };
    let code = json["code"].as_str().unwrap_or_default();
    assert!(!code.is_empty() && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{json}");
    assert_eq!(json["statusCode"], status, "{json}");
    assert_eq!(json["requestId"].as_str().map(str::as_bytes), Some(&answered_id[..]), "{json}");
    assert!(json["message"].as_str().is_some_and(|message| !message.is_empty()), "{json}");
    domain::fuzzing::signature(&format!("{status} {code} {}", json["errors"][0]["field"]))
}

/// A header of the second line: the letter of its name, `=` and its value.
fn header(part: &[u8]) -> Option<(&'static str, &[u8])> {
    let at = part.iter().position(|byte| *byte == b'=')?;
    let (letter, value) = part.split_at(at);
    let (_, name) = HEADERS.into_iter().find(|(known, _)| known.as_bytes() == letter)?;
    Some((name, value.get(1..).unwrap_or_default()))
}

pub(super) fn check_request_id(sent: &[u8], answered: &[u8]) {
    let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let is_well_formed =
        |id: &[u8]| (1..=REQUEST_ID_CHARS_MAX).contains(&id.len()) && id.iter().all(is_allowed);
    assert!(is_well_formed(answered), "{answered:?}");
    assert_eq!(sent == answered, is_well_formed(sent), "{sent:?} became {answered:?}");
}
