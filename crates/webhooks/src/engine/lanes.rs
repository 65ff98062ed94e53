//! The parked lanes of a webhook: records whose next event could not be delivered yet. A lane holds back the later events
//! of its record; other records go on.

use std::collections::{BTreeSet, VecDeque};

use domain::Ticks;
use domain::retry::RetryState;
use store::Lane;

use super::SharedEvent;
use super::deterministic::StableMap;

#[derive(Debug, Default)]
pub(crate) struct Lanes {
    by_record: StableMap<i64, ParkedLane>,
    /// The lanes that wait, by due time.
    due: BTreeSet<(Ticks, i64)>,
}

#[derive(Debug)]
struct ParkedLane {
    lane: Lane,
    /// The lane's event and later ones of its record, as far as they have been read.
    events: VecDeque<SharedEvent>,
    /// The last event of the record that reading the log left to this lane.
    deferred_upto: u64,
    activity: LaneActivity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneActivity {
    Waiting,
    Reading,
    Sending,
    /// It waits for an attempt at its record that an earlier state of the webhook started.
    Held,
}

/// What a lane that is due needs next.
pub(crate) enum LaneAction {
    Send(SharedEvent),
    /// A read of the record's events, starting with this sequence.
    Read {
        from: u64,
    },
}

impl Lanes {
    pub(crate) fn new(lanes: Vec<Lane>) -> Self {
        let mut all = Self::default();
        for lane in lanes {
            all.park(lane, None);
        }
        all
    }

    pub(crate) fn len(&self) -> usize {
        self.by_record.len()
    }

    pub(crate) fn get(&self, record_key: i64) -> Option<&Lane> {
        self.by_record.get(&record_key).map(|parked| &parked.lane)
    }

    /// Adds a lane for an event that has failed.
    pub(crate) fn park(&mut self, lane: Lane, event: Option<SharedEvent>) {
        self.due.insert((lane.retry.next_at, lane.record_key));
        let parked = ParkedLane {
            lane,
            events: event.into_iter().collect(),
            deferred_upto: lane.sequence,
            activity: LaneActivity::Waiting,
        };
        self.by_record.insert(lane.record_key, parked);
    }

    /// Leaves an event to its record's lane; returns whether the record has one.
    pub(crate) fn defer(&mut self, record_key: i64, sequence: u64) -> bool {
        match self.by_record.get_mut(&record_key) {
            None => false,
            Some(parked) => {
                parked.deferred_upto = parked.deferred_upto.max(sequence);
                true
            }
        }
    }

    /// Starts nothing of the record until [`Lanes::release`]; returns whether it has a lane.
    pub(crate) fn hold(&mut self, record_key: i64) -> bool {
        let Some(parked) = self.by_record.get_mut(&record_key) else { return false };
        self.due.remove(&(parked.lane.retry.next_at, record_key));
        parked.activity = LaneActivity::Held;
        true
    }

    /// The record's lane waits again, as long as before: its attempt was not sent, or an earlier one has ended. Returns whether
    /// it has a lane.
    pub(crate) fn release(&mut self, record_key: i64) -> bool {
        self.wait(record_key);
        self.by_record.contains_key(&record_key)
    }

    /// When the oldest parked event happened; where it was not read yet, when it first failed.
    pub(crate) fn oldest(&self) -> Option<Ticks> {
        let time = |parked: &ParkedLane| {
            let event = parked.events.front().map(|event| event.entry.version);
            event.unwrap_or(parked.lane.retry.first_failed_at)
        };
        self.by_record.values().map(time).min()
    }

    /// Whether the last attempt of a parked event failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.by_record.values().any(|parked| parked.lane.retry.attempts > 0)
    }

    pub(crate) fn next_due(&self) -> Option<Ticks> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Takes the lane that has been due longest. Lanes that first failed at or before `window_ended` have used up their
    /// window and go first.
    pub(crate) fn take_due(&mut self, now: Ticks, window_ended: Option<Ticks>) -> Option<(i64, LaneAction)> {
        let overdue = window_ended.and_then(|window_ended| {
            let first_failed = |record_key: &i64| {
                let retry = self.by_record.get(record_key)?.lane.retry;
                Some(retry.first_failed_at).filter(|at| retry.attempts > 0 && *at <= window_ended)
            };
            let due = self.due.iter().take_while(|(at, _)| *at <= now);
            due.filter_map(|entry| Some((first_failed(&entry.1)?, *entry))).min().map(|(_, entry)| entry)
        });
        let (at, record_key) = overdue.or_else(|| self.due.first().copied().filter(|(at, _)| *at <= now))?;
        self.due.remove(&(at, record_key));
        let parked = self.by_record.get_mut(&record_key)?;
        let Some(event) = parked.events.front() else {
            parked.activity = LaneActivity::Reading;
            return Some((record_key, LaneAction::Read { from: parked.lane.sequence }));
        };
        parked.activity = LaneActivity::Sending;
        Some((record_key, LaneAction::Send(event.clone())))
    }

    /// Takes the events of a read up to `upto`; `continues_at`: the read was full, and the next one starts there. Removes
    /// a lane that has nothing left and returns whether it did.
    pub(crate) fn read(
        &mut self,
        record_key: i64,
        events: VecDeque<SharedEvent>,
        upto: u64,
        continues_at: Option<u64>,
    ) -> bool {
        let is_reading = |parked: &&mut ParkedLane| parked.activity == LaneActivity::Reading;
        let Some(parked) = self.by_record.get_mut(&record_key).filter(is_reading) else { return false };
        if events.is_empty() && continues_at.is_none() && parked.deferred_upto <= upto {
            self.by_record.remove(&record_key);
            return true;
        }
        let next = events.front().map(|first| first.entry.sequence).or(continues_at);
        parked.lane.sequence = next.unwrap_or(parked.lane.sequence).max(parked.lane.sequence);
        parked.events = events;
        self.wait(record_key);
        false
    }

    /// The read failed: the lane is due again.
    pub(crate) fn read_failed(&mut self, record_key: i64) {
        self.wait(record_key);
    }

    /// The lane's event was delivered: the next event of its record is due at once.
    pub(crate) fn delivered(&mut self, record_key: i64, now: Ticks) {
        if let Some(parked) = self.by_record.get_mut(&record_key) {
            let done = parked.events.pop_front().map_or(parked.lane.sequence, |event| event.entry.sequence);
            parked.lane.sequence = parked.events.front().map_or(done + 1, |event| event.entry.sequence);
            parked.lane.retry = no_failures(now);
            self.wait(record_key);
        }
    }

    pub(crate) fn failed(&mut self, record_key: i64, retry: RetryState) {
        if let Some(parked) = self.by_record.get_mut(&record_key) {
            parked.lane.retry = retry;
            self.wait(record_key);
        }
    }

    /// Makes every lane due now; `reset`: also forgets its failures. Returns the records of the lanes that waited.
    pub(crate) fn make_due(&mut self, now: Ticks, reset: bool) -> Vec<i64> {
        let mut records: Vec<i64> = self.due.iter().map(|(_, record_key)| *record_key).collect();
        self.update_due(|retry| {
            if reset {
                *retry = no_failures(now);
            } else {
                retry.next_at = retry.next_at.min(now);
            }
        });
        records.sort_unstable();
        records
    }

    /// Changes the retry of every lane, and with it when the lane is due.
    pub(crate) fn update_due(&mut self, update: impl Fn(&mut RetryState)) {
        self.due.clear();
        for (record_key, parked) in &mut self.by_record {
            update(&mut parked.lane.retry);
            if parked.activity == LaneActivity::Waiting {
                self.due.insert((parked.lane.retry.next_at, *record_key));
            }
        }
    }

    fn wait(&mut self, record_key: i64) {
        if let Some(parked) = self.by_record.get_mut(&record_key) {
            parked.activity = LaneActivity::Waiting;
            self.due.insert((parked.lane.retry.next_at, record_key));
        }
    }
}

fn no_failures(now: Ticks) -> RetryState {
    RetryState { attempts: 0, first_failed_at: now, next_at: now }
}
