//! The set of signing keys: which key signs, which are published, which have expired. Pure.

use std::sync::Arc;
use std::time::Duration;

use domain::Ticks;
use domain::signing_key::KeyState;

use super::key_pair::SigningKeyPair;

/// A key with its schedule.
#[derive(Clone, Debug)]
pub(crate) struct KeySetEntry {
    pub(crate) key_pair: Arc<SigningKeyPair>,
    pub(crate) created_at: Ticks,
    pub(crate) signs_from: Ticks,
    pub(crate) retired_at: Option<Ticks>,
}

/// All keys, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeySet(pub(crate) Vec<KeySetEntry>);

impl KeySet {
    /// The newest key that may sign. A clock that went back to before all of them leaves the oldest: without a signature
    /// nobody could sign in until it has caught up.
    fn signing_index(&self, now: Ticks) -> Option<usize> {
        let newest = self.0.iter().rposition(|key| key.signs_from <= now && !is_retired(key));
        newest.or_else(|| self.0.iter().position(|key| !is_retired(key)))
    }

    pub(crate) fn signer(&self, now: Ticks) -> Option<&SigningKeyPair> {
        self.signing_index(now).and_then(|index| self.0.get(index)).map(|key| &*key.key_pair)
    }

    /// The states of all keys, in order. `token_ttl_max` is how long a replaced key still verifies tokens.
    pub(crate) fn states(&self, now: Ticks, token_ttl_max: Duration) -> Vec<KeyState> {
        let signing = self.signing_index(now);
        let state = |(index, key): (usize, &KeySetEntry)| {
            if is_retired(key) {
                KeyState::Past
            } else if signing == Some(index) {
                KeyState::Signing
            } else if key.signs_from > now {
                KeyState::Next
            } else {
                let replaced_at = self.replaced_at(index).unwrap_or(now);
                if replaced_at + token_ttl_max > now { KeyState::Verifying } else { KeyState::Past }
            }
        };
        self.0.iter().enumerate().map(state).collect()
    }

    /// When a later key takes over from this one, where there is one.
    pub(crate) fn replaced_at(&self, index: usize) -> Option<Ticks> {
        self.0.iter().skip(index + 1).map(|later| later.signs_from).min()
    }

    /// The key that is published and does not sign yet.
    pub(crate) fn next(&self, now: Ticks) -> Option<&KeySetEntry> {
        let signing = self.signing_index(now);
        let is_next = |(index, key): &(usize, &KeySetEntry)| {
            key.signs_from > now && !is_retired(key) && signing != Some(*index)
        };
        self.0.iter().enumerate().find(is_next).map(|(_, key)| key)
    }

    pub(crate) fn find(&self, kid: &str) -> Option<&KeySetEntry> {
        self.0.iter().find(|key| key.key_pair.kid == kid)
    }
}

/// A key is retired at once and for good: a clock that goes back does not revive it.
fn is_retired(key: &KeySetEntry) -> bool {
    key.retired_at.is_some()
}
