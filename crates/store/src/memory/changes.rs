//! The change log in memory.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use domain::record::account_code;
use domain::{Resource, TenantId, Ticks};

use super::{Head, MemoryStore, State, collection_id};
use crate::plan::{self, CollectionKey, LogRow, Plan, PlanInputs, RecordKey, StoredRecord};
use crate::{
    BatchCounts, ChangeBatch, ChangeLog, IngestProgress, LogBounds, LogEvent, LogPage, LogQuery,
    RecordLogQuery, Result, StoreError,
};

fn load(state: &State, tenant_no: i64, head: Head, batches: &[ChangeBatch]) -> PlanInputs {
    let mut inputs = PlanInputs::new(head.bounds.head, head.version);
    let load_records = |inputs: &mut PlanInputs, keys: Vec<RecordKey>| {
        for key in keys {
            if let Some(stored) = find(state, tenant_no, &key) {
                inputs.insert_record(key, stored);
            }
        }
    };
    load_records(&mut inputs, PlanInputs::company_keys(batches));
    let keys = inputs.record_keys(batches);
    load_records(&mut inputs, keys);
    for (company_no, code) in inputs.account_codes(batches) {
        let accounts = collection_id(tenant_no, CollectionKey { company_no, resource: Resource::accounts() });
        for ((_, ordinal), (id, stored)) in state.records.range((accounts, 0)..=(accounts, u64::MAX)) {
            if account_code(&stored.body) == Some(&*code) {
                inputs.insert_account((company_no, code.clone()), *ordinal, id.clone(), stored.state);
            }
        }
    }
    for collection in inputs.collection_keys(batches) {
        if let Some(counters) = state.collections.get(&collection_id(tenant_no, collection)) {
            inputs.insert_collection(collection, *counters);
        }
    }
    for key in PlanInputs::ingest_keys(batches) {
        if let Some((progress, _)) = state.processes.get(&(tenant_no, key.clone())) {
            inputs.insert_progress(key, progress.clone());
        }
    }
    inputs
}

fn find(state: &State, tenant_no: i64, key: &RecordKey) -> Option<StoredRecord> {
    let collection = collection_id(tenant_no, key.collection);
    let ordinal = state.ordinals.get(&(collection, key.id.clone()))?;
    state.records.get(&(collection, *ordinal)).map(|(_, stored)| stored.clone())
}

fn write(state: &mut State, tenant_no: i64, plan: Plan, now: Ticks) {
    for (collection, ordinal) in plan.deletes {
        let collection = collection_id(tenant_no, collection);
        if let Some((id, _)) = state.records.remove(&(collection, ordinal)) {
            state.ordinals.remove(&(collection, id));
        }
    }
    for row in plan.inserts.into_iter().chain(plan.updates) {
        let collection = collection_id(tenant_no, row.key.collection);
        state.ordinals.insert((collection, row.key.id.clone()), row.stored.ordinal);
        state.records.insert((collection, row.stored.ordinal), (row.key.id, row.stored));
    }
    for row in plan.log {
        state.log.insert((tenant_no, row.entry.sequence), row);
    }
    for (collection, counters) in plan.collections {
        state.collections.insert(collection_id(tenant_no, collection), counters);
    }
    for company_no in plan.deleted_companies {
        state.records.retain(|((tenant, company, _), _), _| (*tenant, *company) != (tenant_no, company_no));
        state.ordinals.retain(|((tenant, company, _), _), _| (*tenant, *company) != (tenant_no, company_no));
        state.collections.retain(|(tenant, company, _), _| (*tenant, *company) != (tenant_no, company_no));
    }
    for (key, progress) in plan.progress {
        state.processes.insert((tenant_no, key), (progress, now));
    }
    if let Some(head) = state.heads.get_mut(&tenant_no) {
        head.bounds.head = plan.head;
        head.version = plan.version;
    }
}

impl State {
    pub(super) fn head(&self, tenant: &TenantId) -> Result<(i64, Head)> {
        let found = self.tenant_no(tenant).and_then(|no| Some((no, *self.heads.get(&no)?)));
        found.ok_or_else(|| StoreError::UnknownTenant(tenant.to_string()))
    }
}

#[async_trait]
impl ChangeLog for MemoryStore {
    async fn apply_changes(&self, batch: ChangeBatch) -> Result<BatchCounts> {
        let mut state = self.state_mut()?;
        let (tenant_no, head) = state.head(&batch.tenant)?;
        let tenant = batch.tenant.clone();
        let batches = vec![batch];
        let inputs = load(&state, tenant_no, head, &batches);
        let now = self.ports.clock.now();
        let (mut plan, mut counts_by_batch) = plan::decide(inputs, batches, now, &*self.ports.random);
        let resources = plan.resources();
        for entry in std::mem::take(&mut plan.audit) {
            state.append_audit(&*self.ports.random, entry);
        }
        write(&mut state, tenant_no, plan, now);
        drop(state);
        self.change_commits.fetch_add(1, Ordering::Relaxed);
        self.invalidation.records_changed(&tenant, resources);
        counts_by_batch.pop().unwrap_or_else(|| Ok(BatchCounts::default()))
    }

    async fn find_ingest_progress(&self, tenant: &TenantId, key: &str) -> Result<Option<IngestProgress>> {
        let state = self.state();
        let Some(tenant_no) = state.tenant_no(tenant) else {
            return Ok(None);
        };
        Ok(state.processes.get(&(tenant_no, key.to_owned())).map(|(progress, _)| progress.clone()))
    }

    async fn read_log(&self, query: &LogQuery) -> Result<LogPage> {
        let state = self.state();
        let (tenant_no, head) = state.head(&query.tenant)?;
        let floor = head.bounds.floor;
        if query.after < floor {
            return Ok(LogPage::BelowFloor { floor });
        }
        let Some(company_no) = state.company_no(tenant_no, query.company.as_deref()) else {
            return Ok(LogPage::Entries(Vec::new()));
        };
        let entries = state
            .log
            .range((tenant_no, query.after.saturating_add(1))..=(tenant_no, u64::MAX))
            .map(|(_, row)| row)
            .filter(|row| query.company.is_none() || row.company_no == company_no)
            .filter(|row| {
                query
                    .events
                    .as_ref()
                    .is_none_or(|events| events.contains(&(row.entry.resource, row.entry.kind)))
            })
            .take(query.rows_max)
            .map(|row| row.entry.clone())
            .collect();
        Ok(LogPage::Entries(entries))
    }

    async fn read_record_log(&self, query: &RecordLogQuery) -> Result<Vec<LogEvent>> {
        let state = self.state();
        let Some(tenant_no) = state.tenant_no(&query.tenant) else {
            return Ok(Vec::new());
        };
        let is_of_record = |row: &&LogRow| {
            row.entry.resource == query.resource
                && *row.entry.company == *query.logged_company()
                && row.entry.correlation_id == query.correlation_id
        };
        let end = query.before.unwrap_or(u64::MAX);
        let rows = state.log.range((tenant_no, 0)..(tenant_no, end)).rev().map(|(_, row)| row);
        let event = |row: &LogRow| LogEvent { entry: row.entry.clone(), record_key: row.record_key };
        Ok(rows.filter(is_of_record).take(query.rows_max).map(event).collect())
    }

    async fn log_bounds(&self, tenant: &TenantId) -> Result<LogBounds> {
        self.state().head(tenant).map(|(_, head)| head.bounds)
    }

    async fn prune_log(&self, tenant: &TenantId, before: Ticks, rows_max: usize) -> Result<usize> {
        let mut state = self.state_mut()?;
        let Some(tenant_no) = state.tenant_no(tenant) else {
            return Ok(0);
        };
        let old: Vec<u64> = state
            .log
            .range((tenant_no, 0)..=(tenant_no, u64::MAX))
            .take(rows_max)
            .take_while(|(_, row)| row.entry.version < before)
            .map(|((_, sequence), _)| *sequence)
            .collect();
        for sequence in &old {
            state.log.remove(&(tenant_no, *sequence));
        }
        if let (Some(last), Some(head)) = (old.last(), state.heads.get_mut(&tenant_no)) {
            head.bounds.floor = *last;
        }
        Ok(old.len())
    }
}
