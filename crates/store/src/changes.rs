//! The change log: the spine. A change writes its record and its log row in one transaction, and the
//! row's number is the record's `sequenceVersion`.

use async_trait::async_trait;
use domain::change::Change;
use domain::event::EventKind;
use domain::log_entry::LogEntry;
use domain::{FieldError, ProcessId, Resource, TenantId, Ticks};
use serde::{Deserialize, Serialize};

use crate::Result;

/// At most this many errors and warnings are listed in an answer; the rest is only counted.
pub const ERRORS_LISTED_MAX: usize = 1000;

#[async_trait]
pub trait ChangeLog: Send + Sync + 'static {
    /// Applies a chunk of changes: all that can be applied is, and what cannot is told in the tally.
    /// When this returns, it is on disk.
    async fn apply_changes(&self, batch: ChangeBatch) -> Result<BatchCounts>;

    /// How far an earlier request under this idempotency key has come.
    async fn find_ingest_progress(&self, tenant: &TenantId, key: &str) -> Result<Option<IngestProgress>>;

    /// Entries after `query.after`, in order.
    async fn read_log(&self, query: &LogQuery) -> Result<LogPage>;

    /// The first and the last number of the tenant's log.
    async fn log_bounds(&self, tenant: &TenantId) -> Result<LogBounds>;

    /// Drops up to `rows_max` entries older than `before`; tells how many went. By age alone: versions grow with the
    /// numbers, whatever the clock does, so it is always the log's old end that goes, and a webhook whose next event
    /// is not older than `before` never finds it gone. Who is further behind than that starts at the floor, and is told.
    async fn prune_log(&self, tenant: &TenantId, before: Ticks, rows_max: usize) -> Result<usize>;
}

/// A chunk of one request to the changes door.
#[derive(Clone, Debug)]
pub struct ChangeBatch {
    pub tenant: TenantId,
    pub process: ProcessId,
    pub lines: Vec<ChangeLine>,
    /// The count so far, with what was already refused before it came here.
    pub counts: BatchCounts,
    pub checkpoint: Option<IngestCheckpoint>,
}

#[derive(Clone, Debug)]
pub struct ChangeLine {
    pub number: u64,
    pub change: Change,
}

/// Where a request under an idempotency key stands after this chunk.
#[derive(Clone, Debug)]
pub struct IngestCheckpoint {
    pub key: String,
    /// The line at which the store must stand now; another number means another request.
    pub from_line: u64,
    pub to_line: u64,
    /// Rolling hash over all lines up to `to_line`.
    pub hash: [u8; 32],
}

/// What an idempotency key remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngestProgress {
    pub line: u64,
    pub hash: [u8; 32],
    pub process: ProcessId,
    pub counts: BatchCounts,
}

/// The running count of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchCounts {
    pub accepted: u64,
    pub rejected: u64,
    pub last_sequence: u64,
    pub errors: Vec<LineError>,
    pub warnings: Vec<LineError>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineError {
    pub line: u64,
    #[serde(flatten)]
    pub fault: FieldError,
}

impl BatchCounts {
    pub fn reject(&mut self, line: u64, fault: FieldError) {
        self.rejected += 1;
        push_in_order(&mut self.errors, LineError { line, fault });
    }

    pub fn warn(&mut self, line: u64, fault: FieldError) {
        push_in_order(&mut self.warnings, LineError { line, fault });
    }
}

/// Keeps the first faults by line, though reading and applying find them at different times.
fn push_in_order(faults: &mut Vec<LineError>, fault: LineError) {
    let at = faults.partition_point(|other| other.line <= fault.line);
    if at < ERRORS_LISTED_MAX {
        faults.insert(at, fault);
        faults.truncate(ERRORS_LISTED_MAX);
    }
}

#[derive(Clone, Debug)]
pub struct LogQuery {
    pub tenant: TenantId,
    /// None means everything.
    pub events: Option<Vec<(Resource, EventKind)>>,
    /// Only entries of this company and its records.
    pub company: Option<Box<str>>,
    pub after: u64,
    pub rows_max: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPage {
    Entries(Vec<LogEntry>),
    /// `after` lies below the log's floor: entries are missing, start again from a full read.
    BelowFloor {
        floor: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogBounds {
    /// The number up to which entries were pruned.
    pub floor: u64,
    /// The last number that was given.
    pub head: u64,
}
