//! What the node has in memory for the webhook, and what follows from an attempt's outcome.

use super::store::{Checkpoint, Stored};
use super::{DeliveryModel, FAILURES_IN_A_ROW_MAX, Fault, LANES_MAX, Log, RECORDS};
use crate::bits::Bits;

#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    pub revision: u8,
    pub is_active: bool,
    /// The webhook has read the log up to this sequence.
    pub read_to: u8,
    /// Events that were read and are neither delivered nor parked.
    pub window: Bits,
    /// Of these: the ones in flight.
    pub in_flight: Bits,
    pub lanes: [Option<Lane>; RECORDS as usize],
    /// Records that wait for an attempt at a dropped event, which an earlier state left in flight.
    pub held_records: Bits,
    pub failures_in_a_row: u8,
    pub is_breaker_open: bool,
    /// What the next checkpoint writes.
    pub has_moved: bool,
    pub parked: Bits,
    pub cleared: Bits,
    pub disables: bool,
    /// The checkpoint that was sent to the store and has no answer yet.
    pub writing: Option<Checkpoint>,
    /// What the store did with it, where the answer is under way: whether it was written.
    pub answer: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lane {
    /// The next event.
    pub sequence: u8,
    /// Events in memory, the next one first.
    pub events: Bits,
    /// The last event of the record that reading the log left to this lane.
    pub deferred_upto: u8,
    pub activity: LaneActivity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneActivity {
    Waiting,
    Reading { upto: u8 },
    Sending,
}

impl Node {
    pub fn load(store: &Stored) -> Self {
        let lane = |sequence: u8| {
            let activity = LaneActivity::Waiting;
            let lane = Lane { sequence, events: Bits::default(), deferred_upto: sequence, activity };
            (sequence > 0).then_some(lane)
        };
        Self {
            revision: store.revision,
            is_active: store.is_active(),
            read_to: store.cursor,
            window: Bits::default(),
            in_flight: Bits::default(),
            lanes: store.lanes.map(lane),
            held_records: Bits::default(),
            failures_in_a_row: 0,
            is_breaker_open: false,
            has_moved: false,
            parked: Bits::default(),
            cleared: Bits::default(),
            disables: false,
            writing: None,
            answer: None,
        }
    }

    /// Every event up to this sequence is delivered or parked.
    pub fn cursor(&self) -> u8 {
        self.window.first().map_or(self.read_to, |first| first - 1)
    }

    pub fn lane(&mut self, record: u8) -> &mut Option<Lane> {
        &mut self.lanes[usize::from(record)]
    }

    pub fn is_sending_from_lane(&self) -> bool {
        self.lanes.iter().flatten().any(|lane| lane.activity == LaneActivity::Sending)
    }

    /// Whether nothing is in flight and everything is written.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty()
            && !self.is_sending_from_lane()
            && !self.is_dirty()
            && self.writing.is_none()
    }

    pub fn is_dirty(&self) -> bool {
        self.has_moved || self.disables || !self.parked.is_empty() || !self.cleared.is_empty()
    }

    /// Takes the next event of the log: into the window, or to its record's lane.
    pub(super) fn pull(&mut self, model: &DeliveryModel, log: Log) {
        self.read_to += 1;
        self.has_moved = true;
        let sequence = self.read_to;
        match self.lane(log.record_of(sequence)) {
            Some(lane) if !model.has(Fault::LaneHoldsNothingBack) => lane.deferred_upto = sequence,
            _ => self.window.insert(sequence),
        }
    }

    /// The event can start: it is its record's first in the window, and nothing of the record is in flight.
    pub(super) fn can_send(&self, model: &DeliveryModel, log: Log, sequence: u8) -> bool {
        let record = log.record_of(sequence);
        let own = self.window.iter().filter(|one| log.record_of(*one) == record);
        let is_first = own.min() == Some(sequence) || model.has(Fault::RecordsOverlap);
        let is_held = self.held_records.contains(record) && !model.has(Fault::EarlierAttemptsForgotten);
        self.is_active && !self.is_breaker_open && is_first && !is_held && !self.in_flight.contains(sequence)
    }

    pub(super) fn succeeded(&mut self) {
        self.failures_in_a_row = 0;
        self.is_breaker_open = false;
    }

    fn failed(&mut self) {
        self.failures_in_a_row = (self.failures_in_a_row + 1).min(FAILURES_IN_A_ROW_MAX);
        self.is_breaker_open |= self.failures_in_a_row == FAILURES_IN_A_ROW_MAX
            || self.lanes.iter().flatten().count() >= LANES_MAX;
    }

    /// An event from the window was delivered.
    pub(super) fn delivered(&mut self, sequence: u8) {
        self.succeeded();
        self.window.remove(sequence);
        self.has_moved = true;
    }

    /// An event from the window failed: its lane takes over the later events of the record.
    pub(super) fn park(&mut self, model: &DeliveryModel, log: Log, sequence: u8) {
        let record = log.record_of(sequence);
        let mut deferred_upto = sequence;
        self.window.remove(sequence);
        if !model.has(Fault::LaneHoldsNothingBack) {
            for later in log.events(record, sequence + 1, self.read_to).iter() {
                self.window.remove(later);
                deferred_upto = later;
            }
        }
        let events = Bits::from_iter([sequence]);
        let activity = LaneActivity::Waiting;
        *self.lane(record) = Some(Lane { sequence, events, deferred_upto, activity });
        self.has_moved = true;
        self.parked.insert(record);
        if !model.has(Fault::LaneStaysCleared) {
            self.cleared.remove(record);
        }
        self.failed();
    }

    /// The lane's event was delivered: the next of its record is due.
    pub(super) fn lane_delivered(&mut self, record: u8) {
        self.succeeded();
        if let Some(lane) = self.lane(record) {
            let done = lane.events.first().unwrap_or(lane.sequence);
            lane.events.remove(done);
            lane.sequence = lane.events.first().unwrap_or(done + 1);
            lane.activity = LaneActivity::Waiting;
            self.parked.insert(record);
        }
    }

    /// The lane's event failed again; `gives_up`: at the end of the window.
    pub(super) fn lane_failed(&mut self, record: u8, gives_up: bool) {
        if let Some(lane) = self.lane(record) {
            lane.activity = LaneActivity::Waiting;
            self.parked.insert(record);
        }
        self.failed();
        if gives_up {
            self.is_active = false;
            self.disables = true;
        }
    }

    /// The store has returned the events of the lane's record.
    pub(super) fn lane_read(&mut self, model: &DeliveryModel, log: Log, record: u8) {
        let Some(lane) = self.lane(record) else { return };
        let LaneActivity::Reading { upto } = lane.activity else { return };
        let events = log.events(record, lane.sequence, upto);
        let is_complete = lane.deferred_upto <= upto || model.has(Fault::LaneForgetsDeferred);
        if events.is_empty() && is_complete && !model.has(Fault::LaneNeverEnds) {
            *self.lane(record) = None;
            self.parked.remove(record);
            self.cleared.insert(record);
            return;
        }
        lane.sequence = events.first().unwrap_or(lane.sequence);
        lane.events = events;
        lane.activity = LaneActivity::Waiting;
    }

    pub(super) fn take_checkpoint(&mut self, model: &DeliveryModel) {
        let parked = |record: u8| self.lanes[usize::from(record)].filter(|_| self.parked.contains(record));
        let follows_reads = model.has(Fault::CursorFollowsReads);
        self.writing = Some(Checkpoint {
            revision: self.revision,
            cursor: if follows_reads { self.read_to } else { self.cursor() },
            parked: [0, 1].map(|record| parked(record).map_or(0, |lane| lane.sequence)),
            cleared: self.cleared,
            disables: self.disables,
        });
        (self.parked, self.cleared) = (Bits::default(), Bits::default());
        (self.has_moved, self.disables) = (false, false);
    }
}
