//! The layer in front of an application: what it answers itself, what it lets through, and how.

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
use domain::{TenantId, UserId};
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

/// An application that notes what comes, behind the layer as a service of its own.
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
        let answer = service.oneshot(request).await.unwrap();
        text(answer.map(Body::new)).await
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

async fn text(answer: Response<Body>) -> (StatusCode, String) {
    let status = answer.status();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn layer() -> ReceiverLayer {
    ReceiverLayer::new(secret())
}

#[tokio::test]
async fn what_is_signed_comes_through_typed() {
    let desk = Desk::default();
    assert_eq!(desk.send(layer(), signed(EVENT)).await.0, StatusCode::OK);
    let Event::Invoicing(change) = desk.0.lock().unwrap()[0].clone() else { panic!() };
    assert_eq!((change.entity.as_str(), change.user.as_str()), ("Bank", "eva"));
}

#[tokio::test]
async fn what_is_not_signed_is_answered_401_without_a_reason_and_the_reason_is_told_inside() {
    let desk = Desk::default();
    let told: Arc<Mutex<Vec<SignatureMismatch>>> = Arc::default();
    let inside = told.clone();
    let layer = layer().on_mismatch(move |why| inside.lock().unwrap().push(why.clone()));
    let mut with_newline = signed(EVENT);
    *with_newline.body_mut() = Body::from(format!("{EVENT}\n"));
    let unsigned = Request::post("/hooks").body(Body::from(EVENT)).unwrap();
    for request in [with_newline, unsigned] {
        let (status, text) = desk.send(layer.clone(), request).await;
        assert_eq!((status, text.as_str()), (StatusCode::UNAUTHORIZED, "The signature does not match."));
    }
    assert_eq!(desk.count(), 0);
    let told: Vec<MismatchReason> = told.lock().unwrap().iter().flat_map(|why| why.reasons.clone()).collect();
    assert_eq!(
        told,
        [MismatchReason::TrailingNewlineAdded, MismatchReason::MissingHeader("svc-webhook-signature")]
    );
}

#[tokio::test]
async fn acknowledge_is_answered_here_but_only_a_signed_one() {
    let desk = Desk::default();
    let guid = Guid::random_from([1; 16]);
    let (tenant, user) = (TenantId::new("t"), UserId::new("u"));
    let envelope_context = EnvelopeContext { webhook: guid, tenant, user, resource: Resource::customers() };
    let body = envelope_context.acknowledge(guid, guid, Ticks(1));
    assert_eq!(desk.send(layer(), signed(&body)).await.0, StatusCode::OK);
    let unsigned = Request::post("/hooks").body(Body::from(body)).unwrap();
    assert_eq!(desk.send(layer(), unsigned).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(desk.count(), 0);
}

#[tokio::test]
async fn echo_gives_back_a_guid_and_nothing_else() {
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
async fn bodies_are_bounded_told_or_not() {
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
async fn a_function_that_fails_asks_for_another_attempt() {
    let service = layer().handle(|_| async { Err::<(), _>("no disk") });
    let answer = service.oneshot(signed(EVENT)).await.unwrap();
    assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test]
async fn as_a_layer_it_hands_on_request_and_body_and_takes_cookies_away() {
    async fn changed(Extension(event): Extension<Event>, body: Bytes) -> Response<Body> {
        assert_eq!(event.record_id(), "7");
        let cookie = ("set-cookie", "session=1");
        Response::builder().status(202).header(cookie.0, cookie.1).body(Body::from(body)).unwrap()
    }
    let app = axum::Router::new().route("/hooks", post(changed).layer(layer()));
    let answer = app.clone().oneshot(signed(EVENT)).await.unwrap();
    assert_eq!(answer.headers().get("set-cookie"), None);
    assert_eq!(text(answer).await, (StatusCode::ACCEPTED, EVENT.to_owned()));
    let echo = Request::get("/hooks?echo=6f9619ff-8b86-d011-b42d-00cf4fc964ff").body(Body::empty()).unwrap();
    assert_eq!(
        app.oneshot(echo).await.unwrap().status(),
        StatusCode::OK,
        "the layer answers before the router's 405"
    );
}

#[cfg(feature = "axum")]
#[tokio::test]
async fn a_handler_of_axum_takes_the_event_as_an_argument() {
    async fn changed(event: Event) -> String {
        event.record_id().to_owned()
    }
    let app = axum::Router::new().route("/hooks", post(changed).layer(layer()));
    let answer = app.oneshot(signed(EVENT)).await.unwrap();
    assert_eq!(text(answer).await, (StatusCode::OK, "7".to_owned()));
    let bare = axum::Router::new().route("/hooks", post(changed));
    let answer = bare.oneshot(signed(EVENT)).await.unwrap();
    assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR, "without the layer nothing is believed");
}
