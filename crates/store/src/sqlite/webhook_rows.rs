//! Row mapping of webhooks, lanes and replays in SQLite.

use domain::retry::RetryState;
use domain::webhook::EventKinds;
use domain::{AccountId, ClientId, Resource, Secret, TenantId, Ticks};
use rusqlite::Row;
use rusqlite::types::Type;

use super::rows::guid;
use crate::plan::unsigned;
use crate::webhooks::SealedWebhook;
use crate::{DisabledByService, EventGap, Handshake, Lane, Replay, ReplayKind, Webhook, WebhookOwner};

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
pub(super) const HOST: &str = "rtrim(CASE WHEN substr(w.url, instr(w.url, '://') + 3, 1) = '['
        THEN substr(lower(w.url), instr(w.url, '://') + 3, instr(w.url, ']') - instr(w.url, '://') - 2)
        ELSE substr(lower(w.url), instr(w.url, '://') + 3,
            instr(replace(replace(replace(substr(w.url, instr(w.url, '://') + 3), '?', '/'), '#', '/'), ':', '/') || '/', '/') - 1)
    END, '.')";

pub(super) const LIVE: &str = "w.unsubscribed_at IS NULL AND w.deleted_at IS NULL";

fn ticks(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Ticks>> {
    row.get::<_, Option<i64>>(column).map(|at| at.map(Ticks))
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(unsigned)
}

/// The retry state in three columns, if there is one.
fn retry(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<RetryState>> {
    let Some(attempts) = row.get(column)? else { return Ok(None) };
    let (first_failed_at, next_at) = (Ticks(row.get(column + 1)?), Ticks(row.get(column + 2)?));
    Ok(Some(RetryState { attempts, first_failed_at, next_at }))
}

/// The handshake in six columns, and in two that a later schema added.
pub(super) fn handshake(row: &Row<'_>, column: usize, added: usize) -> rusqlite::Result<Handshake> {
    Ok(Handshake {
        number: row.get(column)?,
        at: Ticks(row.get(column + 1)?),
        accepted: row.get(column + 2)?,
        retry: retry(row, column + 3)?,
        asked_at: ticks(row, added)?,
        while_disabled: row.get(added + 1)?,
    })
}

pub(super) fn disabled(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<DisabledByService>> {
    let Some(at) = ticks(row, column)? else { return Ok(None) };
    Ok(Some(DisabledByService { at, reason: row.get(column + 1)? }))
}

pub(super) fn event_gap(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<EventGap>> {
    let Some(at) = ticks(row, column)? else { return Ok(None) };
    Ok(Some(EventGap { at, after: number(row, column + 1)?, through: number(row, column + 2)? }))
}

pub(super) fn sealed(row: &Row<'_>) -> rusqlite::Result<SealedWebhook> {
    let unknown = || rusqlite::Error::FromSqlConversionFailure(4, Type::Integer, "unknown resource".into());
    let until = ticks(row, 30)?;
    let webhook = Webhook {
        id: guid(row, 0)?,
        owner: WebhookOwner {
            tenant: TenantId::new(row.get::<_, Box<str>>(1)?),
            client: ClientId::new(row.get::<_, Box<str>>(2)?),
        },
        user: AccountId::new(row.get::<_, Box<str>>(3)?),
        resource: Resource::from_code(row.get(4)?).ok_or_else(unknown)?,
        kinds: EventKinds::from_bits(row.get(5)?),
        name: row.get(6)?,
        description: row.get(7)?,
        url: row.get(8)?,
        original_url: row.get(33)?,
        secret: Secret::new(""),
        previous_secret: None,
        host_mismatch: row.get(9)?,
        created_at: Ticks(row.get(10)?),
        enabled: row.get(11)?,
        handshake: handshake(row, 12, 34)?,
        disabled: disabled(row, 18)?,
        suspended_at: ticks(row, 32)?,
        unsubscribed_at: ticks(row, 20)?,
        deleted_at: ticks(row, 21)?,
        revision: number(row, 22)?,
        cursor: row.get::<_, Option<i64>>(23)?.map(unsigned),
        initial_cursor: row.get::<_, Option<i64>>(31)?.map(unsigned),
        event_gap: event_gap(row, 24)?,
    };
    let previous_secret = row.get::<_, Option<Vec<u8>>>(29)?.zip(until);
    Ok(SealedWebhook { tenant_no: row.get(27)?, webhook, secret: row.get(28)?, previous_secret })
}

pub(super) const LANE: &str = "record_key, sequence, attempts, first_failed_at, next_at";

pub(super) fn lane(row: &Row<'_>) -> rusqlite::Result<Lane> {
    let retry = RetryState {
        attempts: row.get(2)?,
        first_failed_at: Ticks(row.get(3)?),
        next_at: Ticks(row.get(4)?),
    };
    Ok(Lane { record_key: row.get(0)?, sequence: number(row, 1)?, retry })
}

pub(super) const REPLAY: &str =
    "number, kind, asked_at, after_sequence, upto_sequence, position, delivered, failed, is_done";

pub(super) fn replay(row: &Row<'_>) -> rusqlite::Result<Replay> {
    Ok(Replay {
        number: row.get(0)?,
        kind: ReplayKind::from_code(row.get(1)?),
        requested_at: Ticks(row.get(2)?),
        after: number(row, 3)?,
        through: number(row, 4)?,
        position: number(row, 5)?,
        delivered: number(row, 6)?,
        failed: number(row, 7)?,
        is_done: row.get(8)?,
    })
}
