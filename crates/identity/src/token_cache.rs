//! Access tokens that were verified before: a signature is checked once, everything else every time. Only good
//! tokens are remembered, and only so many.

use std::sync::Arc;

use domain::{Caller, Ticks};
use quick_cache::sync::Cache;

use crate::keys::Keys;

/// At about 2 KiB each.
const TOKENS_MAX: usize = 10_000;

pub(crate) struct VerifiedTokenCache(Cache<Box<str>, VerifiedToken>);

#[derive(Clone)]
pub(crate) struct VerifiedToken {
    pub(crate) caller: Arc<Caller>,
    /// The key that signed it. A key that is forgotten takes its tokens along.
    kid: Arc<str>,
    /// It is not good before, nor from then on.
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

    /// Whose token this is, where it was found good before and still is by its time and its key.
    pub(crate) fn find(&self, token: &str, keys: &Keys, now: Ticks) -> Option<Arc<Caller>> {
        let token = self.0.get(token)?;
        let is_good =
            token.validity.0 <= now && now < token.validity.1 && keys.verification_key(&token.kid).is_some();
        is_good.then_some(token.caller)
    }

    pub(crate) fn insert(&self, token: &str, verified: VerifiedToken) {
        self.0.insert(token.into(), verified);
    }
}
