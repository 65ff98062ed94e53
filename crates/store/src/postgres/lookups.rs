//! Deliveries and events of many sequences at once, in PostgreSQL.

use deadpool_postgres::Object;
use domain::{Resource, TenantId, WebhookId};

use super::PostgresStore;
use super::changes::ENTRY;
use super::history::{ATTEMPT, TENANT_OF, packed};
use super::rows::{Args, code, column, parse, parse_all, query};
use crate::plan::signed;
use crate::webhooks::{PackRange, PackRanges, successes_of};
use crate::{DeliveryHistory, LogEvent, OperationClass, Result};

/// Packs in ranges. Each ORDER BY names the intended index.
const FIND_NARROW_PACKS: &str = "ORDER BY tenant_no, webhook, last_sequence, first_sequence";
/// The index `delivered_wide` begins with the webhook and has this condition.
const FIND_WIDE_PACKS: &str =
    "AND last_sequence - first_sequence > 31 ORDER BY webhook, tenant_no, last_sequence, first_sequence";

impl PostgresStore {
    pub(super) async fn deliveries_of(
        &self,
        webhook: WebhookId,
        sequences: &[u64],
    ) -> Result<Vec<DeliveryHistory>> {
        let numbers = column(sequences, |sequence| signed(*sequence));
        let id = webhook.as_bytes().as_slice();
        let PackRanges { narrow, wide } = PackRanges::of(sequences);
        let attempts = format!(
            "SELECT {ATTEMPT} FROM (SELECT DISTINCT unnest($2::bigint[]) AS sequence) s CROSS JOIN LATERAL (
                 SELECT * FROM attempts WHERE tenant_no = {TENANT_OF} AND webhook = $1
                     AND sequence = s.sequence AND occasion IN (0, 2)
                 ORDER BY tenant_no, webhook, sequence, at) a
             ORDER BY a.at, a.occasion, a.number"
        );
        let args: Args<'_> = &[&id, &numbers];
        // One connection pipelines the three queries.
        let connection = self.lend(OperationClass::Query).await?;
        let (mut packs, wide, attempts) = tokio::try_join!(
            find_packs(&connection, webhook, &narrow, FIND_NARROW_PACKS),
            find_packs(&connection, webhook, &wide, FIND_WIDE_PACKS),
            query(&connection, &attempts, args),
        )?;
        packs.extend(wide);
        let attempts: Vec<crate::AttemptRecord> = parse_all(&attempts)?;
        Ok(DeliveryHistory::group(sequences, successes_of(&packs, sequences)?, attempts))
    }

    pub(super) async fn events_of(
        &self,
        tenant: &TenantId,
        resource: Resource,
        sequences: &[u64],
    ) -> Result<Vec<LogEvent>> {
        let sql = format!(
            "SELECT {ENTRY}, l.record_key FROM log l WHERE l.tenant_no = (SELECT no FROM tenants WHERE id = $1)
             AND l.sequence = ANY($2) AND l.resource = $3 ORDER BY l.sequence"
        );
        let numbers = column(sequences, |sequence| signed(*sequence));
        let found = self.rows(&sql, &[&tenant.as_str(), &numbers, &code(resource)]).await?;
        found.iter().map(parse).collect()
    }
}

/// The packs that end and start in one of the ranges. A pack may be found more than once.
async fn find_packs(
    connection: &Object,
    webhook: WebhookId,
    ranges: &[PackRange],
    by_index: &str,
) -> Result<Vec<Vec<u8>>> {
    let sql = format!(
        "SELECT d.packed FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS r (end_min, end_max, start_max)
         CROSS JOIN LATERAL (SELECT packed FROM delivered
             WHERE tenant_no = {TENANT_OF} AND webhook = $1 AND last_sequence >= r.end_min
                 AND last_sequence <= r.end_max AND first_sequence <= r.start_max {by_index}) d"
    );
    let (end_min, end_max) = (column(ranges, |range| range.end_min), column(ranges, |range| range.end_max));
    let start_max = column(ranges, |range| range.start_max);
    let found =
        query(connection, &sql, &[&webhook.as_bytes().as_slice(), &end_min, &end_max, &start_max]).await?;
    Ok(found.iter().map(packed).collect())
}
