//! Look-ups over all tenants in PostgreSQL.

use async_trait::async_trait;
use domain::{Resource, TenantId, WebhookId};

use super::PostgresStore;
use super::calls::{COLUMNS, numbered};
use super::rows::{code, guid, limit};
use crate::{FoundRecord, NumberedCall, Result, SEARCHED_TENANTS_MAX, Search, StoreError};

/// The records of a deleted company do not count.
const RECORDS: &str = "SELECT t.id, r.company_no, r.resource, k.correlation_id
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
        let rows = self.rows(RECORDS, &[&correlation_id, &args.0, &args.1, &args.2]).await?;
        let mut found = Vec::new();
        for row in &rows {
            let company_no: i64 = row.get(1);
            let company: Option<Box<str>> = row.get(3);
            let unknown = || StoreError::internal("a record has an unknown resource");
            let resource = i16::try_from(row.get::<_, i64>(2)).map_err(|_| unknown())?;
            found.push(FoundRecord {
                tenant: TenantId::new(row.get::<_, &str>(0)),
                company: company.filter(|_| company_no != 0),
                resource: Resource::from_code(resource).ok_or_else(unknown)?,
                correlation_id: correlation_id.into(),
            });
        }
        Ok(found)
    }

    async fn newest_webhooks(&self, rows_max: usize) -> Result<Vec<WebhookId>> {
        let sql = "SELECT id FROM webhooks ORDER BY created_at DESC, id DESC LIMIT $1";
        self.rows(sql, &[&limit(rows_max)]).await?.iter().map(|row| guid(row, 0)).collect()
    }

    async fn find_calls(&self, request_id: &str, rows_max: usize) -> Result<Vec<NumberedCall>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM call_log WHERE request_id = $1 ORDER BY request_id, no DESC LIMIT $2"
        );
        let rows = self.rows(&sql, &[&request_id, &limit(rows_max)]).await?;
        Ok(rows.iter().map(numbered).collect())
    }
}
