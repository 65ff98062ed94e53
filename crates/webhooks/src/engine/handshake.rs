//! The handshake: a receiver gets no events before it has accepted.

use domain::WebhookId;
use domain::retry::RetryDecision;
use store::{AttemptPurpose, AttemptTiming, HandshakeStep};

use super::Command;
use super::attempt::AttemptKind;
use super::classify::Outcome;
use super::core::Core;
use super::delivery::{AttemptSource, attempt_record};
use super::failures::postponed;

impl Core {
    /// Reads the log's head; the request follows when it is known, because an accepted handshake starts the webhook
    /// there. Returns false: the webhook has nothing else to start meanwhile.
    pub(super) fn start_handshake(&mut self, webhook: WebhookId) -> bool {
        let now = self.now.wall;
        let Some(state) = self.webhooks.get_mut(&webhook) else { return false };
        let handshake = &mut state.handshake;
        let is_due = handshake.retry.is_none_or(|retry| retry.next_at <= now);
        if handshake.is_in_flight || handshake.is_accepted || !is_due {
            return false;
        }
        handshake.is_in_flight = true;
        let (number, tenant) = (handshake.number, state.tail_key.tenant.clone());
        self.commands.push(Command::ReadHead { webhook, number, tenant });
        false
    }

    pub(super) fn head_read(&mut self, webhook: WebhookId, number: u32, head: Option<u64>) {
        let can_start = self.can_start();
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        if state.handshake.number != number || !state.handshake.is_in_flight {
            return;
        }
        let needs_handshake = state.needs_handshake();
        if let Some(head) = head.filter(|_| needs_handshake && can_start) {
            state.handshake.head = head;
            let kind = AttemptKind::Handshake { number, at: state.handshake.at };
            self.send(webhook, AttemptSource::Handshake(number), kind);
            return;
        }
        state.handshake.is_in_flight = false;
        if head.is_none() {
            self.pause_reads();
        }
        self.wake(webhook);
    }

    pub(super) fn handshake_finished(
        &mut self,
        webhook: WebhookId,
        number: u32,
        outcome: &Outcome,
        timing: AttemptTiming,
    ) {
        let now = self.now.wall;
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        let before = state.handshake.retry;
        let attempts = before.map_or(0, |retry| retry.attempts) + 1;
        let purpose = AttemptPurpose::Handshake { number };
        state.pending().attempts.push(attempt_record(purpose, attempts, now, outcome, timing));
        // The response to an earlier handshake does not count for the current one.
        if state.handshake.number != number || !state.handshake.is_in_flight {
            return;
        }
        state.handshake.is_in_flight = false;
        if outcome.succeeded {
            state.handshake.is_accepted = true;
            state.pending().handshake = Some(HandshakeStep::Accepted { number, head: state.handshake.head });
            self.checkpoints.write_soon();
            return;
        }
        if outcome.is_internal {
            let retry = postponed(before, now);
            state.handshake.retry = Some(retry);
            state.pending().handshake = Some(HandshakeStep::Failed { number, retry });
            return;
        }
        let before = before.filter(|retry| retry.attempts > 0);
        match self.settings.schedule.after_failure(before, now, outcome.retry_after, self.random.next()) {
            RetryDecision::Retry(retry) => {
                state.handshake.retry = Some(retry);
                state.pending().handshake = Some(HandshakeStep::Failed { number, retry });
                state.warn(before, now, self.settings.schedule.window, &outcome.reason);
            }
            RetryDecision::GiveUp => {
                let reason = &outcome.reason;
                let why = format!("the receiver has not accepted the handshake; the last time: {reason}");
                state.disable(now, why);
            }
        }
    }
}
