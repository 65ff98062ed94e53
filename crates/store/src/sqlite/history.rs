//! Delivery history in SQLite.

use async_trait::async_trait;
use domain::{Resource, TenantId, Ticks, WebhookId};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::lookups::{find_deliveries, find_events};
use super::rows::{parse, tenant_no};
use super::webhook_rows::{LANE, REPLAY};
use super::webhooks::next_change_number;
use super::{SqliteStore, store_error};
use crate::plan::{signed, unsigned};
use crate::rows::WEBHOOK;
use crate::webhooks::{
    BEHIND_MAX, COUNTED_ROWS_MAX, EVENT, P95_OF_MAX, PACK_SPAN, SealedWebhook, id_key, newest, percentile_95,
    unpack,
};
use crate::{
    AttemptRecord, AuditContext, DeliveryHistory, DeliveryQuery, History, Lane, LogEvent, Replay, ReplayKind,
    Result, SuccessfulDelivery, WebhookStats,
};

pub(super) const ATTEMPT: &str =
    "a.at, a.sequence, a.occasion, a.number, a.handshake, a.status, a.succeeded, a.reason, a.excerpt,
     a.resolve_ns, a.connect_ns, a.tls_ns, a.wait_ns, a.total_ns";

/// The webhook, if its tenant exists.
fn find_sealed(reader: &Connection, webhook: WebhookId) -> Result<Option<SealedWebhook>> {
    reader
        .prepare_cached(&format!("{WEBHOOK} WHERE w.id = ?1"))
        .and_then(|mut find| find.query_row([webhook.as_bytes()], parse).optional())
        .map_err(store_error)
}

/// Packs that may contain matches: those around `before`, and the newest before it.
fn packs(reader: &Connection, tenant_no: i64, query: &DeliveryQuery) -> Result<Vec<(Ticks, Vec<u8>)>> {
    let [before, until, since, rows_max] = query.pack_bounds(PACK_SPAN);
    reader
        .prepare_cached(
            "SELECT last_at, packed FROM delivered WHERE tenant_no = ?1 AND webhook = ?2 AND last_at >= max(?3, ?5)
                 AND last_at <= ?4 AND first_at <= ?3
             UNION ALL SELECT last_at, packed FROM (SELECT last_at, packed FROM delivered WHERE tenant_no = ?1 AND webhook = ?2
                 AND last_at < ?3 AND last_at >= ?5 ORDER BY last_at DESC LIMIT ?6)",
        )
        .and_then(|mut all| {
            let args = params![tenant_no, query.webhook.as_bytes(), before, until, since, rows_max];
            all.query_map(args, |row| Ok((Ticks(row.get(0)?), row.get(1)?)))?.collect()
        })
        .map_err(store_error)
}

fn delivered(reader: &Connection, tenant_no: i64, query: &DeliveryQuery) -> Result<Vec<SuccessfulDelivery>> {
    newest(packs(reader, tenant_no, query)?, query)
}

fn count(reader: &Connection, sql: &str, args: impl rusqlite::Params) -> Result<u64> {
    reader
        .prepare_cached(sql)
        .and_then(|mut count| count.query_row(args, |row| row.get(0)))
        .map(unsigned)
        .map_err(store_error)
}

/// Deliveries since a time: complete packs by their counts, packs around the time by their content. Also whether there are
/// more packs than are counted.
fn count_delivered(reader: &Connection, key: (i64, WebhookId), since: Ticks) -> Result<(u64, bool)> {
    let (tenant_no, webhook) = key;
    let (whole, packs): (i64, i64) = reader
        .prepare_cached(
            "SELECT coalesce(sum(events), 0), count(*) FROM (SELECT events FROM delivered
             WHERE tenant_no = ?1 AND webhook = ?2 AND last_at >= ?3 AND first_at >= ?3
             ORDER BY last_at DESC LIMIT ?4)",
        )
        .and_then(|mut sum| {
            let args = params![tenant_no, webhook.as_bytes(), since.0, COUNTED_ROWS_MAX];
            sum.query_row(args, |row| Ok((row.get(0)?, row.get(1)?)))
        })
        .map_err(store_error)?;
    if packs >= COUNTED_ROWS_MAX.into() {
        return Ok((unsigned(whole), true));
    }
    let around: Vec<Vec<u8>> = reader
        .prepare_cached(
            "SELECT packed FROM delivered
             WHERE tenant_no = ?1 AND webhook = ?2 AND last_at BETWEEN ?3 AND ?4 AND first_at < ?3",
        )
        .and_then(|mut all| {
            let args = params![tenant_no, webhook.as_bytes(), since.0, (since + PACK_SPAN).0];
            all.query_map(args, |row| row.get(0))?.collect()
        })
        .map_err(store_error)?;
    let mut some = 0;
    for packed in around {
        some += unpack(&packed)?.iter().filter(|one| one.at >= since).count() as u64;
    }
    Ok((unsigned(whole) + some, false))
}

/// Counts undelivered events, after the cursor and in lanes, up to a number.
pub(super) fn behind(reader: &Connection, one: &SealedWebhook, most: u16) -> Result<u64> {
    let most = u64::from(most);
    let Some(cursor) = one.webhook.cursor else { return Ok(0) };
    let resource = one.webhook.resource.code();
    let mut waiting = 0;
    for kind in one.webhook.kinds.iter() {
        waiting += count(
            reader,
            "SELECT count(*) FROM (SELECT 1 FROM log INDEXED BY log_by_kind WHERE tenant_no = ?1 AND resource = ?2
             AND kind = ?3 AND sequence > ?4 LIMIT ?5)",
            params![one.tenant_no, resource, kind.code(), signed(cursor), signed(most - waiting)],
        )?;
        if waiting >= most {
            return Ok(most);
        }
    }
    waiting += count(
        reader,
        "SELECT count(*) FROM (SELECT 1 FROM lanes n CROSS JOIN log l INDEXED BY log_by_record
             ON l.tenant_no = n.tenant_no AND l.resource = ?3 AND l.record_key = n.record_key
             AND l.sequence >= n.sequence AND l.sequence <= ?4
         WHERE n.tenant_no = ?1 AND n.webhook = ?2 AND (?5 >> l.kind) & 1 LIMIT ?6)",
        params![
            one.tenant_no,
            one.webhook.id.as_bytes(),
            resource,
            signed(cursor),
            one.webhook.kinds.bits(),
            signed(most - waiting)
        ],
    )?;
    Ok(waiting)
}

fn webhook_stats(reader: &Connection, one: &SealedWebhook, since: Ticks) -> Result<WebhookStats> {
    let (tenant_no, webhook) = (one.tenant_no, one.webhook.id);
    let key = params![tenant_no, webhook.as_bytes()];
    let failed = count(
        reader,
        "SELECT count(*) FROM (SELECT 1 FROM attempts WHERE tenant_no = ?1 AND webhook = ?2 AND at >= ?3
         AND occasion = ?4 AND succeeded = 0 LIMIT ?5)",
        params![tenant_no, webhook.as_bytes(), since.0, EVENT, COUNTED_ROWS_MAX],
    )?;
    let last: Option<i64> = reader
        .prepare_cached("SELECT max(last_at) FROM delivered WHERE tenant_no = ?1 AND webhook = ?2")
        .and_then(|mut last| last.query_row(key, |row| row.get(0)))
        .map_err(store_error)?;
    let (lanes, failing, next): (i64, Option<i64>, Option<i64>) = reader
        .prepare_cached(
            "SELECT count(*), min(CASE WHEN attempts > 0 THEN first_failed_at END), min(next_at)
             FROM lanes WHERE tenant_no = ?1 AND webhook = ?2",
        )
        .and_then(|mut all| all.query_row(key, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))))
        .map_err(store_error)?;
    let retry = one.webhook.handshake.retry;
    let recent = delivered(reader, tenant_no, &DeliveryQuery::newest_since(webhook, since, P95_OF_MAX))?;
    let (delivered, has_more) = count_delivered(reader, (tenant_no, webhook), since)?;
    Ok(WebhookStats {
        delivered,
        failed,
        p95_ms: percentile_95(recent.iter().map(|one| one.duration_ms).collect()),
        last_delivered_at: last.map(Ticks),
        lanes: unsigned(lanes),
        failing_since: failing.map(Ticks).into_iter().chain(retry.map(|one| one.first_failed_at)).min(),
        next_attempt_at: next.map(Ticks).into_iter().chain(retry.map(|one| one.next_at)).min(),
        is_partial: has_more || failed >= COUNTED_ROWS_MAX.into(),
        behind: behind(reader, one, BEHIND_MAX)?,
    })
}

/// The last sequence whose log rows are all older than a time, by binary search: versions grow with sequences.
fn last_before(reader: &Connection, tenant_no: i64, moment: Ticks) -> Result<i64> {
    let (mut low, mut high): (i64, i64) = reader
        .prepare_cached("SELECT floor, head FROM heads WHERE tenant_no = ?1")
        .and_then(|mut find| find.query_row([tenant_no], |row| Ok((row.get(0)?, row.get(1)?))))
        .map_err(store_error)?;
    let mut next = reader
        .prepare_cached(
            "SELECT version FROM log WHERE tenant_no = ?1 AND sequence > ?2 ORDER BY sequence LIMIT 1",
        )
        .map_err(store_error)?;
    while low < high {
        let middle = low + (high - low) / 2;
        let version: Option<i64> =
            next.query_row([tenant_no, middle], |row| row.get(0)).optional().map_err(store_error)?;
        if version.is_some_and(|version| version < moment.0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

fn span(reader: &Connection, one: &SealedWebhook, from: Ticks, to: Ticks) -> Result<Option<(u64, u64)>> {
    let after = last_before(reader, one.tenant_no, from)?;
    let through = last_before(reader, one.tenant_no, to.next())?;
    let mut span: Option<(i64, i64)> = None;
    for kind in one.webhook.kinds.iter() {
        let key = [one.tenant_no, one.webhook.resource.code().into(), kind.code().into(), after, through];
        let found: (Option<i64>, Option<i64>) = reader
            .prepare_cached(
                "SELECT (SELECT min(sequence) FROM log INDEXED BY log_by_kind WHERE tenant_no = ?1 AND resource = ?2
                     AND kind = ?3 AND sequence > ?4 AND sequence <= ?5),
                     (SELECT max(sequence) FROM log INDEXED BY log_by_kind WHERE tenant_no = ?1 AND resource = ?2
                     AND kind = ?3 AND sequence > ?4 AND sequence <= ?5)",
            )
            .and_then(|mut find| find.query_row(key, |row| Ok((row.get(0)?, row.get(1)?))))
            .map_err(store_error)?;
        if let (Some(first), Some(last)) = found {
            span = Some(span.map_or((first, last), |one| (one.0.min(first), one.1.max(last))));
        }
    }
    Ok(span.map(|(first, last)| (unsigned(first - 1), unsigned(last))))
}

#[async_trait]
impl History for SqliteStore {
    fn outgoing_id_key(&self, webhook: WebhookId) -> [u8; 32] {
        id_key(&self.ports().vault, webhook)
    }

    async fn attempts(&self, query: &DeliveryQuery) -> Result<Vec<AttemptRecord>> {
        let [before_at, before_sequence, since, rows_max] = query.bounds();
        let args =
            params![query.webhook.as_bytes(), before_at, before_sequence, since, query.only_failed, rows_max];
        self.read(|reader| {
            reader
                .prepare_cached(&format!(
                    "SELECT {ATTEMPT} FROM webhooks w JOIN tenants t ON t.no = w.tenant_no
                     CROSS JOIN attempts a ON a.tenant_no = w.tenant_no AND a.webhook = w.id
                     WHERE w.id = ?1 AND (a.at, a.sequence) < (?2, ?3) AND a.at >= ?4
                         AND (NOT ?5 OR a.succeeded = 0)
                     ORDER BY a.at DESC, a.sequence DESC, a.occasion DESC, a.number DESC LIMIT ?6"
                ))
                .and_then(|mut all| all.query_map(args, parse)?.collect())
                .map_err(store_error)
        })
    }

    async fn successful_deliveries(&self, query: &DeliveryQuery) -> Result<Vec<SuccessfulDelivery>> {
        if query.only_failed {
            return Ok(Vec::new());
        }
        self.read_fresh_snapshot(|reader| match find_sealed(reader, query.webhook)? {
            None => Ok(Vec::new()),
            Some(one) => delivered(reader, one.tenant_no, query),
        })
    }

    async fn find_deliveries(&self, webhook: WebhookId, sequences: &[u64]) -> Result<Vec<DeliveryHistory>> {
        self.read_fresh_snapshot(|reader| match find_sealed(reader, webhook)? {
            None => Ok(DeliveryHistory::group(sequences, [], [])),
            Some(one) => find_deliveries(reader, (one.tenant_no, webhook), sequences),
        })
    }

    async fn find_events(
        &self,
        tenant: &TenantId,
        resource: Resource,
        sequences: &[u64],
    ) -> Result<Vec<LogEvent>> {
        self.read_fresh_snapshot(|reader| match tenant_no(reader, tenant)? {
            None => Ok(Vec::new()),
            Some(tenant_no) => find_events(reader, tenant_no, resource, sequences),
        })
    }

    async fn lanes(&self, webhook: WebhookId, rows_max: usize) -> Result<Vec<Lane>> {
        self.read_fresh_snapshot(|reader| {
            let Some(one) = find_sealed(reader, webhook)? else { return Ok(Vec::new()) };
            let args =
                params![one.tenant_no, webhook.as_bytes(), i64::try_from(rows_max).unwrap_or(i64::MAX)];
            reader
                .prepare_cached(&format!(
                    "SELECT {LANE} FROM lanes WHERE tenant_no = ?1 AND webhook = ?2
                     ORDER BY sequence, record_key LIMIT ?3"
                ))
                .and_then(|mut all| all.query_map(args, parse)?.collect())
                .map_err(store_error)
        })
    }

    async fn webhook_stats(&self, webhook: WebhookId, since: Ticks) -> Result<WebhookStats> {
        self.read_fresh_snapshot(|reader| match find_sealed(reader, webhook)? {
            None => Ok(WebhookStats::default()),
            Some(one) => webhook_stats(reader, &one, since),
        })
    }

    async fn request_replay(
        &self,
        webhook: WebhookId,
        kind: ReplayKind,
        (after, through): (u64, u64),
        context: &AuditContext,
    ) -> Result<Option<Replay>> {
        let act = self.act(context);
        let (now, random) = (self.ports().clock.now(), self.ports().random.clone());
        let replay = self
            .write(move |writer| {
                let find_sealed = find_sealed(writer, webhook)?.filter(|one| !one.webhook.flags().is_final());
                let Some(one) = find_sealed else { return Ok(None) };
                let change_number = next_change_number(writer)?;
                let number = writer
                    .prepare_cached(
                        "UPDATE webhooks SET replays = replays + 1, moved = ?3 WHERE tenant_no = ?1 AND id = ?2
                         RETURNING replays",
                    )
                    .and_then(|mut next| {
                        let args = params![one.tenant_no, webhook.as_bytes(), change_number];
                        next.query_row(args, |row| row.get(0))
                    })
                    .map_err(store_error)?;
                let replay = Replay::new(number, kind, now, after, through);
                insert_replay(writer, one.tenant_no, webhook, &replay)?;
                append_audit(writer, &*random, act.replay_requested((webhook, &one.webhook.owner), kind, (after, through)))?;
                Ok(Some(replay))
            })
            .await;
        self.inner.invalidation.commit_signal().signal_webhook(webhook);
        replay
    }

    async fn replays(&self, webhook: WebhookId, rows_max: usize) -> Result<Vec<Replay>> {
        self.read_fresh_snapshot(|reader| {
            let Some(one) = find_sealed(reader, webhook)? else { return Ok(Vec::new()) };
            let args = params![one.tenant_no, webhook.as_bytes(), i64::try_from(rows_max).unwrap_or(i64::MAX)];
            reader
                .prepare_cached(&format!(
                    "SELECT {REPLAY} FROM replays WHERE tenant_no = ?1 AND webhook = ?2 ORDER BY number DESC LIMIT ?3"
                ))
                .and_then(|mut all| all.query_map(args, parse)?.collect())
                .map_err(store_error)
        })
    }

    async fn sequence_range(&self, webhook: WebhookId, from: Ticks, to: Ticks) -> Result<Option<(u64, u64)>> {
        self.read_fresh_snapshot(|reader| match find_sealed(reader, webhook)? {
            None => Ok(None),
            Some(one) => span(reader, &one, from, to),
        })
    }
}

fn insert_replay(writer: &Connection, tenant_no: i64, webhook: WebhookId, one: &Replay) -> Result<()> {
    writer
        .prepare_cached(
            "INSERT INTO replays (tenant_no, webhook, number, kind, asked_at, after_sequence, upto_sequence, position,
                 delivered, failed, is_done)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )
        .and_then(|mut insert| {
            insert.execute(params![
                tenant_no,
                webhook.as_bytes(),
                one.number,
                one.kind.code(),
                one.requested_at.0,
                signed(one.after),
                signed(one.through),
                signed(one.position),
                signed(one.delivered),
                signed(one.failed),
                one.is_done
            ])
        })
        .map_err(store_error)?;
    Ok(())
}
