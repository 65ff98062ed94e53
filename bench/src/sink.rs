//! A receiver that costs little: takes every POST with 200 and counts it; below `/dead` it never answers an event.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::{Fallible, wire};

const DEAD: &[u8] = b"POST /dead";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[derive(Default)]
pub(crate) struct Seen {
    events: AtomicU64,
    handshakes: AtomicU64,
    /// Whether to remember when each record's event arrived.
    notes: AtomicBool,
    arrivals: Mutex<HashMap<String, Instant>>,
}

/// Listens on every address of this machine, so that 127.x.y.z are so many receivers.
#[derive(Clone)]
pub(crate) struct Sink {
    pub(crate) port: u16,
    seen: Arc<Seen>,
}

impl Sink {
    pub(crate) async fn open() -> Fallible<Self> {
        let listener = TcpListener::bind("0.0.0.0:0").await?;
        let sink = Self { port: listener.local_addr()?.port(), seen: Arc::default() };
        let seen = sink.seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(take(stream, seen.clone()));
            }
        });
        Ok(sink)
    }

    /// Events taken so far, handshakes aside.
    pub(crate) fn events(&self) -> u64 {
        self.seen.events.load(Ordering::Relaxed)
    }

    pub(crate) fn handshakes(&self) -> u64 {
        self.seen.handshakes.load(Ordering::Relaxed)
    }

    /// Waits until so many events were taken; tells how long that took.
    pub(crate) async fn wait_for(&self, events: u64, patience: Duration) -> Fallible<Duration> {
        let from = Instant::now();
        while self.events() < events {
            if from.elapsed() > patience {
                return Err(format!("{} of {events} events after {patience:?}", self.events()).into());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(from.elapsed())
    }

    pub(crate) fn note_arrivals(&self) {
        self.seen.notes.store(true, Ordering::Relaxed);
    }

    pub(crate) fn arrivals(&self) -> HashMap<String, Instant> {
        std::mem::take(&mut self.seen.arrivals.lock())
    }
}

async fn take(mut stream: TcpStream, seen: Arc<Seen>) -> std::io::Result<()> {
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
            let is_event = note(&buffer[from + head + 4..end], &seen);
            // Accepts its handshake, and then never answers again.
            if !is_event || !buffer[from..].starts_with(DEAD) {
                stream.write_all(ANSWER).await?;
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

/// Tells whether it was an event; handshakes are not counted.
fn note(body: &[u8], seen: &Seen) -> bool {
    const ID: &[u8] = b"CorrelationId\\\":\\\"";
    let Some(at) = wire::find(body, ID) else {
        seen.handshakes.fetch_add(1, Ordering::Relaxed);
        return false;
    };
    if seen.notes.load(Ordering::Relaxed) {
        let id = body[at + ID.len()..].iter().take_while(|byte| **byte != b'\\');
        let id = String::from_utf8_lossy(&id.copied().collect::<Vec<u8>>()).into_owned();
        seen.arrivals.lock().entry(id).or_insert_with(Instant::now);
    }
    seen.events.fetch_add(1, Ordering::Relaxed);
    true
}
