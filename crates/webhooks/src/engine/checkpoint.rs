//! Checkpoints: the progress of many webhooks goes to the store in batches, one batch at a time. Outcomes go first. A webhook
//! that only passed events it did not want may wait: what it would pass again after a crash costs a read and sends nothing.

use std::collections::VecDeque;
use std::time::Duration;

use domain::WebhookId;
use store::{CheckpointResult, HandshakeStep, WebhookCheckpoint, shard_of};

use super::core::Core;
use super::deterministic::StableSet;
use super::webhook_state::{PendingWrites, WebhookState};
use super::{Command, Moment};

/// How many webhooks with outcomes one batch holds.
const BATCH_OUTCOMES_MAX: usize = 1800;
/// How many more at most have only moved. Where very many webhooks follow a busy log, all others who write would wait for them.
const BATCH_MOVED_MAX: usize = 100;
/// How many more at most have only moved with their idle group, and how often a batch has such.
const BATCH_GROUPED_MAX: usize = 100;
const GROUPED_EVERY: Duration = Duration::from_millis(250);
/// How many places of webhooks that no longer wait are kept at least before they are cleared.
const STALE_PLACES_MAX: usize = 1000;
/// When a batch is written again after the store failed.
const RETRY_AFTER: Duration = Duration::from_millis(200);

/// What has to be written, and when.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    /// Webhooks with outcomes that are not in the store yet.
    dirty: Waiting,
    /// Webhooks that have only moved on in the log.
    moved: Waiting,
    /// The batch that was sent to the store and has no result yet.
    writing: Option<Vec<WebhookCheckpoint>>,
    /// The write failed: the same batch is sent again at this time.
    retry_at: Option<Duration>,
    written_at: Duration,
    /// When a batch last had webhooks that moved with their group.
    grouped_written_at: Duration,
    is_urgent: bool,
    /// The orderly stop has begun: only outcomes are written.
    is_stopping: bool,
}

impl Checkpoints {
    /// The webhook has outcomes that are not in the store yet.
    pub(super) fn add(&mut self, webhook: WebhookId) {
        self.moved.remove(webhook);
        self.dirty.add(webhook);
    }

    /// The webhook has moved on in the log.
    pub(super) fn add_moved(&mut self, webhook: WebhookId) {
        if !self.dirty.members.contains(&webhook) {
            self.moved.add(webhook);
        }
    }

    pub(super) fn forget(&mut self, webhook: WebhookId) {
        self.dirty.remove(webhook);
        self.moved.remove(webhook);
    }

    pub(super) fn dirty(&self) -> impl Iterator<Item = WebhookId> {
        self.dirty.members.iter().copied()
    }

    /// Whether all outcomes are in the store.
    pub(super) fn is_idle(&self) -> bool {
        self.dirty.members.is_empty() && self.writing.is_none()
    }

    pub(super) fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// The next batch does not wait for its interval.
    pub(super) fn write_soon(&mut self) {
        self.is_urgent = true;
    }

    pub(super) fn stop(&mut self) {
        self.is_stopping = true;
        self.is_urgent = true;
    }

    /// How long until the next write; `None`: there is nothing to write, or a write is under way. `has_grouped`: webhooks have moved
    /// with their idle group.
    pub(super) fn next_write(&self, now: Moment, every: Duration, has_grouped: bool) -> Option<Duration> {
        if let Some(at) = self.retry_at {
            return Some(at.saturating_sub(now.steady));
        }
        if self.writing.is_some() {
            return None;
        }
        let has_dirty = !self.dirty.members.is_empty();
        let has_moved = !self.moved.members.is_empty() && !self.is_stopping;
        let has_grouped = has_grouped && !self.is_stopping;
        if self.is_urgent && has_dirty {
            return Some(Duration::ZERO);
        }
        let next = self.written_at + every;
        let of_all = (has_dirty || has_moved).then_some(next);
        let of_grouped = has_grouped.then(|| next.max(self.grouped_written_at + GROUPED_EVERY));
        of_all.into_iter().chain(of_grouped).min().map(|at| at.saturating_sub(now.steady))
    }

    /// How many webhooks that moved with their group this batch may have.
    fn grouped_max(&mut self, now: Moment) -> usize {
        if now.steady < self.grouped_written_at + GROUPED_EVERY {
            return 0;
        }
        self.grouped_written_at = now.steady;
        BATCH_GROUPED_MAX
    }

    /// The batch whose write failed, when it is to be written again.
    fn take_retry(&mut self, now: Moment) -> Option<Vec<WebhookCheckpoint>> {
        self.retry_at.take_if(|at| now.steady >= *at)?;
        self.writing.clone()
    }

    /// The webhooks of the next batch.
    fn take_dirty(&mut self) -> Vec<WebhookId> {
        let mut webhooks: Vec<WebhookId> = self.dirty.take().take(BATCH_OUTCOMES_MAX).collect();
        webhooks.extend(self.moved.take().take(BATCH_MOVED_MAX));
        webhooks
    }

    fn write_begun(&mut self, now: Moment, batch: Vec<WebhookCheckpoint>) {
        self.is_urgent = !self.dirty.members.is_empty() && self.is_urgent;
        self.written_at = now.steady;
        self.writing = Some(batch);
    }
}

/// Webhooks that wait for a write, those first that have waited longest.
#[derive(Debug, Default)]
struct Waiting {
    members: StableSet<WebhookId>,
    /// With places of webhooks that are no longer members.
    order: VecDeque<WebhookId>,
}

impl Waiting {
    fn add(&mut self, webhook: WebhookId) {
        if self.members.insert(webhook) {
            if self.order.len() > 2 * self.members.len() + STALE_PLACES_MAX {
                let mut seen = StableSet::default();
                self.order.retain(|place| self.members.contains(place) && seen.insert(*place));
            }
            self.order.push_back(webhook);
        }
    }

    fn remove(&mut self, webhook: WebhookId) {
        self.members.remove(&webhook);
    }

    /// Takes the members out as the iterator goes.
    fn take(&mut self) -> impl Iterator<Item = WebhookId> {
        std::iter::from_fn(|| {
            while let Some(webhook) = self.order.pop_front() {
                if self.members.remove(&webhook) {
                    return Some(webhook);
                }
            }
            None
        })
    }
}

impl Core {
    pub(super) fn checkpoint(&mut self) {
        let now = self.now;
        if self.next_checkpoint() != Some(Duration::ZERO) {
            return;
        }
        if let Some(batch) = self.checkpoints.take_retry(now) {
            self.commands.push(Command::Checkpoint(batch));
            return;
        }
        let mut webhooks = self.checkpoints.take_dirty();
        let grouped_max = self.checkpoints.grouped_max(now);
        if grouped_max > 0 {
            webhooks.extend(self.feed.take_unsaved(grouped_max));
        }
        webhooks.sort_unstable();
        webhooks.dedup();
        let mut batch = Vec::with_capacity(webhooks.len());
        for webhook in webhooks {
            self.update_from_group(webhook);
            batch.extend(self.webhooks.get_mut(&webhook).map(|state| {
                state.release_buffers();
                state.take_checkpoint(webhook)
            }));
        }
        if batch.is_empty() {
            // The groups are gone; their members wait among the others.
            return;
        }
        self.checkpoints.write_begun(now, batch.clone());
        self.commands.push(Command::Checkpoint(batch));
    }

    /// How long until the next checkpoint.
    pub(super) fn next_checkpoint(&self) -> Option<Duration> {
        let has_grouped = self.feed.has_unsaved();
        self.checkpoints.next_write(self.now, self.settings.checkpoint_every, has_grouped)
    }

    pub(super) fn checkpoint_written(&mut self, results: Option<Vec<CheckpointResult>>) {
        let Some(results) = results else {
            self.checkpoints.retry_at = Some(self.now.steady + RETRY_AFTER);
            return;
        };
        let batch = self.checkpoints.writing.take().unwrap_or_default();
        for (checkpoint, result) in batch.into_iter().zip(results) {
            self.apply_result(&checkpoint, result);
        }
    }

    fn apply_result(&mut self, checkpoint: &WebhookCheckpoint, result: CheckpointResult) {
        let webhook = checkpoint.webhook;
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        if (state.fence, state.revision) != (checkpoint.fence, checkpoint.revision) {
            return;
        }
        match result {
            CheckpointResult::Written => {
                if let Some(HandshakeStep::Accepted { number, head }) = checkpoint.handshake
                    && number == state.handshake.number
                {
                    state.set_handshake_accepted(head);
                    state.lanes.make_due(self.now.wall, true);
                    self.wake(webhook);
                    self.queue_read(webhook);
                }
            }
            CheckpointResult::Stale => self.reload(webhook),
            CheckpointResult::Fenced => {
                tracing::debug!(shard = shard_of(webhook), "another node holds the shard now");
                self.remove_webhook(webhook);
            }
        }
    }
}

impl WebhookState {
    fn take_checkpoint(&mut self, webhook: WebhookId) -> WebhookCheckpoint {
        self.has_moved = false;
        let pending = self.pending.take().map_or_else(PendingWrites::default, |pending| *pending);
        let mut parked: Vec<i64> = pending.parked.into_iter().collect();
        parked.sort_unstable();
        let mut cleared: Vec<i64> = pending.cleared.into_iter().collect();
        cleared.sort_unstable();
        WebhookCheckpoint {
            cursor: self.has_cursor.then(|| self.cursor()),
            parked: parked.into_iter().filter_map(|record| self.lanes.get(record).copied()).collect(),
            cleared,
            handshake: pending.handshake,
            suspension: pending.suspension,
            disabled: pending.disabled,
            event_gap: pending.gap,
            attempts: pending.attempts,
            delivered: pending.delivered,
            replays: pending.replays,
            audit: pending.audit,
            ..WebhookCheckpoint::new(webhook, self.fence, self.revision)
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Ticks;

    use super::*;

    fn id(number: u64) -> WebhookId {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        WebhookId::from_bytes(bytes)
    }

    fn batch(checkpoints: &mut Checkpoints) -> Vec<WebhookId> {
        checkpoints.take_dirty()
    }

    #[test]
    fn outcomes_go_before_webhooks_that_only_moved() {
        let mut checkpoints = Checkpoints::default();
        (0..5000).for_each(|number| checkpoints.add_moved(id(number)));
        checkpoints.add(id(4000));
        let first = batch(&mut checkpoints);
        assert!(first.len() == 1 + BATCH_MOVED_MAX && first.contains(&id(4000)));
        // What moves again goes to the end, so that all have their turn.
        (0..5000).for_each(|number| checkpoints.add_moved(id(number)));
        let second = batch(&mut checkpoints);
        assert_eq!(second.iter().filter(|webhook| first.contains(webhook)).count(), 0);
        let later: usize = (0..60).map(|_| batch(&mut checkpoints).len()).sum();
        assert_eq!(later, 5000 - BATCH_MOVED_MAX, "each once");
    }

    #[test]
    fn places_of_webhooks_that_no_longer_wait_are_bounded() {
        let mut waiting = Waiting::default();
        (0..100).for_each(|number| waiting.add(id(number)));
        for _ in 0..10_000 {
            waiting.remove(id(7));
            waiting.add(id(7));
        }
        assert!(waiting.order.len() <= 2 * 100 + STALE_PLACES_MAX + 1, "{}", waiting.order.len());
        let order: Vec<_> = waiting.take().collect();
        assert_eq!((order.len(), order[0], order[1]), (100, id(0), id(1)));
    }

    #[test]
    fn webhooks_that_only_moved_hold_nothing_up() {
        let mut checkpoints = Checkpoints::default();
        checkpoints.add_moved(id(1));
        let now = Moment { steady: Duration::ZERO, wall: Ticks(0) };
        let every = Duration::from_millis(50);
        checkpoints.write_soon();
        assert!(checkpoints.is_idle() && checkpoints.dirty().next().is_none());
        assert_eq!(checkpoints.next_write(now, every, false), Some(every));
        checkpoints.add(id(1));
        assert_eq!(checkpoints.next_write(now, every, false), Some(Duration::ZERO));
        assert_eq!(batch(&mut checkpoints), [id(1)], "once");
        assert_eq!(checkpoints.next_write(now, every, false), None);
    }

    #[test]
    fn stop_writes_outcomes_alone() {
        let mut checkpoints = Checkpoints::default();
        let (every, now) = (Duration::ZERO, Moment { steady: GROUPED_EVERY, wall: Ticks(0) });
        checkpoints.add_moved(id(1));
        assert_eq!(checkpoints.next_write(now, every, true), Some(Duration::ZERO));
        checkpoints.stop();
        assert_eq!(checkpoints.next_write(now, every, true), None);
        checkpoints.add(id(2));
        assert_eq!(checkpoints.next_write(now, every, true), Some(Duration::ZERO));
    }

    #[test]
    fn webhooks_that_moved_with_their_group_are_written_seldom() {
        let mut checkpoints = Checkpoints::default();
        let at = |milliseconds| Moment { steady: Duration::from_millis(milliseconds), wall: Ticks(0) };
        let every = Duration::from_millis(50);
        assert_eq!(checkpoints.grouped_max(at(1000)), BATCH_GROUPED_MAX);
        assert_eq!(checkpoints.grouped_max(at(1100)), 0);
        assert_eq!(checkpoints.next_write(at(1100), every, true), Some(Duration::from_millis(150)));
        assert_eq!(checkpoints.grouped_max(at(1250)), BATCH_GROUPED_MAX);
    }
}
