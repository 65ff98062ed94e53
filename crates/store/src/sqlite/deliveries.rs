//! The delivery engine's port in SQLite.

use std::collections::HashMap;

use async_trait::async_trait;
use domain::event::EventKind;
use domain::subscription::Products;
use domain::{Area, ClientId, Guid, Resource, Suspension, TenantId, WebhookId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::authorizations::owner_access;
use super::changes::{ENTRY, bounds};
use super::delivery_lock::{Ownership, held_shards, lease_all_shards, release_all_shards};
use super::rows::{parse, tenant_no};
use super::teams::{all_sandbox_clients, team_clients};
use super::webhook_rows::{LANE, REPLAY};
use super::{SqliteStore, checkpoint, store_error};
use crate::plan::{signed, unsigned};
use crate::rows::{Columns, LIVE, SqliteRow, WEBHOOK};
use crate::teams::limited_by_team;
use crate::webhooks::{SealedWebhook, id_key};
use crate::{
    ChangedWebhooks, CheckpointResult, Deliveries, DisabledOwners, LeaseRenewal, LoadedWebhook, LogEvent,
    LogTail, RenewedLeases, Result, StoreError, Vault, WebhookCheckpoint, WebhookOwner,
};

/// Why owners' webhooks get nothing, by owner and area; read once for all webhooks of a page.
type Gaps = HashMap<(WebhookOwner, Area), Option<Suspension>>;

/// Adds the lanes, the open replays and the access of its owner to a webhook.
fn load_parts(
    reader: &Connection,
    vault: &Vault,
    gaps: &mut Gaps,
    one: SealedWebhook,
) -> Result<LoadedWebhook> {
    let key = params![one.tenant_no, one.webhook.id.as_bytes()];
    let lanes = reader
        .prepare_cached(&format!("SELECT {LANE} FROM lanes WHERE tenant_no = ?1 AND webhook = ?2"))
        .and_then(|mut all| all.query_map(key, parse)?.collect())
        .map_err(store_error)?;
    let replays = reader
        .prepare_cached(&format!(
            "SELECT {REPLAY} FROM replays WHERE tenant_no = ?1 AND webhook = ?2 AND is_done = 0 ORDER BY number"
        ))
        .and_then(|mut all| all.query_map(key, parse)?.collect())
        .map_err(store_error)?;
    let webhook = one.open(vault)?;
    let owner_area = (webhook.owner.clone(), webhook.resource.area());
    let authorization_gap = if let Some(gap) = gaps.get(&owner_area) {
        *gap
    } else {
        let gap = owner_access(reader, &webhook.owner)?.authorization_gap(owner_area.1);
        *gaps.entry(owner_area).or_insert(gap)
    };
    Ok(LoadedWebhook { lanes, replays, id_key: id_key(vault, webhook.id), webhook, authorization_gap })
}

/// The events of one resource after a sequence: one index range per event kind, merged by SQLite. Without
/// INDEXED BY, SQLite scans the rest of the log for a kind that does not occur. Only constants and codes are
/// composed; values are bound.
fn tail_sql(resource: Resource) -> String {
    let range = |kind: EventKind| {
        format!(
            "SELECT {ENTRY}, record_key FROM log INDEXED BY log_by_kind
             WHERE tenant_no = ?1 AND resource = {} AND kind = {} AND sequence > ?2",
            resource.code(),
            kind.code()
        )
    };
    let ranges: Vec<String> = EventKind::ALL.into_iter().map(range).collect();
    format!("{} ORDER BY sequence LIMIT ?3", ranges.join(" UNION ALL "))
}

fn texts<T>(reader: &Connection, sql: &str, convert: impl Fn(Box<str>) -> T) -> Result<Vec<T>> {
    reader
        .prepare_cached(sql)
        .and_then(|mut all| all.query_map([], |row| row.get(0).map(&convert))?.collect())
        .map_err(store_error)
}

fn limited_clients(reader: &Connection) -> Result<Vec<(ClientId, Products)>> {
    let client = |row: &Row<'_>| {
        let row = SqliteRow::new(row);
        Ok((row.read("id")?, Products::from_bits(row.read("products")?)))
    };
    reader
        .prepare_cached("SELECT id, products FROM clients WHERE products <> ?1 ORDER BY id")
        .and_then(|mut all| all.query_map([Products::all().bits()], client)?.collect())
        .map_err(store_error)
}

#[async_trait]
impl Deliveries for SqliteStore {
    async fn renew_shard_leases(&self, renewal: &LeaseRenewal) -> Result<RenewedLeases> {
        let ownership = self.inner.delivery_lock.acquire()?;
        if ownership == Ownership::HeldElsewhere {
            return Ok(RenewedLeases::default());
        }
        let (node, until) = (renewal.node, self.ports().clock.now() + renewal.lease);
        // Deliveries go on while the writer waits for the disk.
        if ownership == Ownership::AlreadyHeld
            && let Some(held) = self.read(|reader| held_shards(reader, node))?
        {
            return Ok(RenewedLeases { held, ..RenewedLeases::default() });
        }
        let held = self
            .write(move |writer| lease_all_shards(writer, node, ownership == Ownership::Acquired, until))
            .await;
        if held.is_err() {
            // No lease was written: the next caller acquires the lock anew.
            self.inner.delivery_lock.release();
        }
        held.map(|held| RenewedLeases { held, ..RenewedLeases::default() })
    }

    async fn release_shards(&self, node: Guid) -> Result<()> {
        let left = self.write(move |writer| release_all_shards(writer, node)).await;
        self.inner.delivery_lock.release();
        left
    }

    async fn load_webhooks(
        &self,
        shard: u8,
        after: Option<WebhookId>,
        rows_max: usize,
    ) -> Result<Vec<LoadedWebhook>> {
        let after = after.map_or(Vec::new(), |after| after.as_bytes().to_vec());
        self.read_fresh_snapshot(|reader| {
            let rows_max = i64::try_from(rows_max).unwrap_or(i64::MAX);
            let found: Vec<SealedWebhook> = reader
                .prepare_cached(&format!(
                    "{WEBHOOK} WHERE w.shard = ?1 AND w.id > ?2 AND {LIVE} ORDER BY w.id LIMIT ?3"
                ))
                .and_then(|mut all| all.query_map(params![shard, after, rows_max], parse)?.collect())
                .map_err(store_error)?;
            let mut gaps = Gaps::new();
            found.into_iter().map(|one| load_parts(reader, &self.ports().vault, &mut gaps, one)).collect()
        })
    }

    async fn load_webhook(&self, webhook: WebhookId) -> Result<Option<LoadedWebhook>> {
        self.read_fresh_snapshot(|reader| {
            let found = reader
                .prepare_cached(&format!("{WEBHOOK} WHERE w.id = ?1 AND {LIVE}"))
                .and_then(|mut find| find.query_row([webhook.as_bytes()], parse).optional())
                .map_err(store_error)?;
            let mut gaps = Gaps::new();
            found.map(|one| load_parts(reader, &self.ports().vault, &mut gaps, one)).transpose()
        })
    }

    async fn changed_webhooks(&self, since: u64) -> Result<ChangedWebhooks> {
        self.read_fresh_snapshot(|reader| {
            let last_change: Option<i64> = reader
                .prepare_cached("SELECT moved FROM webhook_moves")
                .and_then(|mut find| find.query_row([], |row| row.get(0)).optional())
                .map_err(store_error)?;
            let webhooks = reader
                .prepare_cached("SELECT id FROM webhooks WHERE moved > ?1 ORDER BY moved")
                .and_then(|mut all| {
                    all.query_map([signed(since)], |row| SqliteRow::new(row).read("id"))?.collect()
                })
                .map_err(store_error)?;
            Ok(ChangedWebhooks { last_change: unsigned(last_change.unwrap_or_default()), webhooks })
        })
    }

    async fn disabled_owners(&self) -> Result<DisabledOwners> {
        self.read_fresh_snapshot(|reader| {
            Ok(DisabledOwners {
                tenants: texts(reader, "SELECT id FROM tenants WHERE standing = 0", TenantId::new)?,
                clients: texts(reader, "SELECT id FROM clients WHERE standing = 0", ClientId::new)?,
                limited_clients: limited_clients(reader)?,
                team_clients: limited_by_team(team_clients(reader)?),
                sandboxes: all_sandbox_clients(reader)?,
            })
        })
    }

    async fn log_heads(&self) -> Result<Vec<(TenantId, u64)>> {
        // Skips from tenant to tenant instead of reading every webhook, because the engine calls this every
        // second.
        let head = |row: &Row<'_>| {
            let row = SqliteRow::new(row);
            Ok((row.read("id")?, row.read("head")?))
        };
        self.read(|reader| {
            reader
                .prepare_cached(&format!(
                    "WITH RECURSIVE live (no) AS (SELECT 0 UNION ALL
                         SELECT (SELECT min(w.tenant_no) FROM webhooks w WHERE w.tenant_no > l.no AND {LIVE})
                         FROM live l WHERE l.no IS NOT NULL)
                     SELECT t.id, h.head FROM live l JOIN tenants t ON t.no = l.no JOIN heads h ON h.tenant_no = l.no
                     ORDER BY t.id"
                ))
                .and_then(|mut all| all.query_map([], head)?.collect())
                .map_err(store_error)
        })
    }

    async fn read_tail(
        &self,
        tenant: &TenantId,
        resource: Resource,
        after: u64,
        rows_max: usize,
    ) -> Result<LogTail> {
        self.read_fresh_snapshot(|reader| {
            let unknown = || StoreError::UnknownTenant(tenant.to_string());
            let tenant_no = tenant_no(reader, tenant)?.ok_or_else(unknown)?;
            let bounds = bounds(reader, tenant_no)?;
            if after >= bounds.head {
                return Ok(LogTail::of(Vec::new(), usize::MAX, bounds));
            }
            let limit = i64::try_from(rows_max).unwrap_or(i64::MAX);
            let events = reader
                .prepare_cached(&tail_sql(resource))
                .and_then(|mut all| all.query_map(params![tenant_no, signed(after), limit], parse)?.collect())
                .map_err(store_error)?;
            Ok(LogTail::of(events, rows_max, bounds))
        })
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
        self.read_fresh_snapshot(|reader| {
            let Some(tenant_no) = tenant_no(reader, tenant)? else {
                return Ok(Vec::new());
            };
            let limit = i64::try_from(rows_max).unwrap_or(i64::MAX);
            let args =
                params![tenant_no, resource.code(), record_key, signed(after), signed(through), limit];
            reader
                .prepare_cached(&format!(
                    "SELECT {ENTRY}, record_key FROM log INDEXED BY log_by_record
                     WHERE tenant_no = ?1 AND resource = ?2 AND record_key = ?3 AND sequence > ?4 AND sequence <= ?5
                     ORDER BY sequence LIMIT ?6"
                ))
                .and_then(|mut all| all.query_map(args, parse)?.collect())
                .map_err(store_error)
        })
    }

    async fn checkpoint(&self, checkpoints: Vec<WebhookCheckpoint>) -> Result<Vec<CheckpointResult>> {
        let ports = self.ports().clone();
        self.write(move |writer| checkpoint::write(writer, &ports, checkpoints)).await
    }
}
