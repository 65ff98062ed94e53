//! Caches access tokens whose signature has been verified. Everything but the signature is checked on every use.
//! Only valid tokens are cached, and only a bounded number.

use std::sync::Arc;

use domain::{Caller, Ticks};
use quick_cache::sync::Cache;

use crate::keys::Keys;

/// About 2 KiB each.
const TOKENS_MAX: usize = 10_000;

pub(crate) struct VerifiedTokenCache(Cache<Box<str>, VerifiedToken>);

#[derive(Clone)]
pub(crate) struct VerifiedToken {
    pub(crate) caller: Arc<Caller>,
    /// The key that signed the token. The token is refused once that key is no longer published.
    kid: Arc<str>,
    /// Start (inclusive) and end (exclusive) of the validity period.
    validity: (Ticks, Ticks),
}

impl VerifiedToken {
    pub(crate) fn new(caller: Caller, kid: &str, validity: (Ticks, Ticks)) -> Self {
        Self { caller: Arc::new(caller), kid: kid.into(), validity }
    }
}

impl VerifiedTokenCache {
    pub(crate) fn new() -> Self {
        Self(Cache::new(TOKENS_MAX))
    }

    /// The caller of a cached token, if its time and its key are still valid.
    pub(crate) fn find(&self, token: &str, keys: &Keys, now: Ticks) -> Option<Arc<Caller>> {
        let token = self.0.get(token)?;
        let is_valid =
            token.validity.0 <= now && now < token.validity.1 && keys.verification_key(&token.kid).is_some();
        is_valid.then_some(token.caller)
    }

    pub(crate) fn insert(&self, token: &str, verified: VerifiedToken) {
        self.0.insert(token.into(), verified);
    }
}
