//! Records and pages of records. The cost of a page does not depend on its offset.

use async_trait::async_trait;
use domain::filter::{Filter, OrderBy};
use domain::{Resource, TenantId};

use crate::Result;
use crate::plan::unsigned;

#[async_trait]
pub trait Records: Send + Sync + 'static {
    /// One record of a company, or of the tenant if `company` is none.
    async fn find_record(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
        correlation_id: &str,
    ) -> Result<Option<Record>>;

    /// The correlation id that equals a GUID in lower case, as its record's writer gave it. If there are several, the one in
    /// lower case or else the oldest.
    async fn find_guid(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
        lower_guid: &str,
    ) -> Result<Option<Box<str>>>;

    /// A page in order of creation, with the total, from one snapshot. None if the company does not exist.
    async fn page(&self, query: &PageQuery) -> Result<Option<Page>>;

    /// The collection's version. None if the company does not exist.
    async fn collection_version(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
    ) -> Result<Option<CollectionVersion>>;

    /// A page of matching payroll companies in the requested order (creation order by default), with the total
    /// number of matches, from one snapshot.
    async fn payroll_page(&self, query: &PayrollQuery) -> Result<Page>;

    /// How many records a company, or the tenant itself, has of each resource; resources that never had any are left out.
    /// None if the tenant or the company does not exist.
    async fn collection_sizes(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
    ) -> Result<Option<Vec<CollectionSize>>>;

    /// The ids of a tenant's companies, in order of creation.
    async fn company_ids(&self, tenant: &TenantId, max: usize) -> Result<Vec<Box<str>>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub body: Box<str>,
    pub sequence: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionSize {
    pub resource: Resource,
    pub records: u64,
}

impl CollectionSize {
    /// Of the rows that join an owner with its collections: one without a collection if the owner has none, no row if the
    /// owner does not exist.
    pub(crate) fn of_rows(rows: Vec<Option<(i16, i64)>>) -> Option<Vec<Self>> {
        let size = |(resource, records)| {
            Some(Self { resource: Resource::from_code(resource)?, records: unsigned(records) })
        };
        (!rows.is_empty()).then(|| rows.into_iter().flatten().filter_map(size).collect())
    }
}

/// A collection's version, which changes with every change of the collection, and the tenant's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionVersion {
    pub version: u64,
    pub head: u64,
}

#[derive(Clone, Debug)]
pub struct PageQuery {
    pub tenant: TenantId,
    pub company: Option<Box<str>>,
    pub resource: Resource,
    /// How many records to skip.
    pub offset: u64,
    pub rows_max: usize,
}

#[derive(Clone, Debug)]
pub struct PayrollQuery {
    pub tenant: TenantId,
    pub filter: Option<Filter>,
    pub order: Option<OrderBy>,
    /// How many matches to skip.
    pub offset: u64,
    pub rows_max: usize,
}

const BODIES_EXPECTED_MAX: usize = 100;
const BODY_BYTES_USUAL: usize = 400;

/// Record bodies, joined to one JSON array as they are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordBodies {
    array: Vec<u8>,
    /// The end of each body.
    ends: Vec<usize>,
}

impl RecordBodies {
    /// With capacity for so many bodies of typical length.
    pub(crate) fn with_capacity(count: usize) -> Self {
        let count = count.min(BODIES_EXPECTED_MAX);
        Self { array: Vec::with_capacity(count * BODY_BYTES_USUAL), ends: Vec::with_capacity(count) }
    }

    pub(crate) fn push(&mut self, body: &[u8]) {
        self.array.push(if self.ends.is_empty() { b'[' } else { b',' });
        self.array.extend_from_slice(body);
        self.ends.push(self.array.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let one = |(start, end): (usize, usize)| std::str::from_utf8(&self.array[start + 1..end]);
        starts.zip(self.ends.iter().copied()).map(move |range| one(range).unwrap_or_default())
    }

    /// The complete JSON array.
    pub fn into_json_array(mut self) -> Vec<u8> {
        self.array.extend_from_slice(if self.ends.is_empty() { b"[]" } else { b"]" });
        self.array
    }
}

impl<T: AsRef<str>> FromIterator<T> for RecordBodies {
    fn from_iter<I: IntoIterator<Item = T>>(bodies: I) -> Self {
        let mut all = Self::default();
        for body in bodies {
            all.push(body.as_ref().as_bytes());
        }
        all
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub bodies: RecordBodies,
    pub total: u64,
    /// Changes with every change of the collection.
    pub version: u64,
    /// The tenant's head at the time of the read: a reader follows the log from here.
    pub head: u64,
}

/// How many ordinals share one count of deleted records.
pub(crate) const BLOCK: u64 = 1024;

/// The block of an ordinal; ordinals start at 1.
pub(crate) fn block_of(ordinal: u64) -> u64 {
    ordinal.saturating_sub(1) / BLOCK
}

/// Where a page starts: at this ordinal, after skipping `skip` live rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) ordinal: u64,
    pub(crate) skip: u64,
}

/// Finds the start of a page from the counts of deleted ordinals per block, in order. Blocks that are not
/// listed have no deleted ordinals.
pub(crate) fn locate(offset: u64, gaps: impl IntoIterator<Item = (u64, u64)>) -> Start {
    let mut dead_before = 0;
    for (block, dead) in gaps {
        let live_before_block = block * BLOCK - dead_before;
        if offset < live_before_block {
            break;
        }
        let live_in_block = BLOCK.saturating_sub(dead);
        if offset < live_before_block + live_in_block {
            return Start { ordinal: block * BLOCK + 1, skip: offset - live_before_block };
        }
        dead_before += dead;
    }
    Start { ordinal: offset + dead_before + 1, skip: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_form_a_json_array_and_can_be_iterated() {
        for bodies in [&[][..], &["{}"], &["{\"a\":\"ñ\"}", "{}", "{\"b\":[1,2]}"]] {
            let joined: RecordBodies = bodies.iter().collect();
            assert_eq!((joined.len(), joined.is_empty()), (bodies.len(), bodies.is_empty()));
            assert_eq!(joined.iter().collect::<Vec<_>>(), bodies);
            assert_eq!(joined.into_json_array(), format!("[{}]", bodies.join(",")).into_bytes());
        }
    }
}
