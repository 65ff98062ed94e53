//! The cache of read responses, bounded in bytes.
//!
//! Read-your-writes: the store bumps the tenant's invalidation counter after a commit and before the writer's response,
//! and every look-up compares it. Other nodes' changes show within half a second: the cache serves an entry without
//! asking the store for at most 400 ms, then it confirms the collection's version first.

use std::hash::{BuildHasher as _, Hash, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response};
use domain::Ticks;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use store::InvalidationCounters;
use web::ErrorResponse;

use crate::cached_response::CachedResponse;
use crate::context::CONTEXT_HEADER;
use crate::gate::KEY_HEADER;
use crate::reads::{ReadRequest, StoreRead};

/// How long an entry is served without asking the store. The store's own answer may be 100 ms old.
const CONFIRMATION_AGE_MAX: Duration = Duration::from_millis(400);
const BYTES_MAX: u64 = 32 * 1024 * 1024;
const ENTRIES_EXPECTED: usize = 8192;
const RECENT_KEYS: usize = 4096;
/// Responses with longer bodies are not stored.
const BODY_BYTES_MAX: usize = 1024 * 1024;

pub(crate) struct ResponseCache {
    entries: Cache<Key, Entry, ByBytes>,
    /// Hashes of recently requested keys. A response is stored from its second read on: otherwise one client that walks
    /// through all pages would evict the responses that many clients read.
    recent_keys: Box<[AtomicU64]>,
    hasher: RandomState,
}

/// Tenant, path, query and context of a request, hashed once.
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

#[derive(Clone)]
struct Entry {
    response: Arc<CachedResponse>,
    /// The tenant's invalidation counter before the response was read or confirmed.
    invalidation: u64,
    confirmed_at: Ticks,
    /// The response's size when the entry was inserted.
    bytes: usize,
}

impl Entry {
    /// Whether the entry may be served without asking the store.
    fn is_fresh(&self, invalidation: u64, now: Ticks) -> bool {
        let is_confirmed = now >= self.confirmed_at && now.since(self.confirmed_at) < CONFIRMATION_AGE_MAX;
        self.invalidation == invalidation && is_confirmed
    }
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Key, Entry> for ByBytes {
    fn weight(&self, key: &Key, entry: &Entry) -> u64 {
        (key.bytes.len() + entry.bytes) as u64
    }
}

impl ResponseCache {
    pub(crate) fn new() -> Self {
        Self {
            entries: Cache::with_weighter(ENTRIES_EXPECTED, BYTES_MAX, ByBytes),
            recent_keys: (0..RECENT_KEYS).map(|_| AtomicU64::new(0)).collect(),
            hasher: RandomState::new(),
        }
    }

    /// Serves a fresh entry; else confirms a stale one with the store; else reads the response, and stores it if it was
    /// requested before. `prepare` checks the request's parameters; it runs only if there is no fresh entry.
    pub(crate) async fn get_or_read<R: StoreRead>(
        &self,
        request: &ReadRequest,
        counters: &InvalidationCounters,
        prepare: impl Future<Output = Result<R, ErrorResponse>>,
    ) -> Result<Response<Body>, ErrorResponse> {
        // Before the read: a change that is committed during the read makes the new entry stale.
        let invalidation = counters.records_version(&request.caller.tenant);
        let key = self.key(request);
        let entry = self.entries.get(&key);
        if let Some(entry) = &entry
            && entry.is_fresh(invalidation, request.now)
        {
            let response = entry.response.to_response(request).await;
            let bytes = entry.response.bytes();
            if bytes != entry.bytes {
                // This request encoded the body for the first time: the entry weighs more now.
                self.entries.insert(key, Entry { bytes, ..entry.clone() });
            }
            return Ok(response);
        }

        let read = prepare.await?;
        let confirmed = match &entry {
            Some(entry) => read.current_version().await?.and_then(|current| entry.response.confirm(current)),
            None => None,
        };
        let cached = if let Some(confirmed) = confirmed {
            confirmed
        } else {
            let response = read.read().await?;
            if !self.admits(&key, entry.is_some(), &response, request) {
                return Ok(response.into_response(request).await);
            }
            Arc::new(response.compact())
        };
        let response = cached.to_response(request).await;
        let bytes = cached.bytes();
        let entry = Entry { response: cached, invalidation, confirmed_at: request.now, bytes };
        self.entries.insert(key, entry);
        Ok(response)
    }

    fn key(&self, request: &ReadRequest) -> Key {
        let tenant = request.caller.tenant.as_str().as_bytes();
        let path = request.uri.path().as_bytes();
        let query = request.uri.query().unwrap_or_default().as_bytes();
        // All values: a request with two context headers is refused and must not find the entry of one with a single one.
        let contexts = || request.headers.get_all(&CONTEXT_HEADER).iter().map(HeaderValue::as_bytes);
        let parts = || [tenant, path, query].into_iter().chain(contexts());
        let mut bytes = Vec::with_capacity(parts().map(|part| part.len() + 4).sum());
        for part in parts() {
            // Length prefixes keep the parts apart.
            bytes.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
            bytes.extend(part);
        }
        Key { hash: self.hasher.hash_one(&bytes), bytes: bytes.into() }
    }

    /// Whether to store a response that was read.
    fn admits(&self, key: &Key, has_entry: bool, response: &CachedResponse, request: &ReadRequest) -> bool {
        // Without the key's header the subscription key is in the query, and the cache must not keep it.
        let may_be_stored =
            response.body_bytes() <= BODY_BYTES_MAX && request.headers.contains_key(&KEY_HEADER);
        may_be_stored && (has_entry || self.was_requested_recently(key))
    }

    /// Records the key as requested.
    fn was_requested_recently(&self, key: &Key) -> bool {
        let index = usize::try_from(key.hash % RECENT_KEYS as u64).unwrap_or(0);
        self.recent_keys[index].swap(key.hash, Ordering::Relaxed) == key.hash
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
    use bytes::Bytes;
    use domain::{AccountId, Caller, ClientId, GrantId, Scopes, TenantId};
    use store::CollectionVersion;

    use super::*;

    const BODY_BYTES: usize = 9000;
    const VERSION: u64 = 1;

    fn request(encoding: &'static str, now: Ticks) -> ReadRequest {
        let caller = Caller {
            user: AccountId::new("u"),
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
        ReadRequest { caller: Arc::new(caller), uri, headers, now }
    }

    /// Counts what the cache asks of the store.
    #[derive(Default)]
    struct FakeStore {
        version: AtomicU64,
        confirmations: AtomicU64,
        reads: AtomicU64,
    }

    struct FakeRead<'a>(&'a FakeStore, &'a ReadRequest);

    impl StoreRead for FakeRead<'_> {
        async fn current_version(&self) -> Result<Option<CollectionVersion>, ErrorResponse> {
            self.0.confirmations.fetch_add(1, Ordering::Relaxed);
            let version = self.0.version.load(Ordering::Relaxed);
            Ok(Some(CollectionVersion { version, head: 7 }))
        }

        /// A page in a buffer with spare capacity.
        async fn read(self) -> Result<CachedResponse, ErrorResponse> {
            self.0.reads.fetch_add(1, Ordering::Relaxed);
            let mut body = Vec::with_capacity(BODY_BYTES * 2);
            body.resize(BODY_BYTES, b' ');
            let version = self.0.version.load(Ordering::Relaxed);
            Ok(CachedResponse::new(self.1, version, &[], Bytes::from(body)))
        }
    }

    impl FakeStore {
        fn new() -> Self {
            Self { version: AtomicU64::new(VERSION), ..Self::default() }
        }

        async fn get(&self, cache: &ResponseCache, request: &ReadRequest) -> Response<Body> {
            let prepare = async { Ok(FakeRead(self, request)) };
            cache.get_or_read(request, &InvalidationCounters::default(), prepare).await.unwrap()
        }

        /// Confirmations and reads so far.
        fn counts(&self) -> (u64, u64) {
            (self.confirmations.load(Ordering::Relaxed), self.reads.load(Ordering::Relaxed))
        }
    }

    async fn get(cache: &ResponseCache, encoding: &'static str) -> Response<Body> {
        FakeStore::new().get(cache, &request(encoding, Ticks(0))).await
    }

    #[tokio::test]
    async fn response_is_stored_from_its_second_read_on() {
        let (cache, store) = (ResponseCache::new(), FakeStore::new());
        let request = request("identity", Ticks(0));
        for (stored, reads) in [(0, 1), (1, 2), (1, 2)] {
            store.get(&cache, &request).await;
            assert_eq!((cache.entries.len(), store.counts()), (stored, (0, reads)));
        }
    }

    #[tokio::test]
    async fn entry_is_stale_once_the_tenants_records_changed() {
        let cache = ResponseCache::new();
        for _ in 0..2 {
            get(&cache, "identity").await;
        }
        let entry = cache.entries.get(&cache.key(&request("identity", Ticks(0)))).unwrap();
        assert!(entry.is_fresh(0, Ticks(0)));
        assert!(!entry.is_fresh(1, Ticks(0)), "a record of the tenant changed");
    }

    #[tokio::test]
    async fn entry_is_confirmed_after_400_ms_and_read_again_if_its_version_changed() {
        let (cache, store) = (ResponseCache::new(), FakeStore::new());
        let start = request("identity", Ticks(0));
        for _ in 0..2 {
            store.get(&cache, &start).await;
        }
        let later = request("identity", Ticks(0) + CONFIRMATION_AGE_MAX);
        for _ in 0..2 {
            let response = store.get(&cache, &later).await;
            assert_eq!(response.headers()["x-sequence-version"], "7", "the log's position now");
            assert_eq!(store.counts(), (1, 2));
        }
        store.version.store(VERSION + 1, Ordering::Relaxed);
        store.get(&cache, &later).await;
        assert_eq!(store.counts(), (1, 2), "fresh");
        let latest = request("identity", Ticks(0) + CONFIRMATION_AGE_MAX * 2);
        store.get(&cache, &latest).await;
        assert_eq!(store.counts(), (2, 3));
    }

    #[tokio::test]
    async fn encoded_bodies_count_towards_the_bound() {
        let cache = ResponseCache::new();
        for _ in 0..2 {
            get(&cache, "identity").await;
        }
        let plain = cache.entries.weight();
        let encoded = get(&cache, "gzip").await;
        assert_eq!(encoded.headers()[CONTENT_ENCODING], "gzip");
        let bytes = axum::body::to_bytes(encoded.into_body(), BODY_BYTES).await.unwrap().len() as u64;
        assert_eq!(cache.entries.weight(), plain + bytes);
        get(&cache, "gzip").await;
        assert_eq!((cache.entries.weight(), cache.entries.len()), (plain + bytes, 1), "counted once");
        let other = ResponseCache::new();
        for _ in 0..2 {
            get(&other, "gzip").await;
        }
        assert_eq!(other.entries.weight(), plain + bytes, "encoded when it was stored");
    }
}
