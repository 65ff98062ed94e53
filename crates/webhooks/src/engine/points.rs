//! Checkpoints: what was done is written down in batches, one at a time.

use std::time::Duration;

use domain::WebhookId;
use store::{CheckpointResult, HandshakeStep, WebhookCheckpoint, shard_of};

use super::core::Core;
use super::state::{Pending, State};
use super::{Command, Moment, Settings};

/// How many webhooks one checkpoint tells of.
const POINTS_MAX: usize = 2000;
/// How long a checkpoint rests that the store did not take.
const RETRY_AFTER: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(super) struct Points {
    /// Written, or not: the store has not said.
    under_way: Option<Vec<WebhookCheckpoint>>,
    /// The store did not answer: the same again from then on.
    again_at: Option<Duration>,
    written_at: Duration,
    is_urgent: bool,
}

impl Points {
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// The next one is written as soon as it can be.
    pub(super) fn hurry(&mut self) {
        self.is_urgent = true;
    }

    pub(super) fn rests_for(&self, now: Moment, settings: &Settings, has_dirty: bool) -> Option<Duration> {
        if let Some(at) = self.again_at {
            return Some(at.saturating_sub(now.steady));
        }
        let next = (self.written_at + settings.checkpoint_every).saturating_sub(now.steady);
        (has_dirty && self.under_way.is_none()).then_some(if self.is_urgent { Duration::ZERO } else { next })
    }
}

impl Core {
    pub(super) fn checkpoint(&mut self) {
        let now = self.now;
        if let (Some(at), Some(points)) = (self.points.again_at, &self.points.under_way) {
            if now.steady >= at {
                self.out.push(Command::Checkpoint(points.clone()));
                self.points.again_at = None;
            }
            return;
        }
        if self.points.rests_for(now, &self.settings, !self.dirty.is_empty()) != Some(Duration::ZERO) {
            return;
        }
        let mut written: Vec<WebhookId> = self.dirty.iter().copied().take(POINTS_MAX).collect();
        written.sort_unstable();
        let mut points = Vec::with_capacity(written.len());
        for webhook in written {
            self.dirty.remove(&webhook);
            points.extend(self.hooks.get_mut(&webhook).map(|state| {
                state.rest();
                state.point(webhook)
            }));
        }
        self.points.is_urgent = !self.dirty.is_empty() && self.points.is_urgent;
        self.points.written_at = now.steady;
        self.points.under_way = Some(points.clone());
        self.out.push(Command::Checkpoint(points));
    }

    pub(super) fn checkpointed(&mut self, verdicts: Option<Vec<CheckpointResult>>) {
        let Some(verdicts) = verdicts else {
            self.points.again_at = Some(self.now.steady + RETRY_AFTER);
            return;
        };
        for (point, verdict) in self.points.under_way.take().unwrap_or_default().into_iter().zip(verdicts) {
            self.judge_point(&point, verdict);
        }
    }

    fn judge_point(&mut self, point: &WebhookCheckpoint, verdict: CheckpointResult) {
        let webhook = point.webhook;
        let Some(state) = self.hooks.get_mut(&webhook) else { return };
        if (state.fence, state.revision) != (point.fence, point.revision) {
            return;
        }
        match verdict {
            CheckpointResult::Written => {
                if let Some(HandshakeStep::Accepted { number, head }) = point.handshake
                    && number == state.handshake.number
                {
                    state.contract(head);
                    state.lanes.hurry(self.now.wall, true);
                    self.wake(webhook);
                    self.hunger(webhook);
                }
            }
            CheckpointResult::Stale => self.load(webhook),
            CheckpointResult::Fenced => {
                tracing::debug!(shard = shard_of(webhook), "another node has taken the shard");
                self.forget(webhook);
            }
        }
    }
}

impl State {
    fn point(&mut self, webhook: WebhookId) -> WebhookCheckpoint {
        self.has_moved = false;
        let pending = self.pending.take().map_or_else(Pending::default, |pending| *pending);
        let mut parked: Vec<i64> = pending.parked.into_iter().collect();
        parked.sort_unstable();
        let mut cleared: Vec<i64> = pending.cleared.into_iter().collect();
        cleared.sort_unstable();
        WebhookCheckpoint {
            cursor: self.has_cursor.then(|| self.done_to()),
            parked: parked.into_iter().filter_map(|record| self.lanes.get(record).copied()).collect(),
            cleared,
            handshake: pending.handshake,
            disabled: pending.disabled,
            event_gap: pending.lost,
            attempts: pending.attempts,
            delivered: pending.delivered,
            replays: pending.replays,
            audit: pending.audit,
            ..WebhookCheckpoint::new(webhook, self.fence, self.revision)
        }
    }
}
