//! The attempts that are on their way.

use std::collections::VecDeque;
use std::time::Duration;

use domain::WebhookId;

use super::delivery::InFlight;
use super::deterministic::StableMap;

#[derive(Debug, Default)]
pub(super) struct AttemptsInFlight {
    by_id: StableMap<u64, InFlight>,
    /// Those that have not been found to take long, oldest first, by the time they began. Some have ended.
    begun: VecDeque<(Duration, u64)>,
    last_id: u64,
    /// How many of them an earlier state of their webhook started; mostly none.
    orphans: usize,
}

impl AttemptsInFlight {
    /// Returns the attempt's id.
    pub(super) fn begun(&mut self, now: Duration, in_flight: InFlight) -> u64 {
        self.last_id += 1;
        self.begun.push_back((now, self.last_id));
        self.by_id.insert(self.last_id, in_flight);
        self.last_id
    }

    pub(super) fn ended(&mut self, id: u64) -> Option<InFlight> {
        self.by_id.remove(&id)
    }

    /// An attempt that began at `until` or before and has not ended; each is returned once.
    pub(super) fn next_long(&mut self, until: Duration) -> Option<&mut InFlight> {
        while let Some((_, id)) = self.begun.pop_front_if(|(at, _)| *at <= until) {
            if self.by_id.contains_key(&id) {
                return self.by_id.get_mut(&id);
            }
        }
        None
    }

    /// The state that started so many attempts is gone.
    pub(super) fn orphaned(&mut self, attempts: usize) {
        self.orphans += attempts;
    }

    /// One of them has ended.
    pub(super) fn orphan_ended(&mut self) {
        self.orphans -= 1;
    }

    /// The records that attempts of earlier states of the webhook are at.
    pub(super) fn records_of_earlier(&self, webhook: WebhookId) -> impl Iterator<Item = i64> {
        let attempts = (self.orphans > 0).then(|| self.by_id.values());
        attempts.into_iter().flatten().filter_map(move |one| one.record_of(webhook))
    }

    pub(super) fn in_flight(&self) -> impl Iterator<Item = &InFlight> {
        self.by_id.values()
    }

    pub(super) fn webhooks(&self) -> impl Iterator<Item = WebhookId> {
        self.in_flight().map(|in_flight| in_flight.webhook)
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}
