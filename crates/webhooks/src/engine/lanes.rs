//! The parked lanes of a webhook: records whose next event could not be delivered yet. A lane holds its record's later
//! events back; other records go on.

use std::collections::{BTreeSet, VecDeque};

use domain::Ticks;
use domain::retry::RetryState;
use store::Lane;

use super::SharedEvent;
use super::work::Map;

#[derive(Debug, Default)]
pub(crate) struct Lanes {
    by_record: Map<i64, Parked>,
    /// Those that wait, by when they are due.
    due: BTreeSet<(Ticks, i64)>,
}

#[derive(Debug)]
pub(crate) struct Parked {
    pub(crate) lane: Lane,
    /// The lane's event and those behind it, as far as they are at hand.
    pub(crate) events: VecDeque<SharedEvent>,
    /// The last event of the record that was left to this lane while the log was read on.
    pub(crate) left_upto: u64,
    doing: Doing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Waiting,
    Reading,
    Knocking,
}

/// What a lane that is due has to do.
pub(crate) enum Due {
    Knock(SharedEvent),
    /// Its events have to be read, from this number on.
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

    /// A new lane, for an event that has failed.
    pub(crate) fn park(&mut self, lane: Lane, event: Option<SharedEvent>) {
        let left_upto = lane.sequence;
        self.due.insert((lane.retry.next_at, lane.record_key));
        let events = event.into_iter().collect();
        self.by_record.insert(lane.record_key, Parked { lane, events, left_upto, doing: Doing::Waiting });
    }

    /// Leaves an event to its record's lane, where there is one.
    pub(crate) fn leave(&mut self, record_key: i64, sequence: u64) -> bool {
        match self.by_record.get_mut(&record_key) {
            None => false,
            Some(parked) => {
                parked.left_upto = parked.left_upto.max(sequence);
                true
            }
        }
    }

    pub(crate) fn next_due(&self) -> Option<Ticks> {
        self.due.first().map(|(at, _)| *at)
    }

    /// The lane that has been due longest. `ended`: what first failed before that has had its whole window, and goes first.
    pub(crate) fn take_due(&mut self, now: Ticks, ended: Option<Ticks>) -> Option<(i64, Due)> {
        let overdue = ended.and_then(|ended| {
            let first_failed = |record_key: &i64| {
                let retry = self.by_record.get(record_key)?.lane.retry;
                Some(retry.first_failed_at).filter(|at| retry.attempts > 0 && *at <= ended)
            };
            let due = self.due.iter().take_while(|(at, _)| *at <= now);
            due.filter_map(|one| Some((first_failed(&one.1)?, *one))).min().map(|(_, one)| one)
        });
        let (at, record_key) = overdue.or_else(|| self.due.first().copied().filter(|(at, _)| *at <= now))?;
        self.due.remove(&(at, record_key));
        let parked = self.by_record.get_mut(&record_key)?;
        let Some(event) = parked.events.front() else {
            parked.doing = Doing::Reading;
            return Some((record_key, Due::Read { from: parked.lane.sequence }));
        };
        parked.doing = Doing::Knocking;
        Some((record_key, Due::Knock(event.clone())))
    }

    /// The lane's events were read up to `upto`, or only as far as before `rest`; tells whether it is empty, and then
    /// it is gone.
    pub(crate) fn read(
        &mut self,
        record_key: i64,
        events: VecDeque<SharedEvent>,
        upto: u64,
        rest: Option<u64>,
    ) -> bool {
        let Some(parked) =
            self.by_record.get_mut(&record_key).filter(|parked| parked.doing == Doing::Reading)
        else {
            return false;
        };
        if events.is_empty() && rest.is_none() && parked.left_upto <= upto {
            self.by_record.remove(&record_key);
            return true;
        }
        let next = events.front().map(|first| first.entry.sequence).or(rest);
        parked.lane.sequence = next.unwrap_or(parked.lane.sequence).max(parked.lane.sequence);
        parked.events = events;
        self.wait(record_key);
        false
    }

    /// The read failed: it is due again.
    pub(crate) fn unread(&mut self, record_key: i64) {
        self.wait(record_key);
    }

    /// The lane's event was delivered: the next one of its record is due at once.
    pub(crate) fn delivered(&mut self, record_key: i64, now: Ticks) {
        if let Some(parked) = self.by_record.get_mut(&record_key) {
            let done = parked.events.pop_front().map_or(parked.lane.sequence, |event| event.entry.sequence);
            parked.lane.sequence = parked.events.front().map_or(done + 1, |event| event.entry.sequence);
            parked.lane.retry = fresh(now);
            self.wait(record_key);
        }
    }

    pub(crate) fn failed(&mut self, record_key: i64, retry: RetryState) {
        if let Some(parked) = self.by_record.get_mut(&record_key) {
            parked.lane.retry = retry;
            self.wait(record_key);
        }
    }

    /// Everything that waits is due now; `renew`: and counts as never failed.
    pub(crate) fn hurry(&mut self, now: Ticks, renew: bool) -> Vec<i64> {
        let mut records: Vec<i64> = self.due.iter().map(|(_, record_key)| *record_key).collect();
        self.due.clear();
        for (record_key, parked) in &mut self.by_record {
            if renew {
                parked.lane.retry = fresh(now);
            } else {
                parked.lane.retry.next_at = parked.lane.retry.next_at.min(now);
            }
            if parked.doing == Doing::Waiting {
                self.due.insert((parked.lane.retry.next_at, *record_key));
            }
        }
        records.sort_unstable();
        records
    }

    /// Nothing is due later than this: a clock that was ahead has set it.
    pub(crate) fn clamp(&mut self, latest: Ticks) {
        self.due.clear();
        for (record_key, parked) in &mut self.by_record {
            parked.lane.retry.next_at = parked.lane.retry.next_at.min(latest);
            if parked.doing == Doing::Waiting {
                self.due.insert((parked.lane.retry.next_at, *record_key));
            }
        }
    }

    fn wait(&mut self, record_key: i64) {
        if let Some(parked) = self.by_record.get_mut(&record_key) {
            parked.doing = Doing::Waiting;
            self.due.insert((parked.lane.retry.next_at, record_key));
        }
    }
}

fn fresh(now: Ticks) -> RetryState {
    RetryState { attempts: 0, first_failed_at: now, next_at: now }
}
