//! Refresh tokens in PostgreSQL and the effect of their use on the grant.

use deadpool_postgres::Transaction;
use domain::Ticks;

use super::grants::find;
use super::rows::{execute, row};
use super::{exists, store_error};
use crate::grants::RefreshRow;
use crate::rows::Columns;
use crate::{Grant, Result};

pub(super) async fn add_refresh(
    on: &Transaction<'_>,
    hash: &[u8; 32],
    grant: &Grant,
    expires_at: Ticks,
) -> Result<()> {
    execute(
        on,
        "INSERT INTO refresh_tokens (hash, grant_id, client_id, expires_at) VALUES ($1, $2, $3, $4)",
        &[&hash.as_slice(), &grant.id.as_str(), &grant.client.as_str(), &expires_at.0],
    )
    .await
    .map_err(exists("such a refresh token".into()))?;
    Ok(())
}

/// Locks the token's row, then reads its successor and its grant.
pub(super) async fn lock_refresh(
    on: &Transaction<'_>,
    hash: &[u8; 32],
) -> Result<Option<(RefreshRow, Option<Grant>)>> {
    let locked = row(
        on,
        "SELECT client_id, grant_id, expires_at, used_at, successor FROM refresh_tokens WHERE hash = $1 FOR UPDATE",
        &[&hash.as_slice()],
    )
    .await?;
    let Some(locked) = locked else { return Ok(None) };
    let mut token = RefreshRow {
        client: locked.read("client_id")?,
        grant: locked.read("grant_id")?,
        expires_at: locked.read("expires_at")?,
        used_at: locked.read("used_at")?,
        successor: locked.read("successor")?,
        successor_used: false,
        successor_expires_at: None,
    };
    if let Some(successor) = token.successor {
        let next = row(
            on,
            "SELECT used_at IS NOT NULL AS is_used, expires_at FROM refresh_tokens WHERE hash = $1",
            &[&successor.as_slice()],
        )
        .await?;
        if let Some(next) = next {
            token.successor_used = next.read("is_used")?;
            token.successor_expires_at = next.read("expires_at")?;
        }
    }
    let grant = find(on, &token.grant).await?;
    Ok(Some((token, grant)))
}

pub(super) async fn mark_used(
    on: &Transaction<'_>,
    [used, successor]: [&[u8; 32]; 2],
    now: Ticks,
) -> Result<()> {
    execute(
        on,
        "UPDATE refresh_tokens SET used_at = $2, successor = $3 WHERE hash = $1",
        &[&used.as_slice(), &now.0, &successor.as_slice()],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}

/// Records that a token was issued from the grant.
pub(super) async fn record_grant_use(on: &Transaction<'_>, grant: &Grant) -> Result<()> {
    execute(
        on,
        "UPDATE grants SET expires_at = greatest(expires_at, $2), last_used_at = $3 WHERE id = $1",
        &[&grant.id.as_str(), &grant.expires_at.0, &grant.last_used_at.0],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}

/// Extends the grant's expiry.
pub(super) async fn extend_grant(on: &Transaction<'_>, grant: &Grant) -> Result<()> {
    execute(
        on,
        "UPDATE grants SET expires_at = greatest(expires_at, $2) WHERE id = $1",
        &[&grant.id.as_str(), &grant.expires_at.0],
    )
    .await
    .map_err(store_error)?;
    Ok(())
}
