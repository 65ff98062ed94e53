//! Writes a checkpoint of the delivery engine in SQLite: reads how the webhooks stand, has the points judged, and
//! writes what is left of them.

use std::collections::HashMap;

use domain::{Ticks, WebhookId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::audit::add_record;
use super::fault;
use super::hook_rows::{disabled, event_gap, handshake};
use super::webhooks::renew_lanes;
use crate::plan::{signed, unsigned};
use crate::webhooks::{Ledger, Position, Whose, nanos, pack, settle};
use crate::{AttemptRecord, CheckpointResult, Ports, Result, WebhookCheckpoint};

fn position(row: &Row<'_>) -> rusqlite::Result<Position> {
    Ok(Position {
        tenant_no: row.get(0)?,
        fence: row.get(1)?,
        revision: unsigned(row.get(2)?),
        cursor: row.get::<_, Option<i64>>(3)?.map(unsigned),
        handshake: handshake(row, 4)?,
        disabled: disabled(row, 10)?,
        initial_cursor: row.get::<_, Option<i64>>(15)?.map(unsigned),
        event_gap: event_gap(row, 12)?,
    })
}

fn positions(
    writer: &Connection,
    points: &[WebhookCheckpoint],
) -> rusqlite::Result<HashMap<WebhookId, Position>> {
    let mut find = writer.prepare_cached(
        "SELECT w.tenant_no, l.fence, w.revision, w.cursor, w.handshake, w.handshake_at, w.handshake_accepted,
             w.handshake_attempts, w.handshake_failed_at, w.handshake_next_at, w.disabled_at, w.disabled_why,
             w.lost_at, w.lost_after, w.lost_upto, w.began
         FROM webhooks w JOIN tenants t ON t.no = w.tenant_no JOIN shard_leases l ON l.shard = w.shard
         WHERE w.id = ?1",
    )?;
    let mut found = HashMap::with_capacity(points.len());
    for point in points {
        if let Some(one) = find.query_row([point.webhook.as_bytes()], position).optional()? {
            found.insert(point.webhook, one);
        }
    }
    Ok(found)
}

pub(super) fn write(
    writer: &Connection,
    ports: &Ports,
    points: Vec<WebhookCheckpoint>,
) -> Result<Vec<CheckpointResult>> {
    let now = ports.clock.now();
    let positions = positions(writer, &points).map_err(fault)?;
    let mut ledger = settle(points, positions, now);
    for whose in &ledger.renewed {
        renew_lanes(writer, whose.tenant_no, whose.webhook, now)?;
    }
    write_webhooks(writer, &ledger).map_err(fault)?;
    write_lanes(writer, &ledger).map_err(fault)?;
    write_replays(writer, &ledger).map_err(fault)?;
    write_attempts(writer, &ledger.attempts).map_err(fault)?;
    write_delivered(writer, std::mem::take(&mut ledger.delivered)).map_err(fault)?;
    for entry in ledger.audit {
        add_record(writer, &*ports.random, entry)?;
    }
    Ok(ledger.verdicts)
}

fn write_webhooks(writer: &Connection, ledger: &Ledger) -> rusqlite::Result<()> {
    let mut update = writer.prepare_cached(
        "UPDATE webhooks SET cursor = ?3, handshake_accepted = ?4, handshake_attempts = ?5,
             handshake_failed_at = ?6, handshake_next_at = ?7, disabled_at = ?8, disabled_why = ?9, lost_at = ?10,
             lost_after = ?11, lost_upto = ?12, began = ?13
         WHERE tenant_no = ?1 AND id = ?2",
    )?;
    for (whose, one) in &ledger.changed {
        let retry = one.handshake.retry;
        update.execute(params![
            whose.tenant_no,
            whose.webhook.as_bytes(),
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
            one.initial_cursor.map(signed)
        ])?;
    }
    Ok(())
}

fn write_lanes(writer: &Connection, ledger: &Ledger) -> rusqlite::Result<()> {
    let mut park = writer.prepare_cached(
        "INSERT INTO lanes (tenant_no, webhook, record_key, sequence, attempts, first_failed_at, next_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (tenant_no, webhook, record_key) DO UPDATE SET sequence = excluded.sequence,
             attempts = excluded.attempts, first_failed_at = excluded.first_failed_at, next_at = excluded.next_at",
    )?;
    let mut clear = writer
        .prepare_cached("DELETE FROM lanes WHERE tenant_no = ?1 AND webhook = ?2 AND record_key = ?3")?;
    for ((whose, record_key), lane) in &ledger.lanes {
        let webhook = whose.webhook.as_bytes();
        match lane {
            None => clear.execute(params![whose.tenant_no, webhook, record_key])?,
            Some(lane) => park.execute(params![
                whose.tenant_no,
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

fn write_replays(writer: &Connection, ledger: &Ledger) -> rusqlite::Result<()> {
    let mut update = writer.prepare_cached(
        "UPDATE replays SET position = max(position, ?4), delivered = ?5, failed = ?6, is_done = ?7
         WHERE tenant_no = ?1 AND webhook = ?2 AND number = ?3",
    )?;
    for ((whose, number), step) in &ledger.replays {
        update.execute(params![
            whose.tenant_no,
            whose.webhook.as_bytes(),
            number,
            signed(step.position),
            signed(step.delivered),
            signed(step.failed),
            step.is_done
        ])?;
    }
    Ok(())
}

fn write_attempts(writer: &Connection, attempts: &[(Whose, AttemptRecord)]) -> rusqlite::Result<()> {
    // A checkpoint that is written again, its answer being lost, tells nothing twice.
    let mut insert = writer.prepare_cached(
        "INSERT INTO attempts (tenant_no, webhook, at, sequence, occasion, number, handshake, status, succeeded,
             reason, excerpt, resolve_ns, connect_ns, tls_ns, wait_ns, total_ns)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) ON CONFLICT DO NOTHING",
    )?;
    for (whose, one) in attempts {
        insert.execute(params![
            whose.tenant_no,
            whose.webhook.as_bytes(),
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
    delivered: Vec<(Whose, Vec<crate::SuccessfulDelivery>)>,
) -> rusqlite::Result<()> {
    let mut insert = writer.prepare_cached(
        "INSERT INTO delivered (tenant_no, webhook, last_at, last_sequence, first_sequence, first_at, events, packed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
    )?;
    for (whose, delivered) in delivered {
        for one in pack(delivered) {
            let (Ticks(last_at), Ticks(first_at)) = (one.last_at, one.first_at);
            insert.execute(params![
                whose.tenant_no,
                whose.webhook.as_bytes(),
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
