//! The attempts that are on their way.

use domain::WebhookId;

use super::delivery::InFlight;
use super::deterministic::StableMap;

#[derive(Debug, Default)]
pub(super) struct AttemptsInFlight {
    by_id: StableMap<u64, InFlight>,
    last_id: u64,
    /// How many of them an earlier state of their webhook started; mostly none.
    orphans: usize,
}

impl AttemptsInFlight {
    /// Returns the attempt's id.
    pub(super) fn begun(&mut self, in_flight: InFlight) -> u64 {
        self.last_id += 1;
        self.by_id.insert(self.last_id, in_flight);
        self.last_id
    }

    pub(super) fn ended(&mut self, id: u64) -> Option<InFlight> {
        self.by_id.remove(&id)
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
