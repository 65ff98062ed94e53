//! The receiver layer: which requests it answers itself, and which it passes on.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use aldaba_client::receiver::{Event, MismatchReason, ReceiverLayer, SignatureMismatch};
use aldaba_client::{Guid, Resource, Secret, Ticks};
use axum::Extension;
use axum::body::Body;
use axum::routing::post;
use bytes::Bytes;
use domain::envelope::EnvelopeContext;
use domain::signature::Signer;
use domain::{AccountId, TenantId};
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

const EVENT: &str = r#"{"Entity":"Bank","EntityId":"7","TenantId":"t","User":"eva","Changes":[]}"#;

fn secret() -> Secret {
    Secret::new("s3cret")
}

fn signed(body: &str) -> Request<Body> {
    let signature = Signer::new(&secret(), None).contract_signature(body.as_bytes());
    Request::post("/hooks").header("ms-signature", signature).body(Body::from(body.to_owned())).unwrap()
}

/// An application that records its events, called by the layer.
#[derive(Clone, Default)]
struct Desk(Arc<Mutex<Vec<Event>>>);

impl Desk {
    async fn send(&self, layer: ReceiverLayer, request: Request<Body>) -> (StatusCode, String) {
        let events = self.0.clone();
        let service = layer.handle(move |event: Event| {
            let events = events.clone();
            async move {
                events.lock().unwrap().push(event);
                Ok::<_, Infallible>(())
            }
        });
        let response = service.oneshot(request).await.unwrap();
        text(response.map(Body::new)).await
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

async fn text(response: Response<Body>) -> (StatusCode, String) {
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn layer() -> ReceiverLayer {
    ReceiverLayer::new(secret())
}

#[tokio::test]
async fn signed_delivery_reaches_the_handler() {
    let desk = Desk::default();
    assert_eq!(desk.send(layer(), signed(EVENT)).await.0, StatusCode::OK);
    let Event::Invoicing(change) = desk.0.lock().unwrap()[0].clone() else { panic!() };
    assert_eq!((change.entity.as_str(), change.user.as_str()), ("Bank", "eva"));
}

#[tokio::test]
async fn wrong_signature_is_answered_401_and_its_reason_is_reported_to_the_callback() {
    let desk = Desk::default();
    let result: Arc<Mutex<Vec<SignatureMismatch>>> = Arc::default();
    let inside = result.clone();
    let layer = layer().on_mismatch(move |why| inside.lock().unwrap().push(why.clone()));
    let mut with_newline = signed(EVENT);
    *with_newline.body_mut() = Body::from(format!("{EVENT}\n"));
    let unsigned = Request::post("/hooks").body(Body::from(EVENT)).unwrap();
    for request in [with_newline, unsigned] {
        let (status, text) = desk.send(layer.clone(), request).await;
        assert_eq!((status, text.as_str()), (StatusCode::UNAUTHORIZED, "The signature does not match."));
    }
    assert_eq!(desk.count(), 0);
    let result: Vec<MismatchReason> =
        result.lock().unwrap().iter().flat_map(|why| why.reasons.clone()).collect();
    assert_eq!(
        result,
        [MismatchReason::TrailingNewlineAdded, MismatchReason::MissingHeader("svc-webhook-signature")]
    );
}

#[tokio::test]
async fn signed_acknowledge_is_answered_without_the_handler() {
    let desk = Desk::default();
    let guid = Guid::random_from([1; 16]);
    let (tenant, user) = (TenantId::new("t"), AccountId::new("u"));
    let envelope_context = EnvelopeContext { webhook: guid, tenant, user, resource: Resource::customers() };
    let body = envelope_context.acknowledge(guid, guid, Ticks(1));
    assert_eq!(desk.send(layer(), signed(&body)).await.0, StatusCode::OK);
    let unsigned = Request::post("/hooks").body(Body::from(body)).unwrap();
    assert_eq!(desk.send(layer(), unsigned).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(desk.count(), 0);
}

#[tokio::test]
async fn echo_returns_guids_only() {
    let desk = Desk::default();
    let guid = "6f9619ff-8b86-d011-b42d-00cf4fc964ff";
    let get = |query: &str| Request::get(format!("/hooks?{query}")).body(Body::empty()).unwrap();
    for query in [format!("echo={guid}"), format!("a=b&echo={}", guid.to_uppercase())] {
        assert_eq!(desk.send(layer(), get(&query)).await, (StatusCode::OK, guid.to_owned()));
    }
    for query in ["echo=%3Cscript%3E", "echo=", "", "x=1"] {
        let (status, text) = desk.send(layer(), get(query)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
        assert!(!text.contains("script"));
    }
    assert_eq!(desk.count(), 0);
}

#[tokio::test]
async fn too_large_body_is_refused_with_and_without_content_length() {
    let desk = Desk::default();
    let small = || layer().body_bytes_max(EVENT.len());
    assert_eq!(desk.send(small(), signed(EVENT)).await.0, StatusCode::OK);
    let long = format!("{EVENT} ");
    assert_eq!(desk.send(small(), signed(&long)).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    let pieces = futures_util::stream::iter([Ok::<_, Infallible>(Bytes::from(long.clone()))]);
    let mut unknown = signed(&long);
    *unknown.body_mut() = Body::from_stream(pieces);
    assert_eq!(desk.send(small(), unknown).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    let mut lying = signed(EVENT);
    lying.headers_mut().insert("content-length", "99999999".parse().unwrap());
    assert_eq!(desk.send(small(), lying).await.0, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn other_methods_and_other_bodies_are_refused() {
    let desk = Desk::default();
    for method in [Method::PUT, Method::DELETE, Method::HEAD] {
        let mut request = signed(EVENT);
        *request.method_mut() = method;
        assert_eq!(desk.send(layer(), request).await.0, StatusCode::METHOD_NOT_ALLOWED);
    }
    assert_eq!(desk.send(layer(), signed("{}")).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(desk.count(), 0);
}

#[tokio::test]
async fn failing_handler_is_answered_500() {
    let service = layer().handle(|_| async { Err::<(), _>("no disk") });
    let response = service.oneshot(signed(EVENT)).await.unwrap();
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test]
async fn layer_passes_on_the_request_and_removes_cookies() {
    async fn changed(Extension(event): Extension<Event>, body: Bytes) -> Response<Body> {
        assert_eq!(event.record_id(), "7");
        let cookie = ("set-cookie", "session=1");
        Response::builder().status(202).header(cookie.0, cookie.1).body(Body::from(body)).unwrap()
    }
    let app = axum::Router::new().route("/hooks", post(changed).layer(layer()));
    let response = app.clone().oneshot(signed(EVENT)).await.unwrap();
    assert_eq!(response.headers().get("set-cookie"), None);
    assert_eq!(text(response).await, (StatusCode::ACCEPTED, EVENT.to_owned()));
    let echo = Request::get("/hooks?echo=6f9619ff-8b86-d011-b42d-00cf4fc964ff").body(Body::empty()).unwrap();
    assert_eq!(
        app.oneshot(echo).await.unwrap().status(),
        StatusCode::OK,
        "the layer answers before the router's 405"
    );
}

#[cfg(feature = "axum")]
#[tokio::test]
async fn axum_handler_extracts_the_event() {
    async fn changed(event: Event) -> String {
        event.record_id().to_owned()
    }
    let app = axum::Router::new().route("/hooks", post(changed).layer(layer()));
    let response = app.oneshot(signed(EVENT)).await.unwrap();
    assert_eq!(text(response).await, (StatusCode::OK, "7".to_owned()));
    let bare = axum::Router::new().route("/hooks", post(changed));
    let response = bare.oneshot(signed(EVENT)).await.unwrap();
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR, "without the layer nothing is believed");
}
