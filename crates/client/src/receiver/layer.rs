//! The gate as a tower layer in front of any service, and as a service of its own in front of a function.

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

/// Stands in front of an application that receives webhooks of either family.
///
/// - Who comes with a wrong signature, or none, is answered 401 and goes no further.
/// - The accounting family's Acknowledge and invoicing's echo are answered here.
/// - A body over the bound is answered 413 before it is read to its end.
/// - The application gets what is left: a request with the [`Event`] among its extensions, and the body as it came.
/// - Cookies are taken out of its answers, for the service takes an answer with a cookie as a failure.
///
/// In front of a function, mounted wherever a [`tower_service::Service`] can be (here in axum):
///
/// ```
/// use aldaba_client::Secret;
/// use aldaba_client::receiver::{Event, ReceiverLayer};
///
/// let receiver = ReceiverLayer::new(Secret::new("what was given at subscription"))
///     .on_mismatch(|why| eprintln!("{why}"))
///     .handle(|event: Event| async move {
///         println!("{} of {} changed", event.record_id(), event.tenant_id());
///         Ok::<_, std::io::Error>(()) // an error is answered 500, and the service tries again
///     });
/// let app: axum::Router = axum::Router::new().route_service("/hooks", receiver);
/// ```
///
/// As a layer, where the application wants the request:
///
/// ```
/// use aldaba_client::Secret;
/// use aldaba_client::receiver::{Event, ReceiverLayer};
/// use axum::{Extension, Router, routing::post};
///
/// async fn changed(Extension(event): Extension<Event>) {}
///
/// let layer = ReceiverLayer::new(Secret::new("what was given at subscription"));
/// let app: Router = Router::new().route("/hooks", post(changed).layer(layer));
/// ```
#[derive(Clone, Debug)]
pub struct ReceiverLayer {
    receiver: Arc<DeliveryReceiver>,
}

impl ReceiverLayer {
    pub fn new(secret: Secret) -> Self {
        Self::with_verifier(Verifier::new(secret))
    }

    /// With more to say about what is accepted.
    pub fn with_verifier(verifier: Verifier) -> Self {
        Self {
            receiver: Arc::new(DeliveryReceiver {
                verifier,
                body_bytes_max: BODY_BYTES_MAX,
                on_mismatch: None,
            }),
        }
    }

    pub fn body_bytes_max(mut self, bytes: usize) -> Self {
        self.receiver = Arc::new(DeliveryReceiver { body_bytes_max: bytes, ..(*self.receiver).clone() });
        self
    }

    /// Is told why a signature was refused; the sender is not.
    pub fn on_mismatch(mut self, debug: impl Fn(&SignatureMismatch) + Send + Sync + 'static) -> Self {
        self.receiver =
            Arc::new(DeliveryReceiver { on_mismatch: Some(Arc::new(debug)), ..(*self.receiver).clone() });
        self
    }

    /// In front of a function: `Ok` is answered 200, an error 500, after which the service tries again.
    ///
    /// There are 5 seconds for all of it. What takes longer belongs into a queue.
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

/// The service that [`ReceiverLayer`] makes of another.
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
        // The one that was asked whether it is ready is the one that is called.
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

/// The service that [`ReceiverLayer::handle`] makes of a function.
#[derive(Clone)]
pub struct HandlerService<F> {
    receiver: Arc<DeliveryReceiver>,
    handler: F,
}

impl<F> fmt::Debug for HandlerService<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handled").field("gate", &self.receiver).finish_non_exhaustive()
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
                    Err(_) => {
                        text_response(StatusCode::INTERNAL_SERVER_ERROR, "It could not be taken. Try again.")
                    }
                },
            };
            Ok(response.map(Full::from))
        })
    }
}

#[cfg(feature = "axum")]
impl<S: Send + Sync> axum_core::extract::FromRequestParts<S> for Event {
    type Rejection = StatusCode;

    /// Without the layer in front there is none, which is a mistake of the application's.
    async fn from_request_parts(parts: &mut http::request::Parts, _: &S) -> Result<Self, StatusCode> {
        parts.extensions.get::<Self>().cloned().ok_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}
