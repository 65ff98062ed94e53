//! Request ids: the client's own where it is well-formed, else one that this process generates.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::Request;
use axum::http::header::HeaderName;
use domain::{Guid, Random};

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const CHARS_MAX: usize = 64;

tokio::task_local! {
    pub(crate) static CURRENT: RequestId;
}

/// A request's id.
#[derive(Clone, Copy, Debug)]
pub struct RequestId {
    chars: [u8; CHARS_MAX],
    count: usize,
}

impl RequestId {
    /// Returns `None` unless the id is short and reads the same in a header, in a log and in JSON.
    fn parse(id: &[u8]) -> Option<Self> {
        let mut chars = [0; CHARS_MAX];
        chars.get_mut(..id.len())?.copy_from_slice(id);
        let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        (!id.is_empty() && id.iter().all(is_allowed)).then_some(Self { chars, count: id.len() })
    }

    /// The id that the client sent, where it is well-formed.
    pub(crate) fn from_client(request: &Request) -> Option<Self> {
        Self::parse(request.headers().get(X_REQUEST_ID)?.as_bytes())
    }

    pub fn as_str(&self) -> &str {
        self.chars.get(..self.count).and_then(|id| std::str::from_utf8(id).ok()).unwrap_or_default()
    }

    /// The id of the request that this task is handling, for log lines. A span per request would cost more than the
    /// rest of the layer, and few requests log anything.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(|id| *id).ok()
    }
}

/// Generates ids that are unique but not secret: a counter XORed into random bytes of this process.
pub(crate) struct RequestIds {
    process: [u8; 16],
    next: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new(random: &dyn Random) -> Self {
        let mut process = [0; 16];
        random.fill(&mut process);
        Self { process, next: AtomicU64::new(0) }
    }

    pub(crate) fn next(&self) -> RequestId {
        let number = self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut bytes = self.process;
        bytes.iter_mut().rev().zip(number.iter().rev()).for_each(|(byte, of_number)| *byte ^= *of_number);
        let mut text = [0; Guid::CHARS];
        let text = Guid::derived_from(bytes).write_to(&mut text);
        RequestId::parse(text.as_bytes()).unwrap_or(RequestId { chars: [0; CHARS_MAX], count: 0 })
    }
}
