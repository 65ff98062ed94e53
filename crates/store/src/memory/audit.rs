//! The audit in memory.

use async_trait::async_trait;
use domain::Random;

use super::{MemoryStore, State};
use crate::{Audit, AuditCursor, AuditEntry, AuditQuery, AuditRecord, Result};

impl State {
    pub(super) fn add_record(&mut self, random: &dyn Random, entry: AuditEntry) {
        let mark = AuditCursor { at: entry.at, id: random.guid() };
        self.audit.insert(mark, entry.without_nul());
    }
}

/// Whether a condition, where there is one, holds.
fn fits<T: PartialEq>(wanted: Option<&T>, found: Option<&T>) -> bool {
    wanted.is_none() || wanted == found
}

#[async_trait]
impl Audit for MemoryStore {
    async fn record(&self, entry: &AuditEntry) -> Result<()> {
        self.writing()?.add_record(&*self.ports.random, entry.clone());
        Ok(())
    }

    async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        let state = self.state();
        let is_wanted = |(_, entry): &(&AuditCursor, &AuditEntry)| {
            fits(query.kind.as_ref(), Some(&entry.kind))
                && fits(query.user.as_ref(), entry.user.as_ref())
                && fits(query.tenant.as_ref(), entry.tenant.as_ref())
                && fits(query.client.as_ref(), entry.client.as_ref())
        };
        let found = state.audit.range(..query.start()).rev().filter(is_wanted).take(query.rows_max);
        Ok(found.map(|(mark, entry)| AuditRecord { id: mark.id, entry: entry.clone() }).collect())
    }
}
