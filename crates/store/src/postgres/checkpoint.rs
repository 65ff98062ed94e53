//! Writes a checkpoint of the delivery engine in PostgreSQL: holds the leases and the webhooks, has the points judged,
//! and writes what is left of them as arrays, whatever their number.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use domain::WebhookId;
use tokio_postgres::Row;

use super::audit::add_record;
use super::hook_rows::{disabled, event_gap, handshake};
use super::rows::{column, execute, guid, rows};
use super::webhooks::renew_lanes;
use super::{PostgresStore, fault};
use crate::plan::{signed, unsigned};
use crate::webhooks::{Ledger, Pack, Position, Whose, nanos, pack, settle};
use crate::{AttemptRecord, CheckpointResult, Lane, Result, WebhookCheckpoint, shard_of};

fn position(row: &Row, fences: &HashMap<i64, i64>) -> Result<(WebhookId, Position)> {
    let shard: i64 = row.get(12);
    let position = Position {
        tenant_no: row.get(0),
        fence: fences.get(&shard).copied().unwrap_or(0),
        revision: unsigned(row.get(1)),
        cursor: row.get::<_, Option<i64>>(2).map(unsigned),
        handshake: handshake(row, 3),
        disabled: disabled(row, 9),
        initial_cursor: row.get::<_, Option<i64>>(16).map(unsigned),
        event_gap: event_gap(row, 13),
    };
    Ok((guid(row, 11)?, position))
}

/// How the webhooks stand, and stay until the end of the transaction; so do the leases of their shards.
async fn positions(
    on: &Transaction<'_>,
    points: &[WebhookCheckpoint],
) -> Result<HashMap<WebhookId, Position>> {
    let mut ids: Vec<WebhookId> = points.iter().map(|point| point.webhook).collect();
    ids.sort_unstable();
    ids.dedup();
    let shards: Vec<i64> = ids.iter().map(|id| i64::from(shard_of(*id))).collect();
    let leases = rows(
        on,
        "SELECT shard, fence FROM shard_leases WHERE shard = ANY($1) ORDER BY shard FOR SHARE",
        &[&shards],
    )
    .await?;
    let fences = leases.iter().map(|row| (row.get(0), row.get(1))).collect();
    let found = rows(
        on,
        "SELECT w.tenant_no, w.revision, w.cursor, w.handshake, w.handshake_at, w.handshake_accepted,
             w.handshake_attempts, w.handshake_failed_at, w.handshake_next_at, w.disabled_at, w.disabled_why, w.id,
             w.shard, w.lost_at, w.lost_after, w.lost_upto, w.began
         FROM webhooks w JOIN tenants t ON t.no = w.tenant_no WHERE w.id = ANY($1) ORDER BY w.id FOR UPDATE OF w",
        &[&column(&ids, |id| id.as_bytes().as_slice())],
    )
    .await?;
    found.iter().map(|row| position(row, &fences)).collect()
}

impl PostgresStore {
    pub(super) async fn write_points(&self, points: Vec<WebhookCheckpoint>) -> Result<Vec<CheckpointResult>> {
        let ports = self.ports();
        let now = ports.clock.now();
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(fault)?;
        let positions = positions(&transaction, &points).await?;
        let mut ledger = settle(points, positions, now);
        if !ledger.renewed.is_empty() {
            let renewed: Vec<_> = ledger.renewed.iter().map(|one| (one.tenant_no, one.webhook)).collect();
            renew_lanes(&transaction, &renewed, now).await?;
        }
        let packs: Vec<(Whose, Pack)> = std::mem::take(&mut ledger.delivered)
            .into_iter()
            .flat_map(|(whose, delivered)| pack(delivered).into_iter().map(move |pack| (whose, pack)))
            .collect();
        tokio::try_join!(
            write_webhooks(&transaction, &ledger),
            write_lanes(&transaction, &ledger),
            write_replays(&transaction, &ledger),
            write_attempts(&transaction, &ledger.attempts),
            write_delivered(&transaction, &packs),
        )?;
        for entry in ledger.audit {
            add_record(&transaction, &*ports.random, entry).await?;
        }
        transaction.commit().await.map_err(fault)?;
        Ok(ledger.verdicts)
    }
}

fn id(whose: &Whose) -> &[u8] {
    whose.webhook.as_bytes().as_slice()
}

async fn write_webhooks(on: &Transaction<'_>, ledger: &Ledger) -> Result<()> {
    if ledger.changed.is_empty() {
        return Ok(());
    }
    let all: Vec<(&Whose, &Position)> = ledger.changed.iter().collect();
    execute(
        on,
        "UPDATE webhooks w SET cursor = k.cursor, handshake_accepted = k.accepted, handshake_attempts = k.attempts,
             handshake_failed_at = k.failed_at, handshake_next_at = k.next_at, disabled_at = k.disabled_at,
             disabled_why = k.disabled_why, lost_at = k.lost_at, lost_after = k.lost_after, lost_upto = k.lost_upto,
             began = k.began
         FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
             $8::bigint[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[])
             AS k (tenant_no, id, cursor, accepted, attempts, failed_at, next_at, disabled_at, disabled_why, lost_at,
                 lost_after, lost_upto, began)
         WHERE w.tenant_no = k.tenant_no AND w.id = k.id",
        &[
            &column(&all, |(whose, _)| whose.tenant_no),
            &column(&all, |(whose, _)| id(whose)),
            &column(&all, |(_, one)| one.cursor.map(signed)),
            &column(&all, |(_, one)| i64::from(one.handshake.accepted)),
            &column(&all, |(_, one)| one.handshake.retry.map(|retry| i64::from(retry.attempts))),
            &column(&all, |(_, one)| one.handshake.retry.map(|retry| retry.first_failed_at.0)),
            &column(&all, |(_, one)| one.handshake.retry.map(|retry| retry.next_at.0)),
            &column(&all, |(_, one)| one.disabled.as_ref().map(|disabled| disabled.at.0)),
            &column(&all, |(_, one)| one.disabled.as_ref().map(|disabled| disabled.reason.as_str())),
            &column(&all, |(_, one)| one.event_gap.map(|event_gap| event_gap.at.0)),
            &column(&all, |(_, one)| one.event_gap.map(|event_gap| signed(event_gap.after))),
            &column(&all, |(_, one)| one.event_gap.map(|event_gap| signed(event_gap.through))),
            &column(&all, |(_, one)| one.initial_cursor.map(signed)),
        ],
    )
    .await
    .map_err(fault)?;
    Ok(())
}

async fn write_lanes(on: &Transaction<'_>, ledger: &Ledger) -> Result<()> {
    let parked: Vec<(&Whose, &Lane)> =
        ledger.lanes.iter().filter_map(|((whose, _), lane)| Some((whose, lane.as_ref()?))).collect();
    let cleared: Vec<&(Whose, i64)> =
        ledger.lanes.iter().filter(|(_, lane)| lane.is_none()).map(|(place, _)| place).collect();
    if !parked.is_empty() {
        execute(
            on,
            "INSERT INTO lanes (tenant_no, webhook, record_key, sequence, attempts, first_failed_at, next_at)
             SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                 $7::bigint[])
             ON CONFLICT (tenant_no, webhook, record_key) DO UPDATE SET sequence = excluded.sequence,
                 attempts = excluded.attempts, first_failed_at = excluded.first_failed_at, next_at = excluded.next_at",
            &[
                &column(&parked, |(whose, _)| whose.tenant_no),
                &column(&parked, |(whose, _)| id(whose)),
                &column(&parked, |(_, lane)| lane.record_key),
                &column(&parked, |(_, lane)| signed(lane.sequence)),
                &column(&parked, |(_, lane)| i64::from(lane.retry.attempts)),
                &column(&parked, |(_, lane)| lane.retry.first_failed_at.0),
                &column(&parked, |(_, lane)| lane.retry.next_at.0),
            ],
        )
        .await
        .map_err(fault)?;
    }
    if !cleared.is_empty() {
        execute(
            on,
            "DELETE FROM lanes n USING unnest($1::bigint[], $2::bytea[], $3::bigint[]) AS k (tenant_no, webhook, record_key)
             WHERE n.tenant_no = k.tenant_no AND n.webhook = k.webhook AND n.record_key = k.record_key",
            &[
                &column(&cleared, |(whose, _)| whose.tenant_no),
                &column(&cleared, |(whose, _)| id(whose)),
                &column(&cleared, |(_, record_key)| *record_key),
            ],
        )
        .await
        .map_err(fault)?;
    }
    Ok(())
}

async fn write_replays(on: &Transaction<'_>, ledger: &Ledger) -> Result<()> {
    if ledger.replays.is_empty() {
        return Ok(());
    }
    let all: Vec<_> = ledger.replays.iter().collect();
    execute(
        on,
        "UPDATE replays r SET position = greatest(r.position, k.position), delivered = k.delivered, failed = k.failed,
             is_done = k.is_done
         FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
             AS k (tenant_no, webhook, number, position, delivered, failed, is_done)
         WHERE r.tenant_no = k.tenant_no AND r.webhook = k.webhook AND r.number = k.number",
        &[
            &column(&all, |((whose, _), _)| whose.tenant_no),
            &column(&all, |((whose, _), _)| id(whose)),
            &column(&all, |((_, number), _)| *number),
            &column(&all, |(_, step)| signed(step.position)),
            &column(&all, |(_, step)| signed(step.delivered)),
            &column(&all, |(_, step)| signed(step.failed)),
            &column(&all, |(_, step)| i64::from(step.is_done)),
        ],
    )
    .await
    .map_err(fault)?;
    Ok(())
}

async fn write_attempts(on: &Transaction<'_>, all: &[(Whose, AttemptRecord)]) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    // A checkpoint that is written again, its answer being lost, tells nothing twice.
    execute(
        on,
        "INSERT INTO attempts (tenant_no, webhook, at, sequence, occasion, number, handshake, status, succeeded, reason,
             excerpt, resolve_ns, connect_ns, tls_ns, wait_ns, total_ns)
         SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
             $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::bigint[], $13::bigint[],
             $14::bigint[], $15::bigint[], $16::bigint[])
         ON CONFLICT DO NOTHING",
        &[
            &column(all, |(whose, _)| whose.tenant_no),
            &column(all, |(whose, _)| id(whose)),
            &column(all, |(_, one)| one.at.0),
            &column(all, |(_, one)| signed(one.purpose.sequence())),
            &column(all, |(_, one)| one.purpose.code()),
            &column(all, |(_, one)| i64::from(one.number)),
            &column(all, |(_, one)| one.purpose.handshake()),
            &column(all, |(_, one)| one.status.map(i64::from)),
            &column(all, |(_, one)| i64::from(one.succeeded)),
            &column(all, |(_, one)| one.reason.as_str()),
            &column(all, |(_, one)| one.excerpt.as_str()),
            &column(all, |(_, one)| nanos(one.timing.resolve)),
            &column(all, |(_, one)| nanos(one.timing.connect)),
            &column(all, |(_, one)| nanos(one.timing.tls)),
            &column(all, |(_, one)| nanos(one.timing.wait)),
            &column(all, |(_, one)| nanos(one.timing.total)),
        ],
    )
    .await
    .map_err(fault)?;
    Ok(())
}

async fn write_delivered(on: &Transaction<'_>, all: &[(Whose, Pack)]) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    execute(
        on,
        "INSERT INTO delivered (tenant_no, webhook, last_at, last_sequence, first_sequence, first_at, events, packed)
         SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
             $7::bigint[], $8::bytea[])
         ON CONFLICT DO NOTHING",
        &[
            &column(all, |(whose, _)| whose.tenant_no),
            &column(all, |(whose, _)| id(whose)),
            &column(all, |(_, one)| one.last_at.0),
            &column(all, |(_, one)| signed(one.last_sequence)),
            &column(all, |(_, one)| signed(one.first_sequence)),
            &column(all, |(_, one)| one.first_at.0),
            &column(all, |(_, one)| signed(one.events)),
            &column(all, |(_, one)| one.packed.as_slice()),
        ],
    )
    .await
    .map_err(fault)?;
    Ok(())
}
