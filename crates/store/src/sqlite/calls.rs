//! The log of calls in SQLite. A subscription's rows are next to each other.

use async_trait::async_trait;
use domain::ids::SubscriptionId;
use domain::{CallRecord, ClientId, Refusal, TenantId};
use rusqlite::{Connection, params};

use super::rows::parse;
use super::{SqliteStore, store_error};
use crate::calls::CALLS_KEPT;
use crate::plan::signed;
use crate::{CallPage, CallQuery, Calls, Result};

pub(super) const COLUMNS: &str =
    "no, at, method, route, status, latency_us, request_id, client_id, tenant_id, refusal, subscription_id";

fn append(writer: &Connection, calls: &[CallRecord]) -> Result<()> {
    let count = i64::try_from(calls.len()).unwrap_or(i64::MAX);
    let last: i64 = writer
        .prepare_cached("UPDATE call_log_head SET last = last + ?1 RETURNING last")
        .and_then(|mut head| head.query_row([count], |row| row.get(0)))
        .map_err(store_error)?;
    let mut add = writer
        .prepare_cached(&format!(
            "INSERT INTO call_log ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
        ))
        .map_err(store_error)?;
    for (number, call) in (last - count + 1..).zip(calls) {
        add.execute(params![
            number,
            call.at.0,
            call.method,
            call.route,
            call.status,
            signed(call.latency_micros),
            call.request_id,
            call.client.as_ref().map(ClientId::as_str),
            call.tenant.as_ref().map(TenantId::as_str),
            call.refusal.map(Refusal::as_str),
            call.subscription.as_str(),
        ])
        .map_err(store_error)?;
    }
    Ok(())
}

fn trim(writer: &Connection, subscription: &SubscriptionId) -> Result<()> {
    let kept = i64::try_from(CALLS_KEPT).unwrap_or(i64::MAX);
    writer
        .prepare_cached(
            "DELETE FROM call_log WHERE subscription_id = ?1 AND no <= (SELECT no FROM call_log
             WHERE subscription_id = ?1 ORDER BY no DESC LIMIT 1 OFFSET ?2)",
        )
        .and_then(|mut delete| delete.execute(params![subscription.as_str(), kept]))
        .map(drop)
        .map_err(store_error)
}

#[async_trait]
impl Calls for SqliteStore {
    async fn append_calls(&self, calls: &[CallRecord], trimmed: &[SubscriptionId]) -> Result<()> {
        let (calls, trimmed) = (calls.to_vec(), trimmed.to_vec());
        self.write(move |writer| {
            append(writer, &calls)?;
            trimmed.iter().try_for_each(|subscription| trim(writer, subscription))
        })
        .await
    }

    async fn list_calls(&self, query: &CallQuery) -> Result<CallPage> {
        let sql = format!(
            "SELECT {COLUMNS} FROM call_log
             WHERE subscription_id = ?1 AND no < ?2 AND no > ?3 AND at >= ?4
             AND (?5 IS NULL OR status / 100 = ?5) AND (?6 = 0 OR refusal IS NOT NULL)
             AND (?7 IS NULL OR route = ?7) AND (?8 IS NULL OR request_id = ?8)
             ORDER BY no DESC LIMIT ?9"
        );
        let [before, after, since] = query.bounds();
        self.read_fresh_snapshot(|reader| {
            let mut rows = Vec::new();
            let mut find = reader.prepare_cached(&sql).map_err(store_error)?;
            for subscription in query.subscriptions() {
                let found = find.query_map(
                    params![
                        subscription.as_str(),
                        before,
                        after,
                        since,
                        query.status_class,
                        query.only_refused,
                        query.route,
                        query.request_id,
                        query.limit()
                    ],
                    parse,
                );
                for row in found.map_err(store_error)? {
                    rows.push(row.map_err(store_error)?);
                }
            }
            Ok(query.page(rows))
        })
    }
}
