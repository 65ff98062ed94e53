//! The audit trail in memory.

use async_trait::async_trait;
use domain::Random;

use super::{MemoryStore, State};
use crate::{Audit, AuditCursor, AuditEntry, AuditQuery, AuditRecord, Result};

impl State {
    pub(super) fn append_audit(&mut self, random: &dyn Random, entry: AuditEntry) {
        let cursor = AuditCursor { at: entry.at, id: random.guid() };
        self.audit.insert(cursor, entry.without_nul());
    }

    fn count_audit(&mut self, record: AuditRecord) {
        let cursor = record.cursor();
        let mut entry = record.entry.without_nul();
        if let Some(counted) = self.audit.get(&cursor) {
            entry.count += counted.count;
        }
        self.audit.insert(cursor, entry);
    }
}

/// Whether an optional condition holds.
fn is_match<T: PartialEq>(expected: Option<&T>, found: Option<&T>) -> bool {
    expected.is_none() || expected == found
}

#[async_trait]
impl Audit for MemoryStore {
    async fn record(&self, entry: &AuditEntry) -> Result<()> {
        self.state_mut()?.append_audit(&*self.ports.random, entry.clone());
        Ok(())
    }

    async fn count(&self, entry: &AuditEntry) -> Result<()> {
        self.state_mut()?.count_audit(entry.clone().counted(&self.ports.vault));
        Ok(())
    }

    async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        let state = self.state();
        let is_wanted = |(_, entry): &(&AuditCursor, &AuditEntry)| {
            is_match(query.kind.as_ref(), Some(&entry.kind))
                && is_match(query.user.as_ref(), entry.user.as_ref())
                && is_match(query.tenant.as_ref(), entry.tenant.as_ref())
                && is_match(query.client.as_ref(), entry.client.as_ref())
                && query.actor.as_ref().is_none_or(|actor| actor.matches(&entry.context.actor))
                && is_match(query.object.as_ref(), entry.object.as_ref())
                && is_match(query.request_id.as_ref(), Some(&entry.context.request_id))
                && entry.at >= query.end()
        };
        let found = state.audit.range(..query.start()).rev().filter(is_wanted).take(query.rows_max);
        Ok(found.map(|(cursor, entry)| AuditRecord { id: cursor.id, entry: entry.clone() }).collect())
    }
}
