//! Row numbers of records: each collection has a number, and its records occupy a contiguous range of row
//! numbers in the order of their ordinals, so a page is a range scan.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use crate::plan::{CollectionCounters, signed};
use crate::{Result, StoreError};

/// The lower bits of a row number are the ordinal.
const ORDINAL_BITS: u32 = 32;
const ORDINAL_MAX: u64 = (1 << ORDINAL_BITS) - 1;

/// A collection as (tenant, company, resource).
pub(super) type CollectionId = (i64, i64, i16);

/// The number of a collection that has, or had, records.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollectionNo(pub(super) i64);

impl CollectionNo {
    pub(super) fn row(self, ordinal: u64) -> i64 {
        self.0 << ORDINAL_BITS | signed(ordinal.min(ORDINAL_MAX))
    }

    pub(super) fn last_row(self) -> i64 {
        self.row(ORDINAL_MAX)
    }
}

/// Ordinals are never reused, so a collection may run out of them.
pub(super) fn check_ordinals(collection: CollectionCounters) -> Result<()> {
    if collection.next_ordinal <= ORDINAL_MAX {
        return Ok(());
    }
    Err(StoreError::Full(
        "a collection has used up its record numbers; put new records into another company".into(),
    ))
}

/// The collection numbers that a transaction uses, each looked up once.
pub(super) struct CollectionNumbers<'a> {
    connection: &'a Connection,
    known: HashMap<CollectionId, CollectionNo>,
}

impl<'a> CollectionNumbers<'a> {
    pub(super) fn new(connection: &'a Connection) -> Self {
        Self { connection, known: HashMap::new() }
    }

    /// The row number of a record; creates the collection's number if needed.
    pub(super) fn row(&mut self, of: CollectionId, ordinal: u64) -> rusqlite::Result<i64> {
        if let Some(number) = self.known.get(&of) {
            return Ok(number.row(ordinal));
        }
        let number = match find(self.connection, of)? {
            Some(number) => number,
            None => self.create(of)?,
        };
        self.known.insert(of, number);
        Ok(number.row(ordinal))
    }

    fn create(&self, (tenant_no, company_no, resource): CollectionId) -> rusqlite::Result<CollectionNo> {
        self.connection
            .prepare_cached("INSERT INTO places (tenant_no, company_no, resource) VALUES (?1, ?2, ?3)")?
            .insert(params![tenant_no, company_no, resource])
            .map(CollectionNo)
    }
}

fn find(
    connection: &Connection,
    (tenant_no, company_no, resource): CollectionId,
) -> rusqlite::Result<Option<CollectionNo>> {
    connection
        .prepare_cached("SELECT no FROM places WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3")?
        .query_row(params![tenant_no, company_no, resource], |row| row.get(0).map(CollectionNo))
        .optional()
}
