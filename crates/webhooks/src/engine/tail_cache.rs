//! The tail of the log for one resource of one tenant. It is read once for all its webhooks: they share the chunks that
//! were read last.

use std::collections::VecDeque;
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
    /// Reads under way, by the sequence that they start after, with their waiters.
    reads: StableMap<u64, Vec<Waiter>>,
    /// The webhooks that read by themselves.
    pub(crate) readers: StableSet<WebhookId>,
    /// All other webhooks of the tail, by the kinds that they subscribe to.
    pub(crate) idle_groups: StableMap<EventKinds, IdleGroup>,
    /// In the feed's queue of tails whose idle groups may have something to read.
    pub(crate) is_queued: bool,
}

/// What waits for a read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiter {
    Webhook(WebhookId),
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
        let serial = self.serial;
        let continues = |chunk: &&TailChunk| {
            let has_more = after < chunk.upto || chunk.reached_head_at == Some(serial);
            chunk.after <= after && has_more
        };
        if let Some(chunk) = self.chunks.iter().find(continues) {
            return TailLookup::Cached(chunk.clone());
        }
        let waiting = self.reads.entry(after).or_default();
        waiting.push(waiter);
        TailLookup::Pending { is_new: waiting.len() == 1 }
    }

    /// A read has ended; returns its waiters.
    pub(crate) fn finish_read(&mut self, after: u64, serial: u64, tail: Option<LogTail>) -> Vec<Waiter> {
        if let Some(tail) = tail {
            let reached_head_at = (tail.events.len() < CHUNK_ROWS).then_some(serial);
            let events = tail.events.into_iter().map(SharedEvent::new).collect();
            let chunk = TailChunk { after, upto: tail.read_to, floor: tail.floor, reached_head_at, events };
            self.chunks.push_front(chunk);
            self.chunks.truncate(CHUNKS_MAX);
        }
        self.reads.remove(&after).unwrap_or_default()
    }

    /// The chunk that was read from exactly there.
    pub(crate) fn chunk_after(&self, after: u64) -> Option<TailChunk> {
        self.chunks.iter().find(|chunk| chunk.after == after).cloned()
    }

    pub(crate) fn clear(&mut self) {
        self.chunks.clear();
    }
}
