//! The handshake: a receiver gets no events before it has accepted.

use domain::retry::RetryDecision;
use domain::service_reason::DisabledReason;
use domain::webhook::HANDSHAKE_REQUEST_PAUSE;
use domain::{Ticks, WebhookId};
use store::{AttemptPurpose, AttemptTiming, HandshakeStep};

use super::Command;
use super::attempt::AttemptKind;
use super::classify::Outcome;
use super::core::Core;
use super::delivery::{AttemptSource, attempt_record};
use super::deterministic::StableMap;
use super::failures::postponed;
use super::webhook_state::HandshakeState;

/// When each receiver host last got a handshake attempt that an owner had asked for.
#[derive(Debug, Default)]
pub(super) struct AskedHosts(StableMap<Box<str>, Ticks>);

impl AskedHosts {
    /// Past this many hosts, those whose pause is over are forgotten.
    const MAX: usize = 1000;

    fn asked_at(&self, host: &str) -> Option<Ticks> {
        self.0.get(host).copied()
    }

    fn add(&mut self, host: Box<str>, now: Ticks) {
        if self.0.len() >= Self::MAX {
            self.0.retain(|_, at| now.since(*at) < HANDSHAKE_REQUEST_PAUSE);
        }
        self.0.insert(host, now);
    }

    fn remove(&mut self, host: &str) {
        self.0.remove(host);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Core {
    /// When the webhook's receiver host last got an attempt that an owner had asked for; only looked up where that matters.
    pub(super) fn host_asked_at(&self, webhook: WebhookId) -> Option<Ticks> {
        let state = self.webhooks.get(&webhook)?;
        state.handshake.unanswered()?;
        self.asked_hosts.asked_at(&state.target.host())
    }

    /// Reads the log's head; the request follows when it is known, because an accepted handshake starts the webhook
    /// there. Returns false: the webhook has nothing else to start meanwhile.
    pub(super) fn start_handshake(&mut self, webhook: WebhookId) -> bool {
        let now = self.now.wall;
        let host_asked_at = self.host_asked_at(webhook);
        let Some(state) = self.webhooks.get_mut(&webhook) else { return false };
        let handshake = &mut state.handshake;
        if handshake.is_in_flight || handshake.is_accepted || handshake.due_at(now, host_asked_at) > now {
            return false;
        }
        handshake.is_in_flight = true;
        let (number, tenant) = (handshake.number, state.tail_key.tenant.clone());
        self.commands.push(Command::ReadHead { webhook, number, tenant });
        false
    }

    pub(super) fn head_read(&mut self, webhook: WebhookId, number: u32, head: Option<u64>) {
        let can_start = self.can_start() && !self.shards.is_giving(webhook);
        let now = self.now.wall;
        // Another webhook's attempt may have taken the host's turn meanwhile.
        let host_asked_at = self.host_asked_at(webhook);
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        if state.handshake.number != number || !state.handshake.is_in_flight {
            return;
        }
        let may_send =
            can_start && state.needs_handshake() && state.handshake.due_at(now, host_asked_at) <= now;
        if let Some(head) = head.filter(|_| may_send) {
            let before = Box::new(state.handshake);
            let is_early = state.handshake.start(head, now);
            let kind = AttemptKind::Handshake { number, at: state.handshake.at };
            let host = is_early.then(|| state.target.host());
            self.send(webhook, AttemptSource::Handshake { number, before }, kind);
            if let Some(host) = host {
                self.asked_hosts.add(host, now);
            }
            return;
        }
        state.handshake.is_in_flight = false;
        if head.is_none() {
            self.feed.pause(self.now.steady);
        }
        self.wake(webhook);
    }

    /// The attempt was not sent: it is due again, and the host's turn is not taken.
    pub(super) fn handshake_not_sent(&mut self, webhook: WebhookId, number: u32, before: &HandshakeState) {
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        if state.handshake.number != number || !state.handshake.is_in_flight {
            return;
        }
        let host = state.target.host();
        if self.asked_hosts.asked_at(&host) == state.handshake.started_at {
            self.asked_hosts.remove(&host);
        }
        state.handshake.undo_start(before);
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
        let answered = state.handshake.answered_at;
        if outcome.is_internal {
            let retry = postponed(before, now);
            state.handshake.retry = Some(retry);
            state.pending().handshake = Some(HandshakeStep::Failed { number, retry, answered });
            return;
        }
        let before = before.filter(|retry| retry.attempts > 0);
        let (schedule, jitter) = (&self.settings.schedule, self.random.next());
        let started_at = state.handshake.started_at;
        let early = before.filter(|retry| started_at.is_some_and(|started| started < retry.next_at));
        let decision = match early {
            Some(before) => schedule.after_early_failure(before, now, outcome.retry_after, jitter),
            None => schedule.after_failure(before, now, outcome.retry_after, jitter),
        };
        match decision {
            RetryDecision::Retry(retry) => {
                state.handshake.retry = Some(retry);
                state.pending().handshake = Some(HandshakeStep::Failed { number, retry, answered });
                state.warn(before, now, self.settings.schedule.window, &outcome.reason);
            }
            RetryDecision::GiveUp => {
                let reason = &outcome.reason;
                let why = DisabledReason::HandshakeNotAccepted { last: reason }.to_string();
                state.disable(now, why);
            }
        }
    }
}
