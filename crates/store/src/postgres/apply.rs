//! Applies changes in PostgreSQL: locks the tenant's head, loads the inputs, plans, and writes the plan as
//! arrays. Independent statements are pipelined.

use deadpool_postgres::Transaction;
use domain::{Resource, TenantId, Ticks};

use super::audit::append_audit;
use super::load::load;
use super::rows::{code, column, found};
use super::{PostgresStore, first_failure, store_error};
use crate::plan::{
    self, CollectionCounters, CollectionKey, LogRow, Plan, PlanInputs, RecordRow, signed, unsigned,
};
use crate::{BatchCounts, ChangeBatch, OperationClass, ResourceSet, Result, StoreError};

impl PostgresStore {
    pub(super) async fn apply(
        &self,
        tenant: &TenantId,
        batches: Vec<ChangeBatch>,
    ) -> Result<(ResourceSet, Vec<Result<BatchCounts>>)> {
        let mut client = self.lend(OperationClass::Changes).await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let head = transaction
            .prepare_cached(
                "SELECT t.no, h.head, h.version FROM tenants t JOIN heads h ON h.tenant_no = t.no
                 WHERE t.id = $1 FOR UPDATE OF h",
            )
            .await
            .map_err(store_error)?;
        let Some(row) = found(transaction.query_opt(&head, &[&tenant.as_str()]).await)? else {
            let unknown = || StoreError::UnknownTenant(tenant.to_string());
            return Ok((ResourceSet::default(), batches.iter().map(|_| Err(unknown())).collect()));
        };
        let tenant_no: i64 = row.get(0);
        let inputs = PlanInputs::new(unsigned(row.get(1)), Ticks(row.get(2)));
        let inputs = load(&transaction, tenant_no, &batches, inputs).await?;
        let now = self.ports().clock.now();
        let (plan, counts_by_batch) = plan::decide(inputs, batches, now, &*self.ports().random);
        write(&transaction, tenant_no, &plan, now).await?;
        let resources = plan.resources();
        for entry in plan.audit {
            append_audit(&transaction, &*self.ports().random, entry).await?;
        }
        transaction.commit().await.map_err(store_error)?;
        Ok((resources, counts_by_batch))
    }
}

async fn write(transaction: &Transaction<'_>, tenant_no: i64, plan: &Plan, now: Ticks) -> Result<()> {
    delete_records(transaction, tenant_no, &plan.deletes).await?;
    let (inserted, updated, payroll, appended, collections, gaps, progress, head) = tokio::join!(
        insert_records(transaction, tenant_no, &plan.inserts),
        update_records(transaction, tenant_no, &plan.updates),
        write_payroll(transaction, tenant_no, plan),
        append(transaction, tenant_no, &plan.log),
        write_collections(transaction, tenant_no, &plan.collections),
        write_gaps(transaction, tenant_no, plan),
        write_progress(transaction, tenant_no, plan, now),
        write_head(transaction, tenant_no, plan),
    );
    first_failure([inserted, updated, payroll, appended, collections, gaps, progress, head])
}

async fn write_head(transaction: &Transaction<'_>, tenant_no: i64, plan: &Plan) -> Result<()> {
    if plan.log.is_empty() {
        return Ok(());
    }
    let update = transaction
        .prepare_cached("UPDATE heads SET head = $2, version = $3 WHERE tenant_no = $1")
        .await
        .map_err(store_error)?;
    transaction
        .execute(&update, &[&tenant_no, &signed(plan.head), &plan.version.0])
        .await
        .map_err(store_error)?;
    Ok(())
}

async fn delete_records(
    transaction: &Transaction<'_>,
    tenant_no: i64,
    deleted: &[(CollectionKey, u64)],
) -> Result<()> {
    if deleted.is_empty() {
        return Ok(());
    }
    let companies = column(deleted, |(collection, _)| collection.company_no);
    let resources = column(deleted, |(collection, _)| code(collection.resource));
    let ordinals = column(deleted, |(_, ordinal)| signed(*ordinal));
    let delete = transaction
        .prepare_cached(
            "DELETE FROM records r USING unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS k (company_no, resource, ordinal)
             WHERE r.tenant_no = $1 AND r.company_no = k.company_no AND r.resource = k.resource
                 AND r.ordinal = k.ordinal",
        )
        .await
        .map_err(store_error)?;
    transaction
        .execute(&delete, &[&tenant_no, &companies, &resources, &ordinals])
        .await
        .map_err(store_error)?;
    let payroll: Vec<i64> = deleted
        .iter()
        .filter(|(collection, _)| collection.resource == Resource::payroll_companies())
        .map(|(_, ordinal)| signed(*ordinal))
        .collect();
    if !payroll.is_empty() {
        transaction
            .execute(
                "DELETE FROM payroll_companies WHERE tenant_no = $1 AND ordinal = ANY($2)",
                &[&tenant_no, &payroll],
            )
            .await
            .map_err(store_error)?;
    }
    Ok(())
}

async fn insert_records(transaction: &Transaction<'_>, tenant_no: i64, rows: &[RecordRow]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let insert = transaction
        .prepare_cached(
            "INSERT INTO records (tenant_no, company_no, resource, ordinal, correlation_id, state, version, sequence, body)
             SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[],
                 $7::bigint[], $8::bigint[], $9::text[])",
        )
        .await
        .map_err(store_error)?;
    let companies = column(rows, |row| row.key.collection.company_no);
    let resources = column(rows, |row| code(row.key.collection.resource));
    let ordinals = column(rows, |row| signed(row.stored.ordinal));
    let ids = column(rows, |row| &*row.key.id);
    let states = column(rows, |row| i64::from(row.stored.state.code()));
    let versions = column(rows, |row| row.stored.version.0);
    let sequences = column(rows, |row| signed(row.stored.sequence));
    let bodies = column(rows, |row| row.stored.body.as_str());
    transaction
        .execute(
            &insert,
            &[&tenant_no, &companies, &resources, &ordinals, &ids, &states, &versions, &sequences, &bodies],
        )
        .await
        .map_err(store_error)?;
    Ok(())
}

async fn update_records(transaction: &Transaction<'_>, tenant_no: i64, rows: &[RecordRow]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let update = transaction
        .prepare_cached(
            "UPDATE records r SET state = k.state, version = k.version, sequence = k.sequence, body = k.body
             FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[])
                 AS k (company_no, resource, ordinal, state, version, sequence, body)
             WHERE r.tenant_no = $1 AND r.company_no = k.company_no AND r.resource = k.resource
                 AND r.ordinal = k.ordinal",
        )
        .await
        .map_err(store_error)?;
    let companies = column(rows, |row| row.key.collection.company_no);
    let resources = column(rows, |row| code(row.key.collection.resource));
    let ordinals = column(rows, |row| signed(row.stored.ordinal));
    let states = column(rows, |row| i64::from(row.stored.state.code()));
    let versions = column(rows, |row| row.stored.version.0);
    let sequences = column(rows, |row| signed(row.stored.sequence));
    let bodies = column(rows, |row| row.stored.body.as_str());
    transaction
        .execute(
            &update,
            &[&tenant_no, &companies, &resources, &ordinals, &states, &versions, &sequences, &bodies],
        )
        .await
        .map_err(store_error)?;
    Ok(())
}

async fn write_payroll(transaction: &Transaction<'_>, tenant_no: i64, plan: &Plan) -> Result<()> {
    let rows: Vec<_> = plan
        .inserts
        .iter()
        .chain(&plan.updates)
        .filter_map(|row| row.payroll.as_ref().map(|company| (&row.stored, company)))
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let ordinals = column(&rows, |(stored, _)| signed(stored.ordinal));
    let codes = column(&rows, |(_, company)| company.code);
    let names = column(&rows, |(_, company)| company.name.as_str());
    let identifiers = column(&rows, |(_, company)| company.identifier.as_str());
    let updates = column(&rows, |(stored, company)| company.last_update(stored.version).0);
    let upsert = transaction
        .prepare_cached(
            "INSERT INTO payroll_companies (tenant_no, ordinal, code, name, identifier, last_update)
             SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[])
             ON CONFLICT (tenant_no, ordinal) DO UPDATE SET name = excluded.name,
                 identifier = excluded.identifier, last_update = excluded.last_update",
        )
        .await
        .map_err(store_error)?;
    transaction
        .execute(&upsert, &[&tenant_no, &ordinals, &codes, &names, &identifiers, &updates])
        .await
        .map_err(store_error)?;
    Ok(())
}

async fn append(transaction: &Transaction<'_>, tenant_no: i64, log: &[LogRow]) -> Result<()> {
    if log.is_empty() {
        return Ok(());
    }
    let insert = transaction
        .prepare_cached(
            "INSERT INTO log (tenant_no, sequence, resource, kind, company_no, record_key, version, conversation,
                 process, company, correlation_id, user_name, source_interface, source_action, changes, envelope)
             SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                 $7::bigint[], $8::bytea[], $9::bytea[], $10::text[], $11::text[], $12::text[], $13::text[],
                 $14::text[], $15::text[], $16::bigint[])",
        )
        .await
        .map_err(store_error)?;
    transaction
        .execute(
            &insert,
            &[
                &tenant_no,
                &column(log, |row| signed(row.entry.sequence)),
                &column(log, |row| code(row.entry.resource)),
                &column(log, |row| i64::from(row.entry.kind.code())),
                &column(log, |row| row.company_no),
                &column(log, |row| row.record_key),
                &column(log, |row| row.entry.version.0),
                &column(log, |row| row.entry.conversation.as_bytes().as_slice()),
                &column(log, |row| row.entry.process.as_bytes().as_slice()),
                &column(log, |row| &*row.entry.company),
                &column(log, |row| &*row.entry.correlation_id),
                &column(log, |row| &*row.entry.user),
                &column(log, |row| &*row.entry.source_interface),
                &column(log, |row| &*row.entry.source_action),
                &column(log, |row| row.entry.changes.as_deref()),
                &column(log, |row| i64::from(row.entry.envelope)),
            ],
        )
        .await
        .map_err(store_error)?;
    Ok(())
}

async fn write_collections(
    transaction: &Transaction<'_>,
    tenant_no: i64,
    collections: &[(CollectionKey, CollectionCounters)],
) -> Result<()> {
    if collections.is_empty() {
        return Ok(());
    }
    let upsert = transaction
        .prepare_cached(
            "INSERT INTO collections (tenant_no, company_no, resource, next_ordinal, live, version)
             SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
             ON CONFLICT (tenant_no, company_no, resource) DO UPDATE SET
                 next_ordinal = excluded.next_ordinal, live = excluded.live, version = excluded.version",
        )
        .await
        .map_err(store_error)?;
    let companies = column(collections, |(collection, _)| collection.company_no);
    let resources = column(collections, |(collection, _)| code(collection.resource));
    let next = column(collections, |(_, counters)| signed(counters.next_ordinal));
    let live = column(collections, |(_, counters)| signed(counters.live));
    let versions = column(collections, |(_, counters)| signed(counters.version));
    transaction
        .execute(&upsert, &[&tenant_no, &companies, &resources, &next, &live, &versions])
        .await
        .map_err(store_error)?;
    Ok(())
}

async fn write_gaps(transaction: &Transaction<'_>, tenant_no: i64, plan: &Plan) -> Result<()> {
    if !plan.gaps.is_empty() {
        let companies = column(&plan.gaps, |gap| gap.collection.company_no);
        let resources = column(&plan.gaps, |gap| code(gap.collection.resource));
        let blocks = column(&plan.gaps, |gap| signed(gap.block));
        let dead = column(&plan.gaps, |gap| signed(gap.dead));
        transaction
            .execute(
                "INSERT INTO gaps (tenant_no, company_no, resource, block, dead)
                 SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
                 ON CONFLICT (tenant_no, company_no, resource, block) DO UPDATE SET dead = gaps.dead + excluded.dead",
                &[&tenant_no, &companies, &resources, &blocks, &dead],
            )
            .await
            .map_err(store_error)?;
    }
    if !plan.deleted_companies.is_empty() {
        transaction
            .execute(
                "INSERT INTO departed_companies (tenant_no, company_no) SELECT $1, * FROM unnest($2::bigint[])
                 ON CONFLICT DO NOTHING",
                &[&tenant_no, &plan.deleted_companies],
            )
            .await
            .map_err(store_error)?;
    }
    Ok(())
}

async fn write_progress(
    transaction: &Transaction<'_>,
    tenant_no: i64,
    plan: &Plan,
    now: Ticks,
) -> Result<()> {
    for (key, progress) in &plan.progress {
        let counts = serde_json::to_string(&progress.counts).map_err(StoreError::internal)?;
        transaction
            .execute(
                "INSERT INTO processes (tenant_no, idempotency_key, line, hash, process, tally, touched_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)
                 ON CONFLICT (tenant_no, idempotency_key) DO UPDATE SET line = excluded.line,
                     hash = excluded.hash, process = excluded.process, tally = excluded.tally, touched_at = excluded.touched_at",
                &[
                    &tenant_no,
                    key,
                    &signed(progress.line),
                    &progress.hash.as_slice(),
                    &progress.process.as_bytes().as_slice(),
                    &counts,
                    &now.0,
                ],
            )
            .await
            .map_err(store_error)?;
    }
    Ok(())
}
