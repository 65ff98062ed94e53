//! Applies changes in PostgreSQL: locks the tenant's head, loads the ground of a plan, writes the plan
//! down as arrays. Statements that do not wait for each other's answers go out together.

use deadpool_postgres::Transaction;
use domain::record::State;
use domain::{Resource, TenantId, Ticks};

use super::changes::progress;
use super::rows::{code, small};
use super::{PostgresStore, fault};
use crate::plan::{self, Collection, Ground, Key, LogRow, Place, Plan, Row, Stored, signed, unsigned};
use crate::{ChangeBatch, Result, StoreError, Tally};

impl PostgresStore {
    pub(super) async fn apply(
        &self,
        tenant: &TenantId,
        batches: Vec<ChangeBatch>,
    ) -> Result<Vec<Result<Tally>>> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(fault)?;
        let head = transaction
            .prepare_cached(
                "SELECT t.no, h.head, h.version FROM tenants t JOIN heads h ON h.tenant_no = t.no
                 WHERE t.id = $1 FOR UPDATE OF h",
            )
            .await
            .map_err(fault)?;
        let Some(row) = transaction
            .query_opt(&head, &[&tenant.as_str()])
            .await
            .map_err(fault)?
        else {
            let unknown = || StoreError::UnknownTenant(tenant.to_string());
            return Ok(batches.iter().map(|_| Err(unknown())).collect());
        };
        let tenant_no: i64 = row.get(0);
        let ground = Ground::new(unsigned(row.get(1)), Ticks(row.get(2)));
        let ground = load(&transaction, tenant_no, &batches, ground).await?;
        let now = self.ports().clock.now();
        let (plan, tallies) = plan::decide(ground, batches, now, &*self.ports().random);
        write(&transaction, tenant_no, &plan, now).await?;
        transaction.commit().await.map_err(fault)?;
        Ok(tallies)
    }
}

async fn load(
    transaction: &Transaction<'_>,
    tenant_no: i64,
    batches: &[ChangeBatch],
    mut ground: Ground,
) -> Result<Ground> {
    load_records(transaction, tenant_no, Ground::company_keys(batches), &mut ground).await?;
    let keys = ground.record_keys(batches);
    let places = ground.places(batches);
    load_records(transaction, tenant_no, keys, &mut ground).await?;
    load_collections(transaction, tenant_no, places, &mut ground).await?;
    for key in Ground::progress_keys(batches) {
        let find = transaction
            .prepare_cached(
                "SELECT line, hash, process, tally FROM processes WHERE tenant_no = $1 AND idempotency_key = $2",
            )
            .await
            .map_err(fault)?;
        if let Some(row) = transaction
            .query_opt(&find, &[&tenant_no, &key])
            .await
            .map_err(fault)?
        {
            ground.know_progress(key, progress(&row)?);
        }
    }
    Ok(ground)
}

async fn load_records(
    transaction: &Transaction<'_>,
    tenant_no: i64,
    mut keys: Vec<Key>,
    ground: &mut Ground,
) -> Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let companies: Vec<i64> = keys.iter().map(|key| key.place.company_no).collect();
    let resources: Vec<i64> = keys.iter().map(|key| code(key.place.resource)).collect();
    let ids: Vec<&str> = keys.iter().map(|key| &*key.id).collect();
    let find = transaction
        .prepare_cached(
            "SELECT k.at, r.ordinal, r.state, r.version, r.sequence, r.body
             FROM unnest($2::bigint[], $3::bigint[], $4::text[]) WITH ORDINALITY AS k (company_no, resource, id, at)
             JOIN records r ON r.tenant_no = $1 AND r.company_no = k.company_no AND r.resource = k.resource
                 AND r.correlation_id = k.id ORDER BY k.at DESC",
        )
        .await
        .map_err(fault)?;
    let rows = transaction
        .query(&find, &[&tenant_no, &companies, &resources, &ids])
        .await
        .map_err(fault)?;
    // From the last to the first, so that taking one does not move those still to be taken.
    for row in rows {
        let at = usize::try_from(row.get::<_, i64>(0) - 1).unwrap_or(usize::MAX);
        if at >= keys.len() {
            continue;
        }
        let stored = Stored {
            ordinal: unsigned(row.get(1)),
            state: State::by_code(small(row.get(2))),
            version: Ticks(row.get(3)),
            sequence: unsigned(row.get(4)),
            body: row.get(5),
        };
        ground.know_record(keys.swap_remove(at), stored);
    }
    Ok(())
}

async fn load_collections(
    transaction: &Transaction<'_>,
    tenant_no: i64,
    places: Vec<Place>,
    ground: &mut Ground,
) -> Result<()> {
    let companies: Vec<i64> = places.iter().map(|place| place.company_no).collect();
    let resources: Vec<i64> = places.iter().map(|place| code(place.resource)).collect();
    let find = transaction
        .prepare_cached(
            "SELECT k.at, c.next_ordinal, c.live, c.version
             FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS k (company_no, resource, at)
             JOIN collections c ON c.tenant_no = $1 AND c.company_no = k.company_no AND c.resource = k.resource",
        )
        .await
        .map_err(fault)?;
    for row in transaction
        .query(&find, &[&tenant_no, &companies, &resources])
        .await
        .map_err(fault)?
    {
        let at = usize::try_from(row.get::<_, i64>(0) - 1).unwrap_or(usize::MAX);
        if let Some(place) = places.get(at) {
            let (next_ordinal, live) = (unsigned(row.get(1)), unsigned(row.get(2)));
            ground.know_collection(
                *place,
                Collection {
                    next_ordinal,
                    live,
                    version: unsigned(row.get(3)),
                },
            );
        }
    }
    Ok(())
}

async fn write(transaction: &Transaction<'_>, tenant_no: i64, plan: &Plan, now: Ticks) -> Result<()> {
    delete_records(transaction, tenant_no, &plan.deletes).await?;
    tokio::try_join!(
        insert_records(transaction, tenant_no, &plan.inserts),
        update_records(transaction, tenant_no, &plan.updates),
        write_payroll(transaction, tenant_no, plan),
        append(transaction, tenant_no, &plan.log),
        write_collections(transaction, tenant_no, &plan.collections),
        write_gaps(transaction, tenant_no, plan),
        write_progress(transaction, tenant_no, plan, now),
        write_head(transaction, tenant_no, plan),
    )?;
    Ok(())
}

async fn write_head(transaction: &Transaction<'_>, tenant_no: i64, plan: &Plan) -> Result<()> {
    if plan.log.is_empty() {
        return Ok(());
    }
    let update = transaction
        .prepare_cached("UPDATE heads SET head = $2, version = $3 WHERE tenant_no = $1")
        .await
        .map_err(fault)?;
    transaction
        .execute(&update, &[&tenant_no, &signed(plan.head), &plan.version.0])
        .await
        .map_err(fault)?;
    Ok(())
}

async fn delete_records(transaction: &Transaction<'_>, tenant_no: i64, gone: &[(Place, u64)]) -> Result<()> {
    if gone.is_empty() {
        return Ok(());
    }
    let companies: Vec<i64> = gone.iter().map(|(place, _)| place.company_no).collect();
    let resources: Vec<i64> = gone.iter().map(|(place, _)| code(place.resource)).collect();
    let ordinals: Vec<i64> = gone.iter().map(|(_, ordinal)| signed(*ordinal)).collect();
    let delete = transaction
        .prepare_cached(
            "DELETE FROM records r USING unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS k (company_no, resource, ordinal)
             WHERE r.tenant_no = $1 AND r.company_no = k.company_no AND r.resource = k.resource
                 AND r.ordinal = k.ordinal",
        )
        .await
        .map_err(fault)?;
    transaction
        .execute(&delete, &[&tenant_no, &companies, &resources, &ordinals])
        .await
        .map_err(fault)?;
    let payroll: Vec<i64> = gone
        .iter()
        .filter(|(place, _)| place.resource == Resource::payroll_companies())
        .map(|(_, ordinal)| signed(*ordinal))
        .collect();
    if !payroll.is_empty() {
        transaction
            .execute(
                "DELETE FROM payroll_companies WHERE tenant_no = $1 AND ordinal = ANY($2)",
                &[&tenant_no, &payroll],
            )
            .await
            .map_err(fault)?;
    }
    Ok(())
}

async fn insert_records(transaction: &Transaction<'_>, tenant_no: i64, rows: &[Row]) -> Result<()> {
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
        .map_err(fault)?;
    let companies: Vec<i64> = rows.iter().map(|row| row.key.place.company_no).collect();
    let resources: Vec<i64> = rows.iter().map(|row| code(row.key.place.resource)).collect();
    let ordinals: Vec<i64> = rows.iter().map(|row| signed(row.stored.ordinal)).collect();
    let ids: Vec<&str> = rows.iter().map(|row| &*row.key.id).collect();
    let states: Vec<i64> = rows
        .iter()
        .map(|row| i64::from(row.stored.state.code()))
        .collect();
    let versions: Vec<i64> = rows.iter().map(|row| row.stored.version.0).collect();
    let sequences: Vec<i64> = rows.iter().map(|row| signed(row.stored.sequence)).collect();
    let bodies: Vec<&str> = rows.iter().map(|row| row.stored.body.as_str()).collect();
    transaction
        .execute(
            &insert,
            &[
                &tenant_no, &companies, &resources, &ordinals, &ids, &states, &versions, &sequences, &bodies,
            ],
        )
        .await
        .map_err(fault)?;
    Ok(())
}

async fn update_records(transaction: &Transaction<'_>, tenant_no: i64, rows: &[Row]) -> Result<()> {
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
        .map_err(fault)?;
    let companies: Vec<i64> = rows.iter().map(|row| row.key.place.company_no).collect();
    let resources: Vec<i64> = rows.iter().map(|row| code(row.key.place.resource)).collect();
    let ordinals: Vec<i64> = rows.iter().map(|row| signed(row.stored.ordinal)).collect();
    let states: Vec<i64> = rows
        .iter()
        .map(|row| i64::from(row.stored.state.code()))
        .collect();
    let versions: Vec<i64> = rows.iter().map(|row| row.stored.version.0).collect();
    let sequences: Vec<i64> = rows.iter().map(|row| signed(row.stored.sequence)).collect();
    let bodies: Vec<&str> = rows.iter().map(|row| row.stored.body.as_str()).collect();
    transaction
        .execute(
            &update,
            &[
                &tenant_no, &companies, &resources, &ordinals, &states, &versions, &sequences, &bodies,
            ],
        )
        .await
        .map_err(fault)?;
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
    let ordinals: Vec<i64> = rows.iter().map(|(stored, _)| signed(stored.ordinal)).collect();
    let codes: Vec<i64> = rows.iter().map(|(_, company)| company.code).collect();
    let names: Vec<&str> = rows.iter().map(|(_, company)| company.name.as_str()).collect();
    let identifiers: Vec<&str> = rows
        .iter()
        .map(|(_, company)| company.identifier.as_str())
        .collect();
    let updates: Vec<i64> = rows
        .iter()
        .map(|(stored, company)| company.last_update(stored.version).0)
        .collect();
    let upsert = transaction
        .prepare_cached(
            "INSERT INTO payroll_companies (tenant_no, ordinal, code, name, identifier, last_update)
             SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[])
             ON CONFLICT (tenant_no, ordinal) DO UPDATE SET name = excluded.name,
                 identifier = excluded.identifier, last_update = excluded.last_update",
        )
        .await
        .map_err(fault)?;
    transaction
        .execute(
            &upsert,
            &[&tenant_no, &ordinals, &codes, &names, &identifiers, &updates],
        )
        .await
        .map_err(fault)?;
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
        .map_err(fault)?;
    macro_rules! column {
        ($row:ident => $value:expr) => {
            log.iter().map(|$row| $value).collect::<Vec<_>>()
        };
    }
    transaction
        .execute(
            &insert,
            &[
                &tenant_no,
                &column!(row => signed(row.entry.sequence)),
                &column!(row => code(row.entry.resource)),
                &column!(row => i64::from(row.entry.kind.code())),
                &column!(row => row.company_no),
                &column!(row => row.record_key),
                &column!(row => row.entry.version.0),
                &column!(row => row.entry.conversation.as_bytes().as_slice()),
                &column!(row => row.entry.process.as_bytes().as_slice()),
                &column!(row => &*row.entry.company),
                &column!(row => &*row.entry.correlation_id),
                &column!(row => &*row.entry.user),
                &column!(row => &*row.entry.source_interface),
                &column!(row => &*row.entry.source_action),
                &column!(row => row.entry.changes.as_deref()),
                &column!(row => i64::from(row.entry.envelope)),
            ],
        )
        .await
        .map_err(fault)?;
    Ok(())
}

async fn write_collections(
    transaction: &Transaction<'_>,
    tenant_no: i64,
    collections: &[(Place, Collection)],
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
        .map_err(fault)?;
    let companies: Vec<i64> = collections.iter().map(|(place, _)| place.company_no).collect();
    let resources: Vec<i64> = collections
        .iter()
        .map(|(place, _)| code(place.resource))
        .collect();
    let next: Vec<i64> = collections
        .iter()
        .map(|(_, now)| signed(now.next_ordinal))
        .collect();
    let live: Vec<i64> = collections.iter().map(|(_, now)| signed(now.live)).collect();
    let versions: Vec<i64> = collections.iter().map(|(_, now)| signed(now.version)).collect();
    transaction
        .execute(
            &upsert,
            &[&tenant_no, &companies, &resources, &next, &live, &versions],
        )
        .await
        .map_err(fault)?;
    Ok(())
}

async fn write_gaps(transaction: &Transaction<'_>, tenant_no: i64, plan: &Plan) -> Result<()> {
    if !plan.gaps.is_empty() {
        let companies: Vec<i64> = plan.gaps.iter().map(|gap| gap.place.company_no).collect();
        let resources: Vec<i64> = plan.gaps.iter().map(|gap| code(gap.place.resource)).collect();
        let blocks: Vec<i64> = plan.gaps.iter().map(|gap| signed(gap.block)).collect();
        let dead: Vec<i64> = plan.gaps.iter().map(|gap| signed(gap.dead)).collect();
        transaction
            .execute(
                "INSERT INTO gaps (tenant_no, company_no, resource, block, dead)
                 SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
                 ON CONFLICT (tenant_no, company_no, resource, block) DO UPDATE SET dead = gaps.dead + excluded.dead",
                &[&tenant_no, &companies, &resources, &blocks, &dead],
            )
            .await
            .map_err(fault)?;
    }
    if !plan.departed.is_empty() {
        transaction
            .execute(
                "INSERT INTO departed_companies (tenant_no, company_no) SELECT $1, * FROM unnest($2::bigint[])
                 ON CONFLICT DO NOTHING",
                &[&tenant_no, &plan.departed],
            )
            .await
            .map_err(fault)?;
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
        let tally = serde_json::to_string(&progress.tally).map_err(StoreError::internal)?;
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
                    &tally,
                    &now.0,
                ],
            )
            .await
            .map_err(fault)?;
    }
    Ok(())
}
