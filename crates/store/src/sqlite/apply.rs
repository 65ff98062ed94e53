//! Applies changes in SQLite: loads the inputs, plans, and writes the plan.

use domain::{Resource, TenantId, Ticks};
use rusqlite::{Connection, params};

use super::audit::append_audit;
use super::collection_numbers::{self, CollectionNumbers};
use super::load::load;
use super::rows::tenant_no;
use super::store_error;
use crate::plan::{self, CollectionKey, LogRow, Plan, RecordRow, signed};
use crate::{BatchCounts, ChangeBatch, Ports, ResourceSet, Result, StoreError};

/// The results of the batches, and the resources of the new log rows per tenant.
pub(super) struct AppliedBatches {
    pub(super) counts_by_batch: Vec<Result<BatchCounts>>,
    pub(super) changed_logs: Vec<(TenantId, ResourceSet)>,
}

/// Applies batches of any tenants; batches of one tenant are planned together.
pub(super) fn apply(
    connection: &Connection,
    batches: Vec<ChangeBatch>,
    ports: &Ports,
) -> Result<AppliedBatches> {
    let mut changed_logs = Vec::new();
    let mut counts_by_batch: Vec<Option<Result<BatchCounts>>> = Vec::new();
    counts_by_batch.resize_with(batches.len(), || None);
    let mut waiting: Vec<(usize, ChangeBatch)> = batches.into_iter().enumerate().collect();
    while let Some((_, first)) = waiting.first() {
        let tenant = first.tenant.clone();
        let (own, others): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, batch)| batch.tenant == tenant);
        waiting = others;
        let (indexes, own): (Vec<_>, Vec<_>) = own.into_iter().unzip();
        let (resources, own) = apply_for(connection, &tenant, own, ports)?;
        for (index, counts) in indexes.into_iter().zip(own) {
            counts_by_batch[index] = Some(counts);
        }
        changed_logs.push((tenant, resources));
    }
    Ok(AppliedBatches { counts_by_batch: counts_by_batch.into_iter().flatten().collect(), changed_logs })
}

fn apply_for(
    connection: &Connection,
    tenant: &TenantId,
    batches: Vec<ChangeBatch>,
    ports: &Ports,
) -> Result<(ResourceSet, Vec<Result<BatchCounts>>)> {
    let Some(tenant_no) = tenant_no(connection, tenant)? else {
        let unknown = || StoreError::UnknownTenant(tenant.to_string());
        return Ok((ResourceSet::default(), batches.iter().map(|_| Err(unknown())).collect()));
    };
    let inputs = load(connection, tenant_no, &batches)?;
    let now = ports.clock.now();
    let (plan, counts_by_batch) = plan::decide(inputs, batches, now, &*ports.random);
    write(connection, tenant_no, &plan, now)?;
    let resources = plan.resources();
    plan.audit.into_iter().try_for_each(|entry| append_audit(connection, &*ports.random, entry))?;
    Ok((resources, counts_by_batch))
}

fn write(connection: &Connection, tenant_no: i64, plan: &Plan, now: Ticks) -> Result<()> {
    plan.collections
        .iter()
        .try_for_each(|(_, collection)| collection_numbers::check_ordinals(*collection))?;
    let collection_numbers = &mut CollectionNumbers::new(connection);
    delete_records(connection, tenant_no, &plan.deletes, collection_numbers).map_err(store_error)?;
    write_records(connection, tenant_no, plan, collection_numbers).map_err(store_error)?;
    write_payroll(connection, tenant_no, plan).map_err(store_error)?;
    append(connection, tenant_no, &plan.log).map_err(store_error)?;
    write_collections(connection, tenant_no, plan).map_err(store_error)?;
    write_progress(connection, tenant_no, plan, now)?;
    if !plan.log.is_empty() {
        connection
            .prepare_cached("UPDATE heads SET head = ?2, version = ?3 WHERE tenant_no = ?1")
            .and_then(|mut head| head.execute(params![tenant_no, signed(plan.head), plan.version.0]))
            .map_err(store_error)?;
    }
    Ok(())
}

fn delete_records(
    connection: &Connection,
    tenant_no: i64,
    deleted: &[(CollectionKey, u64)],
    collection_numbers: &mut CollectionNumbers<'_>,
) -> rusqlite::Result<()> {
    if deleted.is_empty() {
        return Ok(());
    }
    let mut record = connection.prepare_cached("DELETE FROM records WHERE row = ?1")?;
    let mut payroll =
        connection.prepare_cached("DELETE FROM payroll_companies WHERE tenant_no = ?1 AND ordinal = ?2")?;
    for (collection, ordinal) in deleted {
        record.execute([collection_numbers
            .row((tenant_no, collection.company_no, collection.resource.code()), *ordinal)?])?;
        if collection.resource == Resource::payroll_companies() {
            payroll.execute(params![tenant_no, signed(*ordinal)])?;
        }
    }
    Ok(())
}

fn write_records(
    connection: &Connection,
    tenant_no: i64,
    plan: &Plan,
    collection_numbers: &mut CollectionNumbers<'_>,
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO records (row, tenant_no, company_no, resource, ordinal, correlation_id, state, version, sequence, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    let mut row = |collection: CollectionKey, ordinal| {
        collection_numbers.row((tenant_no, collection.company_no, collection.resource.code()), ordinal)
    };
    for RecordRow { key, stored, .. } in &plan.inserts {
        insert.execute(params![
            row(key.collection, stored.ordinal)?,
            tenant_no,
            key.collection.company_no,
            key.collection.resource.code(),
            signed(stored.ordinal),
            key.id,
            stored.state.code(),
            stored.version.0,
            signed(stored.sequence),
            stored.body,
        ])?;
    }
    let mut update = connection.prepare_cached(
        "UPDATE records SET state = ?2, version = ?3, sequence = ?4, body = ?5 WHERE row = ?1",
    )?;
    for RecordRow { key, stored, .. } in &plan.updates {
        update.execute(params![
            row(key.collection, stored.ordinal)?,
            stored.state.code(),
            stored.version.0,
            signed(stored.sequence),
            stored.body,
        ])?;
    }
    Ok(())
}

fn write_payroll(connection: &Connection, tenant_no: i64, plan: &Plan) -> rusqlite::Result<()> {
    let mut payroll = connection.prepare_cached(
        "INSERT INTO payroll_companies (tenant_no, ordinal, code, name, identifier, last_update)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (tenant_no, ordinal) DO UPDATE SET name = excluded.name,
             identifier = excluded.identifier, last_update = excluded.last_update",
    )?;
    for RecordRow { stored, payroll: company, .. } in plan.inserts.iter().chain(&plan.updates) {
        if let Some(company) = company {
            payroll.execute(params![
                tenant_no,
                signed(stored.ordinal),
                company.code,
                company.name,
                company.identifier,
                company.last_update(stored.version).0,
            ])?;
        }
    }
    Ok(())
}

fn append(connection: &Connection, tenant_no: i64, log: &[LogRow]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO log (tenant_no, sequence, resource, kind, company_no, record_key, version, conversation,
             process, company, correlation_id, user_name, source_interface, source_action, changes, envelope)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?;
    for LogRow { entry, company_no, record_key } in log {
        insert.execute(params![
            tenant_no,
            signed(entry.sequence),
            entry.resource.code(),
            entry.kind.code(),
            company_no,
            record_key,
            entry.version.0,
            entry.conversation.as_bytes(),
            entry.process.as_bytes(),
            entry.company,
            entry.correlation_id,
            entry.user,
            entry.source_interface,
            entry.source_action,
            entry.changes,
            entry.envelope,
        ])?;
    }
    Ok(())
}

fn write_collections(connection: &Connection, tenant_no: i64, plan: &Plan) -> rusqlite::Result<()> {
    let mut upsert = connection.prepare_cached(
        "INSERT INTO collections (tenant_no, company_no, resource, next_ordinal, live, version)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (tenant_no, company_no, resource) DO UPDATE SET
             next_ordinal = excluded.next_ordinal, live = excluded.live, version = excluded.version",
    )?;
    for (collection, counters) in &plan.collections {
        upsert.execute(params![
            tenant_no,
            collection.company_no,
            collection.resource.code(),
            signed(counters.next_ordinal),
            signed(counters.live),
            signed(counters.version),
        ])?;
    }
    let mut gap = connection.prepare_cached(
        "INSERT INTO gaps (tenant_no, company_no, resource, block, dead) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (tenant_no, company_no, resource, block) DO UPDATE SET dead = dead + excluded.dead",
    )?;
    for one in &plan.gaps {
        gap.execute(params![
            tenant_no,
            one.collection.company_no,
            one.collection.resource.code(),
            signed(one.block),
            signed(one.dead),
        ])?;
    }
    let mut deleted_companies = connection
        .prepare_cached("INSERT OR IGNORE INTO departed_companies (tenant_no, company_no) VALUES (?1, ?2)")?;
    for company_no in &plan.deleted_companies {
        deleted_companies.execute([tenant_no, *company_no])?;
    }
    Ok(())
}

fn write_progress(connection: &Connection, tenant_no: i64, plan: &Plan, now: Ticks) -> Result<()> {
    for (key, progress) in &plan.progress {
        let counts = serde_json::to_string(&progress.counts).map_err(StoreError::internal)?;
        connection
            .prepare_cached(
                "INSERT INTO processes (tenant_no, idempotency_key, line, hash, process, tally, touched_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (tenant_no, idempotency_key) DO UPDATE SET line = excluded.line,
                     hash = excluded.hash, process = excluded.process, tally = excluded.tally, touched_at = excluded.touched_at",
            )
            .and_then(|mut upsert| {
                upsert.execute(params![
                    tenant_no,
                    key,
                    signed(progress.line),
                    progress.hash,
                    progress.process.as_bytes(),
                    counts,
                    now.0
                ])
            })
            .map_err(store_error)?;
    }
    Ok(())
}
