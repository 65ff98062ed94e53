//! The bodies of requests and responses. A request's body fails when its sender stalls; a response's body records
//! whether its receiver takes it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep};

use super::activity::{Activity, CloseReason, Exchange};
use crate::metrics::ConnectionMetrics;

/// What HTTP/2 gets at once. A larger piece would wait inside the library, where nothing shows that its receiver
/// takes none of it.
const HTTP2_PIECE_BYTES: usize = 16 * 1024;

#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    #[error("nothing came for {} ms", .0.as_millis())]
    Stalled(Duration),
    #[error(transparent)]
    Broken(#[from] hyper::Error),
}

/// Whether a body could not be read because its sender stalled.
pub fn is_body_stalled(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut chain = std::iter::successors(Some(error), |error| error.source());
    chain.any(|error| matches!(error.downcast_ref(), Some(BodyError::Stalled(_))))
}

/// A request's body that fails when nothing comes for the deadline while its handler waits.
pub(super) struct RequestBody {
    inner: Incoming,
    deadline: Duration,
    wait: Option<Wait>,
    has_stalled: bool,
    activity: Arc<Activity>,
    metrics: ConnectionMetrics,
}

/// The handler's wait for the next piece.
struct Wait {
    timer: Pin<Box<Sleep>>,
    /// Whether the deadline has passed once. A handler that was busy meanwhile finds it passed as soon as it looks
    /// again, although the next piece may be there: it gets a tenth of the deadline more.
    is_last_chance: bool,
}

impl RequestBody {
    pub(super) fn new(
        inner: Incoming,
        deadline: Duration,
        activity: Arc<Activity>,
        metrics: ConnectionMetrics,
    ) -> Self {
        Self { inner, deadline, wait: None, has_stalled: false, activity, metrics }
    }

    /// Whether the sender has been waited for long enough.
    fn poll_stalled(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let (deadline, activity) = (self.deadline, &self.activity);
        let wait = self.wait.get_or_insert_with(|| {
            activity.body_waits(true);
            Wait { timer: Box::pin(tokio::time::sleep(deadline)), is_last_chance: false }
        });
        while wait.timer.as_mut().poll(context).is_ready() {
            if wait.is_last_chance {
                return Poll::Ready(());
            }
            wait.is_last_chance = true;
            wait.timer.as_mut().reset(Instant::now() + deadline / 10);
        }
        Poll::Pending
    }

    fn end_wait(&mut self) {
        if self.wait.take().is_some() {
            self.activity.body_waits(false);
        }
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.end_wait();
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.has_stalled {
            return Poll::Ready(None);
        }
        if let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(context) {
            self.end_wait();
            return Poll::Ready(frame.map(|frame| frame.map_err(BodyError::from)));
        }
        if self.poll_stalled(context).is_pending() {
            return Poll::Pending;
        }
        self.end_wait();
        self.has_stalled = true;
        self.metrics.closed(CloseReason::Body);
        Poll::Ready(Some(Err(BodyError::Stalled(self.deadline))))
    }

    fn is_end_stream(&self) -> bool {
        self.has_stalled || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A response's body. Dropping it ends the request.
pub(super) struct ResponseBody {
    inner: Body,
    exchange: Exchange,
    /// The largest piece that is handed over at once.
    piece_bytes_max: usize,
    /// The rest of a large piece.
    rest: Bytes,
    /// Whether a piece was handed over and the next one not yet asked for.
    is_waiting: bool,
}

impl ResponseBody {
    pub(super) fn new(inner: Body, exchange: Exchange, is_http2: bool) -> Self {
        let piece_bytes_max = if is_http2 { HTTP2_PIECE_BYTES } else { usize::MAX };
        Self { inner, exchange, piece_bytes_max, rest: Bytes::new(), is_waiting: false }
    }

    fn set_waiting(&mut self, is_waiting: bool) {
        if is_waiting != self.is_waiting {
            self.is_waiting = is_waiting;
            self.exchange.activity().response_waits(is_waiting);
        }
    }

    fn next_piece(&mut self) -> Frame<Bytes> {
        let piece = self.rest.split_to(self.rest.len().min(self.piece_bytes_max));
        Frame::data(piece)
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.set_waiting(false);
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.set_waiting(false);
        if self.rest.is_empty() {
            let frame = std::task::ready!(Pin::new(&mut self.inner).poll_frame(context));
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        self.set_waiting(true);
        Poll::Ready(Some(Ok(self.next_piece())))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.inner.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(inner.lower() + rest);
        hint
    }
}
