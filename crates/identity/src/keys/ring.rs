//! The keys of one moment: which one signs, which ones are published, which have had their time. Pure.

use std::sync::Arc;
use std::time::Duration;

use domain::Ticks;

use super::pair::Pair;

#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) pair: Arc<Pair>,
    pub(crate) created_at: Ticks,
    pub(crate) signs_from: Ticks,
    pub(crate) retired_at: Option<Ticks>,
}

/// What a key is good for at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// Published, so that everybody knows it when it begins to sign.
    Next,
    Signing,
    /// Signs no more; tokens that it signed may still be alive.
    Verifying,
    /// Nothing that it signed counts.
    Past,
}

impl KeyState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Signing => "signing",
            Self::Verifying => "verifying",
            Self::Past => "past",
        }
    }
}

/// Oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ring(pub(crate) Vec<Kept>);

impl Ring {
    /// The newest that may sign by now.
    fn signing_index(&self, now: Ticks) -> Option<usize> {
        self.0.iter().rposition(|key| key.signs_from <= now && !is_retired(key, now))
    }

    pub(crate) fn signer(&self, now: Ticks) -> Option<&Pair> {
        self.signing_index(now).and_then(|index| self.0.get(index)).map(|key| &*key.pair)
    }

    /// States of all, in order. `tokens_live` is how long after its last use a key's signatures matter.
    pub(crate) fn states(&self, now: Ticks, tokens_live: Duration) -> Vec<KeyState> {
        let signing = self.signing_index(now);
        let state = |(index, key): (usize, &Kept)| {
            if is_retired(key, now) {
                KeyState::Past
            } else if signing == Some(index) {
                KeyState::Signing
            } else if key.signs_from > now {
                KeyState::Next
            } else {
                let replaced_at =
                    self.0.iter().skip(index + 1).map(|later| later.signs_from).min().unwrap_or(now);
                if replaced_at + tokens_live > now { KeyState::Verifying } else { KeyState::Past }
            }
        };
        self.0.iter().enumerate().map(state).collect()
    }

    pub(crate) fn find(&self, kid: &str) -> Option<&Kept> {
        self.0.iter().find(|key| key.pair.kid == kid)
    }
}

fn is_retired(key: &Kept, now: Ticks) -> bool {
    key.retired_at.is_some_and(|at| at <= now)
}
