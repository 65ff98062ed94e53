//! Decides purely what a batch of changes does. Each store loads the inputs and writes the resulting plan, so
//! all stores treat a change alike.

mod decide;
mod finish;
mod inputs;

use domain::record::{PayrollCompany, State};
use domain::{Resource, Ticks};

use crate::{AuditEntry, IngestProgress, LogEntry, ResourceSet};

pub(crate) use decide::decide;
pub(crate) use inputs::PlanInputs;

/// At most so many accounts with one code are considered: more than a batch can disable.
pub(crate) const ACCOUNTS_PER_CODE_MAX: i64 = 1000;

/// The company number of records that belong to the tenant itself.
pub(crate) const NO_COMPANY: i64 = 0;

/// A collection: the records of one resource in one company (or in the tenant). A company's number is its
/// ordinal among the tenant's companies; a company that is deleted and created again gets a new number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CollectionKey {
    pub(crate) company_no: i64,
    pub(crate) resource: Resource,
}

impl CollectionKey {
    pub(crate) fn companies() -> Self {
        Self { company_no: NO_COMPANY, resource: Resource::companies() }
    }

    fn order(self) -> (i64, i16) {
        (self.company_no, self.resource.code())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RecordKey {
    pub(crate) collection: CollectionKey,
    pub(crate) id: Box<str>,
}

/// A stored record.
#[derive(Clone, Debug)]
pub(crate) struct StoredRecord {
    pub(crate) ordinal: u64,
    pub(crate) state: State,
    pub(crate) version: Ticks,
    pub(crate) sequence: u64,
    pub(crate) body: String,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CollectionCounters {
    pub(crate) next_ordinal: u64,
    pub(crate) live: u64,
    pub(crate) version: u64,
}

impl Default for CollectionCounters {
    fn default() -> Self {
        Self { next_ordinal: 1, live: 0, version: 0 }
    }
}

/// A record row to write.
#[derive(Clone, Debug)]
pub(crate) struct RecordRow {
    pub(crate) key: RecordKey,
    pub(crate) stored: StoredRecord,
    pub(crate) payroll: Option<PayrollCompany>,
}

/// A log row to write, with its lookup columns.
#[derive(Clone, Debug)]
pub(crate) struct LogRow {
    pub(crate) entry: LogEntry,
    pub(crate) company_no: i64,
    /// Identifies (company, record); stays the same if the record is deleted and created again.
    pub(crate) record_key: i64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct GapCount {
    pub(crate) collection: CollectionKey,
    pub(crate) block: u64,
    pub(crate) dead: u64,
}

/// The rows to write, in this order: deletes come first, because a new record may reuse a deleted id.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) deletes: Vec<(CollectionKey, u64)>,
    pub(crate) inserts: Vec<RecordRow>,
    pub(crate) updates: Vec<RecordRow>,
    pub(crate) log: Vec<LogRow>,
    pub(crate) collections: Vec<(CollectionKey, CollectionCounters)>,
    pub(crate) gaps: Vec<GapCount>,
    pub(crate) deleted_companies: Vec<i64>,
    pub(crate) progress: Vec<(String, IngestProgress)>,
    /// Of edits by hand.
    pub(crate) audit: Vec<AuditEntry>,
    pub(crate) head: u64,
    pub(crate) version: Ticks,
}

impl Plan {
    /// The resources of the new log rows.
    pub(crate) fn resources(&self) -> ResourceSet {
        self.log.iter().map(|row| row.entry.resource).collect()
    }
}

/// A stable 64-bit hash of (company, record). A collision only makes two records share a delivery order.
pub(crate) fn record_key(company: &str, correlation_id: &str) -> i64 {
    use aws_lc_rs::digest;
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(company.as_bytes());
    context.update(&[0]);
    context.update(correlation_id.as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&context.finish().as_ref()[..8]);
    i64::from_be_bytes(first)
}

/// The databases store signed integers.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
