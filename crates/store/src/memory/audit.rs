//! The audit trail in memory.

use async_trait::async_trait;
use domain::Random;

use super::{MemoryStore, State};
use crate::audit::AuditIndex;
use crate::{
    ActorFilter, Audit, AuditCursor, AuditEntry, AuditKind, AuditQuery, AuditRecord, AuditRecords, Result,
};

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

fn is_wanted(query: &AuditQuery, entry: &AuditEntry) -> bool {
    is_match(query.kind.as_ref(), Some(&entry.kind))
        && is_match(query.user.as_ref(), entry.user.as_ref())
        && is_match(query.tenant.as_ref(), entry.tenant.as_ref())
        && is_match(query.client.as_ref(), entry.client.as_ref())
        && query.actor.as_ref().is_none_or(|actor| actor.matches(&entry.context.actor))
        && is_match(query.object.as_ref(), entry.object.as_ref())
        && is_match(query.request_id.as_ref(), Some(&entry.context.request_id))
}

/// Whether an entry fulfils the conditions that the databases' index has.
fn has_indexed(query: &AuditQuery, entry: &AuditEntry) -> bool {
    let of_kind = |actor: &ActorFilter| actor.kind == entry.context.actor.kind();
    match query.index() {
        AuditIndex::Time => true,
        AuditIndex::Request => is_match(query.request_id.as_ref(), Some(&entry.context.request_id)),
        AuditIndex::Object => is_match(query.object.as_ref(), entry.object.as_ref()),
        AuditIndex::GrantedToClient => {
            entry.kind == AuditKind::Granted && is_match(query.client.as_ref(), entry.client.as_ref())
        }
        AuditIndex::User => is_match(query.user.as_ref(), entry.user.as_ref()),
        AuditIndex::Actor => {
            query.actor.as_ref().is_none_or(|actor| actor.id.as_deref() == entry.context.actor.id())
        }
        AuditIndex::Tenant => is_match(query.tenant.as_ref(), entry.tenant.as_ref()),
        AuditIndex::Client => is_match(query.client.as_ref(), entry.client.as_ref()),
        AuditIndex::Kind => is_match(query.kind.as_ref(), Some(&entry.kind)),
        AuditIndex::ActorKind => query.actor.as_ref().is_none_or(of_kind),
    }
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

    async fn audit_page(&self, query: &AuditQuery) -> Result<AuditRecords> {
        let state = self.state();
        let newest_first = state.audit.range(..query.start()).rev();
        let indexed = newest_first
            .take_while(|(cursor, _)| cursor.at >= query.end())
            .filter(|(_, entry)| has_indexed(query, entry));
        let (mut found, mut looked_at, mut last) = (Vec::new(), 0, None);
        for (cursor, entry) in indexed.take(query.looks_max()) {
            if found.len() >= query.rows_max {
                break;
            }
            (looked_at, last) = (looked_at + 1, Some(*cursor));
            if is_wanted(query, entry) {
                found.push(AuditRecord { id: cursor.id, entry: entry.clone() });
            }
        }
        Ok(query.page(found, last.filter(|_| looked_at == query.looks_max())))
    }
}
