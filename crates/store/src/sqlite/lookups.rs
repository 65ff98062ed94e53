//! Deliveries and events of many sequences at once, in SQLite. The sequences come as one JSON array.

use domain::{Resource, WebhookId};
use rusqlite::{Connection, params};
use serde_json::json;

use super::changes::ENTRY;
use super::deliveries::event;
use super::history::{ATTEMPT, attempt};
use super::store_error;
use crate::plan::signed;
use crate::webhooks::{PACK_NUMBERS_MAX, runs, successes_of};
use crate::{AttemptRecord, DeliveryHistory, LogEvent, Result};

pub(super) fn find_deliveries(
    reader: &Connection,
    (tenant_no, webhook): (i64, WebhookId),
    sequences: &[u64],
) -> Result<Vec<DeliveryHistory>> {
    let ranges: Vec<_> =
        runs(sequences).into_iter().map(|(first, last)| (signed(first), signed(last))).collect();
    let packs: Vec<Vec<u8>> = reader
        .prepare_cached(
            "SELECT packed FROM delivered WHERE rowid IN (
                 SELECT d.rowid FROM json_each(?3) r CROSS JOIN delivered d INDEXED BY delivered_by_sequence
                 ON d.tenant_no = ?1 AND d.webhook = ?2 AND d.last_sequence >= r.value ->> 0
                     AND d.last_sequence <= (r.value ->> 1) + ?4 AND d.first_sequence <= r.value ->> 1)",
        )
        .and_then(|mut all| {
            let args =
                params![tenant_no, webhook.as_bytes(), json!(ranges).to_string(), signed(PACK_NUMBERS_MAX)];
            all.query_map(args, |row| row.get(0))?.collect()
        })
        .map_err(store_error)?;
    let attempts: Vec<AttemptRecord> = reader
        .prepare_cached(&format!(
            "SELECT {ATTEMPT} FROM attempts a INDEXED BY attempts_by_sequence
             WHERE a.tenant_no = ?1 AND a.webhook = ?2 AND a.sequence IN (SELECT value FROM json_each(?3))
                 AND a.occasion IN (0, 2) ORDER BY a.at, a.occasion, a.number"
        ))
        .and_then(|mut all| {
            let args = params![tenant_no, webhook.as_bytes(), array(sequences)];
            all.query_map(args, attempt)?.collect()
        })
        .map_err(store_error)?;
    Ok(DeliveryHistory::group(sequences, successes_of(&packs, sequences)?, attempts))
}

pub(super) fn find_events(
    reader: &Connection,
    tenant_no: i64,
    resource: Resource,
    sequences: &[u64],
) -> Result<Vec<LogEvent>> {
    reader
        .prepare_cached(&format!(
            "SELECT {ENTRY}, record_key FROM log
             WHERE tenant_no = ?1 AND sequence IN (SELECT value FROM json_each(?2)) AND +resource = ?3
             ORDER BY sequence"
        ))
        .and_then(|mut all| {
            all.query_map(params![tenant_no, array(sequences), resource.code()], event)?.collect()
        })
        .map_err(store_error)
}

fn array(sequences: &[u64]) -> String {
    json!(sequences.iter().map(|sequence| signed(*sequence)).collect::<Vec<i64>>()).to_string()
}
