//! The webhook receiver as a tower layer for any service, and as a service that calls an async function.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use domain::Secret;
use http::header::SET_COOKIE;
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::Full;
use tower_layer::Layer;
use tower_service::Service;

use super::delivery_receiver::{
    BODY_BYTES_MAX, BodyError, DeliveryReceiver, VerifiedDelivery, text_response,
};
use super::diagnose::SignatureMismatch;
use super::event::Event;
use super::verify::Verifier;

/// A tower layer that receives webhooks of both families.
///
/// - It answers 401 to a missing or wrong signature.
/// - It answers the Acknowledge of the accounting family and the echo of invoicing.
/// - It answers 413 to a body over the limit, without reading all of it.
/// - It passes every other request on, with the [`Event`] in its extensions and the body unchanged.
/// - It removes cookies from responses, because the service treats a response with a cookie as a failure.
///
/// With a handler function, mounted wherever a [`tower_service::Service`] can be (here in axum):
///
/// ```
/// use aldaba_client::Secret;
/// use aldaba_client::receiver::{Event, ReceiverLayer};
///
/// let receiver = ReceiverLayer::new(Secret::new("the secret of the subscription"))
///     .on_mismatch(|why| eprintln!("{why}"))
///     .handle(|event: Event| async move {
///         println!("{} of {} changed", event.record_id(), event.tenant_id());
///         Ok::<_, std::io::Error>(()) // an error is answered 500, and the service retries
///     });
/// let app: axum::Router = axum::Router::new().route_service("/hooks", receiver);
/// ```
///
/// As a layer, if the application needs the request:
///
/// ```
/// use aldaba_client::Secret;
/// use aldaba_client::receiver::{Event, ReceiverLayer};
/// use axum::{Extension, Router, routing::post};
///
/// async fn changed(Extension(event): Extension<Event>) {}
///
/// let layer = ReceiverLayer::new(Secret::new("the secret of the subscription"));
/// let app: Router = Router::new().route("/hooks", post(changed).layer(layer));
/// ```
#[derive(Clone, Debug)]
pub struct ReceiverLayer {
    receiver: Arc<DeliveryReceiver>,
}

impl ReceiverLayer {
    /// Accepts deliveries signed with `secret`.
    pub fn new(secret: Secret) -> Self {
        Self::with_verifier(Verifier::new(secret))
    }

    /// With a configured [`Verifier`].
    pub fn with_verifier(verifier: Verifier) -> Self {
        Self {
            receiver: Arc::new(DeliveryReceiver {
                verifier,
                body_bytes_max: BODY_BYTES_MAX,
                on_mismatch: None,
            }),
        }
    }

    /// Refuses larger bodies with 413; the default is [`BODY_BYTES_MAX`](super::BODY_BYTES_MAX).
    pub fn body_bytes_max(mut self, bytes: usize) -> Self {
        self.receiver = Arc::new(DeliveryReceiver { body_bytes_max: bytes, ..(*self.receiver).clone() });
        self
    }

    /// Calls `callback` with the reason when a signature does not match. The sender does not get the reason.
    pub fn on_mismatch(mut self, callback: impl Fn(&SignatureMismatch) + Send + Sync + 'static) -> Self {
        self.receiver =
            Arc::new(DeliveryReceiver { on_mismatch: Some(Arc::new(callback)), ..(*self.receiver).clone() });
        self
    }

    /// A service that calls `handler` with each event: it answers `Ok` with 200, and an error with 500, after which the
    /// service retries.
    ///
    /// The service waits 5 seconds for the response. Put longer work into a queue.
    pub fn handle<F, Fut, E>(self, handler: F) -> HandlerService<F>
    where
        F: Fn(Event) -> Fut,
        Fut: Future<Output = Result<(), E>>,
    {
        HandlerService { receiver: self.receiver, handler }
    }
}

impl<S> Layer<S> for ReceiverLayer {
    type Service = ReceiverService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        ReceiverService { receiver: self.receiver.clone(), inner }
    }
}

/// A service wrapped by [`ReceiverLayer`].
#[derive(Clone, Debug)]
pub struct ReceiverService<S> {
    receiver: Arc<DeliveryReceiver>,
    inner: S,
}

type ResponseFuture<T, E> = Pin<Box<dyn Future<Output = Result<Response<T>, E>> + Send>>;

impl<S, B, R> Service<Request<B>> for ReceiverService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + From<Bytes> + Send + 'static,
    B::Error: Into<BodyError>,
    R: From<Bytes>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = ResponseFuture<R, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // `poll_ready` prepared `self.inner`, so that one must be called, not the clone.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let receiver = self.receiver.clone();
        Box::pin(async move {
            let VerifiedDelivery { mut parts, body, event } = match receiver.receive(request).await {
                Ok(delivery) => delivery,
                Err(response) => return Ok(response.map(R::from)),
            };
            parts.extensions.insert(event);
            let mut response = inner.call(Request::from_parts(parts, B::from(body))).await?;
            response.headers_mut().remove(SET_COOKIE);
            Ok(response)
        })
    }
}

/// The service that [`ReceiverLayer::handle`] returns.
#[derive(Clone)]
pub struct HandlerService<F> {
    receiver: Arc<DeliveryReceiver>,
    handler: F,
}

impl<F> fmt::Debug for HandlerService<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerService").field("gate", &self.receiver).finish_non_exhaustive()
    }
}

impl<F, Fut, E, B> Service<Request<B>> for HandlerService<F>
where
    F: Fn(Event) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<(), E>> + Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BodyError>,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = ResponseFuture<Full<Bytes>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Self { receiver, handler } = self.clone();
        Box::pin(async move {
            let response = match receiver.receive(request).await {
                Err(response) => response,
                Ok(delivery) => match handler(delivery.event).await {
                    Ok(()) => text_response(StatusCode::OK, ""),
                    Err(_) => text_response(
                        StatusCode::INTERNAL_SERVER_ERROR,
                        "The event could not be processed. Try again.",
                    ),
                },
            };
            Ok(response.map(Full::from))
        })
    }
}

#[cfg(feature = "axum")]
impl<S: Send + Sync> axum_core::extract::FromRequestParts<S> for Event {
    type Rejection = StatusCode;

    /// Answers 500 if the route lacks the [`ReceiverLayer`].
    async fn from_request_parts(parts: &mut http::request::Parts, _: &S) -> Result<Self, StatusCode> {
        parts.extensions.get::<Self>().cloned().ok_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}
