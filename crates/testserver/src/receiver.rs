//! A webhook receiver on loopback: records every request and answers as the test wants.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use crate::wait_for;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedRequest {
    pub method: String,
    pub target: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl ReceivedRequest {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub fn is_acknowledge(&self) -> bool {
        self.body.contains("\"EventType\":\"Acknowledge\"")
    }
}

type Respond = Box<dyn Fn(&ReceivedRequest) -> u16 + Send>;

struct Shared {
    requests: Mutex<Vec<ReceivedRequest>>,
    respond: Mutex<Respond>,
}

#[derive(Clone)]
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Receiver {
    /// Answers 200 to everything, and the echo of an invoicing handshake.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let respond: Respond = Box::new(|_| 200);
        let shared = Arc::new(Shared { requests: Mutex::default(), respond: Mutex::new(respond) });
        let receiver = Self { address, shared };
        let server = receiver.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                std::thread::spawn(move || server.serve(&stream));
            }
        });
        receiver
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// From now on `respond` decides the status of every response.
    pub fn respond_with(&self, respond: impl Fn(&ReceivedRequest) -> u16 + Send + 'static) {
        *self.shared.respond.lock() = Box::new(respond);
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.requests.lock().clone()
    }

    /// Waits until a request has come that matches.
    #[track_caller]
    pub fn wait_for(&self, what: &str, matches: impl Fn(&ReceivedRequest) -> bool) -> ReceivedRequest {
        wait_for(what, || self.requests().into_iter().find(&matches))
    }

    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some(request) = read_request(&mut reader) {
            let echo = request.target.split_once("echo=").map(|(_, echo)| echo.to_owned());
            let status = (self.shared.respond.lock())(&request);
            self.shared.requests.lock().push(request);
            let body = echo.unwrap_or_default();
            let head = format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n\r\n", body.len());
            let mut out = stream;
            if out.write_all((head + &body).as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn read_request(reader: &mut BufReader<&TcpStream>) -> Option<ReceivedRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(Some(0), |length| length.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(ReceivedRequest { method, target, headers, body: String::from_utf8_lossy(&body).into_owned() })
}
