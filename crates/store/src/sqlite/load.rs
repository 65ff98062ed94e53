//! Loads the inputs of a plan from SQLite.

use domain::record::State;
use domain::{Resource, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::changes::find_ingest_progress;
use super::rows::parse;
use super::store_error;
use crate::plan::{ACCOUNTS_PER_CODE_MAX, PlanInputs, RecordKey, unsigned};
use crate::rows::{Columns, SqliteRow};
use crate::{ChangeBatch, Result};

pub(super) fn load(connection: &Connection, tenant_no: i64, batches: &[ChangeBatch]) -> Result<PlanInputs> {
    let (head, version) = connection
        .prepare_cached("SELECT head, version FROM heads WHERE tenant_no = ?1")
        .and_then(|mut head| {
            head.query_row([tenant_no], |row| Ok((unsigned(row.get(0)?), Ticks(row.get(1)?))))
        })
        .map_err(store_error)?;
    let mut inputs = PlanInputs::new(head, version);
    load_records(connection, tenant_no, PlanInputs::company_keys(batches), &mut inputs)?;
    let keys = inputs.record_keys(batches);
    load_records(connection, tenant_no, keys, &mut inputs)?;
    load_accounts(connection, tenant_no, batches, &mut inputs)?;
    load_collections(connection, tenant_no, batches, &mut inputs)?;
    for key in PlanInputs::ingest_keys(batches) {
        if let Some(progress) = find_ingest_progress(connection, tenant_no, &key)? {
            inputs.insert_progress(key, progress);
        }
    }
    Ok(inputs)
}

fn load_records(
    connection: &Connection,
    tenant_no: i64,
    keys: Vec<RecordKey>,
    inputs: &mut PlanInputs,
) -> Result<()> {
    let mut find = connection
        .prepare_cached(
            "SELECT ordinal, state, version, sequence, body FROM records
             WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3 AND correlation_id = ?4",
        )
        .map_err(store_error)?;
    for key in keys {
        let collection = key.collection;
        let found = find
            .query_row(params![tenant_no, collection.company_no, collection.resource.code(), key.id], parse)
            .optional()
            .map_err(store_error)?;
        if let Some(stored) = found {
            inputs.insert_record(key, stored);
        }
    }
    Ok(())
}

/// Loads the accounts that changes name by their code alone.
fn load_accounts(
    connection: &Connection,
    tenant_no: i64,
    batches: &[ChangeBatch],
    inputs: &mut PlanInputs,
) -> Result<()> {
    let codes = inputs.account_codes(batches);
    if codes.is_empty() {
        return Ok(());
    }
    // A partial index is used only where its condition is a constant of the statement.
    let sql = format!(
        "SELECT ordinal, correlation_id, state FROM records INDEXED BY accounts_by_code
         WHERE tenant_no = ?1 AND company_no = ?2 AND resource = {} AND body ->> 'code' = ?3
         ORDER BY state DESC, ordinal LIMIT {ACCOUNTS_PER_CODE_MAX}",
        Resource::accounts().code()
    );
    let mut find = connection.prepare_cached(&sql).map_err(store_error)?;
    for (company_no, code) in codes {
        let mut rows = find.query(params![tenant_no, company_no, code]).map_err(store_error)?;
        while let Some(row) = rows.next().map_err(store_error)? {
            let row = SqliteRow::new(row);
            let ordinal = row.read("ordinal").map_err(store_error)?;
            let id = row.read("correlation_id").map_err(store_error)?;
            let state = State::from_code(row.read("state").map_err(store_error)?);
            inputs.insert_account((company_no, code.clone()), ordinal, id, state);
        }
    }
    Ok(())
}

fn load_collections(
    connection: &Connection,
    tenant_no: i64,
    batches: &[ChangeBatch],
    inputs: &mut PlanInputs,
) -> Result<()> {
    let mut find = connection
        .prepare_cached(
            "SELECT next_ordinal, live, version FROM collections
             WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3",
        )
        .map_err(store_error)?;
    for collection in inputs.collection_keys(batches) {
        let found = find
            .query_row(params![tenant_no, collection.company_no, collection.resource.code()], parse)
            .optional()
            .map_err(store_error)?;
        if let Some(counters) = found {
            inputs.insert_collection(collection, counters);
        }
    }
    Ok(())
}
