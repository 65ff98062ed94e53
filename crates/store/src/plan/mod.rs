//! Decides what a batch of changes does, purely: the stores load the ground that it stands on, and
//! write down what was decided. So all of them mean the same by a change.

mod decide;
mod finish;
mod ground;

use domain::record::{PayrollCompany, State};
use domain::{Resource, Ticks};

use crate::{IngestProgress, LogEntry, ResourceSet};

pub(crate) use decide::decide;
pub(crate) use ground::Ground;

/// The number that stands for "no company" in a place.
pub(crate) const TENANT: i64 = 0;

/// A collection of records: those of one resource in one company (or of the tenant). A company's number
/// is its ordinal among the tenant's companies; one that is deleted and made again gets another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) company_no: i64,
    pub(crate) resource: Resource,
}

impl Place {
    pub(crate) fn companies() -> Self {
        Self { company_no: TENANT, resource: Resource::companies() }
    }

    fn order(self) -> (i64, i16) {
        (self.company_no, self.resource.code())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) place: Place,
    pub(crate) id: Box<str>,
}

/// A record as it lies in the store.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) ordinal: u64,
    pub(crate) state: State,
    pub(crate) version: Ticks,
    pub(crate) sequence: u64,
    pub(crate) body: String,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Collection {
    pub(crate) next_ordinal: u64,
    pub(crate) live: u64,
    pub(crate) version: u64,
}

impl Default for Collection {
    fn default() -> Self {
        Self { next_ordinal: 1, live: 0, version: 0 }
    }
}

/// A record row to write.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) key: Key,
    pub(crate) stored: Stored,
    pub(crate) payroll: Option<PayrollCompany>,
}

/// A log row to write, with what it is found by.
#[derive(Clone, Debug)]
pub(crate) struct LogRow {
    pub(crate) entry: LogEntry,
    pub(crate) company_no: i64,
    /// Stands for (company, record), the same for a record that is deleted and made again.
    pub(crate) record_key: i64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    pub(crate) place: Place,
    pub(crate) block: u64,
    pub(crate) dead: u64,
}

/// What to write, in this order: deletes first, since an id may be taken anew.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) deletes: Vec<(Place, u64)>,
    pub(crate) inserts: Vec<Row>,
    pub(crate) updates: Vec<Row>,
    pub(crate) log: Vec<LogRow>,
    pub(crate) collections: Vec<(Place, Collection)>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) departed: Vec<i64>,
    pub(crate) progress: Vec<(String, IngestProgress)>,
    pub(crate) head: u64,
    pub(crate) version: Ticks,
}

impl Plan {
    /// Those whose log grows.
    pub(crate) fn resources(&self) -> ResourceSet {
        self.log.iter().map(|row| row.entry.resource).collect()
    }
}

/// A stable 64-bit stand-in for (company, record); a collision would only tie two records' order together.
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

/// Numbers that the stores keep as signed.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
