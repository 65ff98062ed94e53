//! Whole requests in process: the public listener's APIs, the pages of the portal and the console, and the path prefix of a proxy.

use aldaba::fuzzing::{
    API_URL, AUTH_URL, BROWSER_ORIGIN, OPERATOR_URL, REGISTERED_URIS, console_router, fill_in, portal_router,
    public_router,
};
use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use domain::fuzzing::signature;
use http::header::{
    ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, HOST,
    LOCATION, ORIGIN, SET_COOKIE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::{BodyExt as _, Collected};
use serde_json::Value;
use tower::ServiceExt as _;

use super::operator_api::{REQUEST_ID, check_request_id};
use super::text;

const METHODS: [Method; 7] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS];
/// The endpoints of the identity provider that programs call.
const CONNECT: &str = "/auth/core/connect/";
const ENDPOINTS: [&str; 4] = ["token", "userinfo", "revocation", "introspect"];
const PREFIX: &str = "/aldaba";
const PAGES: &str = "/console";

/// What was sent, as far as the response depends on it.
struct Sent {
    method: Method,
    path: String,
    headers: HeaderMap,
}

impl Sent {
    /// Whether an error must be JSON: the request is for no page.
    fn expects_json(&self) -> bool {
        let is_endpoint = ENDPOINTS.iter().any(|name| self.path.strip_prefix(CONNECT) == Some(*name));
        self.method != Method::HEAD && (is_endpoint || !self.path.starts_with("/auth/core"))
    }
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

/// A request to the identity provider or to the APIs: `METHOD PATH`, lines of headers, an empty line and the body. What stands for
/// credentials is filled in. The answer is never the service's own fault, an error has a documented body, no page but a registered one
/// gets the browser, and no page but a registered one's may read the answer.
pub(crate) fn public_api(data: &[u8]) -> u64 {
    let Some((sent, request)) = parse(data) else { return 0 };
    let Some(answer) = exchange(request, public_router()) else { return 1 };
    check(&sent, &answer);
    let Some(json) = error_body(&sent, &answer) else {
        assert!(answer.status < 400 || !sent.expects_json(), "{} without JSON", answer.status);
        return outcome(&answer);
    };
    let code = if let Some(error) = json["error"].as_str() {
        error
    } else {
        assert_eq!(json["statusCode"], answer.status, "{json}");
        assert_eq!(json["requestId"].as_str().map(str::as_bytes), Some(request_id(&answer)), "{json}");
        assert!(json["message"].as_str().is_some_and(|message| !message.is_empty()), "{json}");
        json["code"].as_str().unwrap_or_default()
    };
    assert!(!code.is_empty() && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{json}");
    let field = &json["errors"][0]["field"];
    signature(&format!("{code} {field} {}", json["error_description"].as_str().unwrap_or_default()))
        ^ u64::from(answer.status)
}

/// A request to the pages of the portal or the console, in the same form. The answer is never the service's own fault, and is a page, JSON
/// or a redirect to a page of the service.
pub(crate) fn pages(data: &[u8]) -> u64 {
    let Some((sent, request)) = parse(data) else { return 0 };
    let is_console = request.uri().path().starts_with(PAGES);
    let answer =
        if is_console { exchange(request, console_router()) } else { exchange(request, portal_router()) };
    let Some(answer) = answer else { return 1 };
    check(&sent, &answer);
    let is_error = error_body(&sent, &answer).is_some();
    outcome(&answer) << 1 | u64::from(is_error)
}

fn parse(data: &[u8]) -> Option<(Sent, Request<Body>)> {
    let at = data.windows(2).position(|pair| pair == b"\n\n").unwrap_or(data.len());
    let (head, body) = data.split_at(at);
    let body = body.get(2..).unwrap_or_default();
    let body = std::str::from_utf8(body).map_or_else(|_| body.to_vec(), |body| fill_in(body).into_bytes());
    let head = fill_in(&String::from_utf8_lossy(head));
    let mut lines = head.lines();
    let (method, path) = lines.next()?.split_once(' ')?;
    let method = METHODS.into_iter().find(|known| known.as_str() == method).unwrap_or(Method::POST);
    let uri = path.parse::<Uri>().ok().filter(|uri| uri.path().starts_with('/'))?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = HeaderValue::from_bytes(value.trim().as_bytes());
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.trim().as_bytes()), value) {
            headers.append(name, value);
        }
    }
    // So that bodies can be read here.
    headers.remove(ACCEPT_ENCODING);
    let mut request = Request::new(Body::from(body));
    *request.method_mut() = method.clone();
    *request.uri_mut() = uri.clone();
    *request.headers_mut() = headers.clone();
    Some((Sent { method, path: uri.path().to_owned(), headers }, request))
}

fn exchange(request: Request<Body>, router: impl Future<Output = Router>) -> Option<Answer> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    Some(runtime.block_on(async {
        let Ok(response) = router.await.oneshot(request).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
        Answer { status: parts.status.as_u16(), headers: parts.headers, body }
    }))
}

fn request_id(answer: &Answer) -> &[u8] {
    answer.headers.get(REQUEST_ID).map(HeaderValue::as_bytes).unwrap_or_default()
}

/// What holds for every answer.
fn check(sent: &Sent, answer: &Answer) {
    let Answer { status, headers, body } = answer;
    let is_own_fault = *status >= 500 && *status != 503;
    assert!(!is_own_fault, "{status}: {}", String::from_utf8_lossy(body));
    let id = sent.headers.get(REQUEST_ID).map(HeaderValue::as_bytes).unwrap_or_default();
    check_request_id(id, request_id(answer));
    for (name, value) in headers {
        let is_control = |byte: &u8| *byte < 0x20 && *byte != b'\t' || *byte == 0x7f;
        assert!(!value.as_bytes().iter().any(is_control), "{name}: {value:?}");
    }
    for cookie in headers.get_all(SET_COOKIE) {
        let cookie = String::from_utf8_lossy(cookie.as_bytes());
        assert!(cookie.contains("; HttpOnly") && cookie.contains("; Secure"), "{cookie}");
        assert!(cookie.starts_with("__Host-"), "{cookie}");
    }
    if let Some(location) = headers.get(LOCATION) {
        check_location(&String::from_utf8_lossy(location.as_bytes()));
    }
    assert!(!headers.contains_key(ACCESS_CONTROL_ALLOW_CREDENTIALS), "{headers:?}");
    if let Some(origin) = headers.get(ACCESS_CONTROL_ALLOW_ORIGIN).filter(|origin| *origin != "*") {
        assert!(origin == BROWSER_ORIGIN && sent.headers.get(ORIGIN) == Some(origin), "{origin:?}");
    }
}

/// A browser goes to a page of the service, or to an address that a client has registered.
fn check_location(location: &str) {
    let place = location.split(['?', '#']).next().unwrap_or_default();
    let is_own = [API_URL, AUTH_URL, OPERATOR_URL]
        .iter()
        .any(|own| place.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    let is_path = place.starts_with('/') && !place.starts_with("//") && !place.starts_with("/\\");
    let is_relative = !place.starts_with(['/', '\\']) && !place.contains(':');
    assert!(is_own || is_path || is_relative || REGISTERED_URIS.contains(&place), "to {location}");
}

/// The JSON of an error; none of a page, and of a success.
fn error_body(sent: &Sent, answer: &Answer) -> Option<Value> {
    let Answer { status, headers, body } = answer;
    if sent.method == Method::HEAD {
        return None;
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !content_type.starts_with("application/json") {
        let is_page = content_type.starts_with("text/") && !body.is_empty();
        assert!(*status < 400 || is_page, "{status} {content_type:?} without an error body");
        return None;
    }
    if body.is_empty() && *status < 400 {
        return None;
    }
    let Ok(json) = serde_json::from_slice::<Value>(body) else {
        panic!("{status} without JSON: {}", String::from_utf8_lossy(body))
    };
    assert!(*status < 400 || json.is_object(), "{json}");
    (*status >= 400).then_some(json)
}

/// A number for the kind of an answer: its status, and the title of its page or the place of a redirect.
fn outcome(answer: &Answer) -> u64 {
    let body = String::from_utf8_lossy(&answer.body);
    let title = body.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let title = title.map_or("", |(title, _)| title);
    let place = answer.headers.get(LOCATION).and_then(|place| place.to_str().ok()).unwrap_or_default();
    let place = place.split('?').next().unwrap_or_default();
    signature(&format!("{title} {place}")).rotate_left(16) ^ u64::from(answer.status)
}

/// The target of a request below a path prefix, and on the next line the `Location` of its answer. Pages are routed below the prefix,
/// everything else without it; the query stays, and a `Location` on this host gets the prefix once.
pub(crate) fn path_prefix(data: &[u8]) -> u64 {
    let text = text(data);
    let (target, location) = text.split_once('\n').unwrap_or((&text, "/"));
    let (Ok(uri), Ok(location)) = (target.parse::<Uri>(), HeaderValue::from_str(location)) else { return 0 };
    if !uri.path().starts_with('/') || location.to_str().is_err() {
        return 1;
    }
    let answered = location.clone();
    let echo = move |uri: Uri| {
        let answered = answered.clone();
        async move { ([(LOCATION, answered)], format!("{}\n{}", uri.path(), uri.query().unwrap_or("-"))) }
    };
    let router = web::below_prefix(Router::new().fallback(echo), PREFIX, PAGES);
    let mut request = Request::new(Body::empty());
    request.headers_mut().insert(HOST, HeaderValue::from_static("ops.example"));
    *request.uri_mut() = uri.clone();
    let Some(answer) = exchange(request, std::future::ready(router)) else { return 2 };
    let rest = below(uri.path(), PREFIX).unwrap_or(uri.path());
    let is_page = below(rest, PAGES).is_some();
    let expected = match (is_page, rest) {
        (true, rest) => format!("{PREFIX}{rest}"),
        (false, "") => "/".to_owned(),
        (false, rest) => rest.to_owned(),
    };
    let seen = String::from_utf8_lossy(&answer.body);
    assert_eq!(seen, format!("{expected}\n{}", uri.query().unwrap_or("-")), "{target}");
    let place = location.to_str().unwrap_or_default();
    let is_here = place.starts_with('/') && !place.starts_with("//") && below(place, PREFIX).is_none();
    let expected = if is_here { format!("{PREFIX}{place}") } else { place.to_owned() };
    assert!(answer.headers.get(LOCATION).is_some_and(|found| *found == expected), "{place}");
    u64::from(is_page) << 2 | u64::from(is_here) << 1 | u64::from(rest != uri.path())
}

/// What follows whole segments of a path.
fn below<'a>(path: &'a str, start: &str) -> Option<&'a str> {
    path.strip_prefix(start).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
