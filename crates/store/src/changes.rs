//! The change log. A change writes its record and its log row in one transaction, and the row's sequence is the
//! record's `sequenceVersion`.

use async_trait::async_trait;
use domain::change::Change;
use domain::event::EventKind;
use domain::log_entry::LogEntry;
use domain::{ErrorCode, FieldError, ProcessId, Resource, TenantId, Ticks};
use serde::{Deserialize, Serialize};

use crate::plan::{record_key, signed};
use crate::{AuditEntry, LogEvent, Result};

/// A response lists at most this many errors and warnings; further ones are only counted.
pub const ERRORS_LISTED_MAX: usize = 1000;

/// The code of an edit that is rejected because the record was changed since its editor read it.
pub const RECORD_CHANGED: ErrorCode = ErrorCode::RecordChanged;

#[async_trait]
pub trait ChangeLog: Send + Sync + 'static {
    /// Applies a batch: valid changes are applied, invalid ones are counted as rejected. When this returns, the
    /// result is on disk. A batch whose caller stops waiting before a transaction takes it up is not applied.
    async fn apply_changes(&self, batch: ChangeBatch) -> Result<BatchCounts>;

    /// How many changes the next batch of a long request should have. More make writing faster, and whoever waits for the batch wait longer.
    fn changes_per_batch(&self) -> usize {
        1000
    }

    /// How far an earlier request with this idempotency key got.
    async fn find_ingest_progress(&self, tenant: &TenantId, key: &str) -> Result<Option<IngestProgress>>;

    /// Entries after `query.after`, in order.
    async fn read_log(&self, query: &LogQuery) -> Result<LogPage>;

    /// The entries of one record, newest first, also of a record that no longer exists. The cost does not depend on the
    /// length of the log.
    async fn read_record_log(&self, query: &RecordLogQuery) -> Result<Vec<LogEvent>>;

    /// The floor and the head of the tenant's log.
    async fn log_bounds(&self, tenant: &TenantId) -> Result<LogBounds>;

    /// Deletes up to `rows_max` entries older than `before` and returns how many. Age alone decides: versions
    /// grow with sequences even if the clock jumps, so pruning always removes the oldest entries, and a webhook
    /// whose next event is not older than `before` loses nothing. A webhook that is further behind continues at
    /// the floor and gets an event gap.
    async fn prune_log(&self, tenant: &TenantId, before: Ticks, rows_max: usize) -> Result<usize>;
}

/// One chunk of an ingest request.
#[derive(Clone, Debug)]
pub struct ChangeBatch {
    pub tenant: TenantId,
    pub process: ProcessId,
    pub lines: Vec<ChangeLine>,
    /// The counts so far, including lines rejected before this chunk reached the store.
    pub counts: BatchCounts,
    pub checkpoint: Option<IngestCheckpoint>,
    /// After this time the batch is refused instead of applied: its sender may have given up and sent newer values.
    pub expires_at: Option<Ticks>,
    /// Present if an operator edits a record by hand: the batch has one line.
    pub edit: Option<RecordEdit>,
}

/// What distinguishes an edit by hand from a change that a product sends.
#[derive(Clone, Debug)]
pub struct RecordEdit {
    /// Written in the transaction of the change, with its sequence. An edit that changes nothing leaves none.
    pub audit: AuditEntry,
    /// The record's sequence as the editor knows it, 0 if there was no record: the change is rejected if it is another one.
    pub expected_sequence: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct ChangeLine {
    pub number: u64,
    pub change: Change,
}

/// The progress of an idempotent ingest request after this chunk.
#[derive(Clone, Debug)]
pub struct IngestCheckpoint {
    pub key: String,
    /// The line that the store must have reached before this chunk; any other value means that another request
    /// uses the key.
    pub from_line: u64,
    pub to_line: u64,
    /// Rolling hash over all lines up to `to_line`.
    pub hash: [u8; 32],
}

/// The stored progress under an idempotency key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngestProgress {
    pub line: u64,
    pub hash: [u8; 32],
    pub process: ProcessId,
    pub counts: BatchCounts,
}

/// The running counts of an ingest request.
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

/// Inserts by line number, since parsing and applying report errors at different times.
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
    /// None selects every event.
    pub events: Option<Vec<(Resource, EventKind)>>,
    /// Only entries of this company and its records.
    pub company: Option<Box<str>>,
    pub after: u64,
    pub rows_max: usize,
}

/// Selects entries of one record.
#[derive(Clone, Debug)]
pub struct RecordLogQuery {
    pub tenant: TenantId,
    pub resource: Resource,
    /// The company that owns the record; none if the tenant does.
    pub company: Option<Box<str>>,
    pub correlation_id: Box<str>,
    /// Only entries before this sequence.
    pub before: Option<u64>,
    pub rows_max: usize,
}

impl RecordLogQuery {
    /// The company as the log names it: a company is its own.
    pub(crate) fn logged_company(&self) -> &str {
        if self.resource == Resource::companies() {
            return &self.correlation_id;
        }
        self.company.as_deref().unwrap_or_default()
    }

    pub(crate) fn record_key(&self) -> i64 {
        record_key(self.logged_company(), &self.correlation_id)
    }

    /// SQL parameters: the sequence to stop before, and the row limit.
    pub(crate) fn bounds(&self) -> (i64, i64) {
        (self.before.map_or(i64::MAX, signed), i64::try_from(self.rows_max).unwrap_or(i64::MAX))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPage {
    Entries(Vec<LogEntry>),
    /// `after` is below the log's floor, so entries are missing: the reader must start again with a full read.
    BelowFloor {
        floor: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogBounds {
    /// Entries up to and including this sequence were pruned.
    pub floor: u64,
    /// The last assigned sequence.
    pub head: u64,
}
