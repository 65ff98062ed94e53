//! Row mapping of webhooks, lanes and replays in PostgreSQL.

use domain::retry::RetryState;
use domain::webhook::EventKinds;
use domain::{AccountId, ClientId, Resource, Secret, TenantId, Ticks};
use tokio_postgres::Row;

use super::rows::{guid, small};
use crate::plan::unsigned;
use crate::webhooks::SealedWebhook;
use crate::{
    DisabledByService, EventGap, Handshake, Lane, Ports, Replay, ReplayKind, Result, StoreError, Webhook,
    WebhookOwner,
};

/// Selects webhooks of existing tenants, with the columns that `sealed` reads.
pub(super) const WEBHOOK: &str =
    "SELECT w.id, t.id, w.client_id, w.user_id, w.resource, w.kinds, w.name, w.description, w.url, w.doubt,
         w.created_at, w.enabled, w.handshake, w.handshake_at, w.handshake_accepted, w.handshake_attempts,
         w.handshake_failed_at, w.handshake_next_at, w.disabled_at, w.disabled_why, w.unsubscribed_at, w.deleted_at,
         w.revision, w.cursor, w.lost_at, w.lost_after, w.lost_upto, w.tenant_no, w.secret, w.old_secret,
         w.old_secret_until, w.began, w.suspended_at, coalesce(w.original_url, w.url), w.handshake_asked_at,
         w.handshake_while_disabled
     FROM webhooks w JOIN tenants t ON t.no = w.tenant_no";

/// The host of the receiver, as the index `webhooks_by_host` has it.
pub(super) const HOST: &str = r"rtrim(lower(substring(w.url from '^[A-Za-z]+://(\[[^]]*\]|[^/:?#]*)')), '.')";

pub(super) const LIVE: &str = "w.unsubscribed_at IS NULL AND w.deleted_at IS NULL";

fn ticks(row: &Row, column: usize) -> Option<Ticks> {
    row.get::<_, Option<i64>>(column).map(Ticks)
}

fn number(row: &Row, column: usize) -> u64 {
    unsigned(row.get(column))
}

pub(super) fn count(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

pub(super) fn is_set(row: &Row, column: usize) -> bool {
    row.get::<_, i64>(column) != 0
}

/// The retry state in three columns, if there is one.
fn retry(row: &Row, column: usize) -> Option<RetryState> {
    let attempts: Option<i64> = row.get(column);
    let (first_failed_at, next_at) = (ticks(row, column + 1)?, ticks(row, column + 2)?);
    Some(RetryState { attempts: count(attempts?), first_failed_at, next_at })
}

/// The handshake in six columns, and in two that a later schema added.
pub(super) fn handshake(row: &Row, column: usize, added: usize) -> Handshake {
    Handshake {
        number: count(row.get(column)),
        at: Ticks(row.get(column + 1)),
        accepted: is_set(row, column + 2),
        retry: retry(row, column + 3),
        asked_at: ticks(row, added),
        while_disabled: is_set(row, added + 1),
    }
}

pub(super) fn disabled(row: &Row, column: usize) -> Option<DisabledByService> {
    Some(DisabledByService { at: ticks(row, column)?, reason: row.get(column + 1) })
}

pub(super) fn event_gap(row: &Row, column: usize) -> Option<EventGap> {
    Some(EventGap {
        at: ticks(row, column)?,
        after: number(row, column + 1),
        through: number(row, column + 2),
    })
}

pub(super) fn sealed(row: &Row) -> Result<SealedWebhook> {
    let unknown = || StoreError::internal("a webhook has an unknown resource");
    let webhook = Webhook {
        id: guid(row, 0)?,
        owner: WebhookOwner {
            tenant: TenantId::new(row.get::<_, Box<str>>(1)),
            client: ClientId::new(row.get::<_, Box<str>>(2)),
        },
        user: AccountId::new(row.get::<_, Box<str>>(3)),
        resource: Resource::from_code(small(row.get(4))).ok_or_else(unknown)?,
        kinds: EventKinds::from_bits(small(row.get(5))),
        name: row.get(6),
        description: row.get(7),
        url: row.get(8),
        original_url: row.get(33),
        secret: Secret::new(""),
        previous_secret: None,
        host_mismatch: row.get(9),
        created_at: Ticks(row.get(10)),
        enabled: is_set(row, 11),
        handshake: handshake(row, 12, 34),
        disabled: disabled(row, 18),
        suspended_at: ticks(row, 32),
        unsubscribed_at: ticks(row, 20),
        deleted_at: ticks(row, 21),
        revision: number(row, 22),
        cursor: row.get::<_, Option<i64>>(23).map(unsigned),
        initial_cursor: row.get::<_, Option<i64>>(31).map(unsigned),
        event_gap: event_gap(row, 24),
    };
    let previous_secret = row.get::<_, Option<Vec<u8>>>(29).zip(ticks(row, 30));
    Ok(SealedWebhook { tenant_no: row.get(27), webhook, secret: row.get(28), previous_secret })
}

pub(super) const LANE: &str = "n.record_key, n.sequence, n.attempts, n.first_failed_at, n.next_at";

pub(super) fn lane(row: &Row) -> Lane {
    let retry = RetryState {
        attempts: count(row.get(2)),
        first_failed_at: Ticks(row.get(3)),
        next_at: Ticks(row.get(4)),
    };
    Lane { record_key: row.get(0), sequence: number(row, 1), retry }
}

pub(super) const REPLAY: &str = "r.number, r.kind, r.asked_at, r.after_sequence, r.upto_sequence, r.position, r.delivered, r.failed, r.is_done";

pub(super) fn replay(row: &Row) -> Replay {
    Replay {
        number: row.get(0),
        kind: ReplayKind::from_code(row.get(1)),
        requested_at: Ticks(row.get(2)),
        after: number(row, 3),
        through: number(row, 4),
        position: number(row, 5),
        delivered: number(row, 6),
        failed: number(row, 7),
        is_done: is_set(row, 8),
    }
}

/// The webhook with its tenant's number.
pub(super) fn open_sealed(found: Option<Row>, ports: &Ports) -> Result<Option<(i64, Webhook)>> {
    let open = |row| {
        let one = sealed(&row)?;
        Ok((one.tenant_no, one.open(&ports.vault)?))
    };
    found.map(open).transpose()
}
