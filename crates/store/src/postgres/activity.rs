//! Watches the open connections, so that dead ones are closed instead of waiting for TCP to give up: a connection that owes
//! an answer for too long ends, and after an outage every connection ends that has not been heard of since its beginning.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// How often a connection looks whether its answer is overdue.
const CHECK_EVERY: Duration = Duration::from_millis(500);
/// When a connection breaks, those that have been idle for this long are closed too: they may be dead as well.
const QUIET: Duration = Duration::from_millis(500);
/// No answer is awaited.
const NOTHING: u64 = u64::MAX;

/// The open connections of a store.
pub(super) struct Connections {
    started: Instant,
    open: Mutex<Vec<Arc<Activity>>>,
    last_error: Mutex<Option<(Instant, String)>>,
}

/// When a connection last received something and since when it owes an answer, in milliseconds since the store was opened.
#[derive(Debug)]
pub(super) struct Activity {
    started: Instant,
    read_at: AtomicU64,
    awaiting_since: AtomicU64,
    /// Asks the connection's task to end.
    close: Notify,
}

impl Activity {
    fn now(&self) -> u64 {
        millis(self.started.elapsed())
    }

    fn wrote(&self) {
        let now = self.now();
        let _ = self.awaiting_since.compare_exchange(NOTHING, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn read(&self) {
        self.read_at.store(self.now(), Ordering::Relaxed);
        self.awaiting_since.store(NOTHING, Ordering::Relaxed);
    }

    fn is_idle(&self) -> bool {
        self.awaiting_since.load(Ordering::Relaxed) == NOTHING
    }

    fn has_read_since(&self, moment: u64) -> bool {
        self.read_at.load(Ordering::Relaxed) > moment
    }

    /// Returns when the connection shall close.
    pub(super) async fn closed(&self) {
        self.close.notified().await;
    }

    /// Returns when the connection has owed an answer for `deadline`.
    pub(super) async fn overdue(&self, deadline: Duration) {
        loop {
            sleep(CHECK_EVERY.min(deadline)).await;
            let since = self.awaiting_since.load(Ordering::Relaxed);
            if since != NOTHING && self.now().saturating_sub(since) >= millis(deadline) {
                return;
            }
        }
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

impl Default for Connections {
    fn default() -> Self {
        Self { started: Instant::now(), open: Mutex::default(), last_error: Mutex::default() }
    }
}

impl Connections {
    /// Registers a new connection until its guard is dropped.
    pub(super) fn register(self: &Arc<Self>) -> OpenConnection {
        let activity = Arc::new(Activity {
            started: self.started,
            read_at: AtomicU64::new(0),
            awaiting_since: AtomicU64::new(NOTHING),
            close: Notify::new(),
        });
        activity.read();
        self.open.lock().push(activity.clone());
        OpenConnection { connections: self.clone(), activity }
    }

    /// Closes the connections that have received nothing since this moment; returns how many.
    pub(super) fn close_silent(&self, since: Instant) -> usize {
        let since = millis(since.saturating_duration_since(self.started));
        self.close_where(|activity| !activity.has_read_since(since))
    }

    fn close_where(&self, closes: impl Fn(&Activity) -> bool) -> usize {
        let open = self.open.lock();
        let closing = open.iter().filter(|activity| closes(activity));
        closing.map(|activity| activity.close.notify_one()).count()
    }

    /// A connection broke: others that have been idle for a while may be dead too. The pool opens new ones.
    pub(super) fn broke(&self, cause: String) {
        tracing::warn!(%cause, "a connection to PostgreSQL broke");
        let quiet_since = millis(self.started.elapsed().saturating_sub(QUIET));
        self.close_where(|activity| activity.is_idle() && !activity.has_read_since(quiet_since));
        self.failed(cause);
    }

    /// Remembers why no connection could be opened, or why one broke.
    pub(super) fn failed(&self, cause: String) {
        *self.last_error.lock() = Some((Instant::now(), cause));
    }

    /// The cause of the last failure, if it is recent.
    pub(super) fn recent_failure(&self) -> Option<String> {
        let last = self.last_error.lock();
        let (at, cause) = last.as_ref().filter(|(at, _)| at.elapsed() < Duration::from_secs(30))?;
        Some(format!("{} s ago: {cause}", at.elapsed().as_secs()))
    }
}

/// A connection that is open until this is dropped.
pub(super) struct OpenConnection {
    connections: Arc<Connections>,
    pub(super) activity: Arc<Activity>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.open.lock().retain(|activity| !Arc::ptr_eq(activity, &self.activity));
    }
}

/// A socket that notes when it sends and receives.
pub(super) struct WatchedSocket {
    pub(super) socket: Box<dyn Socket>,
    pub(super) activity: Arc<Activity>,
}

pub(super) trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

impl AsyncRead for WatchedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.socket).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.activity.read();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WatchedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.activity.wrote();
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

/// A socket that fails. The driver's errors can only be made by the driver, so a failed connect goes through it.
pub(super) struct FailedSocket(pub(super) io::ErrorKind, pub(super) String);

impl FailedSocket {
    fn error(&self) -> io::Error {
        io::Error::new(self.0, self.1.clone())
    }
}

impl AsyncRead for FailedSocket {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(self.error()))
    }
}

impl AsyncWrite for FailedSocket {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(self.error()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(self.error()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
