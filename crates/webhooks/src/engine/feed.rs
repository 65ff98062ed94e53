//! The tail of one resource of one tenant, read once for all its webhooks: what was read last is shared.

use std::collections::VecDeque;
use std::sync::Arc;

use domain::WebhookId;
use store::LogTail;

use super::SharedEvent;
use super::work::{Map, Set};

/// How many pieces are kept for webhooks that are not quite there yet.
const PIECES_KEPT: usize = 3;
pub(crate) const PIECE_ROWS: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Feed {
    /// Moves when the log has (or may have) grown.
    pub(crate) serial: u64,
    /// Where the log stood the last time that all heads were looked at.
    head: u64,
    pieces: VecDeque<Piece>,
    /// Reads that are under way, by where they start, with who waits for them.
    reads: Map<u64, Vec<WebhookId>>,
    pub(crate) webhooks: Set<WebhookId>,
}

/// Everything of the resource that lies after `after`, up to `upto`.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    after: u64,
    pub(crate) upto: u64,
    pub(crate) floor: u64,
    /// The feed's serial before it was read, where this went up to the head.
    pub(crate) reached: Option<u64>,
    events: Arc<[SharedEvent]>,
}

impl Piece {
    /// Those after a number.
    pub(crate) fn events_after(&self, after: u64) -> impl Iterator<Item = &SharedEvent> {
        let from = self.events.partition_point(|event| event.entry.sequence <= after);
        self.events[from..].iter()
    }
}

/// What a webhook that wants to read on has to do.
pub(crate) enum Ask {
    /// Take this.
    Have(Piece),
    /// Wait; `is_new`: the read has to be started.
    Wait { is_new: bool },
}

impl Feed {
    pub(crate) fn rang(&mut self) {
        self.serial += 1;
    }

    /// The log stands at `head`: tells whether it has grown.
    pub(crate) fn stands_at(&mut self, head: u64) -> bool {
        let has_grown = head != self.head;
        self.head = head;
        if has_grown {
            self.rang();
        }
        has_grown
    }

    /// What is after `after`, for a webhook that has read so far.
    pub(crate) fn ask(&mut self, webhook: WebhookId, after: u64) -> Ask {
        let serial = self.serial;
        let fits = |piece: &&Piece| {
            let is_new = after < piece.upto || piece.reached == Some(serial);
            piece.after <= after && is_new
        };
        if let Some(piece) = self.pieces.iter().find(fits) {
            return Ask::Have(piece.clone());
        }
        let waiting = self.reads.entry(after).or_default();
        waiting.push(webhook);
        Ask::Wait { is_new: waiting.len() == 1 }
    }

    /// A read is done: tells who waited for it.
    pub(crate) fn read(&mut self, after: u64, serial: u64, tail: Option<LogTail>) -> Vec<WebhookId> {
        if let Some(tail) = tail {
            let reached = (tail.events.len() < PIECE_ROWS).then_some(serial);
            let events = tail.events.into_iter().map(SharedEvent::new).collect();
            self.pieces.push_front(Piece { after, upto: tail.read_to, floor: tail.floor, reached, events });
            self.pieces.truncate(PIECES_KEPT);
        }
        self.reads.remove(&after).unwrap_or_default()
    }

    /// What was read from there on.
    pub(crate) fn piece_after(&self, after: u64) -> Option<Piece> {
        self.pieces.iter().find(|piece| piece.after == after).cloned()
    }

    /// Nobody reads any more: nothing has to be kept.
    pub(crate) fn rest(&mut self) {
        self.pieces.clear();
    }
}
