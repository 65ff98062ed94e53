//! Codes, grants and refresh tokens in PostgreSQL: the row that is taken is locked first.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{ClientId, GrantId, Secret, TenantId, Ticks, UserId};
use tokio_postgres::Row;

use super::rows::{bytes, found};
use super::{PostgresStore, exists, fault};
use crate::grants::{CODE, REFRESH, RefreshRow, RefreshVerdict, refresh_verdict};
use crate::{Code, CodeTaken, Grant, Grants, Judge, NewGrant, RefreshRotated, Result, Rotation};

const GRANT: &str = "SELECT id, client_id, user_id, tenant_id, details, created_at, expires_at, revoked_at \
                     FROM grants WHERE id = $1";

fn grant(row: &Row) -> Grant {
    Grant {
        id: GrantId::new(row.get::<_, Box<str>>(0)),
        client: ClientId::new(row.get::<_, Box<str>>(1)),
        user: UserId::new(row.get::<_, Box<str>>(2)),
        tenant: TenantId::new(row.get::<_, Box<str>>(3)),
        details: row.get(4),
        created_at: Ticks(row.get(5)),
        expires_at: Ticks(row.get(6)),
        revoked_at: row.get::<_, Option<i64>>(7).map(Ticks),
    }
}

async fn revoke(on: &Transaction<'_>, id: &str, now: Ticks) -> Result<()> {
    on.execute("UPDATE grants SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", &[&id, &now.0])
        .await
        .map_err(fault)?;
    Ok(())
}

async fn add_grant(on: &Transaction<'_>, new: &NewGrant, refresh_hash: Option<[u8; 32]>) -> Result<()> {
    let grant = &new.grant;
    on.execute(
        "INSERT INTO grants (id, client_id, user_id, tenant_id, details, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        &[
            &grant.id.as_str(),
            &grant.client.as_str(),
            &grant.user.as_str(),
            &grant.tenant.as_str(),
            &grant.details,
            &grant.created_at.0,
            &grant.expires_at.0,
        ],
    )
    .await
    .map_err(exists(format!("a grant \"{}\"", grant.id)))?;
    if let (Some(hash), Some((_, expires_at))) = (refresh_hash, &new.refresh) {
        add_refresh(on, &hash, grant, *expires_at).await?;
    }
    Ok(())
}

async fn add_refresh(on: &Transaction<'_>, hash: &[u8; 32], grant: &Grant, expires_at: Ticks) -> Result<()> {
    on.execute(
        "INSERT INTO refresh_tokens (hash, grant_id, client_id, expires_at) VALUES ($1, $2, $3, $4)",
        &[&hash.as_slice(), &grant.id.as_str(), &grant.client.as_str(), &expires_at.0],
    )
    .await
    .map_err(exists("such a refresh token".into()))?;
    Ok(())
}

/// Whether a code was used, and what came of it.
enum Used {
    Never,
    Before { made: Option<GrantId> },
}

/// Locks the row of a client's code.
async fn lock_code(on: &Transaction<'_>, hash: &[u8; 32], client: &ClientId) -> Result<Option<(Code, Used)>> {
    let locked = on
        .query_opt(
            "SELECT expires_at, details, used_at, grant_id FROM codes WHERE hash = $1 AND client_id = $2 FOR UPDATE",
            &[&hash.as_slice(), &client.as_str()],
        )
        .await;
    Ok(found(locked)?.map(|row| {
        let code = Code { client: client.clone(), expires_at: Ticks(row.get(0)), details: row.get(1) };
        let used = match row.get::<_, Option<i64>>(2) {
            None => Used::Never,
            Some(_) => Used::Before { made: row.get::<_, Option<Box<str>>>(3).map(GrantId::new) },
        };
        (code, used)
    }))
}

/// Locks the token's row, then reads it with its successor's and its grant.
async fn lock_refresh(on: &Transaction<'_>, hash: &[u8; 32]) -> Result<Option<(RefreshRow, Option<Grant>)>> {
    let locked = on
        .query_opt(
            "SELECT client_id, grant_id, expires_at, used_at, successor FROM refresh_tokens WHERE hash = $1 FOR UPDATE",
            &[&hash.as_slice()],
        )
        .await
        .map_err(fault)?;
    let Some(row) = locked else { return Ok(None) };
    let mut token = RefreshRow {
        client: ClientId::new(row.get::<_, Box<str>>(0)),
        grant: row.get(1),
        expires_at: Ticks(row.get(2)),
        used_at: row.get::<_, Option<i64>>(3).map(Ticks),
        successor: None,
        successor_used: false,
        successor_expires_at: None,
    };
    if row.get::<_, Option<&[u8]>>(4).is_some() {
        let successor: [u8; 32] = bytes(&row, 4)?;
        token.successor = Some(successor);
        let next = on
            .query_opt(
                "SELECT used_at IS NOT NULL, expires_at FROM refresh_tokens WHERE hash = $1",
                &[&successor.as_slice()],
            )
            .await
            .map_err(fault)?;
        if let Some(next) = next {
            token.successor_used = next.get(0);
            token.successor_expires_at = Some(Ticks(next.get(1)));
        }
    }
    let found = on.query_opt(GRANT, &[&token.grant]).await.map_err(fault)?;
    Ok(Some((token, found.as_ref().map(grant))))
}

#[async_trait]
impl Grants for PostgresStore {
    async fn keep_code(&self, code: &Secret, kept: &Code) -> Result<()> {
        let hash = self.ports().vault.fingerprint(CODE, code);
        self.insert(
            "such a code".into(),
            "INSERT INTO codes (hash, client_id, expires_at, details) VALUES ($1, $2, $3, $4)",
            &[&hash.as_slice(), &kept.client.as_str(), &kept.expires_at.0, &kept.details],
        )
        .await
    }

    async fn take_code(
        &self,
        code: &Secret,
        client: &ClientId,
        now: Ticks,
        judge: Judge,
    ) -> Result<CodeTaken> {
        let vault = &self.ports().vault;
        let hash = vault.fingerprint(CODE, code);
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(fault)?;
        let Some((code, used)) = lock_code(&transaction, &hash, client).await? else {
            return Ok(CodeTaken::Unknown);
        };
        if let Used::Before { made } = used {
            if let Some(grant) = &made {
                revoke(&transaction, grant.as_str(), now).await?;
            }
            transaction.commit().await.map_err(fault)?;
            return Ok(CodeTaken::Reused { revoked: made });
        }
        let new = if now < code.expires_at { judge(&code) } else { None };
        let made = new.as_ref().map(|new| new.grant.id.as_str());
        transaction
            .execute(
                "UPDATE codes SET used_at = $2, grant_id = $3 WHERE hash = $1",
                &[&hash.as_slice(), &now.0, &made],
            )
            .await
            .map_err(fault)?;
        if let Some(new) = &new {
            let refresh = new.refresh.as_ref().map(|(token, _)| vault.fingerprint(REFRESH, token));
            add_grant(&transaction, new, refresh).await?;
        }
        transaction.commit().await.map_err(fault)?;
        if now >= code.expires_at {
            return Ok(CodeTaken::Expired);
        }
        Ok(CodeTaken::Fresh { code, grant: new.map(|new| new.grant) })
    }

    async fn rotate_refresh(&self, rotation: &Rotation) -> Result<RefreshRotated> {
        let presented = self.ports().vault.fingerprint(REFRESH, &rotation.presented);
        let successor = self.ports().vault.fingerprint(REFRESH, &rotation.successor);
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(fault)?;
        let (row, grant) = match lock_refresh(&transaction, &presented).await? {
            Some((row, grant)) => (Some(row), grant),
            None => (None, None),
        };
        let rotated = match refresh_verdict(rotation, row, grant, &successor) {
            RefreshVerdict::Done(done) => done,
            RefreshVerdict::Revoke(grant) => {
                revoke(&transaction, grant.as_str(), rotation.now).await?;
                RefreshRotated::Reused { revoked: grant }
            }
            RefreshVerdict::Rotate { grant, expires_at } => {
                transaction
                    .execute(
                        "UPDATE refresh_tokens SET used_at = $2, successor = $3 WHERE hash = $1",
                        &[&presented.as_slice(), &rotation.now.0, &successor.as_slice()],
                    )
                    .await
                    .map_err(fault)?;
                add_refresh(&transaction, &successor, &grant, expires_at).await?;
                transaction
                    .execute(
                        "UPDATE grants SET expires_at = greatest(expires_at, $2) WHERE id = $1",
                        &[&grant.id.as_str(), &grant.expires_at.0],
                    )
                    .await
                    .map_err(fault)?;
                RefreshRotated::Fresh { grant, expires_at }
            }
        };
        transaction.commit().await.map_err(fault)?;
        Ok(rotated)
    }

    async fn find_grant(&self, id: &GrantId) -> Result<Option<Grant>> {
        Ok(self.row(GRANT, &[&id.as_str()]).await?.as_ref().map(grant))
    }

    async fn revoke_grant(&self, id: &GrantId, now: Ticks) -> Result<bool> {
        self.change(
            "UPDATE grants SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL",
            &[&id.as_str(), &now.0],
        )
        .await
    }
}
