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

use super::diagnose::Mismatch;
use super::event::Event;
use super::gate::{Admitted, BODY_BYTES_MAX, BodyError, Gate, plain};
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
///     .on_refused(|why| eprintln!("{why}"))
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
    gate: Arc<Gate>,
}

impl ReceiverLayer {
    pub fn new(secret: Secret) -> Self {
        Self::with(Verifier::new(secret))
    }

    /// With more to say about what is accepted.
    pub fn with(verifier: Verifier) -> Self {
        Self { gate: Arc::new(Gate { verifier, body_bytes_max: BODY_BYTES_MAX, refused: None }) }
    }

    pub fn body_bytes_max(mut self, bytes: usize) -> Self {
        self.gate = Arc::new(Gate { body_bytes_max: bytes, ..(*self.gate).clone() });
        self
    }

    /// Is told why a signature was refused; the sender is not.
    pub fn on_refused(mut self, told: impl Fn(&Mismatch) + Send + Sync + 'static) -> Self {
        self.gate = Arc::new(Gate { refused: Some(Arc::new(told)), ..(*self.gate).clone() });
        self
    }

    /// In front of a function: `Ok` is answered 200, an error 500, after which the service tries again.
    ///
    /// There are 5 seconds for all of it. What takes longer belongs into a queue.
    pub fn handle<F, Fut, E>(self, function: F) -> Handled<F>
    where
        F: Fn(Event) -> Fut,
        Fut: Future<Output = Result<(), E>>,
    {
        Handled { gate: self.gate, function }
    }
}

impl<S> Layer<S> for ReceiverLayer {
    type Service = ReceiverService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        ReceiverService { gate: self.gate.clone(), inner }
    }
}

/// The service that [`ReceiverLayer`] makes of another.
#[derive(Clone, Debug)]
pub struct ReceiverService<S> {
    gate: Arc<Gate>,
    inner: S,
}

type Answering<T, E> = Pin<Box<dyn Future<Output = Result<Response<T>, E>> + Send>>;

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
    type Future = Answering<R, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one that was asked whether it is ready is the one that is called.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let gate = self.gate.clone();
        Box::pin(async move {
            let Admitted { mut parts, body, event } = match gate.admit(request).await {
                Ok(admitted) => admitted,
                Err(answer) => return Ok(answer.map(R::from)),
            };
            parts.extensions.insert(event);
            let mut answer = inner.call(Request::from_parts(parts, B::from(body))).await?;
            answer.headers_mut().remove(SET_COOKIE);
            Ok(answer)
        })
    }
}

/// The service that [`ReceiverLayer::handle`] makes of a function.
#[derive(Clone)]
pub struct Handled<F> {
    gate: Arc<Gate>,
    function: F,
}

impl<F> fmt::Debug for Handled<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handled").field("gate", &self.gate).finish_non_exhaustive()
    }
}

impl<F, Fut, E, B> Service<Request<B>> for Handled<F>
where
    F: Fn(Event) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<(), E>> + Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BodyError>,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Answering<Full<Bytes>, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Self { gate, function } = self.clone();
        Box::pin(async move {
            let answer = match gate.admit(request).await {
                Err(answer) => answer,
                Ok(admitted) => match function(admitted.event).await {
                    Ok(()) => plain(StatusCode::OK, ""),
                    Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "It could not be taken. Try again."),
                },
            };
            Ok(answer.map(Full::from))
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
