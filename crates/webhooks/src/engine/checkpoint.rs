//! Checkpoints: the progress of many webhooks goes to the store in batches, one batch at a time.

use std::time::Duration;

use domain::WebhookId;
use store::{CheckpointResult, HandshakeStep, WebhookCheckpoint, shard_of};

use super::core::Core;
use super::deterministic::StableSet;
use super::webhook_state::{PendingWrites, WebhookState};
use super::{Command, Moment, Settings};

/// How many webhooks one batch holds.
const BATCH_WEBHOOKS_MAX: usize = 2000;
/// When a batch is written again after the store failed.
const RETRY_AFTER: Duration = Duration::from_millis(200);

/// What has to be written, and when.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    /// Webhooks with progress that is not in the store yet.
    dirty: StableSet<WebhookId>,
    /// The batch that was sent to the store and has no result yet.
    writing: Option<Vec<WebhookCheckpoint>>,
    /// The write failed: the same batch is sent again at this time.
    retry_at: Option<Duration>,
    written_at: Duration,
    is_urgent: bool,
}

impl Checkpoints {
    /// The webhook has progress that is not in the store yet.
    pub(super) fn add(&mut self, webhook: WebhookId) {
        self.dirty.insert(webhook);
    }

    pub(super) fn forget(&mut self, webhook: WebhookId) {
        self.dirty.remove(&webhook);
    }

    pub(super) fn dirty(&self) -> impl Iterator<Item = WebhookId> {
        self.dirty.iter().copied()
    }

    /// Whether everything is in the store.
    pub(super) fn is_idle(&self) -> bool {
        self.dirty.is_empty() && self.writing.is_none()
    }

    pub(super) fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// The next batch does not wait for its interval.
    pub(super) fn write_soon(&mut self) {
        self.is_urgent = true;
    }

    /// How long until the next write; `None`: there is nothing to write, or a write is under way.
    pub(super) fn next_write(&self, now: Moment, settings: &Settings) -> Option<Duration> {
        if let Some(at) = self.retry_at {
            return Some(at.saturating_sub(now.steady));
        }
        let next = (self.written_at + settings.checkpoint_every).saturating_sub(now.steady);
        let is_due = !self.dirty.is_empty() && self.writing.is_none();
        is_due.then_some(if self.is_urgent { Duration::ZERO } else { next })
    }

    /// The batch whose write failed, when it is to be written again.
    fn take_retry(&mut self, now: Moment) -> Option<Vec<WebhookCheckpoint>> {
        self.retry_at.take_if(|at| now.steady >= *at)?;
        self.writing.clone()
    }

    /// The webhooks of the next batch, in order.
    fn take_dirty(&mut self) -> Vec<WebhookId> {
        let mut webhooks: Vec<WebhookId> = self.dirty().take(BATCH_WEBHOOKS_MAX).collect();
        webhooks.sort_unstable();
        for webhook in &webhooks {
            self.dirty.remove(webhook);
        }
        webhooks
    }

    fn write_begun(&mut self, now: Moment, batch: Vec<WebhookCheckpoint>) {
        self.is_urgent = !self.dirty.is_empty() && self.is_urgent;
        self.written_at = now.steady;
        self.writing = Some(batch);
    }
}

impl Core {
    pub(super) fn checkpoint(&mut self) {
        let now = self.now;
        if self.checkpoints.next_write(now, &self.settings) != Some(Duration::ZERO) {
            return;
        }
        if let Some(batch) = self.checkpoints.take_retry(now) {
            self.commands.push(Command::Checkpoint(batch));
            return;
        }
        let webhooks = self.checkpoints.take_dirty();
        let mut batch = Vec::with_capacity(webhooks.len());
        for webhook in webhooks {
            batch.extend(self.webhooks.get_mut(&webhook).map(|state| {
                state.release_buffers();
                state.take_checkpoint(webhook)
            }));
        }
        self.checkpoints.write_begun(now, batch.clone());
        self.commands.push(Command::Checkpoint(batch));
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
