//! Answers that are kept while nothing they are made from has moved. A kept answer is given as it is only where this
//! node has changed nothing of its tenant's records since, and the store was asked less than 400 ms ago whether another
//! node has; so who reads after a change was answered sees it, here at once and elsewhere within half a second.
//! Otherwise the store is asked whether its version still stands.

use std::hash::{BuildHasher as _, Hash, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response};
use domain::Ticks;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::asked::Asked;
use crate::context::CONTEXT_HEADER;
use crate::gate::KEY_HEADER;
use crate::ready::Ready;

/// How long the store's word that nothing has moved is believed. It may be a tenth of a second old itself.
const CONFIRMED: Duration = Duration::from_millis(400);
const BYTES_MAX: u64 = 32 * 1024 * 1024;
const ENTRIES_EXPECTED: usize = 8192;
const ASKED_LATELY: usize = 4096;
/// Longer ones are not kept.
const BODY_BYTES_MAX: usize = 1024 * 1024;

pub(crate) struct Kept {
    answers: Cache<Key, Entry, ByBytes>,
    /// Of keys that were asked for lately. Who walks through all pages would else push out what many read.
    asked_lately: Box<[AtomicU64]>,
    hashes: RandomState,
}

/// Who asks for what: (tenant, address, context). Hashed once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    bytes: Box<[u8]>,
    hash: u64,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Where the answer to a call is kept, or will be; with what is there.
pub(crate) struct Slot {
    key: Key,
    /// How far the tenant's records had moved before anything was read.
    invalidation: u64,
    kept: Option<Entry>,
}

impl Slot {
    /// An answer that is as good as one read now.
    fn fresh(&self, now: Ticks) -> Option<&Entry> {
        let entry = self.kept.as_ref()?;
        let is_confirmed = now >= entry.confirmed_at && now.since(entry.confirmed_at) < CONFIRMED;
        (entry.invalidation == self.invalidation && is_confirmed).then_some(entry)
    }

    /// An answer that is good if the store says that its version has not moved.
    pub(crate) fn unconfirmed(&self) -> Option<&Arc<Ready>> {
        self.kept.as_ref().map(|entry| &entry.ready)
    }
}

#[derive(Clone)]
struct Entry {
    ready: Arc<Ready>,
    /// How far its tenant's records had moved when it was read.
    invalidation: u64,
    confirmed_at: Ticks,
    /// What it took when it was put here.
    bytes: usize,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Key, Entry> for ByBytes {
    fn weight(&self, key: &Key, entry: &Entry) -> u64 {
        (key.bytes.len() + entry.bytes) as u64
    }
}

impl Kept {
    pub(crate) fn new() -> Self {
        Self {
            answers: Cache::with_weighter(ENTRIES_EXPECTED, BYTES_MAX, ByBytes),
            asked_lately: (0..ASKED_LATELY).map(|_| AtomicU64::new(0)).collect(),
            hashes: RandomState::new(),
        }
    }

    /// Looks once for what is kept; `invalidation` was looked up before.
    pub(crate) fn slot(&self, asked: &Asked, invalidation: u64) -> Slot {
        let key = self.key(asked);
        let kept = self.answers.get(&key);
        Slot { key, invalidation, kept }
    }

    fn key(&self, asked: &Asked) -> Key {
        let tenant = asked.caller.tenant.as_str().as_bytes();
        let path = asked.uri.path().as_bytes();
        let query = asked.uri.query().unwrap_or_default().as_bytes();
        // A header that came twice is refused: such a call is none of those whose answers are kept.
        let contexts = || asked.headers.get_all(&CONTEXT_HEADER).iter().map(HeaderValue::as_bytes);
        let parts = || [tenant, path, query].into_iter().chain(contexts());
        let mut bytes = Vec::with_capacity(parts().map(|part| part.len() + 4).sum());
        for part in parts() {
            // Lengths keep what follows one another apart.
            bytes.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
            bytes.extend(part);
        }
        Key { hash: self.hashes.hash_one(&bytes), bytes: bytes.into() }
    }

    fn was_asked_lately(&self, key: &Key) -> bool {
        let place = usize::try_from(key.hash % ASKED_LATELY as u64).unwrap_or(0);
        self.asked_lately[place].swap(key.hash, Ordering::Relaxed) == key.hash
    }

    /// What is kept for a slot, where it is as good as one read now.
    pub(crate) async fn again(&self, slot: &Slot, asked: &Asked) -> Option<Response<Body>> {
        let entry = slot.fresh(asked.now)?;
        let response = entry.ready.answer(asked).await;
        let bytes = entry.ready.bytes();
        if bytes != entry.bytes {
            // It was encoded for the first time, and that takes room.
            self.answers.insert(slot.key.clone(), Entry { bytes, ..entry.clone() });
        }
        Some(response)
    }

    /// Gives what was read for a slot after it was looked for, and keeps it if it is asked for again.
    pub(crate) async fn give(&self, slot: Slot, ready: Arc<Ready>, asked: &Asked) -> Response<Body> {
        // An address that carries a subscription key is not kept in memory.
        let may_be_kept = ready.body_bytes() <= BODY_BYTES_MAX && asked.headers.contains_key(&KEY_HEADER);
        if !may_be_kept || (slot.kept.is_none() && !self.was_asked_lately(&slot.key)) {
            return ready.give(asked).await;
        }
        let is_compact = slot.kept.as_ref().is_some_and(|entry| entry.ready.has_body_of(&ready));
        let ready = if is_compact { ready } else { Arc::new(ready.compact()) };
        let response = ready.answer(asked).await;
        let bytes = ready.bytes();
        self.answers.insert(
            slot.key,
            Entry { ready, invalidation: slot.invalidation, confirmed_at: asked.now, bytes },
        );
        response
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
    use bytes::Bytes;
    use domain::{Caller, ClientId, GrantId, Scopes, TenantId, UserId};

    use super::*;

    const BODY_BYTES: usize = 9000;

    fn asked(encoding: &'static str) -> Asked {
        let caller = Caller {
            user: UserId::new("u"),
            tenant: TenantId::new("t"),
            client: ClientId::new("c"),
            grant: GrantId::new("g"),
            scopes: Scopes::default(),
            expires_at: Ticks(i64::MAX),
        };
        let mut headers = HeaderMap::new();
        headers.insert(&KEY_HEADER, HeaderValue::from_static("key"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(encoding));
        let uri = "/accounting/api/customers?pageNumber=3".parse().unwrap();
        Asked { caller: Arc::new(caller), uri, headers, now: Ticks(0) }
    }

    /// A page as it was read: in more room than it takes.
    fn read(asked: &Asked) -> Arc<Ready> {
        let mut body = Vec::with_capacity(BODY_BYTES * 2);
        body.resize(BODY_BYTES, b' ');
        Arc::new(Ready::new(asked, 1, &[], Bytes::from(body)))
    }

    async fn ask(kept: &Kept, encoding: &'static str) -> Response<Body> {
        let asked = asked(encoding);
        let slot = kept.slot(&asked, 0);
        match kept.again(&slot, &asked).await {
            Some(answer) => answer,
            None => kept.give(slot, read(&asked), &asked).await,
        }
    }

    #[tokio::test]
    async fn what_is_asked_for_twice_is_kept() {
        let kept = Kept::new();
        ask(&kept, "identity").await;
        assert_eq!(kept.answers.len(), 0);
        ask(&kept, "identity").await;
        assert_eq!(kept.answers.len(), 1);
        assert!(kept.slot(&asked("identity"), 0).fresh(Ticks(0)).is_some());
        assert!(kept.slot(&asked("identity"), 1).fresh(Ticks(0)).is_none(), "its tenant's records moved");
    }

    #[tokio::test]
    async fn what_is_encoded_of_it_counts_from_then_on() {
        let kept = Kept::new();
        for _ in 0..2 {
            ask(&kept, "identity").await;
        }
        let plain = kept.answers.weight();
        let encoded = ask(&kept, "gzip").await;
        assert_eq!(encoded.headers()[CONTENT_ENCODING], "gzip");
        let bytes = axum::body::to_bytes(encoded.into_body(), BODY_BYTES).await.unwrap().len() as u64;
        assert_eq!(kept.answers.weight(), plain + bytes);
        ask(&kept, "gzip").await;
        assert_eq!((kept.answers.weight(), kept.answers.len()), (plain + bytes, 1), "once");
        let fresh = Kept::new();
        for _ in 0..2 {
            ask(&fresh, "gzip").await;
        }
        assert_eq!(fresh.answers.weight(), plain + bytes, "encoded on its way in");
    }
}
