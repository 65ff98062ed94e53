//! A receiver that behaves as its story says: each connection is handed to a script.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::desk::PATIENCE;

pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type Story = Pin<Box<dyn Future<Output = ()> + Send>>;
type Script = Arc<dyn Fn(Visit) -> Story + Send + Sync>;

/// One connection, seen from the receiver.
pub(crate) struct Visit {
    pub(crate) stream: Box<dyn Stream>,
    /// Which connection this is, from 1.
    pub(crate) number: usize,
    heard: Arc<Mutex<Vec<String>>>,
    buffer: Vec<u8>,
}

/// A receiver and what it has seen.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
    seen: watch::Receiver<Seen>,
}

#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) accepted: usize,
    pub(crate) open: usize,
    pub(crate) open_most: usize,
}

impl Server {
    pub(crate) async fn start<F, S>(script: F) -> Self
    where
        F: Fn(Visit) -> S + Send + Sync + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        Self::start_on("127.0.0.1:0", None, script).await
    }

    /// Answers every request with the same text and keeps the connection.
    pub(crate) async fn answering(text: &'static str) -> Self {
        Self::start(move |visit| always(visit, text)).await
    }

    pub(crate) async fn start_on<F, S>(address: &str, tls: Option<TlsAcceptor>, script: F) -> Self
    where
        F: Fn(Visit) -> S + Send + Sync + 'static,
        S: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (tell, seen) = watch::channel(Seen::default());
        let script: Script = Arc::new(move |visit| Box::pin(script(visit)));
        tokio::spawn(serve(listener, tls, script, heard.clone(), tell));
        Self { address, heard, seen }
    }

    /// An address of this receiver, by the name of this machine.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Requests as they came: head and body.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().clone()
    }

    pub(crate) fn seen(&self) -> Seen {
        *self.seen.borrow()
    }

    pub(crate) async fn until(&self, is_so: impl FnMut(&Seen) -> bool) {
        let mut seen = self.seen.clone();
        let waited = tokio::time::timeout(PATIENCE, seen.wait_for(is_so)).await;
        waited.unwrap_or_else(|_| panic!("it never came to it: {:?}", self.seen())).unwrap();
    }
}

async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    script: Script,
    heard: Arc<Mutex<Vec<String>>>,
    tell: watch::Sender<Seen>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).unwrap();
        tell.send_modify(|seen| {
            seen.accepted += 1;
            seen.open += 1;
            seen.open_most = seen.open_most.max(seen.open);
        });
        let number = tell.borrow().accepted;
        let (tls, script, heard, tell) = (tls.clone(), script.clone(), heard.clone(), tell.clone());
        tokio::spawn(async move {
            let stream: Option<Box<dyn Stream>> = match tls {
                Some(tls) => tls.accept(stream).await.ok().map(|stream| Box::new(stream) as _),
                None => Some(Box::new(stream)),
            };
            if let Some(stream) = stream {
                script(Visit { stream, number, heard, buffer: Vec::new() }).await;
            }
            tell.send_modify(|seen| seen.open -= 1);
        });
    }
}

impl Visit {
    /// The next request, head and body; nothing once the caller has closed.
    pub(crate) async fn request(&mut self) -> Option<String> {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let whole = end + length.map_or(0, |length| length.trim().parse().unwrap());
        while self.buffer.len() < whole {
            self.more().await?;
        }
        let request: Vec<u8> = self.buffer.drain(..whole).collect();
        let request = String::from_utf8_lossy(&request).into_owned();
        self.heard.lock().push(request.clone());
        Some(request)
    }

    pub(crate) async fn say(&mut self, text: &str) {
        // Who has hung up hears nothing, which is for the story to notice.
        let _ = self.stream.write_all(text.as_bytes()).await;
        let _ = self.stream.flush().await;
    }

    /// Says nothing more, and stays until the caller goes.
    pub(crate) async fn stay(&mut self) {
        while self.more().await.is_some() {}
    }

    /// Whatever comes next; nothing once the caller has closed.
    pub(crate) async fn more(&mut self) -> Option<()> {
        match self.stream.read_buf(&mut self.buffer).await {
            Ok(read) if read > 0 => Some(()),
            _ => None,
        }
    }
}

/// Answers every request with the same text, until the caller goes.
pub(crate) async fn always(mut visit: Visit, text: &'static str) {
    while visit.request().await.is_some() {
        visit.say(text).await;
    }
}

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
