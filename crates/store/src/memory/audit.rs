//! The audit trail in memory.

use async_trait::async_trait;
use domain::Random;

use super::{MemoryStore, State};
use crate::{Audit, AuditCursor, AuditEntry, AuditQuery, AuditRecord, Result};

impl State {
    pub(super) fn append_audit(&mut self, random: &dyn Random, entry: AuditEntry) {
        let fingerprint_bytes = AuditCursor { at: entry.at, id: random.guid() };
        self.audit.insert(fingerprint_bytes, entry.without_nul());
    }
}

/// Whether an optional condition holds.
fn is_match<T: PartialEq>(matching: Option<&T>, found: Option<&T>) -> bool {
    matching.is_none() || matching == found
}

#[async_trait]
impl Audit for MemoryStore {
    async fn record(&self, entry: &AuditEntry) -> Result<()> {
        self.state_mut()?.append_audit(&*self.ports.random, entry.clone());
        Ok(())
    }

    async fn audit(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>> {
        let state = self.state();
        let is_wanted = |(_, entry): &(&AuditCursor, &AuditEntry)| {
            is_match(query.kind.as_ref(), Some(&entry.kind))
                && is_match(query.user.as_ref(), entry.user.as_ref())
                && is_match(query.tenant.as_ref(), entry.tenant.as_ref())
                && is_match(query.client.as_ref(), entry.client.as_ref())
        };
        let found = state.audit.range(..query.start()).rev().filter(is_wanted).take(query.rows_max);
        Ok(found
            .map(|(fingerprint_bytes, entry)| AuditRecord { id: fingerprint_bytes.id, entry: entry.clone() })
            .collect())
    }
}
