//! The delivery engine's port in PostgreSQL.

use std::collections::HashMap;

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::event::EventKind;
use domain::subscription::Products;
use domain::{ClientId, Guid, Resource, Suspension, TenantId, WebhookId};
use tokio_postgres::Row;

use super::PostgresStore;
use super::authorizations::authorizations_of;
use super::changes::ENTRY;
use super::rows::{code, column, limit, parse, parse_all, row, rows, snapshot};
use super::teams::{SANDBOX_CLIENTS, TEAM_CLIENTS};
use super::webhook_rows::{LANE, REPLAY};
use crate::plan::signed;
use crate::rows::{Columns, FromRow, LIVE, WEBHOOK};
use crate::sandboxes::sandbox_clients;
use crate::teams::limited_by_team;
use crate::webhooks::{SealedWebhook, id_key};
use crate::{
    ChangedWebhooks, CheckpointResult, Deliveries, DisabledOwners, Lane, LeaseRenewal, LoadedWebhook,
    LogBounds, LogEvent, LogTail, OperationClass, RenewedLeases, Replay, Result, StoreError,
    WebhookCheckpoint, WebhookOwner,
};

/// Sorts before every id.
const NO_ID: &[u8] = &[];

/// Groups rows by their webhook.
fn by_webhook<T: FromRow>(found: &[Row]) -> Result<HashMap<WebhookId, Vec<T>>> {
    let mut all: HashMap<WebhookId, Vec<T>> = HashMap::new();
    for row in found {
        all.entry(row.read("webhook")?).or_default().push(parse(row)?);
    }
    Ok(all)
}

impl PostgresStore {
    /// Adds the lanes and the open replays to the webhooks.
    async fn load_parts(&self, on: &Transaction<'_>, found: Vec<Row>) -> Result<Vec<LoadedWebhook>> {
        let found = found.iter().map(parse).collect::<Result<Vec<SealedWebhook>>>()?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let tenants = column(&found, |one| one.tenant_no);
        let ids = column(&found, |one| one.webhook.id.as_bytes().as_slice());
        let lanes = rows(
            on,
            &format!(
                "SELECT {LANE}, n.webhook FROM unnest($1::bigint[], $2::bytea[]) AS k (tenant_no, webhook)
                 JOIN lanes n ON n.tenant_no = k.tenant_no AND n.webhook = k.webhook ORDER BY n.webhook, n.record_key"
            ),
            &[&tenants, &ids],
        )
        .await?;
        let replays = rows(
            on,
            &format!(
                "SELECT {REPLAY}, r.webhook FROM unnest($1::bigint[], $2::bytea[]) AS k (tenant_no, webhook)
                 JOIN replays r ON r.tenant_no = k.tenant_no AND r.webhook = k.webhook AND r.is_done = 0
                 ORDER BY r.webhook, r.number"
            ),
            &[&tenants, &ids],
        )
        .await?;
        let mut owners: Vec<&WebhookOwner> = found.iter().map(|one| &one.webhook.owner).collect();
        owners.sort_unstable_by_key(|owner| (&owner.tenant, &owner.client));
        owners.dedup();
        let access = authorizations_of(on, &owners).await?;
        let mut lanes: HashMap<WebhookId, Vec<Lane>> = by_webhook(&lanes)?;
        let mut replays: HashMap<WebhookId, Vec<Replay>> = by_webhook(&replays)?;
        let vault = &self.ports().vault;
        let loaded = found.into_iter().map(|one| {
            let webhook = one.open(vault)?;
            let area = webhook.resource.area();
            let access = access.get(&webhook.owner);
            Ok(LoadedWebhook {
                authorization_gap: access
                    .map_or(Some(Suspension::NotAuthorized), |access| access.authorization_gap(area)),
                lanes: lanes.remove(&webhook.id).unwrap_or_default(),
                replays: replays.remove(&webhook.id).unwrap_or_default(),
                id_key: id_key(vault, webhook.id),
                webhook,
            })
        });
        loaded.collect()
    }
}

#[async_trait]
impl Deliveries for PostgresStore {
    async fn renew_shard_leases(&self, renewal: &LeaseRenewal) -> Result<RenewedLeases> {
        self.listen_to_other_nodes();
        self.renew_leases(renewal).await
    }

    async fn release_shards(&self, node: Guid) -> Result<()> {
        self.release_leases(node).await
    }

    async fn load_webhooks(
        &self,
        shard: u8,
        after: Option<WebhookId>,
        rows_max: usize,
    ) -> Result<Vec<LoadedWebhook>> {
        let mut client = self.lend(OperationClass::Query).await?;
        let snapshot = snapshot(&mut client).await?;
        let found = rows(
            &snapshot,
            &format!("{WEBHOOK} WHERE w.shard = $1 AND w.id > $2 AND {LIVE} ORDER BY w.id LIMIT $3"),
            &[
                &i64::from(shard),
                &after.as_ref().map_or(NO_ID, |after| after.as_bytes().as_slice()),
                &limit(rows_max),
            ],
        )
        .await?;
        self.load_parts(&snapshot, found).await
    }

    async fn load_webhook(&self, webhook: WebhookId) -> Result<Option<LoadedWebhook>> {
        let mut client = self.lend(OperationClass::Query).await?;
        let snapshot = snapshot(&mut client).await?;
        let sql = format!("{WEBHOOK} WHERE w.id = $1 AND {LIVE}");
        let found = row(&snapshot, &sql, &[&webhook.as_bytes().as_slice()]).await?;
        Ok(self.load_parts(&snapshot, found.into_iter().collect()).await?.pop())
    }

    async fn changed_webhooks(&self, since: u64) -> Result<ChangedWebhooks> {
        // One statement, so that both values come from one snapshot.
        let found = self
            .rows(
                "SELECT m.moved, w.id FROM webhook_moves m LEFT JOIN webhooks w ON w.moved > $1
                 WHERE m.no = 1 ORDER BY w.moved",
                &[&signed(since)],
            )
            .await?;
        let last_change = found.first().map_or(Ok(0), |row| row.read("moved"))?;
        let known = found.iter().filter_map(|row| row.read("id").transpose());
        Ok(ChangedWebhooks { last_change, webhooks: known.collect::<Result<_>>()? })
    }

    async fn disabled_owners(&self) -> Result<DisabledOwners> {
        let tenants = self.rows("SELECT id FROM tenants WHERE standing = 0", &[]).await?;
        let clients = self.rows("SELECT id FROM clients WHERE standing = 0", &[]).await?;
        let limited = "SELECT id, products FROM clients WHERE products <> $1 ORDER BY id";
        let limited = self.rows(limited, &[&Products::all().bits()]).await?;
        let of_teams = self.rows(&format!("{TEAM_CLIENTS} ORDER BY c.id"), &[]).await?;
        let sandboxes = self.rows(&format!("{SANDBOX_CLIENTS} ORDER BY n.id, c.id"), &[]).await?;
        let text = |row: &Row| row.get::<_, Box<str>>(0);
        let products = |row: &Row| Ok((row.read("id")?, Products::from_bits(row.read("products")?)));
        Ok(DisabledOwners {
            tenants: tenants.iter().map(text).map(TenantId::new).collect(),
            clients: clients.iter().map(text).map(ClientId::new).collect(),
            limited_clients: limited.iter().map(products).collect::<Result<_>>()?,
            team_clients: limited_by_team(parse_all(&of_teams)?),
            sandboxes: sandbox_clients(parse_all(&sandboxes)?),
        })
    }

    async fn log_heads(&self) -> Result<Vec<(TenantId, u64)>> {
        // Skips from tenant to tenant instead of reading every webhook, because the engine calls this every
        // second.
        let next = format!("SELECT w.tenant_no FROM webhooks w WHERE w.tenant_no > l.no AND {LIVE}");
        let sql = format!(
            "WITH RECURSIVE live (no) AS (SELECT 0::bigint UNION ALL
                 SELECT ({next} ORDER BY w.tenant_no LIMIT 1) FROM live l WHERE l.no IS NOT NULL)
             SELECT t.id, h.head FROM live l JOIN tenants t ON t.no = l.no JOIN heads h ON h.tenant_no = l.no
             ORDER BY t.id"
        );
        let heads = self.rows(&sql, &[]).await?;
        heads.iter().map(|row| Ok((row.read("id")?, row.read("head")?))).collect()
    }

    async fn read_tail(
        &self,
        tenant: &TenantId,
        resource: Resource,
        after: u64,
        rows_max: usize,
    ) -> Result<LogTail> {
        // One statement, so that the events and the head come from one snapshot.
        let sql = format!(
            "SELECT {ENTRY}, l.record_key, h.head, h.floor FROM tenants t JOIN heads h ON h.tenant_no = t.no
             LEFT JOIN LATERAL (SELECT e.* FROM unnest($3::bigint[]) AS k (kind)
                 CROSS JOIN LATERAL (SELECT * FROM log WHERE tenant_no + 0 = t.no AND resource = $2
                     AND kind = k.kind AND sequence > $4 ORDER BY sequence LIMIT $5) e
                 ORDER BY e.sequence LIMIT $5) l ON true
             WHERE t.id = $1 ORDER BY l.sequence"
        );
        let kinds = EventKind::ALL.map(|kind| i64::from(kind.code())).to_vec();
        let found = self
            .rows(&sql, &[&tenant.as_str(), &code(resource), &kinds, &signed(after), &limit(rows_max)])
            .await?;
        let first = found.first().ok_or_else(|| StoreError::UnknownTenant(tenant.to_string()))?;
        let bounds: LogBounds = parse(first)?;
        let mut events = Vec::with_capacity(found.len());
        for row in &found {
            if row.read::<Option<i64>>("sequence")?.is_some() {
                events.push(parse(row)?);
            }
        }
        Ok(LogTail::of(events, rows_max, bounds))
    }

    async fn read_record_tail(
        &self,
        tenant: &TenantId,
        resource: Resource,
        record_key: i64,
        after: u64,
        through: u64,
        rows_max: usize,
    ) -> Result<Vec<LogEvent>> {
        let sql = format!(
            "SELECT {ENTRY}, l.record_key FROM log l
             WHERE l.tenant_no - 0 = (SELECT no FROM tenants WHERE id = $1) AND l.resource = $2
                 AND l.record_key = $3 AND l.sequence > $4 AND l.sequence <= $5
             ORDER BY l.sequence LIMIT $6"
        );
        let args = (code(resource), signed(after), signed(through), limit(rows_max));
        let found =
            self.rows(&sql, &[&tenant.as_str(), &args.0, &record_key, &args.1, &args.2, &args.3]).await?;
        found.iter().map(parse).collect()
    }

    async fn checkpoint(&self, checkpoints: Vec<WebhookCheckpoint>) -> Result<Vec<CheckpointResult>> {
        if checkpoints.is_empty() {
            return Ok(Vec::new());
        }
        self.write_checkpoints(checkpoints).await
    }
}
