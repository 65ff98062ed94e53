//! A connection that reads, and its view of the file. It remembers how collections stood, as long as SQLite says that
//! nothing was committed since: then a page costs no look at its tenant, its company and its total.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};

use domain::{Resource, TenantId};
use rusqlite::Connection;

use super::fault;
use super::places::PlaceNo;
use crate::Result;
use crate::plan::Collection;

/// Few enough to be looked through.
const WHOLES_MAX: usize = 64;

/// A collection as a whole, and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    pub(super) tenant_no: i64,
    pub(super) owner: i64,
    /// None where there was never a record.
    pub(super) place: Option<PlaceNo>,
    pub(super) all: Collection,
    pub(super) head: u64,
}

pub(super) struct Reader {
    connection: Connection,
    seen: RefCell<Seen>,
    /// When the view began that stands, if one does.
    era: Cell<Option<u64>>,
    /// Whether `seen` is known to be what this view shows.
    is_seen_now: Cell<bool>,
}

#[derive(Default)]
struct Seen {
    data_version: i64,
    wholes: Vec<(TenantId, Option<Box<str>>, Resource, Whole)>,
}

impl Reader {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, seen: RefCell::default(), era: Cell::new(None), is_seen_now: Cell::new(false) }
    }

    /// The era that its view is of.
    pub(super) fn era(&self) -> Option<u64> {
        self.era.get()
    }

    /// Begins a view, or goes on in the one that stands where it is of this era.
    pub(super) fn view(&self, era: u64) -> Result<()> {
        if self.era.get() == Some(era) {
            return Ok(());
        }
        self.end_view();
        self.control("BEGIN")?;
        self.era.set(Some(era));
        Ok(())
    }

    /// Where this fails the connection stays in its transaction, and is not kept.
    pub(super) fn end_view(&self) {
        if self.era.take().is_some() {
            self.is_seen_now.set(false);
            let _ = self.control("ROLLBACK");
        }
    }

    fn control(&self, sql: &str) -> Result<()> {
        self.connection.prepare_cached(sql).and_then(|mut run| run.execute([])).map_err(fault).map(drop)
    }

    /// What `find` would find in the view, or in the transaction, that this is called in.
    pub(super) fn whole(
        &self,
        tenant: &TenantId,
        company: Option<&str>,
        resource: Resource,
        find: impl FnOnce(&Connection) -> Result<Option<Whole>>,
    ) -> Result<Option<Whole>> {
        let mut seen = self.seen.borrow_mut();
        if !self.is_seen_now.get() {
            let data_version = self.data_version()?;
            if seen.data_version != data_version {
                *seen = Seen { data_version, wholes: Vec::new() };
            }
            self.is_seen_now.set(self.era.get().is_some());
        }
        let is_wanted = |(whose, of, what, _): &&(TenantId, Option<Box<str>>, Resource, Whole)| {
            *what == resource && of.as_deref() == company && whose == tenant
        };
        if let Some((.., whole)) = seen.wholes.iter().find(is_wanted) {
            return Ok(Some(*whole));
        }
        let found = find(&self.connection)?;
        if let Some(whole) = found {
            if seen.wholes.len() >= WHOLES_MAX {
                seen.wholes.clear();
            }
            seen.wholes.push((tenant.clone(), company.map(Into::into), resource, whole));
        }
        Ok(found)
    }

    /// Moves with every commit of another connection. Asking begins the transaction's view of the file.
    fn data_version(&self) -> Result<i64> {
        self.connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut ask| ask.query_row([], |row| row.get(0)))
            .map_err(fault)
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
