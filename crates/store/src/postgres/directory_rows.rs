//! Tenants, accounts and memberships as rows.

use domain::{AccountId, MembershipId, OperatorRole, Realm, TeamId, TenantId, Ticks};
use tokio_postgres::Row;

use super::rows::guid;
use crate::plan::unsigned;
use crate::{Account, Membership, Result, Status, Tenant, TenantMembership};

pub(super) fn tenant(row: &Row) -> Tenant {
    tenant_at(row, 0)
}

fn tenant_at(row: &Row, at: usize) -> Tenant {
    Tenant {
        id: TenantId::new(row.get::<_, Box<str>>(at)),
        name: row.get(at + 1),
        short_code: row.get(at + 2),
        status: Status::from_code(row.get(at + 3)),
        created_at: Ticks(row.get(at + 4)),
        revision: unsigned(row.get(at + 5)),
        sandbox_of: row.get::<_, Option<Box<str>>>(at + 6).map(TeamId::new),
    }
}

pub(super) fn account(row: &Row) -> Account {
    account_at(row, 0)
}

fn account_at(row: &Row, at: usize) -> Account {
    Account {
        id: AccountId::new(row.get::<_, Box<str>>(at)),
        email: row.get(at + 1),
        given_name: row.get(at + 2),
        lang: row.get(at + 3),
        password_hash: row.get(at + 4),
        status: Status::from_code(row.get(at + 5)),
        created_at: Ticks(row.get(at + 6)),
        revision: unsigned(row.get(at + 7)),
        realm: Realm::from_code(row.get(at + 8)),
        role: row.get::<_, Option<i64>>(at + 9).map(OperatorRole::from_code),
        family_name: row.get(at + 10),
        updated_at: Ticks(row.get(at + 11)),
    }
}

pub(super) fn membership(row: &Row) -> Result<Membership> {
    Ok(Membership {
        id: MembershipId::new(row.get::<_, Box<str>>(0)),
        user: AccountId::new(row.get::<_, Box<str>>(1)),
        tenant: TenantId::new(row.get::<_, Box<str>>(2)),
        modules: row.get(3),
        key_user_correlation_id: guid(row, 4)?,
        equipo_user_id: row.get(5),
        second_client_id: row.get(6),
        created_at: Ticks(row.get(7)),
        last_used_at: row.get::<_, Option<i64>>(8).map(Ticks),
        is_admin: row.get::<_, i64>(9) != 0,
    })
}

pub(super) fn tenant_membership(row: &Row) -> Result<TenantMembership> {
    Ok(TenantMembership {
        membership: membership(row)?,
        user: account_at(row, 10),
        tenant: tenant_at(row, 22),
    })
}

pub(super) const TENANT: &str =
    "SELECT id, name, short_code, standing, created_at, revision, sandbox_team FROM tenants";
pub(super) const ACCOUNT: &str =
    "SELECT id, email, given_name, lang, password_hash, standing, created_at, revision,
         realm, role, family_name, coalesce(updated_at, created_at)
     FROM accounts";
pub(super) const MEMBERSHIP: &str =
    "id, user_id, tenant_id, modules, key_user_correlation_id, equipo_user_id,
     second_client_id, created_at, last_used_at, admin";
pub(super) const TENANT_MEMBERSHIPS: &str =
    "SELECT m.id, m.user_id, m.tenant_id, m.modules, m.key_user_correlation_id, m.equipo_user_id,
         m.second_client_id, m.created_at, m.last_used_at, m.admin,
         u.id, u.email, u.given_name, u.lang, u.password_hash, u.standing, u.created_at, u.revision,
         u.realm, u.role, u.family_name, coalesce(u.updated_at, u.created_at),
         t.id, t.name, t.short_code, t.standing, t.created_at, t.revision, t.sandbox_team
     FROM memberships m JOIN accounts u ON u.id = m.user_id JOIN tenants t ON t.id = m.tenant_id";
