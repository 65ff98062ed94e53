//! Codes, grants and refresh tokens in SQLite.

use async_trait::async_trait;
use domain::{ClientId, GrantId, Secret, TenantId, Ticks, UserId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{SqliteStore, exists, fault};
use crate::grants::{CODE, REFRESH, RefreshRow, RefreshVerdict, refresh_verdict};
use crate::{Code, CodeTaken, Grant, Grants, Judge, NewGrant, RefreshRotated, Result, Rotation};

const GRANT: &str = "id, client_id, user_id, tenant_id, details, created_at, expires_at, revoked_at";

fn grant(row: &Row<'_>) -> rusqlite::Result<Grant> {
    Ok(Grant {
        id: GrantId::new(row.get::<_, Box<str>>(0)?),
        client: ClientId::new(row.get::<_, Box<str>>(1)?),
        user: UserId::new(row.get::<_, Box<str>>(2)?),
        tenant: TenantId::new(row.get::<_, Box<str>>(3)?),
        details: row.get(4)?,
        created_at: Ticks(row.get(5)?),
        expires_at: Ticks(row.get(6)?),
        revoked_at: row.get::<_, Option<i64>>(7)?.map(Ticks),
    })
}

fn find_grant(connection: &Connection, id: &str) -> Result<Option<Grant>> {
    connection
        .prepare_cached(&format!("SELECT {GRANT} FROM grants WHERE id = ?1"))
        .and_then(|mut find| find.query_row([id], grant).optional())
        .map_err(fault)
}

fn revoke(connection: &Connection, id: &str, now: Ticks) -> Result<bool> {
    let changed = connection
        .execute("UPDATE grants SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL", params![id, now.0])
        .map_err(fault)?;
    Ok(changed > 0)
}

fn add_grant(connection: &Connection, new: &NewGrant, refresh_hash: Option<[u8; 32]>) -> Result<()> {
    let grant = &new.grant;
    connection
        .execute(
            "INSERT INTO grants (id, client_id, user_id, tenant_id, details, created_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                grant.id.as_str(),
                grant.client.as_str(),
                grant.user.as_str(),
                grant.tenant.as_str(),
                grant.details,
                grant.created_at.0,
                grant.expires_at.0
            ],
        )
        .map_err(exists(format!("a grant \"{}\"", grant.id)))?;
    if let (Some(hash), Some((_, expires_at))) = (refresh_hash, &new.refresh) {
        add_refresh(connection, &hash, grant, *expires_at)?;
    }
    Ok(())
}

fn add_refresh(connection: &Connection, hash: &[u8; 32], grant: &Grant, expires_at: Ticks) -> Result<()> {
    connection
        .execute(
            "INSERT INTO refresh_tokens (hash, grant_id, client_id, expires_at) VALUES (?1, ?2, ?3, ?4)",
            params![hash, grant.id.as_str(), grant.client.as_str(), expires_at.0],
        )
        .map_err(exists("such a refresh token".into()))?;
    Ok(())
}

struct CodeRow {
    code: Code,
    used: bool,
    grant: Option<Box<str>>,
}

fn find_code(connection: &Connection, hash: &[u8; 32]) -> Result<Option<CodeRow>> {
    connection
        .prepare_cached("SELECT client_id, expires_at, details, used_at, grant_id FROM codes WHERE hash = ?1")
        .and_then(|mut find| {
            find.query_row([hash], |row| {
                Ok(CodeRow {
                    code: Code {
                        client: ClientId::new(row.get::<_, Box<str>>(0)?),
                        expires_at: Ticks(row.get(1)?),
                        details: row.get(2)?,
                    },
                    used: row.get::<_, Option<i64>>(3)?.is_some(),
                    grant: row.get(4)?,
                })
            })
            .optional()
        })
        .map_err(fault)
}

fn find_refresh(connection: &Connection, hash: &[u8; 32]) -> Result<Option<RefreshRow>> {
    connection
        .prepare_cached(
            "SELECT t.client_id, t.grant_id, t.expires_at, t.used_at, t.successor, s.used_at IS NOT NULL, s.expires_at
             FROM refresh_tokens t LEFT JOIN refresh_tokens s ON s.hash = t.successor WHERE t.hash = ?1",
        )
        .and_then(|mut find| {
            find.query_row([hash], |row| {
                Ok(RefreshRow {
                    client: ClientId::new(row.get::<_, Box<str>>(0)?),
                    grant: row.get(1)?,
                    expires_at: Ticks(row.get(2)?),
                    used_at: row.get::<_, Option<i64>>(3)?.map(Ticks),
                    successor: row.get(4)?,
                    successor_used: row.get(5)?,
                    successor_expires_at: row.get::<_, Option<i64>>(6)?.map(Ticks),
                })
            })
            .optional()
        })
        .map_err(fault)
}

#[async_trait]
impl Grants for SqliteStore {
    async fn keep_code(&self, code: &Secret, kept: &Code) -> Result<()> {
        let hash = self.ports().vault.fingerprint(CODE, code);
        let kept = kept.clone();
        self.write(move |writer| {
            writer
                .execute(
                    "INSERT INTO codes (hash, client_id, expires_at, details) VALUES (?1, ?2, ?3, ?4)",
                    params![hash, kept.client.as_str(), kept.expires_at.0, kept.details],
                )
                .map_err(exists("such a code".into()))?;
            Ok(())
        })
        .await
    }

    async fn take_code(
        &self,
        code: &Secret,
        client: &ClientId,
        now: Ticks,
        judge: Judge,
    ) -> Result<CodeTaken> {
        let vault = self.ports().vault.clone();
        let hash = vault.fingerprint(CODE, code);
        let client = client.clone();
        self.write(move |writer| {
            let Some(row) = find_code(writer, &hash)?.filter(|row| row.code.client == client) else {
                return Ok(CodeTaken::Unknown);
            };
            if row.used {
                if let Some(grant) = &row.grant {
                    revoke(writer, grant, now)?;
                }
                return Ok(CodeTaken::Reused { revoked: row.grant.map(GrantId::new) });
            }
            let new = if now < row.code.expires_at { judge(&row.code) } else { None };
            writer
                .execute(
                    "UPDATE codes SET used_at = ?2, grant_id = ?3 WHERE hash = ?1",
                    params![hash, now.0, new.as_ref().map(|new| new.grant.id.as_str())],
                )
                .map_err(fault)?;
            if let Some(new) = &new {
                let refresh = new.refresh.as_ref().map(|(token, _)| vault.fingerprint(REFRESH, token));
                add_grant(writer, new, refresh)?;
            }
            if now >= row.code.expires_at {
                return Ok(CodeTaken::Expired);
            }
            Ok(CodeTaken::Fresh { code: row.code, grant: new.map(|new| new.grant) })
        })
        .await
    }

    async fn rotate_refresh(&self, rotation: &Rotation) -> Result<RefreshRotated> {
        let presented = self.ports().vault.fingerprint(REFRESH, &rotation.presented);
        let successor = self.ports().vault.fingerprint(REFRESH, &rotation.successor);
        let rotation = rotation.clone();
        self.write(move |writer| {
            let row = find_refresh(writer, &presented)?;
            let grant = match &row {
                Some(row) => find_grant(writer, &row.grant)?,
                None => None,
            };
            match refresh_verdict(&rotation, row, grant, &successor) {
                RefreshVerdict::Done(done) => Ok(done),
                RefreshVerdict::Revoke(grant) => {
                    revoke(writer, grant.as_str(), rotation.now)?;
                    Ok(RefreshRotated::Reused { revoked: grant })
                }
                RefreshVerdict::Rotate { grant, expires_at } => {
                    writer
                        .execute(
                            "UPDATE refresh_tokens SET used_at = ?2, successor = ?3 WHERE hash = ?1",
                            params![presented, rotation.now.0, successor],
                        )
                        .map_err(fault)?;
                    add_refresh(writer, &successor, &grant, expires_at)?;
                    writer
                        .execute(
                            "UPDATE grants SET expires_at = max(expires_at, ?2) WHERE id = ?1",
                            params![grant.id.as_str(), grant.expires_at.0],
                        )
                        .map_err(fault)?;
                    Ok(RefreshRotated::Fresh { grant, expires_at })
                }
            }
        })
        .await
    }

    async fn find_grant(&self, id: &GrantId) -> Result<Option<Grant>> {
        self.read(|reader| find_grant(reader, id.as_str()))
    }

    async fn revoke_grant(&self, id: &GrantId, now: Ticks) -> Result<bool> {
        let id = id.clone();
        self.write(move |writer| revoke(writer, id.as_str(), now)).await
    }
}
