//! Tenants, accounts, memberships, and what belongs to an account.

use domain::{OperatorRole, Realm};

use super::{Columns, FromRow, Prefixed};
use crate::logouts::EndedSession;
use crate::mails::{MailRow, SealedMail};
use crate::second_factors::FactorRow;
use crate::sign_in_buckets::BucketRow;
use crate::{
    Account, Actor, Invitation, Logout, LogoutProgress, LogoutState, Membership, NamedToken, Session, Status,
    Tenant, TenantMembership,
};

pub(crate) const TENANT: &str =
    "SELECT id, name, short_code, standing, created_at, revision, sandbox_team FROM tenants";
pub(crate) const ACCOUNT: &str =
    "SELECT id, email, given_name, lang, password_hash, standing, created_at, revision,
         realm, role, family_name, coalesce(updated_at, created_at) AS updated_at
     FROM accounts";
pub(crate) const MEMBERSHIP: &str =
    "id, user_id, tenant_id, modules, key_user_correlation_id, equipo_user_id,
     second_client_id, created_at, last_used_at, admin";
pub(crate) const TENANT_MEMBERSHIPS: &str =
    "SELECT m.id, m.user_id, m.tenant_id, m.modules, m.key_user_correlation_id, m.equipo_user_id,
         m.second_client_id, m.created_at, m.last_used_at, m.admin,
         u.id AS account_id, u.email AS account_email, u.given_name AS account_given_name, u.lang AS account_lang,
         u.password_hash AS account_password_hash, u.standing AS account_standing, u.created_at AS account_created_at,
         u.revision AS account_revision, u.realm AS account_realm, u.role AS account_role,
         u.family_name AS account_family_name, coalesce(u.updated_at, u.created_at) AS account_updated_at,
         t.name AS tenant_name, t.short_code AS tenant_short_code, t.standing AS tenant_standing,
         t.created_at AS tenant_created_at, t.revision AS tenant_revision, t.sandbox_team AS tenant_sandbox_team
     FROM memberships m JOIN accounts u ON u.id = m.user_id JOIN tenants t ON t.id = m.tenant_id";

impl FromRow for Tenant {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            name: row.read("name")?,
            short_code: row.read("short_code")?,
            status: Status::from_code(row.read("standing")?),
            created_at: row.read("created_at")?,
            revision: row.read("revision")?,
            sandbox_of: row.read("sandbox_team")?,
        })
    }
}

impl FromRow for Account {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            email: row.read("email")?,
            given_name: row.read("given_name")?,
            lang: row.read("lang")?,
            password_hash: row.read("password_hash")?,
            status: Status::from_code(row.read("standing")?),
            created_at: row.read("created_at")?,
            revision: row.read("revision")?,
            realm: Realm::from_code(row.read("realm")?),
            role: row.read::<Option<i64>>("role")?.map(OperatorRole::from_code),
            family_name: row.read("family_name")?,
            updated_at: row.read("updated_at")?,
        })
    }
}

impl FromRow for Membership {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            user: row.read("user_id")?,
            tenant: row.read("tenant_id")?,
            modules: row.read("modules")?,
            key_user_correlation_id: row.read("key_user_correlation_id")?,
            equipo_user_id: row.read("equipo_user_id")?,
            second_client_id: row.read("second_client_id")?,
            created_at: row.read("created_at")?,
            last_used_at: row.read("last_used_at")?,
            is_admin: row.read("admin")?,
        })
    }
}

impl FromRow for TenantMembership {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            membership: Membership::from_row(row)?,
            user: Account::from_row(&Prefixed(row, "account_"))?,
            tenant: Tenant::from_row(&Prefixed(row, "tenant_"))?,
        })
    }
}

impl FromRow for Invitation {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            realm: Realm::from_code(row.read("realm")?),
            email: row.read("email")?,
            name: row.read("name")?,
            lang: row.read("lang")?,
            tenants: Self::tenants_from_json(&row.read::<Box<str>>("tenants")?),
            role: row.read::<Option<i64>>("role")?.map(OperatorRole::from_code),
            team: row.read("team")?,
            is_team_owner: row.read("team_owner")?,
            invited_by: Actor::from_parts(
                &row.read::<Box<str>>("invited_by_kind")?,
                row.read("invited_by_id")?,
            ),
            created_at: row.read("created_at")?,
            expires_at: row.read("expires_at")?,
            accepted_at: row.read("accepted_at")?,
            revoked_at: row.read("revoked_at")?,
        })
    }
}

impl FromRow for Session {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            account: row.read("user_id")?,
            authenticated_at: row.read("authenticated_at")?,
            methods: row.read("methods")?,
            expires_at: row.read("expires_at")?,
            id: row.read("id")?,
            realm: Realm::from_code(row.read("realm")?),
            address: row.read("address")?,
            user_agent: row.read("user_agent")?,
        })
    }
}

impl FromRow for EndedSession {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            account: row.read("user_id")?,
            realm: Realm::from_code(row.read("realm")?),
            expires_at: row.read("expires_at")?,
        })
    }
}

impl FromRow for Logout {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            client: row.read("client_id")?,
            user: row.read("user_id")?,
            session: row.read("session_id")?,
            created_at: row.read("created_at")?,
            expires_at: row.read("expires_at")?,
        })
    }
}

impl FromRow for LogoutProgress {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            logout: Logout::from_row(row)?,
            attempts: row.read("attempts")?,
            state: LogoutState::from_code(row.read("state")?),
            error: row.read("last_error")?,
            ended_at: row.read("ended_at")?,
        })
    }
}

impl FromRow for BucketRow {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            full_at: row.read("full_at")?,
            under_way: row.read("under_way")?,
            under_way_until: row.read("under_way_until")?,
        })
    }
}

impl FromRow for FactorRow {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            account: row.read("account_id")?,
            realm: Realm::from_code(row.read("realm")?),
            kind: row.read("kind")?,
            name: row.read("name")?,
            hash: row.read("hash")?,
            sealed: row.read("sealed")?,
            counter: row.read("counter")?,
            created_at: row.read("created_at")?,
            last_used_at: row.read("last_used_at")?,
        })
    }
}

impl FromRow for MailRow {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            mail: SealedMail {
                id: row.read("id")?,
                kind: row.read("kind")?,
                recipient: row.read("recipient")?,
                lang: row.read("lang")?,
                sealed: row.read("sealed")?,
                created_at: row.read("created_at")?,
                expires_at: row.read("expires_at")?,
            },
            attempts: row.read("attempts")?,
        })
    }
}

impl FromRow for NamedToken {
    fn from_row<R: Columns>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            id: row.read("id")?,
            name: row.read("name")?,
            role: OperatorRole::from_code(row.read("role")?),
            created_at: row.read("created_at")?,
            created_by: row.read("created_by")?,
            expires_at: row.read("expires_at")?,
            last_used_at: row.read("last_used_at")?,
            revoked_at: row.read("revoked_at")?,
        })
    }
}
