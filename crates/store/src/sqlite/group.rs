//! A group commit: one transaction with the work of many requests. A failed request is rolled back alone, and
//! the rest is committed at once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;

use super::store_error;
use super::write_lock::WriteLock;
use crate::{Result, StoreError};

pub(super) struct WriteGroup<'a> {
    connection: &'a Connection,
    /// The error that ended the transaction, if any.
    failure: Option<StoreError>,
}

impl<'a> WriteGroup<'a> {
    pub(super) fn begin(connection: &'a Connection, write_lock: &WriteLock) -> Self {
        let failure =
            write_lock.run_in_turn(|| connection.execute_batch("BEGIN IMMEDIATE")).map_err(store_error).err();
        Self { connection, failure }
    }

    /// Runs one request's work in a savepoint and rolls it back if it fails or panics.
    pub(super) fn run<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.execute("SAVEPOINT work")?;
        let done = self.catch_panic(work);
        match &done {
            Ok(_) => self.execute("RELEASE work")?,
            // On a full disk SQLite rolls back the whole transaction, not only the savepoint.
            Err(error) if self.connection.is_autocommit() => self.failure = Some(error.clone()),
            Err(_) => self.execute("ROLLBACK TO work; RELEASE work")?,
        }
        done
    }

    /// Runs the only work of a group without a savepoint, for which SQLite would copy every changed page. A
    /// failure rolls back the group.
    pub(super) fn run_alone<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let done = self.catch_panic(work);
        self.failure = done.as_ref().err().cloned();
        done
    }

    fn catch_panic<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(|| work(self.connection)))
            .unwrap_or_else(|_| Err(StoreError::internal("a request panicked during its write")))
    }

    pub(super) fn commit(mut self) -> Result<()> {
        let committed = self.execute("COMMIT");
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        committed
    }

    fn execute(&mut self, sql: &str) -> Result<()> {
        if self.failure.is_none() {
            self.failure = self.connection.execute_batch(sql).map_err(store_error).err();
        }
        self.failure.clone().map_or(Ok(()), Err)
    }
}
