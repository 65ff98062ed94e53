//! Decides purely what checkpoints write. Each checkpoint is checked against its webhook; the accepted writes
//! are collected, so that the databases need only a few statements for any number of checkpoints.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::retry::RetryState;
use domain::{NoticeKind, Ticks, WebhookId};

use super::{
    AttemptRecord, CheckpointResult, DisabledByService, EventGap, Handshake, HandshakeStep, Lane, ReplayStep,
    SuccessfulDelivery, SuspensionStep, WebhookCheckpoint,
};
use crate::AuditEntry;
use crate::audit::replace_nul;

/// The key columns of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WebhookKey {
    pub(crate) tenant_no: i64,
    pub(crate) webhook: WebhookId,
}

/// The part of a webhook that the engine writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeliveryState {
    pub(crate) tenant_no: i64,
    /// The current fence of its shard.
    pub(crate) fence: i64,
    pub(crate) revision: u64,
    pub(crate) cursor: Option<u64>,
    pub(crate) initial_cursor: Option<u64>,
    pub(crate) handshake: Handshake,
    pub(crate) disabled: Option<DisabledByService>,
    pub(crate) suspended_at: Option<Ticks>,
    pub(crate) event_gap: Option<EventGap>,
}

/// What the team of a webhook's client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebhookNotice {
    pub(crate) key: WebhookKey,
    pub(crate) kind: NoticeKind,
    pub(crate) since: Ticks,
    pub(crate) detail: String,
}

/// Everything that a set of checkpoints writes. Lane resets come first.
#[derive(Debug, Default)]
pub(crate) struct CheckpointWrites {
    pub(crate) results: Vec<CheckpointResult>,
    /// Webhooks whose row changes.
    pub(crate) changed: BTreeMap<WebhookKey, DeliveryState>,
    pub(crate) lane_resets: BTreeSet<WebhookKey>,
    /// None deletes the lane.
    pub(crate) lanes: BTreeMap<(WebhookKey, i64), Option<Lane>>,
    pub(crate) replays: BTreeMap<(WebhookKey, i64), ReplayStep>,
    pub(crate) attempts: Vec<(WebhookKey, AttemptRecord)>,
    pub(crate) delivered: Vec<(WebhookKey, Vec<SuccessfulDelivery>)>,
    pub(crate) audit: Vec<AuditEntry>,
    pub(crate) notices: Vec<WebhookNotice>,
}

/// The retry state of a reset lane: due immediately, no failures.
pub(crate) fn reset_retry(now: Ticks) -> RetryState {
    RetryState { attempts: 0, first_failed_at: now, next_at: now }
}

/// Checks checkpoints against the stored webhooks; a webhook that is not listed no longer exists.
pub(crate) fn decide_checkpoints(
    checkpoints: Vec<WebhookCheckpoint>,
    mut delivery_states: HashMap<WebhookId, DeliveryState>,
    now: Ticks,
) -> CheckpointWrites {
    let mut writes = CheckpointWrites::default();
    for checkpoint in checkpoints {
        let result = match delivery_states.get_mut(&checkpoint.webhook) {
            // The webhook was deleted with its tenant. The node keeps its shard.
            None => CheckpointResult::Stale,
            Some(state) if state.fence != checkpoint.fence => CheckpointResult::Fenced,
            Some(state) => {
                let key = WebhookKey { tenant_no: state.tenant_no, webhook: checkpoint.webhook };
                let is_current = state.revision == checkpoint.revision;
                if is_current {
                    writes.apply(key, state, &checkpoint, now);
                }
                writes.record_history(key, checkpoint);
                if is_current { CheckpointResult::Written } else { CheckpointResult::Stale }
            }
        };
        writes.results.push(result);
    }
    writes
}

impl CheckpointWrites {
    fn apply(
        &mut self,
        key: WebhookKey,
        state: &mut DeliveryState,
        checkpoint: &WebhookCheckpoint,
        now: Ticks,
    ) {
        let before = state.clone();
        match checkpoint.suspension {
            None => {}
            Some(SuspensionStep::Suspended { at }) => {
                state.suspended_at.get_or_insert(at);
            }
            Some(SuspensionStep::Resumed) => {
                state.suspended_at = None;
                state.handshake.retry = None;
                self.reset_lanes_of(key, now);
            }
        }
        if let Some(step) = checkpoint.handshake
            && apply_handshake_step(state, step)
        {
            self.reset_lanes_of(key, now);
        }
        state.cursor = state.cursor.max(checkpoint.cursor);
        if let (Some(reason), None) = (&checkpoint.disabled, &state.disabled) {
            state.disabled = Some(DisabledByService { at: now, reason: replace_nul(reason.clone()) });
        }
        if let Some(event_gap) = checkpoint.event_gap {
            state.event_gap = Some(merge_gaps(state.event_gap, event_gap));
        }
        for lane in &checkpoint.parked {
            self.lanes.insert((key, lane.record_key), Some(*lane));
        }
        for record_key in &checkpoint.cleared {
            self.lanes.insert((key, *record_key), None);
        }
        for step in &checkpoint.replays {
            self.replays.insert((key, step.number), *step);
        }
        self.notices.extend(notices_of(key, &before, state));
        if *state != before {
            self.changed.insert(key, state.clone());
        }
    }

    fn reset_lanes_of(&mut self, key: WebhookKey, now: Ticks) {
        self.lane_resets.insert(key);
        for ((_, _), lane) in self.lanes.range_mut((key, i64::MIN)..=(key, i64::MAX)) {
            if let Some(lane) = lane {
                lane.retry = reset_retry(now);
            }
        }
    }

    /// Attempts are recorded even if the webhook has changed meanwhile.
    fn record_history(&mut self, key: WebhookKey, checkpoint: WebhookCheckpoint) {
        let kept = |attempt: AttemptRecord| {
            let (reason, excerpt) = (replace_nul(attempt.reason), replace_nul(attempt.excerpt));
            (key, AttemptRecord { reason, excerpt, ..attempt })
        };
        self.attempts.extend(checkpoint.attempts.into_iter().map(kept));
        if !checkpoint.delivered.is_empty() {
            self.delivered.push((key, checkpoint.delivered));
        }
        self.audit.extend(checkpoint.audit);
    }
}

/// What a team is told about a change of state: that the service has disabled or suspended a webhook.
fn notices_of(key: WebhookKey, before: &DeliveryState, after: &DeliveryState) -> Vec<WebhookNotice> {
    let disabled = after.disabled.as_ref().filter(|_| before.disabled.is_none());
    let disabled = disabled.map(|disabled| WebhookNotice {
        key,
        kind: NoticeKind::WebhookDisabled,
        since: disabled.at,
        detail: disabled.reason.clone(),
    });
    let suspended = after.suspended_at.filter(|_| before.suspended_at.is_none());
    let suspended = suspended.map(|since| WebhookNotice {
        key,
        kind: NoticeKind::WebhookSuspended,
        since,
        detail: String::new(),
    });
    disabled.into_iter().chain(suspended).collect()
}

/// Returns true if this step accepted the handshake.
fn apply_handshake_step(state: &mut DeliveryState, step: HandshakeStep) -> bool {
    let handshake = &mut state.handshake;
    match step {
        HandshakeStep::Accepted { number, head } if handshake.number == number && !handshake.accepted => {
            handshake.accepted = true;
            handshake.retry = None;
            handshake.asked_at = None;
            state.initial_cursor.get_or_insert(*state.cursor.get_or_insert(head));
            true
        }
        HandshakeStep::Failed { number, retry, answered }
            if handshake.number == number && !handshake.accepted =>
        {
            handshake.retry = Some(retry);
            // A later request is still to be answered.
            handshake.asked_at = handshake.asked_at.filter(|asked| Some(*asked) > answered);
            false
        }
        _ => false,
    }
}

/// From the start of the first gap to the end of the last.
fn merge_gaps(earlier: Option<EventGap>, event_gap: EventGap) -> EventGap {
    earlier.map_or(event_gap, |earlier| EventGap {
        at: event_gap.at,
        after: earlier.after.min(event_gap.after),
        through: earlier.through.max(event_gap.through),
    })
}
