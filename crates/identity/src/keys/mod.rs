//! Signing keys. The first one is created on demand, the next one is published before it signs, and a replaced one
//! stays published until its tokens have expired. Every node reloads the keys every few seconds.

mod key_pair;
mod key_set;

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use axum::http::HeaderValue;
use bytes::Bytes;
use domain::secret::hex;
use domain::signing_key::{KeyState, SigningKeyInfo};
use domain::{Clock, Ticks};
use parking_lot::RwLock;
use store::{AuditContext, SigningKey, Store, StoreError};

use crate::joined::joined;

pub(crate) use key_pair::SigningKeyPair;
use key_set::{KeySet, KeySetEntry};

/// Attempts to add a key while other processes do the same.
const ATTEMPTS_MAX: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the cryptography library could not {0} a signing key")]
    Crypto(&'static str),
    #[error("there is no active signing key")]
    NoKey,
    /// It signs from this time on.
    #[error("the next signing key exists already and signs from {}; wait until then, or rotate at once", .0.iso())]
    NextExists(Ticks),
    #[error("other processes kept changing the signing keys; try again")]
    Contended,
}

/// When keys are rotated.
#[derive(Clone, Copy, Debug)]
pub struct KeyPolicy {
    /// How long a key is published before it signs.
    pub lead: Duration,
    /// The longest lifetime of a token that the key signed.
    pub token_ttl_max: Duration,
    /// How long a key signs before it is rotated automatically; zero disables that.
    pub period: Duration,
}

/// The JSON Web Key Set as a response body.
#[derive(Clone, Debug)]
pub(crate) struct PublishedKeys {
    pub(crate) body: Bytes,
    pub(crate) etag: HeaderValue,
}

/// The keys of one reload with everything that is derived from them.
struct KeySnapshot {
    key_set: KeySet,
    verifying: Vec<Arc<SigningKeyPair>>,
    published: PublishedKeys,
}

/// The signing keys of this node.
pub struct Keys {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    policy: KeyPolicy,
    snapshot: RwLock<Arc<KeySnapshot>>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

impl Keys {
    /// Reads the keys. If the store has none, creates the first one, which signs at once.
    pub async fn open(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        policy: KeyPolicy,
    ) -> Result<Self, KeyError> {
        let snapshot = RwLock::new(Arc::new(snapshot(KeySet::default(), clock.now(), policy)));
        let keys = Self { store, clock, policy, snapshot };
        keys.reload().await?;
        if keys.current().key_set.0.is_empty() {
            keys.add(keys.clock.now(), None, &AuditContext::default()).await?;
            keys.reload().await?;
        }
        Ok(keys)
    }

    fn current(&self) -> Arc<KeySnapshot> {
        self.snapshot.read().clone()
    }

    /// Reads the keys from the store. Known keys are not parsed again.
    pub async fn reload(&self) -> Result<(), KeyError> {
        let previous = self.current();
        let stored = self.store.signing_keys().await;
        let key_set = match &stored {
            Ok(stored) => {
                let entry = |key: &SigningKey| -> Result<KeySetEntry, KeyError> {
                    let key_pair = match previous.key_set.find(&key.kid) {
                        Some(known) => known.key_pair.clone(),
                        None => Arc::new(SigningKeyPair::open(&key.private)?),
                    };
                    let (created_at, signs_from) = (key.created_at, key.signs_from);
                    Ok(KeySetEntry { key_pair, created_at, signs_from, retired_at: key.retired_at })
                };
                KeySet(stored.iter().map(entry).collect::<Result<_, _>>()?)
            }
            // States depend on the time, so they are recomputed without the store, too.
            Err(_) => previous.key_set.clone(),
        };
        *self.snapshot.write() = Arc::new(snapshot(key_set, self.clock.now(), self.policy));
        stored.map(|_| ()).map_err(KeyError::from)
    }

    /// Adds the next key, which is published now and signs after the lead; refused while there is one. `at_once` is for a compromised key: the new
    /// key signs at once and all older keys are retired, which invalidates every token that they signed.
    pub async fn rotate(&self, at_once: bool, context: &AuditContext) -> Result<SigningKeyInfo, KeyError> {
        for _ in 0..ATTEMPTS_MAX {
            self.reload().await?;
            let now = self.clock.now();
            let current = self.current();
            if let Some(next) = current.key_set.next(now).filter(|_| !at_once) {
                return Err(KeyError::NextExists(next.signs_from));
            }
            let older: Vec<KeySetEntry> = current.key_set.0.clone();
            let newest = older.last().map(|key| key.key_pair.kid.clone());
            let signs_from = if at_once || newest.is_none() { now } else { now + self.policy.lead };
            let Some(kid) = self.add(signs_from, newest.as_deref(), context).await? else { continue };
            if at_once {
                for old in older.iter().filter(|key| key.retired_at.is_none()) {
                    self.store.retire_signing_key(&old.key_pair.kid, now, context).await?;
                }
            }
            self.reload().await?;
            return self.list().into_iter().find(|key| key.kid == kid).ok_or(KeyError::Contended);
        }
        Err(KeyError::Contended)
    }

    /// Adds a key after the newest one; `None` if another process was faster.
    async fn add(
        &self,
        signs_from: Ticks,
        newest: Option<&str>,
        context: &AuditContext,
    ) -> Result<Option<String>, KeyError> {
        let generated = joined(tokio::task::spawn_blocking(SigningKeyPair::generate)).await;
        let (key_pair, private) = generated.ok_or(KeyError::Crypto("generate"))??;
        let key = SigningKey {
            kid: key_pair.kid.clone(),
            private,
            public_jwk: key_pair.public_jwk.clone(),
            created_at: self.clock.now(),
            signs_from,
            retired_at: None,
        };
        Ok(self.store.add_signing_key(&key, newest, context).await?.then_some(key_pair.kid))
    }

    /// Adds the next key if the period is over, and deletes keys that no longer verify anything.
    pub async fn rotate_if_due(&self) -> Result<(), KeyError> {
        self.reload().await?;
        let (now, keys, by_service) = (self.clock.now(), self.list(), AuditContext::default());
        if let Some(newest) = keys.last()
            && !self.policy.period.is_zero()
            && newest.signs_from + self.policy.period.saturating_sub(self.policy.lead) <= now
            && self.add(now + self.policy.lead, Some(&newest.kid), &by_service).await?.is_some()
        {
            tracing::info!("published the next signing key");
        }
        for past in keys.iter().filter(|key| key.state == KeyState::Past) {
            self.store.delete_signing_key(&past.kid, &by_service).await?;
        }
        self.reload().await
    }

    /// All keys with their states, oldest first.
    pub fn list(&self) -> Vec<SigningKeyInfo> {
        let snapshot = self.current();
        let KeyPolicy { token_ttl_max, period, .. } = self.policy;
        let states = snapshot.key_set.states(self.clock.now(), token_ttl_max);
        let planned = |key: &KeySetEntry| (!period.is_zero()).then(|| key.signs_from + period);
        let info = |((index, key), state): ((usize, &KeySetEntry), KeyState)| {
            let replaced_at = snapshot.key_set.replaced_at(index).or_else(|| planned(key));
            let signs_until = key.retired_at.or(replaced_at);
            SigningKeyInfo {
                kid: key.key_pair.kid.clone(),
                state,
                created_at: key.created_at,
                signs_from: key.signs_from,
                signs_until,
                ends_at: key.retired_at.or_else(|| replaced_at.map(|at| at + token_ttl_max)),
                retired_at: key.retired_at,
            }
        };
        snapshot.key_set.0.iter().enumerate().zip(states).map(info).collect()
    }

    /// Runs `sign` with the current signing key.
    pub(crate) fn with_signer<T>(
        &self,
        sign: impl FnOnce(&SigningKeyPair) -> Result<T, KeyError>,
    ) -> Result<T, KeyError> {
        let snapshot = self.current();
        sign(snapshot.key_set.signer(self.clock.now()).ok_or(KeyError::NoKey)?)
    }

    /// The key with this id, if its signatures are valid.
    pub(crate) fn verification_key(&self, kid: &str) -> Option<Arc<SigningKeyPair>> {
        self.current().verifying.iter().find(|key_pair| key_pair.kid == kid).cloned()
    }

    pub(crate) fn published(&self) -> PublishedKeys {
        self.current().published.clone()
    }
}

fn snapshot(key_set: KeySet, now: Ticks, policy: KeyPolicy) -> KeySnapshot {
    let states = key_set.states(now, policy.token_ttl_max);
    let alive = key_set.0.iter().zip(states).filter(|(_, state)| *state != KeyState::Past);
    let verifying: Vec<Arc<SigningKeyPair>> = alive.map(|(key, _)| key.key_pair.clone()).collect();
    let jwks: Vec<&str> = verifying.iter().map(|key_pair| key_pair.public_jwk.as_str()).collect();
    let body = format!(r#"{{"keys":[{}]}}"#, jwks.join(","));
    let etag = etag(body.as_bytes());
    KeySnapshot { key_set, verifying, published: PublishedKeys { body: body.into(), etag } }
}

/// A strong ETag of the bytes.
pub(crate) fn etag(body: &[u8]) -> HeaderValue {
    let hash = digest(&SHA256, body);
    let text = format!("\"{}\"", hex(hash.as_ref().get(..16).unwrap_or_default()));
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("\"\""))
}

#[cfg(test)]
mod tests;
