//! Whether a grant still stands. What was just asked of the store is good for a moment; what this node
//! revokes itself counts at once; and where the store is silent for too long, no token is good.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::{Clock, GrantId, Ticks};
use parking_lot::Mutex;
use store::{Result, Store};

/// An answer is asked for again after this long.
const FRESH: Duration = Duration::from_secs(2);
/// And counts for nothing after this long, even if the store does not answer.
const STALE: Duration = Duration::from_secs(5);
const ENTRIES_MAX: usize = 100_000;

pub(crate) struct Liveness {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    known: Mutex<HashMap<GrantId, Answer>>,
}

#[derive(Clone, Copy)]
struct Answer {
    is_live: bool,
    /// When the question was asked, so that nothing that happened after it is missed.
    asked_at: Ticks,
    /// What stood of everybody's access then: where it has moved since, the question is asked again.
    access: u64,
}

impl Liveness {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, known: Mutex::default() }
    }

    pub(crate) async fn is_live(&self, grant: &GrantId) -> Result<bool> {
        let (now, access) = (self.clock.now(), self.store.invalidation().access_version());
        let known = self.known.lock().get(grant).copied();
        let is_fresh = |answer: &Answer| answer.access == access && now.since(answer.asked_at) < FRESH;
        if let Some(answer) = known.filter(is_fresh) {
            return Ok(answer.is_live);
        }
        let asked = self.store.is_grant_live(grant).await;
        if let Ok(is_live) = asked {
            self.learn(grant, Answer { is_live, asked_at: now, access });
        }
        asked.or_else(|error| lasting(known, now).ok_or(error))
    }

    /// Keeps an answer, unless something younger is known.
    fn learn(&self, grant: &GrantId, answer: Answer) {
        let mut known = self.known.lock();
        if known.len() >= ENTRIES_MAX {
            known.retain(|_, kept| answer.asked_at.since(kept.asked_at) < FRESH);
        }
        // A revocation that came in between is younger than this answer.
        let is_older = known.get(grant).is_some_and(|kept| kept.asked_at > answer.asked_at);
        if !is_older && known.len() < ENTRIES_MAX {
            known.insert(grant.clone(), answer);
        }
    }

    /// This node has revoked it.
    pub(crate) fn revoked(&self, grant: &GrantId) {
        let asked_at = self.clock.now().next();
        self.known.lock().insert(
            grant.clone(),
            Answer { is_live: false, asked_at, access: self.store.invalidation().access_version() },
        );
    }
}

/// What an earlier answer is still worth while the store is silent.
fn lasting(known: Option<Answer>, now: Ticks) -> Option<bool> {
    known.filter(|answer| now.since(answer.asked_at) < STALE).map(|answer| answer.is_live)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_outlasts_a_silent_store_for_less_than_five_seconds() {
        let asked_at = Ticks(639_000_000_000_000_000);
        let known = |is_live| Some(Answer { is_live, asked_at, access: 0 });
        let after = |milliseconds| asked_at + Duration::from_millis(milliseconds);
        assert_eq!(lasting(known(true), after(4999)), Some(true));
        assert_eq!(lasting(known(false), after(4999)), Some(false));
        assert_eq!(lasting(known(true), after(5000)), None);
        assert_eq!(lasting(None, after(0)), None);
    }
}
