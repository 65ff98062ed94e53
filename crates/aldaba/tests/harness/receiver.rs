//! A webhook receiver that records every request and responds as the test says.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

use super::wait_for;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
    /// Which of the receiver's connections carried it, counted from 1.
    pub(crate) connection: usize,
}

impl ReceivedRequest {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn is_acknowledge(&self) -> bool {
        self.body.contains("\"EventType\":\"Acknowledge\"")
    }

    /// The `CorrelationId` of an accounting event, or the `EntityId` of an invoicing event.
    pub(crate) fn record(&self) -> Option<String> {
        let whole = serde_json::from_str::<Value>(&self.body).ok()?;
        if let Some(id) = whole["EntityId"].as_str() {
            return Some(id.to_owned());
        }
        let data: Value = serde_json::from_str(whole["JsonData"].as_str()?).ok()?;
        data["CorrelationId"].as_str().map(ToOwned::to_owned)
    }

    /// The `SequenceVersion` of an accounting event.
    pub(crate) fn sequence(&self) -> Option<u64> {
        let whole = serde_json::from_str::<Value>(&self.body).ok()?;
        let data: Value = serde_json::from_str(whole["JsonData"].as_str()?).ok()?;
        data["SequenceVersion"].as_str()?.parse().ok()
    }
}

/// Decides the response to a request: status and extra header lines, or `None` for no response at all.
pub(crate) type Responder = Box<dyn Fn(&ReceivedRequest) -> Option<(u16, &'static str)> + Send>;

struct Inner {
    requests: Mutex<Vec<ReceivedRequest>>,
    responder: Mutex<Responder>,
    /// A response body that replaces the echo.
    body: Mutex<Option<&'static str>>,
    /// All connections so far, each with a handle to close it while it is open.
    connections: Mutex<Vec<Option<TcpStream>>>,
    tls: Mutex<Option<Arc<ServerConfig>>>,
}

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    inner: Arc<Inner>,
}

impl Receiver {
    /// A receiver that responds 200 to everything. Its address is one that no other program uses: a webhook of another test may outlive the
    /// `aldaba listen` that it was for, and its deliveries would come here once this receiver got the port.
    pub(crate) fn open() -> Self {
        Self::on(TcpListener::bind("127.0.0.2:0").unwrap(), None)
    }

    /// The same over TLS.
    pub(crate) fn with_tls(listener: TcpListener, tls: Arc<ServerConfig>) -> Self {
        Self::on(listener, Some(tls))
    }

    fn on(listener: TcpListener, tls: Option<Arc<ServerConfig>>) -> Self {
        let address = listener.local_addr().unwrap();
        let responder: Responder = Box::new(|_| Some((200, "")));
        let inner = Inner {
            requests: Mutex::default(),
            responder: Mutex::new(responder),
            body: Mutex::default(),
            connections: Mutex::default(),
            tls: Mutex::new(tls),
        };
        let receiver = Self { address, inner: Arc::new(inner) };
        let this = receiver.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let this = this.clone();
                std::thread::spawn(move || this.handle_connection(stream));
            }
        });
        receiver
    }

    pub(crate) fn host(&self) -> String {
        self.address.ip().to_string()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        let scheme = if lock(&self.inner.tls).is_some() { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.address)
    }

    /// The number of connections so far, including those without a request.
    pub(crate) fn connections(&self) -> usize {
        lock(&self.inner.connections).len()
    }

    /// Changes the certificate and closes all connections.
    pub(crate) fn set_certificate(&self, tls: Arc<ServerConfig>) {
        *lock(&self.inner.tls) = Some(tls);
        for connection in lock(&self.inner.connections).iter().flatten() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn respond_with(
        &self,
        responder: impl Fn(&ReceivedRequest) -> Option<(u16, &'static str)> + Send + 'static,
    ) {
        *lock(&self.inner.responder) = Box::new(responder);
    }

    /// Sets the body of every response; `None` restores the echo.
    pub(crate) fn set_body(&self, body: Option<&'static str>) {
        *lock(&self.inner.body) = body;
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        lock(&self.inner.requests).clone()
    }

    /// The received requests without handshakes.
    pub(crate) fn changes(&self) -> Vec<ReceivedRequest> {
        self.requests().into_iter().filter(|request| request.record().is_some()).collect()
    }

    pub(crate) fn records(&self) -> Vec<String> {
        self.changes().iter().filter_map(ReceivedRequest::record).collect()
    }

    /// Waits until this many changes have been received.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize) -> Vec<ReceivedRequest> {
        wait_for("changes to arrive", || Some(self.changes()).filter(|received| received.len() >= count))
    }

    fn handle_connection(&self, stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
        let number = {
            let mut all = lock(&self.inner.connections);
            all.push(Some(stream.try_clone().unwrap()));
            all.len()
        };
        let tls = lock(&self.inner.tls).clone();
        match tls {
            Some(tls) => {
                let connection = ServerConnection::new(tls).unwrap();
                self.serve(StreamOwned::new(connection, stream), number);
            }
            None => self.serve(stream, number),
        }
        lock(&self.inner.connections)[number - 1] = None;
    }

    fn serve(&self, stream: impl Read + Write, connection: usize) {
        let mut reader = BufReader::new(stream);
        while let Some(request) = read(&mut reader, connection) {
            lock(&self.inner.requests).push(request.clone());
            let answer = lock(&self.inner.responder)(&request);
            let Some((status, head)) = answer else { continue };
            let echo = request.target.split("echo=").nth(1).unwrap_or_default();
            let echo = lock(&self.inner.body).unwrap_or(echo);
            let answer = format!("HTTP/1.1 {status} X\r\n{head}content-length: {}\r\n\r\n{echo}", echo.len());
            let writer = reader.get_mut();
            if writer.write_all(answer.as_bytes()).and_then(|()| writer.flush()).is_err() {
                return;
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(reader: &mut BufReader<impl Read>, connection: usize) -> Option<ReceivedRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut body = line.split_whitespace().map(ToOwned::to_owned);
    let (method, target) = (body.next()?, body.next()?);
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(ReceivedRequest { method, target, headers, body: String::from_utf8(body).ok()?, connection })
}
