//! Delivery history in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{ClientId, Resource, TenantId, Ticks, WebhookId};
use tokio_postgres::Row;

use super::audit::append_audit;
use super::rows::{Args, code, execute, limit, parse, row, rows, snapshot};
use super::webhook_rows::{LANE, REPLAY};
use super::webhooks::next_change_number;
use super::{PostgresStore, store_error};
use crate::plan::{signed, unsigned};
use crate::rows::{LIVE, WEBHOOK};
use crate::webhooks::{
    BEHIND_MAX, COUNTED_ROWS_MAX, EVENT, P95_OF_MAX, PACK_SPAN, SealedWebhook, id_key, newest, percentile_95,
    unpack,
};
use crate::{
    AttemptRecord, AuditContext, DeliveryHistory, DeliveryQuery, History, Lane, LogEvent, OperationClass,
    Replay, ReplayKind, Result, SuccessfulDelivery, WebhookOwner, WebhookStats,
};

pub(super) const ATTEMPT: &str = "a.at, a.sequence, a.occasion, a.number, a.handshake, a.status, a.succeeded, a.reason, \
                       a.excerpt, a.resolve_ns, a.connect_ns, a.tls_ns, a.wait_ns, a.total_ns";

/// The number of the webhook's tenant, if the tenant exists.
pub(super) const TENANT_OF: &str =
    "(SELECT w.tenant_no FROM webhooks w JOIN tenants t ON t.no = w.tenant_no WHERE w.id = $1)";

pub(super) fn packed(row: &Row) -> Vec<u8> {
    row.get(0)
}

async fn find_sealed(on: &Transaction<'_>, webhook: WebhookId) -> Result<Option<SealedWebhook>> {
    let found = row(on, &format!("{WEBHOOK} WHERE w.id = $1"), &[&webhook.as_bytes().as_slice()]).await?;
    found.as_ref().map(parse).transpose()
}

async fn query_count(on: &Transaction<'_>, sql: &str, args: Args<'_>) -> Result<u64> {
    Ok(row(on, sql, args).await?.map_or(0, |row| unsigned(row.get(0))))
}

/// Packs that may contain matches: those around `before`, and the newest before it. Each ORDER BY names the
/// intended index, because another index also starts with the webhook.
const PACKS: &str =
    "(SELECT packed, last_at FROM delivered WHERE tenant_no = $1 AND webhook = $2 AND last_at >= $3
         AND last_at >= $5 AND last_at <= $4 AND first_at <= $3 ORDER BY tenant_no, webhook, last_at)
     UNION ALL (SELECT packed, last_at FROM delivered WHERE tenant_no = $1 AND webhook = $2
         AND last_at < $3 AND last_at >= $5 ORDER BY tenant_no DESC, webhook DESC, last_at DESC LIMIT $6)";

async fn delivered(
    on: &Transaction<'_>,
    tenant_no: i64,
    query: &DeliveryQuery,
) -> Result<Vec<SuccessfulDelivery>> {
    let [before, until, since, rows_max] = query.pack_bounds(PACK_SPAN);
    let webhook = query.webhook.as_bytes().as_slice();
    let found = rows(on, PACKS, &[&tenant_no, &webhook, &before, &until, &since, &rows_max]).await?;
    newest(found.iter().map(|row| (Ticks(row.get(1)), packed(row))).collect(), query)
}

/// Deliveries since a time: complete packs by their counts, packs around the time by their content. Also whether there are
/// more packs than are counted.
async fn count_delivered(on: &Transaction<'_>, one: &SealedWebhook, since: Ticks) -> Result<(u64, bool)> {
    let webhook = one.webhook.id.as_bytes().as_slice();
    let counted = row(
        on,
        "SELECT coalesce(sum(events), 0)::bigint, count(*) FROM (SELECT events FROM delivered
         WHERE tenant_no = $1 AND webhook = $2 AND last_at >= $3 AND first_at >= $3
         ORDER BY tenant_no DESC, webhook DESC, last_at DESC LIMIT $4) whole",
        &[&one.tenant_no, &webhook, &since.0, &i64::from(COUNTED_ROWS_MAX)],
    )
    .await?;
    let (whole, packs) = counted.map_or((0, 0), |row| (unsigned(row.get(0)), unsigned(row.get(1))));
    if packs >= COUNTED_ROWS_MAX.into() {
        return Ok((whole, true));
    }
    let around = rows(
        on,
        "SELECT packed FROM delivered
         WHERE tenant_no = $1 AND webhook = $2 AND last_at BETWEEN $3 AND $4 AND first_at < $3
         ORDER BY tenant_no, webhook, last_at",
        &[&one.tenant_no, &webhook, &since.0, &(since + PACK_SPAN).0],
    )
    .await?;
    let mut some = 0;
    for row in &around {
        some += unpack(&packed(row))?.iter().filter(|one| one.at >= since).count() as u64;
    }
    Ok((whole + some, false))
}

/// Counts undelivered events, after the cursor and in lanes.
async fn behind(on: &Transaction<'_>, one: &SealedWebhook) -> Result<u64> {
    let Some(cursor) = one.webhook.cursor else { return Ok(0) };
    let (resource, cursor, most) = (code(one.webhook.resource), signed(cursor), i64::from(BEHIND_MAX));
    let kinds: Vec<i64> = one.webhook.kinds.iter().map(|kind| i64::from(kind.code())).collect();
    let ahead = query_count(
        on,
        "SELECT count(*) FROM unnest($3::bigint[]) AS k (kind) CROSS JOIN LATERAL (SELECT 1 FROM log
             WHERE tenant_no + 0 = $1 AND resource = $2 AND kind = k.kind AND sequence > $4
             ORDER BY sequence LIMIT $5) l",
        &[&one.tenant_no, &resource, &kinds, &cursor, &most],
    )
    .await?;
    if ahead >= BEHIND_MAX.into() {
        return Ok(BEHIND_MAX.into());
    }
    let parked = query_count(
        on,
        "SELECT count(*) FROM (SELECT 1 FROM lanes n CROSS JOIN LATERAL (SELECT l.kind FROM log l
                 WHERE l.tenant_no - 0 = n.tenant_no AND l.resource = $3 AND l.record_key = n.record_key
                     AND l.sequence >= n.sequence AND l.sequence <= $4 ORDER BY l.sequence LIMIT $6) l
             WHERE n.tenant_no = $1 AND n.webhook = $2 AND l.kind = ANY($5) LIMIT $6) waiting",
        &[&one.tenant_no, &one.webhook.id.as_bytes().as_slice(), &resource, &cursor, &kinds, &most],
    )
    .await?;
    Ok((ahead + parked).min(BEHIND_MAX.into()))
}

async fn webhook_stats(on: &Transaction<'_>, one: &SealedWebhook, since: Ticks) -> Result<WebhookStats> {
    let (tenant_no, webhook) = (one.tenant_no, one.webhook.id.as_bytes().as_slice());
    let failed = query_count(
        on,
        "SELECT count(*) FROM (SELECT 1 FROM attempts
         WHERE tenant_no = $1 AND webhook = $2 AND at >= $3 AND occasion = $4 AND succeeded = 0
         ORDER BY tenant_no, webhook, at LIMIT $5) failures",
        &[&tenant_no, &webhook, &since.0, &EVENT, &i64::from(COUNTED_ROWS_MAX)],
    )
    .await?;
    let last = row(
        on,
        "SELECT last_at FROM delivered WHERE tenant_no = $1 AND webhook = $2
         ORDER BY tenant_no DESC, webhook DESC, last_at DESC LIMIT 1",
        &[&tenant_no, &webhook],
    )
    .await?;
    let lanes = row(
        on,
        "SELECT count(*), min(first_failed_at) FILTER (WHERE attempts > 0), min(next_at)
         FROM lanes WHERE tenant_no = $1 AND webhook = $2",
        &[&tenant_no, &webhook],
    )
    .await?;
    let (lanes, failing, next): (i64, Option<i64>, Option<i64>) =
        lanes.map_or((0, None, None), |row| (row.get(0), row.get(1), row.get(2)));
    let retry = one.webhook.handshake.retry;
    let query = DeliveryQuery::newest_since(one.webhook.id, since, P95_OF_MAX);
    let recent = delivered(on, tenant_no, &query).await?;
    let (delivered, has_more) = count_delivered(on, one, since).await?;
    Ok(WebhookStats {
        delivered,
        failed,
        p95_ms: percentile_95(recent.iter().map(|one| one.duration_ms).collect()),
        last_delivered_at: last.map(|row| Ticks(row.get(0))),
        lanes: unsigned(lanes),
        failing_since: failing.map(Ticks).into_iter().chain(retry.map(|one| one.first_failed_at)).min(),
        next_attempt_at: next.map(Ticks).into_iter().chain(retry.map(|one| one.next_at)).min(),
        behind: behind(on, one).await?,
        is_partial: has_more || failed >= COUNTED_ROWS_MAX.into(),
    })
}

/// The last sequence whose log rows are all older than a time, by binary search: versions grow with sequences.
async fn last_before(on: &Transaction<'_>, tenant_no: i64, moment: Ticks) -> Result<i64> {
    let found = row(
        on,
        "WITH RECURSIVE narrowed (low, high) AS (
             SELECT floor, head FROM heads WHERE tenant_no = $1
             UNION ALL
             SELECT CASE WHEN m.is_before THEN m.middle + 1 ELSE m.low END,
                 CASE WHEN m.is_before THEN m.high ELSE m.middle END
             FROM (SELECT n.low, n.high, n.low + (n.high - n.low) / 2 AS middle,
                     coalesce((SELECT l.version < $2 FROM log l WHERE l.tenant_no = $1
                         AND l.sequence > n.low + (n.high - n.low) / 2 ORDER BY l.sequence LIMIT 1), false) AS is_before
                 FROM narrowed n WHERE n.low < n.high) m)
         SELECT max(low) FROM narrowed",
        &[&tenant_no, &moment.0],
    )
    .await?;
    Ok(found.and_then(|row| row.get::<_, Option<i64>>(0)).unwrap_or(0))
}

async fn span(
    on: &Transaction<'_>,
    one: &SealedWebhook,
    from: Ticks,
    to: Ticks,
) -> Result<Option<(u64, u64)>> {
    let after = last_before(on, one.tenant_no, from).await?;
    let through = last_before(on, one.tenant_no, to.next()).await?;
    let kinds: Vec<i64> = one.webhook.kinds.iter().map(|kind| i64::from(kind.code())).collect();
    let found = row(
        on,
        "SELECT min(l.first), max(l.last) FROM unnest($3::bigint[]) AS k (kind) CROSS JOIN LATERAL (
             SELECT (SELECT sequence FROM log WHERE tenant_no + 0 = $1 AND resource = $2 AND kind = k.kind
                     AND sequence > $4 AND sequence <= $5 ORDER BY sequence LIMIT 1) AS first,
                 (SELECT sequence FROM log WHERE tenant_no + 0 = $1 AND resource = $2 AND kind = k.kind
                     AND sequence > $4 AND sequence <= $5 ORDER BY sequence DESC LIMIT 1) AS last) l",
        &[&one.tenant_no, &code(one.webhook.resource), &kinds, &after, &through],
    )
    .await?;
    let ends = |row: Row| row.get::<_, Option<i64>>(0).zip(row.get::<_, Option<i64>>(1));
    Ok(found.and_then(ends).map(|(first, last)| (unsigned(first - 1), unsigned(last))))
}

#[async_trait]
impl History for PostgresStore {
    fn outgoing_id_key(&self, webhook: WebhookId) -> [u8; 32] {
        id_key(&self.ports().vault, webhook)
    }

    async fn attempts(&self, query: &DeliveryQuery) -> Result<Vec<AttemptRecord>> {
        let [before_at, before_sequence, since, rows_max] = query.bounds();
        let sql = format!(
            "SELECT {ATTEMPT} FROM attempts a WHERE a.tenant_no = {TENANT_OF} AND a.webhook = $1
             AND (a.at, a.sequence) < ($2, $3) AND a.at >= $4 AND (NOT $5 OR a.succeeded = 0)
             ORDER BY a.tenant_no DESC, a.webhook DESC, a.at DESC, a.sequence DESC, a.occasion DESC, a.number DESC
             LIMIT $6"
        );
        let webhook = query.webhook.as_bytes().as_slice();
        let args: Args<'_> = &[&webhook, &before_at, &before_sequence, &since, &query.only_failed, &rows_max];
        self.rows(&sql, args).await?.iter().map(parse).collect()
    }

    async fn successful_deliveries(&self, query: &DeliveryQuery) -> Result<Vec<SuccessfulDelivery>> {
        if query.only_failed {
            return Ok(Vec::new());
        }
        let mut client = self.lend(OperationClass::Query).await?;
        let snapshot = snapshot(&mut client).await?;
        match find_sealed(&snapshot, query.webhook).await? {
            None => Ok(Vec::new()),
            Some(one) => delivered(&snapshot, one.tenant_no, query).await,
        }
    }

    async fn find_deliveries(&self, webhook: WebhookId, sequences: &[u64]) -> Result<Vec<DeliveryHistory>> {
        self.deliveries_of(webhook, sequences).await
    }

    async fn find_events(
        &self,
        tenant: &TenantId,
        resource: Resource,
        sequences: &[u64],
    ) -> Result<Vec<LogEvent>> {
        self.events_of(tenant, resource, sequences).await
    }

    async fn lanes(&self, webhook: WebhookId, rows_max: usize) -> Result<Vec<Lane>> {
        let sql = format!(
            "SELECT {LANE} FROM lanes n WHERE n.tenant_no = {TENANT_OF} AND n.webhook = $1
             ORDER BY n.sequence, n.record_key LIMIT $2"
        );
        let lanes = self.rows(&sql, &[&webhook.as_bytes().as_slice(), &limit(rows_max)]).await?;
        lanes.iter().map(parse).collect()
    }

    async fn webhook_stats(&self, webhook: WebhookId, since: Ticks) -> Result<WebhookStats> {
        let mut client = self.lend(OperationClass::Query).await?;
        let snapshot = snapshot(&mut client).await?;
        match find_sealed(&snapshot, webhook).await? {
            None => Ok(WebhookStats::default()),
            Some(one) => webhook_stats(&snapshot, &one, since).await,
        }
    }

    async fn request_replay(
        &self,
        webhook: WebhookId,
        kind: ReplayKind,
        (after, through): (u64, u64),
        context: &AuditContext,
    ) -> Result<Option<Replay>> {
        let now = self.ports().clock.now();
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let change_number = next_change_number(&transaction).await?;
        let sql = format!(
            "UPDATE webhooks w SET replays = w.replays + 1, moved = $2 FROM tenants t
             WHERE w.id = $1 AND t.no = w.tenant_no AND {LIVE} RETURNING w.replays, w.tenant_no, t.id, w.client_id"
        );
        let id = webhook.as_bytes().as_slice();
        let Some(found) = row(&transaction, &sql, &[&id, &change_number]).await? else {
            return Ok(None);
        };
        let replay = Replay::new(found.get(0), kind, now, after, through);
        execute(
            &transaction,
            "INSERT INTO replays (tenant_no, webhook, number, kind, asked_at, after_sequence, upto_sequence, position,
                 delivered, failed, is_done)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            &[
                &found.get::<_, i64>(1),
                &id,
                &replay.number,
                &replay.kind.code(),
                &replay.requested_at.0,
                &signed(replay.after),
                &signed(replay.through),
                &signed(replay.position),
                &signed(replay.delivered),
                &signed(replay.failed),
                &i64::from(replay.is_done),
            ],
        )
        .await
        .map_err(store_error)?;
        let owner = WebhookOwner {
            tenant: TenantId::new(found.get::<_, Box<str>>(2)),
            client: ClientId::new(found.get::<_, Box<str>>(3)),
        };
        let entry = self.act(context).replay_requested((webhook, &owner), kind, (after, through));
        append_audit(&transaction, &*self.ports().random, entry).await?;
        transaction.commit().await.map_err(store_error)?;
        self.webhook_changed(webhook);
        Ok(Some(replay))
    }

    async fn replays(&self, webhook: WebhookId, rows_max: usize) -> Result<Vec<Replay>> {
        let sql = format!(
            "SELECT {REPLAY} FROM replays r WHERE r.tenant_no = {TENANT_OF} AND r.webhook = $1
             ORDER BY r.tenant_no DESC, r.webhook DESC, r.number DESC LIMIT $2"
        );
        let replays = self.rows(&sql, &[&webhook.as_bytes().as_slice(), &limit(rows_max)]).await?;
        replays.iter().map(parse).collect()
    }

    async fn sequence_range(&self, webhook: WebhookId, from: Ticks, to: Ticks) -> Result<Option<(u64, u64)>> {
        let mut client = self.lend(OperationClass::Query).await?;
        let snapshot = snapshot(&mut client).await?;
        match find_sealed(&snapshot, webhook).await? {
            None => Ok(None),
            Some(one) => span(&snapshot, &one, from, to).await,
        }
    }
}
