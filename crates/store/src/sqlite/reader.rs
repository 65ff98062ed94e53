//! A reading connection with its snapshot. It caches the state of collections until SQLite reports a commit,
//! which saves a page the lookup of its tenant, company and total.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};

use domain::{Resource, TenantId};
use rusqlite::Connection;

use super::collection_numbers::CollectionNo;
use super::store_error;
use crate::Result;
use crate::plan::CollectionCounters;

/// Few enough for a linear search.
const CACHED_MAX: usize = 64;

/// A collection's numbers, counters and head.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollectionState {
    pub(super) tenant_no: i64,
    pub(super) company_no: i64,
    /// None if the collection never had a record.
    pub(super) number: Option<CollectionNo>,
    pub(super) counters: CollectionCounters,
    pub(super) head: u64,
}

pub(super) struct Reader {
    connection: Connection,
    cache: RefCell<CollectionCache>,
    /// The generation of the open snapshot, if there is one.
    generation: Cell<Option<u64>>,
    /// Whether the cache is valid for the open snapshot.
    is_cache_current: Cell<bool>,
}

#[derive(Default)]
struct CollectionCache {
    data_version: i64,
    states: Vec<(TenantId, Option<Box<str>>, Resource, CollectionState)>,
}

impl Reader {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            connection,
            cache: RefCell::default(),
            generation: Cell::new(None),
            is_cache_current: Cell::new(false),
        }
    }

    /// The generation of the open snapshot.
    pub(super) fn generation(&self) -> Option<u64> {
        self.generation.get()
    }

    /// Begins a snapshot, or continues the open one if it has this generation.
    pub(super) fn begin_snapshot(&self, generation: u64) -> Result<()> {
        if self.generation.get() == Some(generation) {
            return Ok(());
        }
        self.end_snapshot();
        self.control("BEGIN")?;
        self.generation.set(Some(generation));
        Ok(())
    }

    /// If this fails, the connection stays in its transaction and is not returned to the pool.
    pub(super) fn end_snapshot(&self) {
        if self.generation.take().is_some() {
            self.is_cache_current.set(false);
            let _ = self.control("ROLLBACK");
        }
    }

    fn control(&self, sql: &str) -> Result<()> {
        self.connection.prepare_cached(sql).and_then(|mut run| run.execute([])).map_err(store_error).map(drop)
    }

    /// The collection's state in the current snapshot or transaction, from the cache or by `find`.
    pub(super) fn collection_state(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
        find: impl FnOnce(&Connection) -> Result<Option<CollectionState>>,
    ) -> Result<Option<CollectionState>> {
        let mut cache = self.cache.borrow_mut();
        if !self.is_cache_current.get() {
            let data_version = self.data_version()?;
            if cache.data_version != data_version {
                *cache = CollectionCache { data_version, states: Vec::new() };
            }
            self.is_cache_current.set(self.generation.get().is_some());
        }
        let is_match = |(cached_tenant, cached_company, cached_resource, _): &&(
            TenantId,
            Option<Box<str>>,
            Resource,
            CollectionState,
        )| {
            *cached_resource == resource && cached_company.as_deref() == company && cached_tenant == tenant
        };
        if let Some((.., state)) = cache.states.iter().find(is_match) {
            return Ok(Some(*state));
        }
        let found = find(&self.connection)?;
        if let Some(state) = found {
            if cache.states.len() >= CACHED_MAX {
                cache.states.clear();
            }
            cache.states.push((tenant.clone(), company.map(Into::into), resource, state));
        }
        Ok(found)
    }

    /// Changes with every commit of another connection. The query starts the transaction's snapshot.
    fn data_version(&self) -> Result<i64> {
        self.connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut ask| ask.query_row([], |row| row.get(0)))
            .map_err(store_error)
    }
}

impl Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}
