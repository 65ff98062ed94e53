//! Signing keys: the first is made by itself, the next is published before it signs, the last is kept
//! until its tokens have expired. Every node looks at the store every few seconds.

mod pair;
mod ring;

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use axum::http::HeaderValue;
use bytes::Bytes;
use domain::secret::hex;
use domain::{Clock, Ticks};
use parking_lot::RwLock;
use store::{AuditContext, AuditEntry, AuditKind, SigningKey, Store, StoreError};

pub(crate) use pair::Pair;
pub use ring::KeyState;
use ring::{Kept, Ring};

/// How often a race for the next key is tried again.
const TRIES_MAX: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum KeyFault {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the cryptography library could not {0} a signing key")]
    Crypto(&'static str),
    #[error("there is no signing key yet")]
    None,
    #[error("other processes changed the signing keys again and again; try once more")]
    Contended,
}

/// When keys change.
#[derive(Clone, Copy, Debug)]
pub struct KeyPolicy {
    /// How long a key is published before it signs.
    pub lead: Duration,
    /// How long a token that it signed can be alive.
    pub tokens_live: Duration,
    /// How long a key signs before the next one follows by itself; zero: never.
    pub period: Duration,
}

/// A key as people see it.
#[derive(Clone, Debug)]
pub struct ShownKey {
    pub kid: String,
    pub state: KeyState,
    pub created_at: Ticks,
    pub signs_from: Ticks,
    pub retired_at: Option<Ticks>,
}

/// The published keys, ready to serve.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(crate) body: Bytes,
    pub(crate) etag: HeaderValue,
}

struct Moment {
    ring: Ring,
    verifying: Vec<Arc<Pair>>,
    published: Published,
}

pub struct Keys {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    policy: KeyPolicy,
    moment: RwLock<Arc<Moment>>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

impl Keys {
    /// Reads the keys; a store without any gets its first, which signs at once.
    pub async fn open(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        policy: KeyPolicy,
    ) -> Result<Self, KeyFault> {
        let moment = RwLock::new(Arc::new(moment(Ring::default(), clock.now(), policy)));
        let keys = Self { store, clock, policy, moment };
        keys.reload().await?;
        if keys.now().ring.0.is_empty() {
            keys.add(keys.clock.now(), None).await?;
            keys.reload().await?;
        }
        Ok(keys)
    }

    fn now(&self) -> Arc<Moment> {
        self.moment.read().clone()
    }

    /// Takes over what the store has by now. Keys that are known are not parsed again.
    pub async fn reload(&self) -> Result<(), KeyFault> {
        let known = self.now();
        let kept = self.store.signing_keys().await;
        let ring = match &kept {
            Ok(kept) => {
                let take = |key: &SigningKey| -> Result<Kept, KeyFault> {
                    let pair = match known.ring.find(&key.kid) {
                        Some(known) => known.pair.clone(),
                        None => Arc::new(Pair::open(&key.private)?),
                    };
                    let (created_at, signs_from) = (key.created_at, key.signs_from);
                    Ok(Kept { pair, created_at, signs_from, retired_at: key.retired_at })
                };
                Ring(kept.iter().map(take).collect::<Result<_, _>>()?)
            }
            // Time goes on without the store, too.
            Err(_) => known.ring.clone(),
        };
        *self.moment.write() = Arc::new(moment(ring, self.clock.now(), self.policy));
        kept.map(|_| ()).map_err(KeyFault::from)
    }

    /// Makes the next key: published now, signing after the lead; `at_once` for a compromise, which also
    /// ends every older key, and with it every token that one of them signed.
    pub async fn rotate(&self, at_once: bool) -> Result<ShownKey, KeyFault> {
        for _ in 0..TRIES_MAX {
            self.reload().await?;
            let now = self.clock.now();
            let older: Vec<Kept> = self.now().ring.0.clone();
            let newest = older.last().map(|key| key.pair.kid.clone());
            let signs_from = if at_once || newest.is_none() { now } else { now + self.policy.lead };
            let Some(kid) = self.add(signs_from, newest.as_deref()).await? else { continue };
            if at_once {
                for old in older.iter().filter(|key| key.retired_at.is_none()) {
                    self.store.retire_signing_key(&old.pair.kid, now).await?;
                }
            }
            let note = if at_once { "at once; older keys ended" } else { "signs after its lead" };
            let entry = AuditEntry::new(AuditKind::SigningKeyRotated, now, &AuditContext::default());
            self.store.record(&entry.note(format!("{kid}: {note}"))).await?;
            self.reload().await?;
            return self.shown().into_iter().find(|key| key.kid == kid).ok_or(KeyFault::Contended);
        }
        Err(KeyFault::Contended)
    }

    /// Adds a key behind the newest; none where another was faster.
    async fn add(&self, signs_from: Ticks, newest: Option<&str>) -> Result<Option<String>, KeyFault> {
        let making = tokio::task::spawn_blocking(Pair::generate).await;
        let (pair, private) = making.map_err(|_| KeyFault::Crypto("generate"))??;
        let key = SigningKey {
            kid: pair.kid.clone(),
            private,
            public_jwk: pair.public_jwk.clone(),
            created_at: self.clock.now(),
            signs_from,
            retired_at: None,
        };
        Ok(self.store.add_signing_key(&key, newest).await?.then_some(pair.kid))
    }

    /// Lets the next key follow where the period is over, and forgets keys that have had their time.
    pub async fn tend(&self) -> Result<(), KeyFault> {
        self.reload().await?;
        let (now, keys) = (self.clock.now(), self.shown());
        if let Some(newest) = keys.last()
            && !self.policy.period.is_zero()
            && newest.signs_from + self.policy.period.saturating_sub(self.policy.lead) <= now
            && self.add(now + self.policy.lead, Some(&newest.kid)).await?.is_some()
        {
            tracing::info!("the next signing key is published");
        }
        for past in keys.iter().filter(|key| key.state == KeyState::Past) {
            self.store.delete_signing_key(&past.kid).await?;
        }
        self.reload().await
    }

    /// All keys with their states, oldest first.
    pub fn shown(&self) -> Vec<ShownKey> {
        let moment = self.now();
        let states = moment.ring.states(self.clock.now(), self.policy.tokens_live);
        let show = |(key, state): (&Kept, KeyState)| ShownKey {
            kid: key.pair.kid.clone(),
            state,
            created_at: key.created_at,
            signs_from: key.signs_from,
            retired_at: key.retired_at,
        };
        moment.ring.0.iter().zip(states).map(show).collect()
    }

    /// Runs `sign` with the key that signs now.
    pub(crate) fn with_signer<T>(
        &self,
        sign: impl FnOnce(&Pair) -> Result<T, KeyFault>,
    ) -> Result<T, KeyFault> {
        let moment = self.now();
        sign(moment.ring.signer(self.clock.now()).ok_or(KeyFault::None)?)
    }

    /// The key of that name, where its signatures count.
    pub(crate) fn verifier(&self, kid: &str) -> Option<Arc<Pair>> {
        self.now().verifying.iter().find(|pair| pair.kid == kid).cloned()
    }

    pub(crate) fn published(&self) -> Published {
        self.now().published.clone()
    }
}

fn moment(ring: Ring, now: Ticks, policy: KeyPolicy) -> Moment {
    let states = ring.states(now, policy.tokens_live);
    let alive = ring.0.iter().zip(states).filter(|(_, state)| *state != KeyState::Past);
    let verifying: Vec<Arc<Pair>> = alive.map(|(key, _)| key.pair.clone()).collect();
    let jwks: Vec<&str> = verifying.iter().map(|pair| pair.public_jwk.as_str()).collect();
    let body = format!(r#"{{"keys":[{}]}}"#, jwks.join(","));
    let etag = etag(body.as_bytes());
    Moment { ring, verifying, published: Published { body: body.into(), etag } }
}

/// A strong validator of some bytes.
pub(crate) fn etag(body: &[u8]) -> HeaderValue {
    let hash = digest(&SHA256, body);
    let text = format!("\"{}\"", hex(hash.as_ref().get(..16).unwrap_or_default()));
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("\"\""))
}

#[cfg(test)]
mod tests;
