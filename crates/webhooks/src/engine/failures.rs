//! What a webhook's state does after success and failure: parking, the breaker, the warning, and disabling.

use std::time::Duration;

use domain::Ticks;
use domain::retry::RetryState;
use store::{AuditContext, AuditEntry, AuditKind, EventGap, Lane};

use super::SharedEvent;
use super::webhook_state::WebhookState;

/// With this many parked records, the webhook reads no new events.
pub(crate) const LANES_MAX: usize = 1000;
/// This many failures in a row open the breaker.
pub(crate) const FAILURES_IN_A_ROW_MAX: u32 = 16;
/// When an attempt that failed on this side is retried.
const INTERNAL_FAILURE_PAUSE: Duration = Duration::from_secs(1);

impl WebhookState {
    /// The receiver took an event: the breaker closes, and everything that it held back is due.
    pub(super) fn receiver_succeeded(&mut self, now: Ticks) {
        self.failures_in_a_row = 0;
        self.has_warned = false;
        if std::mem::take(&mut self.is_breaker_open) {
            let records = self.lanes.make_due(now, false);
            self.pending().parked.extend(records);
        }
    }

    /// Parks an event that failed: in a new lane, or again in the lane that it came from.
    pub(super) fn park(&mut self, event: &SharedEvent, is_new_lane: bool, retry: RetryState) {
        let record_key = event.record_key;
        if is_new_lane {
            let lane = Lane { record_key, sequence: event.entry.sequence, retry };
            self.lanes.park(lane, Some(event.clone()));
            self.pending().cleared.remove(&record_key);
            self.mark_parked(event);
        } else {
            self.lanes.failed(record_key, retry);
        }
        self.pending().parked.insert(record_key);
    }

    /// The attempt at the end of the window has failed: the webhook stays disabled until its owner enables it.
    pub(super) fn give_up(
        &mut self,
        event: &SharedEvent,
        is_new_lane: bool,
        before: Option<RetryState>,
        now: Ticks,
        why: String,
    ) {
        let attempts = before.map_or(0, |retry| retry.attempts) + 1;
        let first_failed_at = before.map_or(now, |retry| retry.first_failed_at);
        self.park(event, is_new_lane, RetryState { attempts, first_failed_at, next_at: now });
        self.disable(now, why);
    }

    pub(super) fn disable(&mut self, now: Ticks, why: String) {
        self.flags.disabled = true;
        self.target.withdraw();
        self.audit(AuditKind::WebhookDisabled, now, &why);
        self.pending().disabled = Some(why);
    }

    /// Warns in the audit, once, when a receiver still fails after half the window.
    pub(super) fn warn(&mut self, before: Option<RetryState>, now: Ticks, window: Duration, reason: &str) {
        let is_half_over = before.is_some_and(|retry| now.since(retry.first_failed_at) >= window / 2);
        if is_half_over && !self.has_warned && !self.flags.disabled {
            self.has_warned = true;
            let note =
                format!("deliveries fail, and the webhook will be disabled when the window ends: {reason}");
            self.audit(AuditKind::WebhookFailing, now, &note);
        }
    }

    /// The log's floor has passed the webhook: it continues there, and the gap is recorded.
    pub(super) fn skip_to_floor(&mut self, floor: u64, now: Ticks) {
        let after = self.read_to;
        self.pending().gap = Some(EventGap { at: now, after, through: floor });
        let note = format!("events after {after} up to {floor} are no longer kept");
        self.audit(AuditKind::WebhookEventsLost, now, &note);
        self.read_to = floor;
        self.has_moved = true;
    }

    pub(super) fn audit(&mut self, kind: AuditKind, now: Ticks, note: &str) {
        let webhook = self.target.webhook();
        let entry = AuditEntry::new(kind, now, &AuditContext::default()).object("webhook", webhook);
        let entry = entry.tenant(&self.tail_key.tenant).client(&self.client);
        let entry = entry.note(format!("webhook {webhook}: {note}"));
        self.pending().audit.push(entry);
    }
}

/// After a failure on this side: retried soon, and not counted against the receiver.
pub(super) fn postponed(before: Option<RetryState>, now: Ticks) -> RetryState {
    let uncounted = RetryState { attempts: 0, first_failed_at: now, next_at: now };
    RetryState { next_at: now + INTERNAL_FAILURE_PAUSE, ..before.unwrap_or(uncounted) }
}
