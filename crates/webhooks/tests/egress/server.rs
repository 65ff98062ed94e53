//! A scripted receiver: a function of the test handles each connection.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::fixture::LONG_TIMEOUT;

pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type ConnectionFuture = Pin<Box<dyn Future<Output = ()> + Send>>;
type Script = Arc<dyn Fn(Connection) -> ConnectionFuture + Send + Sync>;

/// The receiver's side of a connection.
pub(crate) struct Connection {
    pub(crate) stream: Box<dyn Stream>,
    /// Counts the server's connections from 1.
    pub(crate) number: usize,
    received: Arc<Mutex<Vec<String>>>,
    buffer: Vec<u8>,
}

/// A receiver, its counters and the requests that it received.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
    counts: watch::Receiver<ConnectionCounts>,
}

#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionCounts {
    pub(crate) accepted: usize,
    pub(crate) open: usize,
    pub(crate) open_max: usize,
}

impl Server {
    pub(crate) async fn start<F, S>(script: F) -> Self
    where
        F: Fn(Connection) -> S + Send + Sync + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        Self::start_on("127.0.0.1:0", None, script).await
    }

    /// Sends the same response to every request and keeps the connection open.
    pub(crate) async fn responding(text: &'static str) -> Self {
        Self::start(move |connection| respond_always(connection, text)).await
    }

    pub(crate) async fn start_on<F, S>(address: &str, tls: Option<TlsAcceptor>, script: F) -> Self
    where
        F: Fn(Connection) -> S + Send + Sync + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        Self::accept_from(TcpListener::bind(address).await.unwrap(), tls, script)
    }

    /// Serves a port that is bound already.
    pub(crate) fn accept_from<F, S>(listener: TcpListener, tls: Option<TlsAcceptor>, script: F) -> Self
    where
        F: Fn(Connection) -> S + Send + Sync + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (counter, counts) = watch::channel(ConnectionCounts::default());
        let script: Script = Arc::new(move |connection| Box::pin(script(connection)));
        tokio::spawn(serve(listener, tls, script, received.clone(), counter));
        Self { address, received, counts }
    }

    /// A URL of this receiver.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests as received: head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.received.lock().clone()
    }

    pub(crate) fn counts(&self) -> ConnectionCounts {
        *self.counts.borrow()
    }

    pub(crate) async fn wait_for(&self, condition: impl FnMut(&ConnectionCounts) -> bool) {
        let mut counts = self.counts.clone();
        let result = tokio::time::timeout(LONG_TIMEOUT, counts.wait_for(condition)).await;
        result.unwrap_or_else(|_| panic!("the condition was never met: {:?}", self.counts())).unwrap();
    }
}

async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    script: Script,
    received: Arc<Mutex<Vec<String>>>,
    counter: watch::Sender<ConnectionCounts>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).unwrap();
        counter.send_modify(|counts| {
            counts.accepted += 1;
            counts.open += 1;
            counts.open_max = counts.open_max.max(counts.open);
        });
        let number = counter.borrow().accepted;
        let (tls, script, received, counter) =
            (tls.clone(), script.clone(), received.clone(), counter.clone());
        tokio::spawn(async move {
            let stream: Option<Box<dyn Stream>> = match tls {
                Some(tls) => tls.accept(stream).await.ok().map(|stream| Box::new(stream) as _),
                None => Some(Box::new(stream)),
            };
            if let Some(stream) = stream {
                script(Connection { stream, number, received, buffer: Vec::new() }).await;
            }
            counter.send_modify(|counts| counts.open -= 1);
        });
    }
}

impl Connection {
    /// The next request, head and body; `None` once the client has closed.
    pub(crate) async fn read_request(&mut self) -> Option<String> {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            self.read_more().await?;
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let whole = end + length.map_or(0, |length| length.trim().parse().unwrap());
        while self.buffer.len() < whole {
            self.read_more().await?;
        }
        let request: Vec<u8> = self.buffer.drain(..whole).collect();
        let request = String::from_utf8_lossy(&request).into_owned();
        self.received.lock().push(request.clone());
        Some(request)
    }

    pub(crate) async fn send(&mut self, text: &str) {
        // The client may have closed the connection; the test notices that itself.
        let _ = self.stream.write_all(text.as_bytes()).await;
        let _ = self.stream.flush().await;
    }

    /// Sends nothing more and waits until the client closes.
    pub(crate) async fn wait_for_close(&mut self) {
        while self.read_more().await.is_some() {}
    }

    /// Reads whatever comes next; `None` once the client has closed.
    pub(crate) async fn read_more(&mut self) -> Option<()> {
        match self.stream.read_buf(&mut self.buffer).await {
            Ok(read) if read > 0 => Some(()),
            _ => None,
        }
    }
}

/// Sends the same response to every request until the client closes.
pub(crate) async fn respond_always(mut connection: Connection, text: &'static str) {
    while connection.read_request().await.is_some() {
        connection.send(text).await;
    }
}

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
