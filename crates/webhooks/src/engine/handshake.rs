//! The handshake: nothing is told to an address before it has accepted.

use domain::WebhookId;
use domain::retry::RetryDecision;
use store::{AttemptPurpose, AttemptTiming, HandshakeStep};

use super::Command;
use super::core::Core;
use super::deliver::{attempt, postponed};
use super::judge::Judged;

impl Core {
    /// Asks where the log stands, and then the receiver. Tells whether it has.
    pub(super) fn start_handshake(&mut self, webhook: WebhookId) -> bool {
        let now = self.now.wall;
        let Some(state) = self.hooks.get_mut(&webhook) else { return false };
        let shaking = &mut state.handshake;
        let is_due = shaking.retry.is_none_or(|retry| retry.next_at <= now);
        if shaking.is_under_way || shaking.is_accepted || !is_due {
            return false;
        }
        shaking.is_under_way = true;
        let (number, tenant) = (shaking.number, state.feed.tenant.clone());
        self.out.push(Command::ReadHead { webhook, number, tenant });
        false
    }

    pub(super) fn head(&mut self, webhook: WebhookId, number: u32, head: Option<u64>) {
        let may_start = self.may_start();
        let Some(state) = self.hooks.get_mut(&webhook) else { return };
        if state.handshake.number != number || !state.handshake.is_under_way {
            return;
        }
        let awaits = state.needs_handshake();
        if let Some(head) = head.filter(|_| awaits && may_start) {
            state.handshake.head = head;
            return self.knock_handshake(webhook, number);
        }
        state.handshake.is_under_way = false;
        if head.is_none() {
            self.store_rests();
        }
        self.wake(webhook);
    }

    pub(super) fn shaken(&mut self, webhook: WebhookId, number: u32, judged: &Judged, spent: AttemptTiming) {
        let now = self.now.wall;
        let Some(state) = self.hooks.get_mut(&webhook) else { return };
        let before = state.handshake.retry;
        let attempts = before.map_or(0, |retry| retry.attempts) + 1;
        state.pending().attempts.push(attempt(
            AttemptPurpose::Handshake { number },
            attempts,
            now,
            judged,
            spent,
        ));
        // What the receiver said to an earlier one is of no account.
        if state.handshake.number != number || !state.handshake.is_under_way {
            return;
        }
        state.handshake.is_under_way = false;
        if judged.succeeded {
            state.handshake.is_accepted = true;
            state.pending().handshake = Some(HandshakeStep::Accepted { number, head: state.handshake.head });
            self.points.hurry();
            return;
        }
        if judged.is_ours {
            let retry = postponed(before, now);
            state.handshake.retry = Some(retry);
            state.pending().handshake = Some(HandshakeStep::Failed { number, retry });
            return;
        }
        let before = before.filter(|retry| retry.attempts > 0);
        match self.settings.schedule.after_failure(before, now, judged.retry_after, self.chance.next()) {
            RetryDecision::Retry(retry) => {
                state.handshake.retry = Some(retry);
                state.pending().handshake = Some(HandshakeStep::Failed { number, retry });
                state.warn(before, now, self.settings.schedule.window, &judged.reason);
            }
            RetryDecision::GiveUp => {
                let why =
                    format!("the receiver has not accepted the handshake; the last time: {}", judged.reason);
                state.disable(now, why);
            }
        }
    }
}
