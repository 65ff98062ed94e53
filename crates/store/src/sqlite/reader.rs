//! A connection that reads, and its view of the file. It remembers how collections stood, as long as SQLite says that
//! nothing was committed since: then a page costs no look at its tenant, its company and its total.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};

use domain::{Resource, TenantId};
use rusqlite::Connection;

use super::collection_numbers::CollectionNo;
use super::store_error;
use crate::Result;
use crate::plan::CollectionCounters;

/// Few enough to be looked through.
const CACHED_MAX: usize = 64;

/// A collection as a state, and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollectionState {
    pub(super) tenant_no: i64,
    pub(super) company_no: i64,
    /// None where there was never a record.
    pub(super) number: Option<CollectionNo>,
    pub(super) counters: CollectionCounters,
    pub(super) head: u64,
}

pub(super) struct Reader {
    connection: Connection,
    cache: RefCell<CollectionCache>,
    /// When the view began that stands, if one does.
    generation: Cell<Option<u64>>,
    /// Whether `cache` is known to be what this view shows.
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

    /// The era that its view is of.
    pub(super) fn generation(&self) -> Option<u64> {
        self.generation.get()
    }

    /// Begins a view, or goes on in the one that stands where it is of this era.
    pub(super) fn begin_snapshot(&self, generation: u64) -> Result<()> {
        if self.generation.get() == Some(generation) {
            return Ok(());
        }
        self.end_snapshot();
        self.control("BEGIN")?;
        self.generation.set(Some(generation));
        Ok(())
    }

    /// Where this fails the connection stays in its transaction, and is not kept.
    pub(super) fn end_snapshot(&self) {
        if self.generation.take().is_some() {
            self.is_cache_current.set(false);
            let _ = self.control("ROLLBACK");
        }
    }

    fn control(&self, sql: &str) -> Result<()> {
        self.connection.prepare_cached(sql).and_then(|mut run| run.execute([])).map_err(store_error).map(drop)
    }

    /// What `find` would find in the view, or in the transaction, that this is called in.
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
        let is_wanted = |(key, of, what, _): &&(TenantId, Option<Box<str>>, Resource, CollectionState)| {
            *what == resource && of.as_deref() == company && key == tenant
        };
        if let Some((.., state)) = cache.states.iter().find(is_wanted) {
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

    /// Moves with every commit of another connection. Asking begins the transaction's view of the file.
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
