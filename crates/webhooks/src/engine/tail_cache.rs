//! The tail of the log for one resource of one tenant. It is read once for all its webhooks: they share the chunks that
//! were read last.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use domain::WebhookId;
use domain::webhook::EventKinds;
use store::LogTail;

use super::SharedEvent;
use super::deterministic::{StableMap, StableSet};
use super::idle_groups::IdleGroup;

/// How many chunks stay in memory for webhooks that are a little behind.
const CHUNKS_MAX: usize = 3;
pub(crate) const CHUNK_ROWS: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct TailCache {
    /// Increases whenever the log has, or may have, grown.
    pub(crate) serial: u64,
    /// The tenant's head at the last poll.
    head: u64,
    /// Newest first.
    chunks: VecDeque<TailChunk>,
    /// Reads under way, by the sequence that they start after.
    reads: BTreeMap<u64, PendingRead>,
    /// The active webhooks that read by themselves.
    pub(crate) readers: StableSet<WebhookId>,
    /// The webhooks that are not active: nothing is read for them.
    pub(crate) resting: StableSet<WebhookId>,
    /// All other webhooks of the tail, by the kinds that they subscribe to.
    pub(crate) idle_groups: StableMap<EventKinds, IdleGroup>,
    /// In the feed's queue of tails whose idle groups may have something to read.
    pub(crate) is_queued: bool,
}

#[derive(Debug, Default)]
struct PendingRead {
    /// The tail's serial when it was begun.
    serial: u64,
    waiters: Vec<Waiter>,
}

/// What waits for a read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiter {
    Webhook(WebhookId),
    Replay(WebhookId),
    IdleGroup(EventKinds),
}

/// All events of the resource after `after`, up to and including `upto`.
#[derive(Clone, Debug)]
pub(crate) struct TailChunk {
    after: u64,
    pub(crate) upto: u64,
    pub(crate) floor: u64,
    /// Where the chunk ends at the head: the cache's serial before the read.
    pub(crate) reached_head_at: Option<u64>,
    events: Arc<[SharedEvent]>,
}

impl TailChunk {
    #[cfg(test)]
    pub(crate) fn empty(upto: u64) -> Self {
        Self { after: 0, upto, floor: 0, reached_head_at: None, events: Arc::new([]) }
    }

    pub(crate) fn events_after(&self, after: u64) -> impl Iterator<Item = &SharedEvent> {
        let from = self.events.partition_point(|event| event.entry.sequence <= after);
        self.events[from..].iter()
    }
}

pub(crate) enum TailLookup {
    Cached(TailChunk),
    /// The caller waits for a read; `is_new`: it has to start the read.
    Pending {
        is_new: bool,
    },
}

impl TailCache {
    /// `serial`: greater than every one of an earlier tail with this name, for which reads may still be under way.
    pub(crate) fn new(serial: u64) -> Self {
        Self { serial, ..Self::default() }
    }

    /// Whether no webhook follows it.
    pub(crate) fn is_unused(&self) -> bool {
        self.readers.is_empty() && self.resting.is_empty() && self.idle_groups.is_empty()
    }

    pub(crate) fn log_grew(&mut self) {
        self.serial += 1;
    }

    /// Returns whether the head has moved since the last poll.
    pub(crate) fn set_head(&mut self, head: u64) -> bool {
        let has_moved = head != self.head;
        self.head = head;
        if has_moved {
            self.log_grew();
        }
        has_moved
    }

    /// The tenant's head at the last poll.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// The chunk that continues after `after`, or a place among those that wait for it.
    pub(crate) fn look_up(&mut self, waiter: Waiter, after: u64) -> TailLookup {
        if let Some(chunk) = self.continuation(after) {
            return TailLookup::Cached(chunk.clone());
        }
        let shortly_before = match waiter {
            Waiter::Replay(_) => after,
            // A chunk that begins there and does not end at the head has more rows than there are sequences in between.
            Waiter::Webhook(_) | Waiter::IdleGroup(_) => after.saturating_sub(CHUNK_ROWS as u64 - 1),
        };
        // One that began before the log grew may end where the waiter is.
        let under_way = self.reads.range(shortly_before..=after).rev();
        let begin = under_way
            .filter(|(begin, read)| **begin == after || read.serial == self.serial)
            .map(|(begin, _)| *begin)
            .next()
            .unwrap_or(after);
        let new = || PendingRead { serial: self.serial, waiters: Vec::new() };
        let read = self.reads.entry(begin).or_insert_with(new);
        read.waiters.push(waiter);
        TailLookup::Pending { is_new: read.waiters.len() == 1 }
    }

    /// The chunk in memory that continues after `after`, or that says that nothing does.
    pub(crate) fn continuation(&self, after: u64) -> Option<&TailChunk> {
        let continues = |chunk: &&TailChunk| {
            let has_more = after < chunk.upto || chunk.reached_head_at == Some(self.serial);
            chunk.after <= after && has_more
        };
        self.chunks.iter().find(continues)
    }

    /// A read has ended; returns its waiters.
    pub(crate) fn finish_read(&mut self, after: u64, serial: u64, tail: Option<LogTail>) -> Vec<Waiter> {
        if let Some(tail) = tail {
            let reached_head_at = (tail.events.len() < CHUNK_ROWS).then_some(serial);
            let events = tail.events.into_iter().map(SharedEvent::new).collect();
            let chunk = TailChunk { after, upto: tail.read_to, floor: tail.floor, reached_head_at, events };
            self.chunks.push_front(chunk);
        }
        self.reads.remove(&after).unwrap_or_default().waiters
    }

    /// Forgets all chunks but those that were read last.
    pub(crate) fn trim(&mut self) {
        self.chunks.truncate(CHUNKS_MAX);
    }

    /// The chunk that was read from exactly there.
    pub(crate) fn chunk_after(&self, after: u64) -> Option<TailChunk> {
        self.chunks.iter().find(|chunk| chunk.after == after).cloned()
    }

    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook(number: u8) -> Waiter {
        Waiter::Webhook(WebhookId::from_bytes([number; 16]))
    }

    fn begins_a_read(tail: &mut TailCache, waiter: Waiter, after: u64) -> bool {
        matches!(tail.look_up(waiter, after), TailLookup::Pending { is_new: true })
    }

    #[test]
    fn read_that_begins_shortly_before_is_waited_for() {
        let mut tail = TailCache::default();
        let rows = CHUNK_ROWS as u64;
        assert!(begins_a_read(&mut tail, webhook(1), 100));
        assert!(!begins_a_read(&mut tail, webhook(2), 100 + rows - 1), "it has more rows than that");
        assert!(begins_a_read(&mut tail, webhook(3), 100 + rows), "it may end before");
        assert!(begins_a_read(&mut tail, webhook(4), 99));
        let replay = Waiter::Replay(WebhookId::from_bytes([5; 16]));
        assert!(begins_a_read(&mut tail, replay, 101), "a replay takes what comes after its position");
        tail.log_grew();
        assert!(begins_a_read(&mut tail, webhook(6), 102), "the others may end before");
        assert!(!begins_a_read(&mut tail, webhook(7), 100), "but for the one that begins there");
        let read = LogTail { events: Vec::new(), read_to: 900, floor: 0 };
        assert_eq!(tail.finish_read(100, 0, Some(read)).len(), 3);
    }
}
