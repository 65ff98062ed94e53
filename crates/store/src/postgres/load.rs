//! Loads the inputs of a plan from PostgreSQL.

use deadpool_postgres::Transaction;
use domain::Resource;
use domain::record::State;

use super::rows::{code, column, parse};
use super::store_error;
use crate::plan::{
    ACCOUNTS_PER_CODE_MAX, CollectionCounters, CollectionKey, PlanInputs, RecordKey, unsigned,
};
use crate::rows::Columns;
use crate::{ChangeBatch, Result};

pub(super) async fn load(
    transaction: &Transaction<'_>,
    tenant_no: i64,
    batches: &[ChangeBatch],
    mut inputs: PlanInputs,
) -> Result<PlanInputs> {
    load_records(transaction, tenant_no, PlanInputs::company_keys(batches), &mut inputs).await?;
    let keys = inputs.record_keys(batches);
    let collection_keys = inputs.collection_keys(batches);
    load_records(transaction, tenant_no, keys, &mut inputs).await?;
    let account_codes = inputs.account_codes(batches);
    load_accounts(transaction, tenant_no, account_codes, &mut inputs).await?;
    load_collections(transaction, tenant_no, collection_keys, &mut inputs).await?;
    for key in PlanInputs::ingest_keys(batches) {
        let find = transaction
            .prepare_cached(
                "SELECT line, hash, process, tally FROM processes WHERE tenant_no = $1 AND idempotency_key = $2",
            )
            .await
            .map_err(store_error)?;
        if let Some(row) = transaction.query_opt(&find, &[&tenant_no, &key]).await.map_err(store_error)? {
            inputs.insert_progress(key, parse(&row)?);
        }
    }
    Ok(inputs)
}

async fn load_records(
    transaction: &Transaction<'_>,
    tenant_no: i64,
    mut keys: Vec<RecordKey>,
    inputs: &mut PlanInputs,
) -> Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let companies = column(&keys, |key| key.collection.company_no);
    let resources = column(&keys, |key| code(key.collection.resource));
    let ids = column(&keys, |key| &*key.id);
    // OFFSET 0 makes PostgreSQL look up each key by index instead of scanning the records.
    let find = transaction
        .prepare_cached(
            "SELECT k.at, r.ordinal, r.state, r.version, r.sequence, r.body
             FROM unnest($2::bigint[], $3::bigint[], $4::text[]) WITH ORDINALITY AS k (company_no, resource, id, at)
             CROSS JOIN LATERAL (SELECT * FROM records WHERE tenant_no = $1 AND correlation_id = k.id
                 AND company_no + 0 = k.company_no AND resource + 0 = k.resource OFFSET 0) r ORDER BY k.at DESC",
        )
        .await
        .map_err(store_error)?;
    let rows =
        transaction.query(&find, &[&tenant_no, &companies, &resources, &ids]).await.map_err(store_error)?;
    // From last to first, so that `swap_remove` does not move the keys that are still needed.
    for row in rows {
        let at = row.read::<usize>("at")?.saturating_sub(1);
        if at < keys.len() {
            inputs.insert_record(keys.swap_remove(at), parse(&row)?);
        }
    }
    Ok(())
}

/// Loads the accounts that changes name by their code alone, with one statement.
async fn load_accounts(
    transaction: &Transaction<'_>,
    tenant_no: i64,
    codes: Vec<(i64, Box<str>)>,
    inputs: &mut PlanInputs,
) -> Result<()> {
    if codes.is_empty() {
        return Ok(());
    }
    // A partial index is used only where its condition is a constant of the statement.
    let sql = format!(
        "SELECT k.at, a.ordinal, a.correlation_id, a.state
         FROM unnest($2::bigint[], $3::text[]) WITH ORDINALITY AS k (company_no, code, at)
         CROSS JOIN LATERAL (SELECT ordinal, correlation_id, state FROM records WHERE tenant_no = $1
             AND company_no = k.company_no AND resource = {} AND body::json ->> 'code' = k.code
             ORDER BY state DESC, ordinal LIMIT {ACCOUNTS_PER_CODE_MAX}) a",
        code(Resource::accounts())
    );
    let find = transaction.prepare_cached(&sql).await.map_err(store_error)?;
    let (companies, texts) =
        (column(&codes, |(company_no, _)| *company_no), column(&codes, |(_, code)| &**code));
    for row in transaction.query(&find, &[&tenant_no, &companies, &texts]).await.map_err(store_error)? {
        if let Some(key) = codes.get(row.read::<usize>("at")?.saturating_sub(1)) {
            let state = State::from_code(row.read("state")?);
            inputs.insert_account(key.clone(), row.read("ordinal")?, row.read("correlation_id")?, state);
        }
    }
    Ok(())
}

async fn load_collections(
    transaction: &Transaction<'_>,
    tenant_no: i64,
    collection_keys: Vec<CollectionKey>,
    inputs: &mut PlanInputs,
) -> Result<()> {
    let companies = column(&collection_keys, |collection| collection.company_no);
    let resources = column(&collection_keys, |collection| code(collection.resource));
    let find = transaction
        .prepare_cached(
            "SELECT k.at, c.next_ordinal, c.live, c.version
             FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS k (company_no, resource, at)
             JOIN collections c ON c.tenant_no = $1 AND c.company_no = k.company_no AND c.resource = k.resource",
        )
        .await
        .map_err(store_error)?;
    for row in transaction.query(&find, &[&tenant_no, &companies, &resources]).await.map_err(store_error)? {
        let at = usize::try_from(row.get::<_, i64>(0) - 1).unwrap_or(usize::MAX);
        if let Some(collection) = collection_keys.get(at) {
            let (next_ordinal, live) = (unsigned(row.get(1)), unsigned(row.get(2)));
            inputs.insert_collection(
                *collection,
                CollectionCounters { next_ordinal, live, version: unsigned(row.get(3)) },
            );
        }
    }
    Ok(())
}
