//! The webhooks of a team's clients in PostgreSQL.

use std::collections::HashMap;

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::event::EventKind;
use domain::{ClientId, TenantId, Ticks, WebhookId};

use super::rows::{code, column, limit, parse, rows, snapshot};
use super::{PostgresStore, store_error};
use crate::plan::{signed, unsigned};
use crate::rows::{Columns, WEBHOOK};
use crate::webhooks::{SealedWebhook, page_of};
use crate::{LISTED_BEHIND_MAX, ListedWebhook, ListedWebhooks, Result, TeamWebhookQuery, TeamWebhooks};

/// The first positions of each client's webhooks, each by an index.
async fn positions(on: &Transaction<'_>, query: &TeamWebhookQuery) -> Result<Vec<(Ticks, WebhookId)>> {
    let mut conditions = vec![
        "w.client_id = c.id",
        "(w.created_at, w.id) > ($2, $3)",
        "EXISTS (SELECT 1 FROM tenants t WHERE t.no = w.tenant_no)",
        if query.tenant.is_some() {
            "w.tenant_no = (SELECT no FROM tenants WHERE id = $6)"
        } else {
            "$6::text IS NULL"
        },
        if query.url_contains.is_some() { "strpos(lower(w.url), $7) > 0" } else { "$7::text IS NULL" },
    ];
    let constant = query.constant_conditions();
    conditions.extend(constant.iter().map(String::as_str));
    let order = if query.tenant.is_some() { "w.tenant_no, w.client_id," } else { "w.client_id," };
    let by_id = if query.client.is_some() { "c.id = $5" } else { "$5::text IS NULL" };
    let sql = format!(
        "SELECT k.created_at, k.id FROM clients c CROSS JOIN LATERAL (SELECT w.created_at, w.id FROM webhooks w
             WHERE {} ORDER BY {order} w.created_at, w.id LIMIT $4) k
         WHERE c.team_id = $1 AND {by_id} ORDER BY k.created_at, k.id LIMIT $4",
        conditions.join(" AND ")
    );
    let (at, id) = query.after_or_start();
    let found = rows(
        on,
        &sql,
        &[
            &query.team.as_str(),
            &at,
            &id.as_bytes().as_slice(),
            &limit(query.rows_max() + 1),
            &query.client.as_ref().map(ClientId::as_str),
            &query.tenant.as_ref().map(TenantId::as_str),
            &query.lower_url(),
        ],
    )
    .await?;
    found.iter().map(|row| Ok((row.read("created_at")?, row.read("id")?))).collect()
}

/// What the page shows of each webhook besides its row: the state of its lanes, and how many events it is behind.
async fn lanes_and_behind(
    on: &Transaction<'_>,
    page: &[SealedWebhook],
    behind_max: u16,
) -> Result<Vec<((Option<Ticks>, Option<Ticks>), u64)>> {
    let kinds = EventKind::ALL.map(|kind| i64::from(kind.code()));
    let found = rows(
        on,
        "SELECT n.failing, n.next,
             (SELECT count(*) FROM (SELECT 1 FROM unnest($6::bigint[]) AS k (kind) CROSS JOIN LATERAL (SELECT 1 FROM log l
                     WHERE l.tenant_no + 0 = one.tenant_no AND l.resource = one.resource AND l.kind = k.kind
                         AND l.sequence > one.cursor ORDER BY l.sequence LIMIT $7) l
                 WHERE (one.kinds >> k.kind::int) & 1 = 1 LIMIT $7) ahead)
             + (SELECT count(*) FROM (SELECT 1 FROM lanes n CROSS JOIN LATERAL (SELECT l.kind FROM log l
                     WHERE l.tenant_no - 0 = n.tenant_no AND l.resource = one.resource AND l.record_key = n.record_key
                         AND l.sequence >= n.sequence AND l.sequence <= one.cursor ORDER BY l.sequence LIMIT $7) l
                 WHERE n.tenant_no = one.tenant_no AND n.webhook = one.webhook AND (one.kinds >> l.kind::int) & 1 = 1
                 LIMIT $7) parked)
         FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[])
             WITH ORDINALITY AS one (tenant_no, webhook, resource, kinds, cursor, place)
         CROSS JOIN LATERAL (SELECT min(first_failed_at) FILTER (WHERE attempts > 0) AS failing, min(next_at) AS next
             FROM lanes WHERE tenant_no = one.tenant_no AND webhook = one.webhook) n
         ORDER BY one.place",
        &[
            &column(page, |one| one.tenant_no),
            &column(page, |one| one.webhook.id.as_bytes().as_slice()),
            &column(page, |one| code(one.webhook.resource)),
            &column(page, |one| i64::from(one.webhook.kinds.bits())),
            // Without a cursor it is entitled to nothing yet.
            &column(page, |one| one.webhook.cursor.map_or(i64::MAX, signed)),
            &kinds.as_slice(),
            &i64::from(behind_max),
        ],
    )
    .await?;
    let ticks = |row: &tokio_postgres::Row, at| row.get::<_, Option<i64>>(at).map(Ticks);
    Ok(found.iter().map(|row| ((ticks(row, 0), ticks(row, 1)), unsigned(row.get(2)))).collect())
}

impl PostgresStore {
    /// The webhooks of a page, with the state of their lanes and their undelivered events, counted up to `behind_max`.
    pub(super) async fn listed(
        &self,
        on: &Transaction<'_>,
        page: &[WebhookId],
        behind_max: u16,
    ) -> Result<Vec<ListedWebhook>> {
        let ids = column(page, |id| id.as_bytes().as_slice());
        let found = rows(on, &format!("{WEBHOOK} WHERE w.id = ANY($1)"), &[&ids]).await?;
        let found: Result<Vec<SealedWebhook>> = found.iter().map(parse).collect();
        let mut by_id: HashMap<WebhookId, SealedWebhook> =
            found?.into_iter().map(|one| (one.webhook.id, one)).collect();
        let page: Vec<SealedWebhook> = page.iter().filter_map(|id| by_id.remove(id)).collect();
        let facts = lanes_and_behind(on, &page, behind_max).await?;
        let listed = |(one, (lanes, behind)): (SealedWebhook, (_, u64))| {
            Ok(ListedWebhook::new(one.open(&self.ports().vault)?, lanes, behind))
        };
        page.into_iter().zip(facts).map(listed).collect()
    }
}

#[async_trait]
impl TeamWebhooks for PostgresStore {
    async fn team_webhooks(&self, query: &TeamWebhookQuery) -> Result<ListedWebhooks> {
        let mut client = self.client().await?;
        let on = snapshot(&mut client).await?;
        let (page, next) = page_of(positions(&on, query).await?, query);
        let rows = self.listed(&on, &page, LISTED_BEHIND_MAX).await?;
        on.commit().await.map_err(store_error)?;
        Ok(ListedWebhooks { rows, next })
    }
}
