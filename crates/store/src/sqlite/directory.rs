//! Tenants, users and memberships in SQLite.

use async_trait::async_trait;
use domain::{MembershipId, TenantId, Ticks, UserId};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::rows::{guid, tenant_no};
use super::webhooks::next_change_number;
use super::{SqliteStore, exists, store_error};
use crate::{Directory, Membership, ResourceSet, Result, Status, Tenant, TenantMembership, User};

fn tenant(row: &Row<'_>) -> rusqlite::Result<Tenant> {
    tenant_at(row, 0)
}

fn tenant_at(row: &Row<'_>, at: usize) -> rusqlite::Result<Tenant> {
    Ok(Tenant {
        id: TenantId::new(row.get::<_, Box<str>>(at)?),
        name: row.get(at + 1)?,
        short_code: row.get(at + 2)?,
        status: Status::from_code(row.get(at + 3)?),
        created_at: Ticks(row.get(at + 4)?),
    })
}

fn user(row: &Row<'_>) -> rusqlite::Result<User> {
    user_at(row, 0)
}

fn user_at(row: &Row<'_>, at: usize) -> rusqlite::Result<User> {
    Ok(User {
        id: UserId::new(row.get::<_, Box<str>>(at)?),
        email: row.get(at + 1)?,
        given_name: row.get(at + 2)?,
        lang: row.get(at + 3)?,
        password_hash: row.get(at + 4)?,
        status: Status::from_code(row.get(at + 5)?),
        created_at: Ticks(row.get(at + 6)?),
    })
}

fn membership(row: &Row<'_>) -> rusqlite::Result<Membership> {
    Ok(Membership {
        id: MembershipId::new(row.get::<_, Box<str>>(0)?),
        user: UserId::new(row.get::<_, Box<str>>(1)?),
        tenant: TenantId::new(row.get::<_, Box<str>>(2)?),
        modules: row.get(3)?,
        key_user_correlation_id: guid(row, 4)?,
        equipo_user_id: row.get(5)?,
        second_client_id: row.get(6)?,
        created_at: Ticks(row.get(7)?),
        last_used_at: row.get::<_, Option<i64>>(8)?.map(Ticks),
    })
}

fn tenant_membership(row: &Row<'_>) -> rusqlite::Result<TenantMembership> {
    Ok(TenantMembership { membership: membership(row)?, user: user_at(row, 9)?, tenant: tenant_at(row, 16)? })
}

const TENANT: &str = "SELECT id, name, short_code, standing, created_at FROM tenants";
const USER: &str = "SELECT id, email, given_name, lang, password_hash, standing, created_at FROM users";
const TENANT_MEMBERSHIP: &str =
    "SELECT m.id, m.user_id, m.tenant_id, m.modules, m.key_user_correlation_id, m.equipo_user_id,
         m.second_client_id, m.created_at, m.last_used_at,
         u.id, u.email, u.given_name, u.lang, u.password_hash, u.standing, u.created_at,
         t.id, t.name, t.short_code, t.standing, t.created_at
     FROM memberships m JOIN users u ON u.id = m.user_id JOIN tenants t ON t.id = m.tenant_id
     WHERE m.user_id = ?1";

/// Executes a statement; false if it changed no row.
pub(super) fn change(writer: &Connection, sql: &str, args: impl Params) -> Result<bool> {
    writer
        .prepare_cached(sql)
        .and_then(|mut change| change.execute(args))
        .map(|rows| rows > 0)
        .map_err(store_error)
}

fn erase(writer: &Connection, id: &TenantId) -> Result<bool> {
    let Some(tenant_no) = tenant_no(writer, id)? else {
        return Ok(false);
    };
    change(
        writer,
        "DELETE FROM refresh_tokens WHERE grant_id IN (SELECT id FROM grants WHERE tenant_id = ?1)",
        [id.as_str()],
    )?;
    change(writer, "DELETE FROM grants WHERE tenant_id = ?1", [id.as_str()])?;
    change(writer, "DELETE FROM memberships WHERE tenant_id = ?1", [id.as_str()])?;
    let change_number = next_change_number(writer)?;
    change(
        writer,
        "UPDATE webhooks SET moved = ?2 WHERE tenant_no = ?1 AND unsubscribed_at IS NULL AND deleted_at IS NULL",
        [tenant_no, change_number],
    )?;
    change(writer, "DELETE FROM tenants WHERE no = ?1", [tenant_no])?;
    change(writer, "INSERT INTO erased_tenants (tenant_no) VALUES (?1)", [tenant_no])
}

#[async_trait]
impl Directory for SqliteStore {
    async fn add_tenant(&self, tenant: &Tenant) -> Result<()> {
        let tenant = tenant.clone();
        self.write(move |writer| {
            writer
                .execute(
                    "INSERT INTO tenants (id, name, short_code, standing, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![
                        tenant.id.as_str(),
                        tenant.name,
                        tenant.short_code,
                        tenant.status.code(),
                        tenant.created_at.0
                    ],
                )
                .map_err(exists(format!("a tenant \"{}\"", tenant.id)))?;
            let tenant_no = writer.last_insert_rowid();
            change(writer, "INSERT INTO heads (tenant_no, head, floor, version) VALUES (?1, 0, 0, 0)", [tenant_no])?;
            Ok(())
        })
        .await
    }

    async fn find_tenant(&self, id: &TenantId) -> Result<Option<Tenant>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{TENANT} WHERE id = ?1"))
                .and_then(|mut find| find.query_row([id.as_str()], tenant).optional())
                .map_err(store_error)
        })
    }

    async fn tenants(&self) -> Result<Vec<Tenant>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{TENANT} ORDER BY no"))
                .and_then(|mut all| all.query_map([], tenant)?.collect())
                .map_err(store_error)
        })
    }

    async fn set_tenant_status(&self, id: &TenantId, status: Status) -> Result<bool> {
        let id = id.clone();
        self.write_access(move |writer| {
            change(
                writer,
                "UPDATE tenants SET standing = ?2 WHERE id = ?1",
                params![id.as_str(), status.code()],
            )
        })
        .await
    }

    async fn erase_tenant(&self, id: &TenantId) -> Result<bool> {
        let one = id.clone();
        let erased = self.write_access(move |writer| erase(writer, &one)).await;
        self.inner.invalidation.records_changed(id, ResourceSet::default());
        self.inner.invalidation.commit_signal().signal_all();
        erased
    }

    async fn add_user(&self, user: &User) -> Result<()> {
        let user = user.clone();
        self.write(move |writer| {
            writer
                .execute(
                    "INSERT INTO users (id, email, given_name, lang, password_hash, standing, created_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![
                        user.id.as_str(),
                        user.email,
                        user.given_name,
                        user.lang,
                        user.password_hash,
                        user.status.code(),
                        user.created_at.0
                    ],
                )
                .map_err(exists(format!("a user \"{}\"", user.email)))?;
            Ok(())
        })
        .await
    }

    async fn find_user(&self, id: &UserId) -> Result<Option<User>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{USER} WHERE id = ?1"))
                .and_then(|mut find| find.query_row([id.as_str()], user).optional())
                .map_err(store_error)
        })
    }

    async fn find_user_by_email(&self, email: &str) -> Result<Option<User>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{USER} WHERE email = ?1"))
                .and_then(|mut find| find.query_row([email], user).optional())
                .map_err(store_error)
        })
    }

    async fn users(&self) -> Result<Vec<User>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{USER} ORDER BY created_at, id"))
                .and_then(|mut all| all.query_map([], user)?.collect())
                .map_err(store_error)
        })
    }

    async fn set_user_status(&self, id: &UserId, status: Status) -> Result<bool> {
        let id = id.clone();
        self.write_access(move |writer| {
            change(
                writer,
                "UPDATE users SET standing = ?2 WHERE id = ?1",
                params![id.as_str(), status.code()],
            )
        })
        .await
    }

    async fn set_password_hash(&self, id: &UserId, hash: &str) -> Result<bool> {
        let (id, hash) = (id.clone(), hash.to_owned());
        self.write(move |writer| {
            change(writer, "DELETE FROM sessions WHERE user_id = ?1", [id.as_str()])?;
            change(writer, "UPDATE users SET password_hash = ?2 WHERE id = ?1", params![id.as_str(), hash])
        })
        .await
    }

    async fn add_membership(&self, membership: &Membership) -> Result<()> {
        let one = membership.clone();
        self.write(move |writer| {
            writer
                .execute(
                    "INSERT INTO memberships (id, user_id, tenant_id, modules, key_user_correlation_id,
                         equipo_user_id, second_client_id, created_at, last_used_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                    params![
                        one.id.as_str(),
                        one.user.as_str(),
                        one.tenant.as_str(),
                        one.modules,
                        one.key_user_correlation_id.as_bytes(),
                        one.equipo_user_id,
                        one.second_client_id,
                        one.created_at.0,
                        one.last_used_at.map(|at| at.0)
                    ],
                )
                .map_err(exists("such a membership".into()))?;
            Ok(())
        })
        .await
    }

    async fn remove_membership(&self, user: &UserId, tenant: &TenantId) -> Result<bool> {
        let (user, tenant) = (user.clone(), tenant.clone());
        self.write_access(move |writer| {
            change(
                writer,
                "DELETE FROM memberships WHERE user_id = ?1 AND tenant_id = ?2",
                [user.as_str(), tenant.as_str()],
            )
        })
        .await
    }

    async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>> {
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT id, user_id, tenant_id, modules, key_user_correlation_id, equipo_user_id,
                         second_client_id, created_at, last_used_at
                     FROM memberships WHERE user_id = ?1 ORDER BY created_at, id",
                )
                .and_then(|mut all| all.query_map([user.as_str()], membership)?.collect())
                .map_err(store_error)
        })
    }

    async fn find_tenant_membership(
        &self,
        user: &UserId,
        tenant: &TenantId,
    ) -> Result<Option<TenantMembership>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{TENANT_MEMBERSHIP} AND m.tenant_id = ?2"))
                .and_then(|mut find| {
                    find.query_row([user.as_str(), tenant.as_str()], tenant_membership).optional()
                })
                .map_err(store_error)
        })
    }

    async fn active_memberships(&self, user: &UserId) -> Result<Vec<TenantMembership>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!(
                    "{TENANT_MEMBERSHIP} AND u.standing = ?2 AND t.standing = ?2
                     ORDER BY m.last_used_at DESC NULLS LAST, t.name, t.id"
                ))
                .and_then(|mut all| {
                    all.query_map(params![user.as_str(), Status::Active.code()], tenant_membership)?.collect()
                })
                .map_err(store_error)
        })
    }
}
