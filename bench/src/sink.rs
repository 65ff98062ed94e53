//! A webhook receiver with little overhead: it counts every POST and responds with 200. Below `/dead` it accepts the handshake
//! and never responds to events.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::{Fallible, wire};

const DEAD_PATH: &[u8] = b"POST /dead";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[derive(Default)]
pub(crate) struct Received {
    events: AtomicU64,
    handshakes: AtomicU64,
    /// Whether to record when each record's event arrives.
    records_arrivals: AtomicBool,
    arrivals: Mutex<HashMap<String, Instant>>,
}

/// Listens on every address of this machine, so that each 127.x.y.z is a receiver of its own.
#[derive(Clone)]
pub(crate) struct Sink {
    pub(crate) port: u16,
    received: Arc<Received>,
}

impl Sink {
    pub(crate) async fn open() -> Fallible<Self> {
        let listener = TcpListener::bind("0.0.0.0:0").await?;
        let sink = Self { port: listener.local_addr()?.port(), received: Arc::default() };
        let received = sink.received.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(receive(stream, received.clone()));
            }
        });
        Ok(sink)
    }

    /// Events received so far, without handshakes.
    pub(crate) fn events(&self) -> u64 {
        self.received.events.load(Ordering::Relaxed)
    }

    pub(crate) fn handshakes(&self) -> u64 {
        self.received.handshakes.load(Ordering::Relaxed)
    }

    /// Waits until this many events have arrived; returns how long that took.
    pub(crate) async fn wait_for(&self, events: u64, timeout: Duration) -> Fallible<Duration> {
        let from = Instant::now();
        while self.events() < events {
            if from.elapsed() > timeout {
                return Err(format!("{} of {events} events after {timeout:?}", self.events()).into());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(from.elapsed())
    }

    pub(crate) fn record_arrivals(&self) {
        self.received.records_arrivals.store(true, Ordering::Relaxed);
    }

    pub(crate) fn arrivals(&self) -> HashMap<String, Instant> {
        std::mem::take(&mut self.received.arrivals.lock())
    }
}

async fn receive(mut stream: TcpStream, received: Arc<Received>) -> std::io::Result<()> {
    const LENGTH: &[u8] = b"content-length: ";
    stream.set_nodelay(true)?;
    let (mut buffer, mut filled) = (vec![0; 16 * 1024], 0);
    loop {
        let count = stream.read(&mut buffer[filled..]).await?;
        if count == 0 {
            return Ok(());
        }
        filled += count;
        let mut from = 0;
        while let Some(head) = wire::find(&buffer[from..filled], b"\r\n\r\n") {
            let digits = wire::find(&buffer[from..from + head], LENGTH).map_or(0, |at| {
                let digits =
                    buffer[from + at + LENGTH.len()..].iter().take_while(|byte| byte.is_ascii_digit());
                digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'))
            });
            let end = from + head + 4 + digits;
            if end > filled {
                break;
            }
            let is_event = count_request(&buffer[from + head + 4..end], &received);
            // A dead receiver accepts its handshake and never responds to events.
            if !is_event || !buffer[from..].starts_with(DEAD_PATH) {
                stream.write_all(RESPONSE).await?;
            }
            from = end;
        }
        buffer.copy_within(from..filled, 0);
        filled -= from;
        if filled == buffer.len() {
            buffer.resize(filled * 2, 0);
        }
    }
}

/// Counts the request and returns whether it is an event.
fn count_request(body: &[u8], received: &Received) -> bool {
    const ID: &[u8] = b"CorrelationId\\\":\\\"";
    let Some(at) = wire::find(body, ID) else {
        received.handshakes.fetch_add(1, Ordering::Relaxed);
        return false;
    };
    if received.records_arrivals.load(Ordering::Relaxed) {
        let id = body[at + ID.len()..].iter().take_while(|byte| **byte != b'\\');
        let id = String::from_utf8_lossy(&id.copied().collect::<Vec<u8>>()).into_owned();
        received.arrivals.lock().entry(id).or_insert_with(Instant::now);
    }
    received.events.fetch_add(1, Ordering::Relaxed);
    true
}
