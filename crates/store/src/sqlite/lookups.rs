//! Deliveries and events of many sequences at once, in SQLite. The sequences come as one JSON array.

use domain::{Resource, WebhookId};
use rusqlite::{Connection, params};
use serde_json::json;

use super::changes::ENTRY;
use super::history::ATTEMPT;
use super::rows::parse;
use super::store_error;
use crate::plan::signed;
use crate::webhooks::{NARROW_NUMBERS_MAX, PackRange, PackRanges, successes_of};
use crate::{AttemptRecord, DeliveryHistory, LogEvent, Result};

/// Joins packs with ranges.
const IN_RANGE: &str = "ON d.tenant_no = ?1 AND d.webhook = ?2 AND d.last_sequence >= r.end_min
     AND d.last_sequence <= r.end_max AND d.first_sequence <= r.start_max";

fn packs_sql() -> String {
    // Materialized, so that the JSON is not parsed again for every pack.
    let ranges = "(end_min, end_max, start_max) AS MATERIALIZED (
         SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each";
    format!(
        "WITH narrow {ranges}(?3)), wide {ranges}(?4))
         SELECT packed FROM delivered WHERE rowid IN (
             SELECT d.rowid FROM narrow r CROSS JOIN delivered d INDEXED BY delivered_by_sequence {IN_RANGE}
             UNION ALL
             SELECT d.rowid FROM wide r CROSS JOIN delivered d INDEXED BY delivered_wide {IN_RANGE}
                 AND d.last_sequence - d.first_sequence > {NARROW_NUMBERS_MAX})"
    )
}

/// As JSON arrays, in the order of the columns.
fn pack_ranges(ranges: &[PackRange]) -> String {
    let range = |range: &PackRange| [range.end_min, range.end_max, range.start_max];
    json!(ranges.iter().map(range).collect::<Vec<_>>()).to_string()
}

pub(super) fn find_deliveries(
    reader: &Connection,
    (tenant_no, webhook): (i64, WebhookId),
    sequences: &[u64],
) -> Result<Vec<DeliveryHistory>> {
    let PackRanges { narrow, wide } = PackRanges::of(sequences);
    let packs: Vec<Vec<u8>> = reader
        .prepare_cached(&packs_sql())
        .and_then(|mut all| {
            let args = params![tenant_no, webhook.as_bytes(), pack_ranges(&narrow), pack_ranges(&wide)];
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
            all.query_map(args, parse)?.collect()
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
            all.query_map(params![tenant_no, array(sequences), resource.code()], parse)?.collect()
        })
        .map_err(store_error)
}

fn array(sequences: &[u64]) -> String {
    json!(sequences.iter().map(|sequence| signed(*sequence)).collect::<Vec<i64>>()).to_string()
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::SuccessfulDelivery;
    use crate::webhooks::pack;

    fn webhook() -> WebhookId {
        WebhookId::from_bytes([7; 16])
    }

    /// One pack for each delivery, as steady traffic leaves them, and a wide one.
    fn history(count: u64) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        super::super::migrate::up(&mut connection).unwrap();
        let success = |sequence| SuccessfulDelivery {
            sequence,
            at: domain::Ticks(i64::try_from(sequence).unwrap()),
            status: 204,
            duration_ms: 5,
        };
        let single = (1..=count).map(|sequence| vec![success(sequence)]);
        let packs = single.chain([(9_000..9_200).map(success).collect()]).flat_map(pack);
        let id = webhook();
        for (row, one) in (1_i64..).zip(packs) {
            let values = params![
                id.as_bytes(),
                row,
                signed(one.last_sequence),
                signed(one.first_sequence),
                signed(one.events),
                one.packed
            ];
            connection
                .prepare_cached("INSERT INTO delivered VALUES (1, ?1, ?2, ?3, ?4, ?2, ?5, ?6)")
                .and_then(|mut add| add.execute(values))
                .unwrap();
        }
        connection
    }

    /// However long the history after an event is, few packs are looked at.
    #[test]
    fn delivery_in_the_middle_of_a_long_history_is_found_in_few_steps() {
        let connection = history(20_000);
        for sequence in [2_000, 9_100, 20_000] {
            let found = find_deliveries(&connection, (1, webhook()), &[sequence]).unwrap();
            assert_eq!(found[0].delivered.map(|one| one.sequence), Some(sequence));
            let steps =
                connection.prepare_cached(&packs_sql()).unwrap().reset_status(StatementStatus::VmStep);
            assert!(steps < 1_000, "{sequence}: {steps}");
        }
        // As many as a page looks up at once, far apart.
        let sequences: Vec<u64> = (1..=200).map(|number| number * 100).collect();
        let found = find_deliveries(&connection, (1, webhook()), &sequences).unwrap();
        assert!(found.iter().all(|one| one.delivered.is_some()));
        let steps = connection.prepare_cached(&packs_sql()).unwrap().reset_status(StatementStatus::VmStep);
        assert!(steps < 100_000, "{steps}");
    }
}
