//! Applies changes in SQLite: has the ground of a plan loaded and writes the plan down.

use domain::{Resource, TenantId, Ticks};
use rusqlite::{Connection, params};

use super::fault;
use super::load::load;
use super::places::{self, Places};
use super::rows::tenant_no;
use crate::plan::{self, LogRow, Place, Plan, Row, signed};
use crate::{BatchCounts, ChangeBatch, Ports, ResourceSet, Result, StoreError};

/// What came of batches, and which logs have grown by what.
pub(super) struct Applied {
    pub(super) counts_by_batch: Vec<Result<BatchCounts>>,
    pub(super) grown: Vec<(TenantId, ResourceSet)>,
}

/// Applies batches of any tenants; batches of one tenant are planned together.
pub(super) fn apply(connection: &Connection, batches: Vec<ChangeBatch>, ports: &Ports) -> Result<Applied> {
    let mut grown = Vec::new();
    let mut counts_by_batch: Vec<Option<Result<BatchCounts>>> = Vec::new();
    counts_by_batch.resize_with(batches.len(), || None);
    let mut waiting: Vec<(usize, ChangeBatch)> = batches.into_iter().enumerate().collect();
    while let Some((_, first)) = waiting.first() {
        let tenant = first.tenant.clone();
        let (ours, others): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, batch)| batch.tenant == tenant);
        waiting = others;
        let (positions, ours): (Vec<_>, Vec<_>) = ours.into_iter().unzip();
        let (resources, ours) = apply_for(connection, &tenant, ours, ports)?;
        for (position, counts) in positions.into_iter().zip(ours) {
            counts_by_batch[position] = Some(counts);
        }
        grown.push((tenant, resources));
    }
    Ok(Applied { counts_by_batch: counts_by_batch.into_iter().flatten().collect(), grown })
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
    let ground = load(connection, tenant_no, &batches)?;
    let now = ports.clock.now();
    let (plan, counts_by_batch) = plan::decide(ground, batches, now, &*ports.random);
    write(connection, tenant_no, &plan, now)?;
    Ok((plan.resources(), counts_by_batch))
}

fn write(connection: &Connection, tenant_no: i64, plan: &Plan, now: Ticks) -> Result<()> {
    plan.collections.iter().try_for_each(|(_, collection)| places::check_room(*collection))?;
    let places = &mut Places::new(connection);
    delete_records(connection, tenant_no, &plan.deletes, places).map_err(fault)?;
    write_records(connection, tenant_no, plan, places).map_err(fault)?;
    write_payroll(connection, tenant_no, plan).map_err(fault)?;
    append(connection, tenant_no, &plan.log).map_err(fault)?;
    write_collections(connection, tenant_no, plan).map_err(fault)?;
    write_progress(connection, tenant_no, plan, now)?;
    if !plan.log.is_empty() {
        connection
            .prepare_cached("UPDATE heads SET head = ?2, version = ?3 WHERE tenant_no = ?1")
            .and_then(|mut head| head.execute(params![tenant_no, signed(plan.head), plan.version.0]))
            .map_err(fault)?;
    }
    Ok(())
}

fn delete_records(
    connection: &Connection,
    tenant_no: i64,
    gone: &[(Place, u64)],
    places: &mut Places<'_>,
) -> rusqlite::Result<()> {
    if gone.is_empty() {
        return Ok(());
    }
    let mut record = connection.prepare_cached("DELETE FROM records WHERE row = ?1")?;
    let mut payroll =
        connection.prepare_cached("DELETE FROM payroll_companies WHERE tenant_no = ?1 AND ordinal = ?2")?;
    for (place, ordinal) in gone {
        record.execute([places.row((tenant_no, place.company_no, place.resource.code()), *ordinal)?])?;
        if place.resource == Resource::payroll_companies() {
            payroll.execute(params![tenant_no, signed(*ordinal)])?;
        }
    }
    Ok(())
}

fn write_records(
    connection: &Connection,
    tenant_no: i64,
    plan: &Plan,
    places: &mut Places<'_>,
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO records (row, tenant_no, company_no, resource, ordinal, correlation_id, state, version, sequence, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    let mut row =
        |place: Place, ordinal| places.row((tenant_no, place.company_no, place.resource.code()), ordinal);
    for Row { key, stored, .. } in &plan.inserts {
        insert.execute(params![
            row(key.place, stored.ordinal)?,
            tenant_no,
            key.place.company_no,
            key.place.resource.code(),
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
    for Row { key, stored, .. } in &plan.updates {
        update.execute(params![
            row(key.place, stored.ordinal)?,
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
    for Row { stored, payroll: company, .. } in plan.inserts.iter().chain(&plan.updates) {
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
    let mut collection = connection.prepare_cached(
        "INSERT INTO collections (tenant_no, company_no, resource, next_ordinal, live, version)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (tenant_no, company_no, resource) DO UPDATE SET
             next_ordinal = excluded.next_ordinal, live = excluded.live, version = excluded.version",
    )?;
    for (place, now) in &plan.collections {
        collection.execute(params![
            tenant_no,
            place.company_no,
            place.resource.code(),
            signed(now.next_ordinal),
            signed(now.live),
            signed(now.version),
        ])?;
    }
    let mut gap = connection.prepare_cached(
        "INSERT INTO gaps (tenant_no, company_no, resource, block, dead) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (tenant_no, company_no, resource, block) DO UPDATE SET dead = dead + excluded.dead",
    )?;
    for one in &plan.gaps {
        gap.execute(params![
            tenant_no,
            one.place.company_no,
            one.place.resource.code(),
            signed(one.block),
            signed(one.dead),
        ])?;
    }
    let mut departed = connection
        .prepare_cached("INSERT OR IGNORE INTO departed_companies (tenant_no, company_no) VALUES (?1, ?2)")?;
    for company_no in &plan.departed {
        departed.execute([tenant_no, *company_no])?;
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
            .and_then(|mut keep| {
                keep.execute(params![
                    tenant_no,
                    key,
                    signed(progress.line),
                    progress.hash,
                    progress.process.as_bytes(),
                    counts,
                    now.0
                ])
            })
            .map_err(fault)?;
    }
    Ok(())
}
