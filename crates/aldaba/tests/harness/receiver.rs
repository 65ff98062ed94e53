//! A receiver of webhooks: notes every letter that comes, and answers as the story wants.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::until;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl Letter {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn is_acknowledge(&self) -> bool {
        self.body.contains("\"EventType\":\"Acknowledge\"")
    }

    /// `CorrelationId` of a change of the accounting family, or `EntityId` of invoicing's.
    pub(crate) fn record(&self) -> Option<String> {
        let whole = serde_json::from_str::<Value>(&self.body).ok()?;
        if let Some(id) = whole["EntityId"].as_str() {
            return Some(id.to_owned());
        }
        let data: Value = serde_json::from_str(whole["JsonData"].as_str()?).ok()?;
        data["CorrelationId"].as_str().map(ToOwned::to_owned)
    }
}

/// What is answered to a letter: status and more lines of the head; None: never anything.
pub(crate) type Mood = Box<dyn Fn(&Letter) -> Option<(u16, &'static str)> + Send>;

struct Inner {
    letters: Mutex<Vec<Letter>>,
    mood: Mutex<Mood>,
}

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    inner: Arc<Inner>,
}

impl Receiver {
    /// One that takes everything.
    pub(crate) fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mood: Mood = Box::new(|_| Some((200, "")));
        let inner = Arc::new(Inner { letters: Mutex::default(), mood: Mutex::new(mood) });
        let receiver = Self { address, inner };
        let own = receiver.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let own = own.clone();
                std::thread::spawn(move || own.serve(stream));
            }
        });
        receiver
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn answers(&self, mood: impl Fn(&Letter) -> Option<(u16, &'static str)> + Send + 'static) {
        *self.inner.mood.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(mood);
    }

    pub(crate) fn letters(&self) -> Vec<Letter> {
        self.inner.letters.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes that came, handshakes aside.
    pub(crate) fn changes(&self) -> Vec<Letter> {
        self.letters().into_iter().filter(|letter| letter.record().is_some()).collect()
    }

    pub(crate) fn records(&self) -> Vec<String> {
        self.changes().iter().filter_map(Letter::record).collect()
    }

    /// Waits until so many changes came.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize) -> Vec<Letter> {
        until("changes to arrive", || Some(self.changes()).filter(|came| came.len() >= count))
    }

    fn serve(&self, stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(60)));
        let mut writer = stream.try_clone().unwrap();
        let mut reader = BufReader::new(stream);
        while let Some(letter) = read(&mut reader) {
            self.inner.letters.lock().unwrap_or_else(PoisonError::into_inner).push(letter.clone());
            let answer = self.inner.mood.lock().unwrap_or_else(PoisonError::into_inner)(&letter);
            let Some((status, head)) = answer else { continue };
            let echo = letter.target.split("echo=").nth(1).unwrap_or_default();
            let answer = format!("HTTP/1.1 {status} X\r\n{head}content-length: {}\r\n\r\n{echo}", echo.len());
            if writer.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Letter> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace().map(ToOwned::to_owned);
    let (method, target) = (words.next()?, words.next()?);
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
    Some(Letter { method, target, headers, body: String::from_utf8(body).ok()? })
}
