//! One transaction that holds the work of many: what fails is undone alone, the rest is committed at once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;

use super::fault;
use super::turnstile::Turnstile;
use crate::{Result, StoreError};

pub(super) struct Group<'a> {
    connection: &'a Connection,
    /// Why there is no transaction (any more).
    failure: Option<StoreError>,
}

impl<'a> Group<'a> {
    pub(super) fn begin(connection: &'a Connection, turnstile: &Turnstile) -> Self {
        let failure = turnstile.pass(|| connection.execute_batch("BEGIN IMMEDIATE")).map_err(fault).err();
        Self { connection, failure }
    }

    /// Runs one request's work; what it did is undone where it fails, or breaks down.
    pub(super) fn run<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.control("SAVEPOINT work")?;
        let done = self.attempt(work);
        match &done {
            Ok(_) => self.control("RELEASE work")?,
            // SQLite that finds no room midway gives up the whole transaction, not this savepoint alone.
            Err(error) if self.connection.is_autocommit() => self.failure = Some(error.clone()),
            Err(_) => self.control("ROLLBACK TO work; RELEASE work")?,
        }
        done
    }

    /// Runs the only work of a group. Its failure undoes the group, so it needs no savepoint, for which SQLite
    /// would copy every page that is changed.
    pub(super) fn run_alone<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let done = self.attempt(work);
        self.failure = done.as_ref().err().cloned();
        done
    }

    fn attempt<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(|| work(self.connection)))
            .unwrap_or_else(|_| Err(StoreError::internal("a request broke down while it was written")))
    }

    pub(super) fn commit(mut self) -> Result<()> {
        let committed = self.control("COMMIT");
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        committed
    }

    fn control(&mut self, sql: &str) -> Result<()> {
        if self.failure.is_none() {
            self.failure = self.connection.execute_batch(sql).map_err(fault).err();
        }
        self.failure.clone().map_or(Ok(()), Err)
    }
}
