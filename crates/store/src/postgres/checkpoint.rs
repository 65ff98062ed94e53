//! Writes checkpoints of the delivery engine in PostgreSQL: locks the leases and the webhooks, decides, and
//! writes the results as arrays in a fixed number of statements.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use domain::WebhookId;
use tokio_postgres::Row;

use super::audit::append_audit;
use super::notices::insert_webhook_notices;
use super::rows::{column, execute, parse, rows};
use super::webhooks::reset_lanes;
use super::{PostgresStore, first_failure, store_error};
use crate::plan::signed;
use crate::rows::Columns;
use crate::webhooks::{CheckpointWrites, DeliveryState, Pack, WebhookKey, decide_checkpoints, nanos, pack};
use crate::{AttemptRecord, CheckpointResult, Lane, Result, WebhookCheckpoint, shard_of};

fn delivery_state(row: &Row, fences: &HashMap<i64, i64>) -> Result<(WebhookId, DeliveryState)> {
    let fence = fences.get(&row.read("shard")?).copied().unwrap_or(0);
    Ok((row.read("id")?, DeliveryState { fence, ..parse(row)? }))
}

/// Reads and locks the webhooks and the leases of their shards until the transaction ends.
async fn delivery_states(
    on: &Transaction<'_>,
    checkpoints: &[WebhookCheckpoint],
) -> Result<HashMap<WebhookId, DeliveryState>> {
    let mut ids: Vec<WebhookId> = checkpoints.iter().map(|checkpoint| checkpoint.webhook).collect();
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
        "SELECT w.tenant_no, 0::bigint AS fence, w.revision, w.cursor, w.handshake, w.handshake_at, w.handshake_accepted,
             w.handshake_attempts, w.handshake_failed_at, w.handshake_next_at, w.disabled_at, w.disabled_why, w.id,
             w.shard, w.lost_at, w.lost_after, w.lost_upto, w.began, w.suspended_at, w.handshake_asked_at,
             w.handshake_while_disabled
         FROM webhooks w JOIN tenants t ON t.no = w.tenant_no WHERE w.id = ANY($1) ORDER BY w.id FOR UPDATE OF w",
        &[&column(&ids, |id| id.as_bytes().as_slice())],
    )
    .await?;
    found.iter().map(|row| delivery_state(row, &fences)).collect()
}

impl PostgresStore {
    pub(super) async fn write_checkpoints(
        &self,
        checkpoints: Vec<WebhookCheckpoint>,
    ) -> Result<Vec<CheckpointResult>> {
        let ports = self.ports();
        let now = ports.clock.now();
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let delivery_states = delivery_states(&transaction, &checkpoints).await?;
        let mut writes = decide_checkpoints(checkpoints, delivery_states, now);
        if !writes.lane_resets.is_empty() {
            let lane_resets: Vec<_> =
                writes.lane_resets.iter().map(|one| (one.tenant_no, one.webhook)).collect();
            reset_lanes(&transaction, &lane_resets, now).await?;
        }
        let packs: Vec<(WebhookKey, Pack)> = std::mem::take(&mut writes.delivered)
            .into_iter()
            .flat_map(|(key, delivered)| pack(delivered).into_iter().map(move |pack| (key, pack)))
            .collect();
        let (webhooks, lanes, replays, attempts, delivered) = tokio::join!(
            write_webhooks(&transaction, &writes),
            write_lanes(&transaction, &writes),
            write_replays(&transaction, &writes),
            write_attempts(&transaction, &writes.attempts),
            write_delivered(&transaction, &packs),
        );
        first_failure([webhooks, lanes, replays, attempts, delivered])?;
        insert_webhook_notices(&transaction, &*ports.random, &writes.notices, now).await?;
        for entry in writes.audit {
            append_audit(&transaction, &*ports.random, entry).await?;
        }
        transaction.commit().await.map_err(store_error)?;
        Ok(writes.results)
    }
}

fn id(key: &WebhookKey) -> &[u8] {
    key.webhook.as_bytes().as_slice()
}

async fn write_webhooks(on: &Transaction<'_>, writes: &CheckpointWrites) -> Result<()> {
    if writes.changed.is_empty() {
        return Ok(());
    }
    let all: Vec<(&WebhookKey, &DeliveryState)> = writes.changed.iter().collect();
    execute(
        on,
        "UPDATE webhooks w SET cursor = k.cursor, handshake_accepted = k.accepted, handshake_attempts = k.attempts,
             handshake_failed_at = k.failed_at, handshake_next_at = k.next_at, disabled_at = k.disabled_at,
             disabled_why = k.disabled_why, lost_at = k.lost_at, lost_after = k.lost_after, lost_upto = k.lost_upto,
             began = k.began, suspended_at = k.suspended_at, handshake_asked_at = k.asked_at
         FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
             $8::bigint[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[],
             $15::bigint[])
             AS k (tenant_no, id, cursor, accepted, attempts, failed_at, next_at, disabled_at, disabled_why, lost_at,
                 lost_after, lost_upto, began, suspended_at, asked_at)
         WHERE w.tenant_no = k.tenant_no AND w.id = k.id",
        &[
            &column(&all, |(key, _)| key.tenant_no),
            &column(&all, |(key, _)| id(key)),
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
            &column(&all, |(_, one)| one.suspended_at.map(|at| at.0)),
            &column(&all, |(_, one)| one.handshake.asked_at.map(|at| at.0)),
        ],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}

async fn write_lanes(on: &Transaction<'_>, writes: &CheckpointWrites) -> Result<()> {
    let parked: Vec<(&WebhookKey, &Lane)> =
        writes.lanes.iter().filter_map(|((key, _), lane)| Some((key, lane.as_ref()?))).collect();
    let cleared: Vec<&(WebhookKey, i64)> =
        writes.lanes.iter().filter(|(_, lane)| lane.is_none()).map(|(key, _)| key).collect();
    if !parked.is_empty() {
        execute(
            on,
            "INSERT INTO lanes (tenant_no, webhook, record_key, sequence, attempts, first_failed_at, next_at)
             SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                 $7::bigint[])
             ON CONFLICT (tenant_no, webhook, record_key) DO UPDATE SET sequence = excluded.sequence,
                 attempts = excluded.attempts, first_failed_at = excluded.first_failed_at, next_at = excluded.next_at",
            &[
                &column(&parked, |(key, _)| key.tenant_no),
                &column(&parked, |(key, _)| id(key)),
                &column(&parked, |(_, lane)| lane.record_key),
                &column(&parked, |(_, lane)| signed(lane.sequence)),
                &column(&parked, |(_, lane)| i64::from(lane.retry.attempts)),
                &column(&parked, |(_, lane)| lane.retry.first_failed_at.0),
                &column(&parked, |(_, lane)| lane.retry.next_at.0),
            ],
        )
        .await
        .map_err(store_error)?;
    }
    if !cleared.is_empty() {
        execute(
            on,
            "DELETE FROM lanes n USING unnest($1::bigint[], $2::bytea[], $3::bigint[]) AS k (tenant_no, webhook, record_key)
             WHERE n.tenant_no = k.tenant_no AND n.webhook = k.webhook AND n.record_key = k.record_key",
            &[
                &column(&cleared, |(key, _)| key.tenant_no),
                &column(&cleared, |(key, _)| id(key)),
                &column(&cleared, |(_, record_key)| *record_key),
            ],
        )
        .await
        .map_err(store_error)?;
    }
    Ok(())
}

async fn write_replays(on: &Transaction<'_>, writes: &CheckpointWrites) -> Result<()> {
    if writes.replays.is_empty() {
        return Ok(());
    }
    let all: Vec<_> = writes.replays.iter().collect();
    execute(
        on,
        "UPDATE replays r SET position = greatest(r.position, k.position), delivered = k.delivered, failed = k.failed,
             is_done = k.is_done
         FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
             AS k (tenant_no, webhook, number, position, delivered, failed, is_done)
         WHERE r.tenant_no = k.tenant_no AND r.webhook = k.webhook AND r.number = k.number",
        &[
            &column(&all, |((key, _), _)| key.tenant_no),
            &column(&all, |((key, _), _)| id(key)),
            &column(&all, |((_, number), _)| *number),
            &column(&all, |(_, step)| signed(step.position)),
            &column(&all, |(_, step)| signed(step.delivered)),
            &column(&all, |(_, step)| signed(step.failed)),
            &column(&all, |(_, step)| i64::from(step.is_done)),
        ],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}

async fn write_attempts(on: &Transaction<'_>, all: &[(WebhookKey, AttemptRecord)]) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    // A checkpoint may be written twice if its response was lost; the same attempt is recorded once.
    execute(
        on,
        "INSERT INTO attempts (tenant_no, webhook, at, sequence, occasion, number, handshake, status, succeeded, reason,
             excerpt, resolve_ns, connect_ns, tls_ns, wait_ns, total_ns)
         SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
             $7::bigint[], $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::bigint[], $13::bigint[],
             $14::bigint[], $15::bigint[], $16::bigint[])
         ON CONFLICT DO NOTHING",
        &[
            &column(all, |(key, _)| key.tenant_no),
            &column(all, |(key, _)| id(key)),
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
    .map_err(store_error)?;
    Ok(())
}

async fn write_delivered(on: &Transaction<'_>, all: &[(WebhookKey, Pack)]) -> Result<()> {
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
            &column(all, |(key, _)| key.tenant_no),
            &column(all, |(key, _)| id(key)),
            &column(all, |(_, one)| one.last_at.0),
            &column(all, |(_, one)| signed(one.last_sequence)),
            &column(all, |(_, one)| signed(one.first_sequence)),
            &column(all, |(_, one)| one.first_at.0),
            &column(all, |(_, one)| signed(one.events)),
            &column(all, |(_, one)| one.packed.as_slice()),
        ],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}
