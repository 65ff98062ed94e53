//! Look-ups over all tenants in PostgreSQL.

use async_trait::async_trait;
use domain::{Resource, WebhookId};

use super::PostgresStore;
use super::calls::COLUMNS;
use super::rows::{code, limit, parse, parse_all};
use crate::rows::Columns;
use crate::{FoundRecord, NumberedCall, Result, SEARCHED_TENANTS_MAX, Search};

/// The records of a deleted company do not count.
const RECORDS: &str = "SELECT t.id AS tenant_id, r.company_no, r.resource, $1::text AS correlation_id,
        k.correlation_id AS company
    FROM (SELECT no, id FROM tenants ORDER BY created_at DESC, id DESC LIMIT $3) t
    CROSS JOIN LATERAL (SELECT company_no, resource FROM records
        WHERE tenant_no = t.no AND correlation_id = $1 ORDER BY tenant_no, correlation_id, company_no, resource) r
    LEFT JOIN LATERAL (SELECT correlation_id FROM records
        WHERE tenant_no = t.no AND company_no = 0 AND resource = $4 AND ordinal = r.company_no
        ORDER BY tenant_no, company_no, resource, ordinal LIMIT 1) k ON true
    WHERE r.company_no = 0 OR k.correlation_id IS NOT NULL
    LIMIT $2";

#[async_trait]
impl Search for PostgresStore {
    async fn find_records(&self, correlation_id: &str, rows_max: usize) -> Result<Vec<FoundRecord>> {
        let args = (limit(rows_max), limit(SEARCHED_TENANTS_MAX), code(Resource::companies()));
        parse_all(&self.rows(RECORDS, &[&correlation_id, &args.0, &args.1, &args.2]).await?)
    }

    async fn newest_webhooks(&self, rows_max: usize) -> Result<Vec<WebhookId>> {
        let sql = "SELECT id FROM webhooks ORDER BY created_at DESC, id DESC LIMIT $1";
        self.rows(sql, &[&limit(rows_max)]).await?.iter().map(|row| row.read("id")).collect()
    }

    async fn find_calls(&self, request_id: &str, rows_max: usize) -> Result<Vec<NumberedCall>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM call_log WHERE request_id = $1 ORDER BY request_id, no DESC LIMIT $2"
        );
        let rows = self.rows(&sql, &[&request_id, &limit(rows_max)]).await?;
        rows.iter().map(parse).collect()
    }
}
