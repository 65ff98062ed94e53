//! Writes checkpoints of the delivery engine in SQLite: reads the webhooks, decides, and writes the results.

use std::collections::HashMap;

use domain::{Ticks, WebhookId};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::notices::insert_webhook_notices;
use super::rows::parse;
use super::store_error;
use super::webhooks::reset_lanes;
use crate::plan::signed;
use crate::webhooks::{CheckpointWrites, DeliveryState, WebhookKey, decide_checkpoints, nanos, pack};
use crate::{AttemptRecord, CheckpointResult, Ports, Result, WebhookCheckpoint};

fn delivery_states(
    writer: &Connection,
    checkpoints: &[WebhookCheckpoint],
) -> rusqlite::Result<HashMap<WebhookId, DeliveryState>> {
    let mut find = writer.prepare_cached(
        "SELECT w.tenant_no, l.fence, w.revision, w.cursor, w.handshake, w.handshake_at, w.handshake_accepted,
             w.handshake_attempts, w.handshake_failed_at, w.handshake_next_at, w.disabled_at, w.disabled_why,
             w.lost_at, w.lost_after, w.lost_upto, w.began, w.suspended_at, w.handshake_asked_at,
             w.handshake_while_disabled
         FROM webhooks w JOIN tenants t ON t.no = w.tenant_no JOIN shard_leases l ON l.shard = w.shard
         WHERE w.id = ?1",
    )?;
    let mut found = HashMap::with_capacity(checkpoints.len());
    for checkpoint in checkpoints {
        if let Some(one) = find.query_row([checkpoint.webhook.as_bytes()], parse).optional()? {
            found.insert(checkpoint.webhook, one);
        }
    }
    Ok(found)
}

pub(super) fn write(
    writer: &Connection,
    ports: &Ports,
    checkpoints: Vec<WebhookCheckpoint>,
) -> Result<Vec<CheckpointResult>> {
    let now = ports.clock.now();
    let delivery_states = delivery_states(writer, &checkpoints).map_err(store_error)?;
    let mut writes = decide_checkpoints(checkpoints, delivery_states, now);
    for key in &writes.lane_resets {
        reset_lanes(writer, key.tenant_no, key.webhook, now)?;
    }
    write_webhooks(writer, &writes).map_err(store_error)?;
    write_lanes(writer, &writes).map_err(store_error)?;
    write_replays(writer, &writes).map_err(store_error)?;
    write_attempts(writer, &writes.attempts).map_err(store_error)?;
    write_delivered(writer, std::mem::take(&mut writes.delivered)).map_err(store_error)?;
    insert_webhook_notices(writer, &*ports.random, &writes.notices, now)?;
    for entry in writes.audit {
        append_audit(writer, &*ports.random, entry)?;
    }
    Ok(writes.results)
}

fn write_webhooks(writer: &Connection, writes: &CheckpointWrites) -> rusqlite::Result<()> {
    let mut update = writer.prepare_cached(
        "UPDATE webhooks SET cursor = ?3, handshake_accepted = ?4, handshake_attempts = ?5,
             handshake_failed_at = ?6, handshake_next_at = ?7, disabled_at = ?8, disabled_why = ?9, lost_at = ?10,
             lost_after = ?11, lost_upto = ?12, began = ?13, suspended_at = ?14, handshake_asked_at = ?15
         WHERE tenant_no = ?1 AND id = ?2",
    )?;
    for (key, one) in &writes.changed {
        let retry = one.handshake.retry;
        update.execute(params![
            key.tenant_no,
            key.webhook.as_bytes(),
            one.cursor.map(signed),
            one.handshake.accepted,
            retry.map(|retry| retry.attempts),
            retry.map(|retry| retry.first_failed_at.0),
            retry.map(|retry| retry.next_at.0),
            one.disabled.as_ref().map(|disabled| disabled.at.0),
            one.disabled.as_ref().map(|disabled| &disabled.reason),
            one.event_gap.map(|event_gap| event_gap.at.0),
            one.event_gap.map(|event_gap| signed(event_gap.after)),
            one.event_gap.map(|event_gap| signed(event_gap.through)),
            one.initial_cursor.map(signed),
            one.suspended_at.map(|at| at.0),
            one.handshake.asked_at.map(|at| at.0)
        ])?;
    }
    Ok(())
}

fn write_lanes(writer: &Connection, writes: &CheckpointWrites) -> rusqlite::Result<()> {
    let mut park = writer.prepare_cached(
        "INSERT INTO lanes (tenant_no, webhook, record_key, sequence, attempts, first_failed_at, next_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (tenant_no, webhook, record_key) DO UPDATE SET sequence = excluded.sequence,
             attempts = excluded.attempts, first_failed_at = excluded.first_failed_at, next_at = excluded.next_at",
    )?;
    let mut clear = writer
        .prepare_cached("DELETE FROM lanes WHERE tenant_no = ?1 AND webhook = ?2 AND record_key = ?3")?;
    for ((key, record_key), lane) in &writes.lanes {
        let webhook = key.webhook.as_bytes();
        match lane {
            None => clear.execute(params![key.tenant_no, webhook, record_key])?,
            Some(lane) => park.execute(params![
                key.tenant_no,
                webhook,
                record_key,
                signed(lane.sequence),
                lane.retry.attempts,
                lane.retry.first_failed_at.0,
                lane.retry.next_at.0
            ])?,
        };
    }
    Ok(())
}

fn write_replays(writer: &Connection, writes: &CheckpointWrites) -> rusqlite::Result<()> {
    let mut update = writer.prepare_cached(
        "UPDATE replays SET position = max(position, ?4), delivered = ?5, failed = ?6, is_done = ?7
         WHERE tenant_no = ?1 AND webhook = ?2 AND number = ?3",
    )?;
    for ((key, number), step) in &writes.replays {
        update.execute(params![
            key.tenant_no,
            key.webhook.as_bytes(),
            number,
            signed(step.position),
            signed(step.delivered),
            signed(step.failed),
            step.is_done
        ])?;
    }
    Ok(())
}

fn write_attempts(writer: &Connection, attempts: &[(WebhookKey, AttemptRecord)]) -> rusqlite::Result<()> {
    // A checkpoint may be written twice if its response was lost; the same attempt is recorded once.
    let mut insert = writer.prepare_cached(
        "INSERT INTO attempts (tenant_no, webhook, at, sequence, occasion, number, handshake, status, succeeded,
             reason, excerpt, resolve_ns, connect_ns, tls_ns, wait_ns, total_ns)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) ON CONFLICT DO NOTHING",
    )?;
    for (key, one) in attempts {
        insert.execute(params![
            key.tenant_no,
            key.webhook.as_bytes(),
            one.at.0,
            signed(one.purpose.sequence()),
            one.purpose.code(),
            one.number,
            one.purpose.handshake(),
            one.status,
            one.succeeded,
            one.reason,
            one.excerpt,
            nanos(one.timing.resolve),
            nanos(one.timing.connect),
            nanos(one.timing.tls),
            nanos(one.timing.wait),
            nanos(one.timing.total)
        ])?;
    }
    Ok(())
}

fn write_delivered(
    writer: &Connection,
    delivered: Vec<(WebhookKey, Vec<crate::SuccessfulDelivery>)>,
) -> rusqlite::Result<()> {
    let mut insert = writer.prepare_cached(
        "INSERT INTO delivered (tenant_no, webhook, last_at, last_sequence, first_sequence, first_at, events, packed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
    )?;
    for (key, delivered) in delivered {
        for one in pack(delivered) {
            let (Ticks(last_at), Ticks(first_at)) = (one.last_at, one.first_at);
            insert.execute(params![
                key.tenant_no,
                key.webhook.as_bytes(),
                last_at,
                signed(one.last_sequence),
                signed(one.first_sequence),
                first_at,
                signed(one.events),
                one.packed
            ])?;
        }
    }
    Ok(())
}
