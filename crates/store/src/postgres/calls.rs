//! The log of calls in PostgreSQL. The row of the last number is locked while calls are appended, so that they are committed
//! in the order of their numbers.

use async_trait::async_trait;
use domain::ids::SubscriptionId;
use domain::{CallRecord, ClientId, Refusal, TenantId};

use super::rows::{column, execute, parse, row};
use super::{PostgresStore, store_error};
use crate::calls::CALLS_KEPT;
use crate::plan::signed;
use crate::{CallPage, CallQuery, Calls, Result};

pub(super) const COLUMNS: &str =
    "no, at, method, route, status, latency_us, request_id, client_id, tenant_id, refusal, subscription_id";

const APPEND: &str = "INSERT INTO call_log (no, at, method, route, status, latency_us, request_id, client_id, tenant_id, refusal,
        subscription_id)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::text[])";

#[async_trait]
impl Calls for PostgresStore {
    async fn append_calls(&self, calls: &[CallRecord], trimmed: &[SubscriptionId]) -> Result<()> {
        let count = i64::try_from(calls.len()).unwrap_or(i64::MAX);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let head =
            row(&transaction, "UPDATE call_log_head SET last = last + $1 RETURNING last", &[&count]).await?;
        let last: i64 = head.map_or(count, |row| row.get(0));
        let numbers: Vec<i64> = (last - count + 1..=last).collect();
        let appended = execute(
            &transaction,
            APPEND,
            &[
                &numbers,
                &column(calls, |call| call.at.0),
                &column(calls, |call| call.method.as_str()),
                &column(calls, |call| call.route.as_str()),
                &column(calls, |call| i64::from(call.status)),
                &column(calls, |call| signed(call.latency_micros)),
                &column(calls, |call| call.request_id.as_str()),
                &column(calls, |call| call.client.as_ref().map(ClientId::as_str)),
                &column(calls, |call| call.tenant.as_ref().map(TenantId::as_str)),
                &column(calls, |call| call.refusal.map(Refusal::as_str)),
                &column(calls, |call| call.subscription.as_str()),
            ],
        )
        .await;
        appended.map_err(store_error)?;
        for subscription in trimmed {
            let kept = i64::try_from(CALLS_KEPT).unwrap_or(i64::MAX);
            let trim = "DELETE FROM call_log WHERE subscription_id = $1 AND no <= (SELECT no FROM call_log
                 WHERE subscription_id = $1 ORDER BY no DESC LIMIT 1 OFFSET $2)";
            execute(&transaction, trim, &[&subscription.as_str(), &kept]).await.map_err(store_error)?;
        }
        transaction.commit().await.map_err(store_error)
    }

    async fn list_calls(&self, query: &CallQuery) -> Result<CallPage> {
        let sql = format!(
            "SELECT c.* FROM unnest($1::text[]) AS s(id) CROSS JOIN LATERAL (SELECT {COLUMNS} FROM call_log
                 WHERE subscription_id = s.id AND no < $2 AND no > $3 AND at >= $4
                 AND ($5::bigint IS NULL OR status / 100 = $5) AND (NOT $6::boolean OR refusal IS NOT NULL)
                 AND ($7::text IS NULL OR route = $7) AND ($8::text IS NULL OR request_id = $8)
                 ORDER BY no DESC LIMIT $9) c"
        );
        let [before, after, since] = query.bounds();
        let rows = self
            .rows(
                &sql,
                &[
                    &column(query.subscriptions(), SubscriptionId::as_str),
                    &before,
                    &after,
                    &since,
                    &query.status_class.map(i64::from),
                    &query.only_refused,
                    &query.route,
                    &query.request_id,
                    &query.limit(),
                ],
            )
            .await?;
        Ok(query.page(rows.iter().map(parse).collect::<Result<_>>()?))
    }
}
