//! Loads the ground that a plan of changes stands on, from SQLite.

use domain::Ticks;
use domain::record::State;
use rusqlite::{Connection, OptionalExtension, params};

use super::changes::find_ingest_progress;
use super::fault;
use crate::plan::{Collection, Ground, Key, Stored, unsigned};
use crate::{ChangeBatch, Result};

pub(super) fn load(connection: &Connection, tenant_no: i64, batches: &[ChangeBatch]) -> Result<Ground> {
    let (head, version) = connection
        .prepare_cached("SELECT head, version FROM heads WHERE tenant_no = ?1")
        .and_then(|mut head| {
            head.query_row([tenant_no], |row| Ok((unsigned(row.get(0)?), Ticks(row.get(1)?))))
        })
        .map_err(fault)?;
    let mut ground = Ground::new(head, version);
    load_records(connection, tenant_no, Ground::company_keys(batches), &mut ground)?;
    let keys = ground.record_keys(batches);
    load_records(connection, tenant_no, keys, &mut ground)?;
    load_collections(connection, tenant_no, batches, &mut ground)?;
    for key in Ground::progress_keys(batches) {
        if let Some(progress) = find_ingest_progress(connection, tenant_no, &key)? {
            ground.know_progress(key, progress);
        }
    }
    Ok(ground)
}

fn load_records(connection: &Connection, tenant_no: i64, keys: Vec<Key>, ground: &mut Ground) -> Result<()> {
    let mut find = connection
        .prepare_cached(
            "SELECT ordinal, state, version, sequence, body FROM records
             WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3 AND correlation_id = ?4",
        )
        .map_err(fault)?;
    for key in keys {
        let place = key.place;
        let found = find
            .query_row(params![tenant_no, place.company_no, place.resource.code(), key.id], |row| {
                Ok(Stored {
                    ordinal: unsigned(row.get(0)?),
                    state: State::from_code(row.get(1)?),
                    version: Ticks(row.get(2)?),
                    sequence: unsigned(row.get(3)?),
                    body: row.get(4)?,
                })
            })
            .optional()
            .map_err(fault)?;
        if let Some(stored) = found {
            ground.know_record(key, stored);
        }
    }
    Ok(())
}

fn load_collections(
    connection: &Connection,
    tenant_no: i64,
    batches: &[ChangeBatch],
    ground: &mut Ground,
) -> Result<()> {
    let mut find = connection
        .prepare_cached(
            "SELECT next_ordinal, live, version FROM collections
             WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3",
        )
        .map_err(fault)?;
    for place in ground.places(batches) {
        let found = find
            .query_row(params![tenant_no, place.company_no, place.resource.code()], |row| {
                Ok(Collection {
                    next_ordinal: unsigned(row.get(0)?),
                    live: unsigned(row.get(1)?),
                    version: unsigned(row.get(2)?),
                })
            })
            .optional()
            .map_err(fault)?;
        if let Some(collection) = found {
            ground.know_collection(place, collection);
        }
    }
    Ok(())
}
