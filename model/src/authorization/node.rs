//! What a node knows about access and about the webhook, and what it has under way.

use super::{AuthorizationModel, BOUND, Fault, Ground, Log, RETENTION, Status, Stored};
use crate::bits::Bits;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The webhook, where this node delivers to it and has loaded it.
    pub webhook: Option<Known>,
    /// The suspended owners, once they are read.
    pub owners: Option<Bits>,
    /// How old what was read is, by source. None: it was not read since the node last heard of a change, or is too old.
    pub ages: [Option<u8>; 2],
    pub reading: Option<Reading>,
    /// Events that are to be sent, and wait for another look at access.
    pub decided: Bits,
    pub in_flight: Bits,
    pub delivered: Bits,
    /// For how many ticks the webhook has been suspended.
    pub suspended: Option<u8>,
    /// The service disables the webhook with the next checkpoint.
    pub disables: bool,
}

/// What a node reads about access, each by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    Webhook,
    Owners,
}

/// What a node knows about the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Known {
    pub is_authorized: bool,
    pub status: Status,
    pub revision: u8,
}

/// A read that the store has executed; the answer is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reading {
    pub answer: Answer,
    /// Ticks since the node began it.
    pub age: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    Webhook { known: Known, delivered: Bits },
    Owners(Bits),
}

impl Known {
    pub(super) fn of(store: &Stored) -> Self {
        Self { is_authorized: store.is_authorized(), status: store.status, revision: store.revision }
    }
}

impl Node {
    pub(super) fn started(model: &AuthorizationModel) -> Self {
        let is_known = !model.has_owners() || model.has(Fault::StartsBeforeOwnersAreRead);
        Self {
            webhook: None,
            owners: is_known.then(Bits::default),
            ages: [None, is_known.then_some(0)],
            reading: None,
            decided: Bits::default(),
            in_flight: Bits::default(),
            delivered: Bits::default(),
            suspended: None,
            disables: false,
        }
    }

    /// Access has changed: nothing starts before it was read again.
    pub(super) fn must_read_again(&mut self, model: &AuthorizationModel) {
        self.ages = [None, self.ages[1].filter(|_| !model.has_owners())];
        if !model.has(Fault::EarlierReadCounts) {
            self.reading = None;
        }
    }

    fn has_access(&self, model: &AuthorizationModel) -> bool {
        let is_authorized = self.webhook.is_some_and(|known| known.is_authorized);
        let mut owners = self.owners.unwrap_or_default();
        if model.has(Fault::TenantOverlooked) && !owners.contains(Ground::Application as u8) {
            owners.remove(Ground::Tenant as u8);
        }
        is_authorized && owners.is_empty()
    }

    /// Whether what the node knows is recent enough to act on.
    pub(super) fn is_current(&self) -> bool {
        self.webhook.is_some() && self.ages.iter().all(Option::is_some)
    }

    fn is_active(&self) -> bool {
        self.webhook.is_some_and(|known| known.status == Status::Active) && !self.disables
    }

    pub(super) fn can_start(&self, model: &AuthorizationModel) -> bool {
        self.is_current() && self.is_active() && self.has_access(model)
    }

    /// The event can be decided on: it is its record's first that is not delivered, and is not under way.
    pub(super) fn can_decide(&self, model: &AuthorizationModel, log: Log, sequence: u8) -> bool {
        let mut settled = self.delivered;
        if model.has(Fault::DecidedHoldsNothingBack) {
            settled = settled.union(self.decided);
        }
        let is_backlog = log.without_access.contains(sequence) && model.has(Fault::BacklogIsSentTogether);
        let is_first = log.earlier(sequence).all(|event| settled.contains(event)) || is_backlog;
        let under_way = self.delivered.union(self.decided).union(self.in_flight);
        self.can_start(model) && is_first && !under_way.contains(sequence)
    }

    pub(super) fn begin_reading(&mut self, store: &Stored, source: Source) {
        let answer = match source {
            Source::Webhook => Answer::Webhook { known: Known::of(store), delivered: store.delivered },
            Source::Owners => Answer::Owners(store.suspended_owners()),
        };
        self.reading = Some(Reading { answer, age: 0 });
    }

    /// Whether a read would tell the node anything.
    pub(super) fn is_worth_reading(&self, store: &Stored, source: Source) -> bool {
        let is_same = match source {
            Source::Webhook => self.webhook == Some(Known::of(store)),
            Source::Owners => self.owners == Some(store.suspended_owners()),
        };
        self.reading.is_none() && !(is_same && self.ages[source as usize] == Some(0))
    }

    /// Takes over an answer. Returns the attempts in flight of a state of the webhook that it replaces.
    pub(super) fn take_answer(&mut self, model: &AuthorizationModel, store: &Stored, log: Log) -> Bits {
        let Some(Reading { answer, age }) = self.reading.take() else { return Bits::default() };
        let mut left = Bits::default();
        let source = match answer {
            Answer::Owners(owners) => {
                self.owners = Some(owners);
                Source::Owners
            }
            Answer::Webhook { known, delivered } => {
                left = self.take_webhook(model, store, known, delivered);
                Source::Webhook
            }
        };
        self.ages[source as usize] = Some(age);
        if model.has(Fault::OneReadIsEnough) && self.owners.is_some() && self.webhook.is_some() {
            self.ages = [self.ages[source as usize]; 2];
        }
        self.apply_access(model, log);
        left
    }

    /// Updates the webhook's state where the revision is the same, and replaces it otherwise.
    fn take_webhook(
        &mut self,
        model: &AuthorizationModel,
        store: &Stored,
        mut known: Known,
        delivered: Bits,
    ) -> Bits {
        let mut left = Bits::default();
        if self.webhook.is_none_or(|before| before.revision != known.revision) {
            left = std::mem::take(&mut self.in_flight);
            self.decided = Bits::default();
            self.delivered = delivered;
            self.suspended = store.suspended;
            self.disables = false;
        }
        if let Some(before) = self.webhook {
            if known.status == Status::Ended && model.has(Fault::EndIsNotTakenOver) {
                known.status = before.status;
            }
            // Only the owner enables a disabled webhook, and that makes a new revision.
            if before.revision == known.revision && before.status == Status::DisabledByService {
                known.status = before.status;
            }
        }
        self.webhook = Some(known);
        left
    }

    /// Suspends or resumes the webhook as its owner's access says.
    fn apply_access(&mut self, model: &AuthorizationModel, log: Log) {
        if self.webhook.is_none() || self.owners.is_none() {
            return;
        }
        if !self.has_access(model) {
            self.suspended.get_or_insert(0);
        } else if self.suspended.is_some() && !model.has(Fault::SuspensionTimeGoesOn) {
            self.suspended = None;
            if model.has(Fault::ResumesAtHead) {
                self.delivered = log.events();
            }
        }
    }

    /// The webhook has been suspended for as long as events are kept.
    pub(super) fn can_disable(&self, model: &AuthorizationModel) -> bool {
        let is_suspended = !self.has_access(model) || model.has(Fault::SuspensionTimeGoesOn);
        self.is_current() && self.is_active() && is_suspended && self.suspended == Some(RETENTION)
    }

    /// Whether the store does not have what the node would write.
    pub(super) fn is_dirty(&self, store: &Stored) -> bool {
        let is_written = self.delivered == store.delivered || self.webhook.is_none();
        !is_written || self.disables || self.suspended.is_some() != store.suspended.is_some()
    }

    /// Forgets the webhook: another node delivers to it.
    pub(super) fn give_up(&mut self) {
        self.webhook = None;
        self.ages[Source::Webhook as usize] = None;
        [self.decided, self.in_flight, self.delivered] = [Bits::default(); 3];
        (self.suspended, self.disables) = (None, false);
        if matches!(self.reading, Some(Reading { answer: Answer::Webhook { .. }, .. })) {
            self.reading = None;
        }
    }

    pub(super) fn tick(&mut self, model: &AuthorizationModel) {
        let older = |age: u8| match age {
            BOUND.. if model.has(Fault::OldKnowledgeIsUsed) => Some(BOUND),
            BOUND.. => None,
            _ => Some(age + 1),
        };
        let [webhook, owners] = self.ages;
        let owners = if model.has_owners() { owners.and_then(older) } else { owners };
        self.ages = [webhook.and_then(older), owners];
        // An answer that comes too late is as good as none: the node reads again.
        if let Some(reading) = &mut self.reading
            && !model.has(Fault::AgeCountsFromAnswer)
        {
            reading.age = (reading.age + 1).min(BOUND + 1);
            if reading.age > BOUND && !model.has(Fault::LateReadIsNotRepeated) {
                self.reading = None;
            }
        }
        if model.is_disabling {
            self.suspended = self.suspended.map(|ticks| (ticks + 1).min(RETENTION));
        }
    }
}
