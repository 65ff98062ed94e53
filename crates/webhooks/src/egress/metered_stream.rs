//! A socket that reads only so much for one response. Interim responses and chunks of no content may follow each other
//! without end, and parsing them would take a core for as long as a request may last.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Everything that the receiver sends for one response: TLS, heads, and the body as it is encoded. It is much more than
/// the longest head and the part of the body that is read.
const WIRE_BYTES_MAX: usize = 256 * 1024;

pub(super) struct MeteredStream {
    stream: TcpStream,
    meter: Meter,
}

/// Counts what was read since the last request.
#[derive(Clone, Default)]
pub(super) struct Meter(Arc<AtomicUsize>);

/// The error of a read beyond the limit.
#[derive(Debug, thiserror::Error)]
#[error("it does not end within 256 KiB")]
pub(super) struct ResponseTooLong;

impl ResponseTooLong {
    pub(super) fn is_in(error: &io::Error) -> bool {
        matches!(error.get_ref(), Some(inner) if inner.is::<Self>())
    }
}

impl Meter {
    /// The next response begins.
    pub(super) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl MeteredStream {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, meter: Meter::default() }
    }

    pub(super) fn meter(&self) -> Meter {
        self.meter.clone()
    }
}

impl AsyncRead for MeteredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.meter.0.load(Ordering::Relaxed) >= WIRE_BYTES_MAX {
            return Poll::Ready(Err(io::Error::other(ResponseTooLong)));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.meter.0.fetch_add(buffer.filled().len() - before, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for MeteredStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
