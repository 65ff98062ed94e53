//! Refresh tokens in SQLite and the effect of their use on the grant.

use domain::{Ticks, WebhookId};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::authorizations::end_if_unused;
use super::directory::change;
use super::grants::{find_grant, revoke};
use super::{exists, store_error};
use crate::grants::{REFRESH_REUSED, RefreshDecision, RefreshRow, decide_refresh, rotation_entry};
use crate::rows::{Columns, SqliteRow};
use crate::{Grant, Ports, RefreshOutcome, RefreshRotation, Result};

pub(super) fn add_refresh(
    writer: &Connection,
    hash: &[u8; 32],
    grant: &Grant,
    expires_at: Ticks,
) -> Result<()> {
    writer
        .prepare_cached(
            "INSERT INTO refresh_tokens (hash, grant_id, client_id, expires_at) VALUES (?1, ?2, ?3, ?4)",
        )
        .and_then(|mut add| {
            add.execute(params![hash, grant.id.as_str(), grant.client.as_str(), expires_at.0])
        })
        .map_err(exists("such a refresh token".into()))?;
    Ok(())
}

fn find_refresh(connection: &Connection, hash: &[u8; 32]) -> Result<Option<RefreshRow>> {
    connection
        .prepare_cached(
            "SELECT t.client_id, t.grant_id, t.expires_at, t.used_at, t.successor,
                 s.used_at IS NOT NULL AS successor_used, s.expires_at AS successor_expires_at
             FROM refresh_tokens t LEFT JOIN refresh_tokens s ON s.hash = t.successor WHERE t.hash = ?1",
        )
        .and_then(|mut find| {
            find.query_row([hash], |row| {
                let row = SqliteRow::new(row);
                Ok(RefreshRow {
                    client: row.read("client_id")?,
                    grant: row.read("grant_id")?,
                    expires_at: row.read("expires_at")?,
                    used_at: row.read("used_at")?,
                    successor: row.read("successor")?,
                    successor_used: row.read("successor_used")?,
                    successor_expires_at: row.read("successor_expires_at")?,
                })
            })
            .optional()
        })
        .map_err(store_error)
}

pub(super) fn rotate(
    writer: &Connection,
    ports: &Ports,
    [presented, successor]: &[[u8; 32]; 2],
    rotation: &RefreshRotation,
) -> Result<(RefreshOutcome, Option<Vec<WebhookId>>)> {
    let row = find_refresh(writer, presented)?;
    let grant = match &row {
        Some(row) => find_grant(writer, &row.grant)?,
        None => None,
    };
    let decision = decide_refresh(rotation, row, grant, successor);
    if let Some(entry) = rotation_entry(rotation, &decision) {
        append_audit(writer, &*ports.random, entry)?;
    }
    let outcome = match decision {
        RefreshDecision::Done(done) => done,
        RefreshDecision::Revoke(grant) => {
            revoke(writer, grant.id.as_str(), rotation.now)?;
            let why = (&rotation.context, REFRESH_REUSED);
            let webhooks = end_if_unused(writer, ports, &grant, rotation.now, why)?;
            return Ok((RefreshOutcome::Reused { revoked: grant.id }, webhooks));
        }
        RefreshDecision::Retry { grant, expires_at, is_longer } => {
            if is_longer {
                change(
                    writer,
                    "UPDATE grants SET expires_at = max(expires_at, ?2) WHERE id = ?1",
                    params![grant.id.as_str(), grant.expires_at.0],
                )?;
            }
            RefreshOutcome::Retried { grant, expires_at }
        }
        RefreshDecision::Rotate { grant, expires_at } => {
            change(
                writer,
                "UPDATE refresh_tokens SET used_at = ?2, successor = ?3 WHERE hash = ?1",
                params![presented, rotation.now.0, successor],
            )?;
            add_refresh(writer, successor, &grant, expires_at)?;
            change(
                writer,
                "UPDATE grants SET expires_at = max(expires_at, ?2), last_used_at = ?3 WHERE id = ?1",
                params![grant.id.as_str(), grant.expires_at.0, grant.last_used_at.0],
            )?;
            RefreshOutcome::Rotated { grant, expires_at }
        }
    };
    Ok((outcome, None))
}
