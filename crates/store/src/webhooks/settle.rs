//! What a checkpoint writes: each point is judged for itself, purely and for all stores, and what is left to write is
//! gathered so that it can go out as a few statements, however many points there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::retry::RetryState;
use domain::{Ticks, WebhookId};

use super::{
    AttemptRecord, CheckpointResult, DisabledByService, EventGap, Handshake, HandshakeStep, Lane, ReplayStep,
    SuccessfulDelivery, Webhook, WebhookCheckpoint,
};
use crate::AuditEntry;
use crate::audit::cleaned;

/// A webhook and its tenant: what leads its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Whose {
    pub(crate) tenant_no: i64,
    pub(crate) webhook: WebhookId,
}

/// A webhook as far as the engine's writes go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) tenant_no: i64,
    /// Of its shard, as it is held now.
    pub(crate) fence: i64,
    pub(crate) revision: u64,
    pub(crate) cursor: Option<u64>,
    pub(crate) initial_cursor: Option<u64>,
    pub(crate) handshake: Handshake,
    pub(crate) disabled: Option<DisabledByService>,
    pub(crate) event_gap: Option<EventGap>,
}

impl Position {
    pub(crate) fn of(webhook: &Webhook, tenant_no: i64, fence: i64) -> Self {
        Self {
            tenant_no,
            fence,
            revision: webhook.revision,
            cursor: webhook.cursor,
            initial_cursor: webhook.initial_cursor,
            handshake: webhook.handshake,
            disabled: webhook.disabled.clone(),
            event_gap: webhook.event_gap,
        }
    }
}

/// All that a checkpoint writes. Lanes that are renewed come first.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) verdicts: Vec<CheckpointResult>,
    /// Webhooks whose row changes.
    pub(crate) changed: BTreeMap<Whose, Position>,
    pub(crate) renewed: BTreeSet<Whose>,
    /// None: the lane goes.
    pub(crate) lanes: BTreeMap<(Whose, i64), Option<Lane>>,
    pub(crate) replays: BTreeMap<(Whose, i64), ReplayStep>,
    pub(crate) attempts: Vec<(Whose, AttemptRecord)>,
    pub(crate) delivered: Vec<(Whose, Vec<SuccessfulDelivery>)>,
    pub(crate) audit: Vec<AuditEntry>,
}

/// Lanes that start anew are due at once, with no failure counted.
pub(crate) fn anew(now: Ticks) -> RetryState {
    RetryState { attempts: 0, first_failed_at: now, next_at: now }
}

/// Judges points against the webhooks as they stand; those that are not listed are gone.
pub(crate) fn settle(
    points: Vec<WebhookCheckpoint>,
    mut positions: HashMap<WebhookId, Position>,
    now: Ticks,
) -> Ledger {
    let mut ledger = Ledger::default();
    for point in points {
        let verdict = match positions.get_mut(&point.webhook) {
            // Gone with its tenant. Who holds the shard goes on with the others.
            None => CheckpointResult::Stale,
            Some(position) if position.fence != point.fence => CheckpointResult::Fenced,
            Some(position) => {
                let whose = Whose { tenant_no: position.tenant_no, webhook: point.webhook };
                let is_current = position.revision == point.revision;
                if is_current {
                    ledger.follow(whose, position, &point, now);
                }
                ledger.remember(whose, point);
                if is_current { CheckpointResult::Written } else { CheckpointResult::Stale }
            }
        };
        ledger.verdicts.push(verdict);
    }
    ledger
}

impl Ledger {
    fn follow(&mut self, whose: Whose, position: &mut Position, point: &WebhookCheckpoint, now: Ticks) {
        let before = position.clone();
        if let Some(step) = point.handshake
            && shake_hands(position, step)
        {
            self.renew(whose, now);
        }
        position.cursor = position.cursor.max(point.cursor);
        if let (Some(reason), None) = (&point.disabled, &position.disabled) {
            position.disabled = Some(DisabledByService { at: now, reason: cleaned(reason.clone()) });
        }
        if let Some(event_gap) = point.event_gap {
            position.event_gap = Some(join(position.event_gap, event_gap));
        }
        for lane in &point.parked {
            self.lanes.insert((whose, lane.record_key), Some(*lane));
        }
        for record_key in &point.cleared {
            self.lanes.insert((whose, *record_key), None);
        }
        for step in &point.replays {
            self.replays.insert((whose, step.number), *step);
        }
        if *position != before {
            self.changed.insert(whose, position.clone());
        }
    }

    fn renew(&mut self, whose: Whose, now: Ticks) {
        self.renewed.insert(whose);
        for ((_, _), lane) in self.lanes.range_mut((whose, i64::MIN)..=(whose, i64::MAX)) {
            if let Some(lane) = lane {
                lane.retry = anew(now);
            }
        }
    }

    /// What was tried was tried, whatever the webhook has become since.
    fn remember(&mut self, whose: Whose, point: WebhookCheckpoint) {
        let kept = |attempt: AttemptRecord| {
            let (reason, excerpt) = (cleaned(attempt.reason), cleaned(attempt.excerpt));
            (whose, AttemptRecord { reason, excerpt, ..attempt })
        };
        self.attempts.extend(point.attempts.into_iter().map(kept));
        if !point.delivered.is_empty() {
            self.delivered.push((whose, point.delivered));
        }
        self.audit.extend(point.audit);
    }
}

/// True where the contract was made by this very step.
fn shake_hands(position: &mut Position, step: HandshakeStep) -> bool {
    let handshake = &mut position.handshake;
    match step {
        HandshakeStep::Accepted { number, head } if handshake.number == number && !handshake.accepted => {
            handshake.accepted = true;
            handshake.retry = None;
            position.initial_cursor.get_or_insert(*position.cursor.get_or_insert(head));
            true
        }
        HandshakeStep::Failed { number, retry } if handshake.number == number && !handshake.accepted => {
            handshake.retry = Some(retry);
            false
        }
        _ => false,
    }
}

/// From the first loss to the last.
fn join(earlier: Option<EventGap>, event_gap: EventGap) -> EventGap {
    earlier.map_or(event_gap, |earlier| EventGap {
        at: event_gap.at,
        after: earlier.after.min(event_gap.after),
        through: earlier.through.max(event_gap.through),
    })
}
