//! Tenants, users and memberships.

use async_trait::async_trait;
use domain::{Guid, MembershipId, TenantId, Ticks, UserId};

use crate::Result;

/// Whether an entity may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Active,
    Disabled,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
        }
    }

    pub(crate) fn code(self) -> i64 {
        i64::from(self == Self::Active)
    }

    pub(crate) fn from_code(code: i64) -> Self {
        if code == 0 { Self::Disabled } else { Self::Active }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    pub id: TenantId,
    pub name: String,
    /// `svc.es.idcda`
    pub short_code: String,
    pub status: Status,
    pub created_at: Ticks,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    /// Lower case; unique.
    pub email: String,
    pub given_name: String,
    pub lang: String,
    /// An argon2id hash in PHC form.
    pub password_hash: String,
    pub status: Status,
    pub created_at: Ticks,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    pub id: MembershipId,
    pub user: UserId,
    pub tenant: TenantId,
    /// `svc.es.modules`, semicolon-separated.
    pub modules: String,
    pub key_user_correlation_id: Guid,
    pub equipo_user_id: String,
    pub second_client_id: String,
    pub created_at: Ticks,
    /// When the user last chose this tenant at a sign-in.
    pub last_used_at: Option<Ticks>,
}

/// A membership with its user and its tenant: everything that a token's claims need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantMembership {
    pub user: User,
    pub tenant: Tenant,
    pub membership: Membership,
}

impl TenantMembership {
    /// Whether both the user and the tenant are active.
    pub fn is_active(&self) -> bool {
        self.user.status == Status::Active && self.tenant.status == Status::Active
    }
}

#[async_trait]
pub trait Directory: Send + Sync + 'static {
    async fn add_tenant(&self, tenant: &Tenant) -> Result<()>;
    async fn find_tenant(&self, id: &TenantId) -> Result<Option<Tenant>>;
    /// In order of creation.
    async fn tenants(&self) -> Result<Vec<Tenant>>;
    async fn set_tenant_status(&self, id: &TenantId, status: Status) -> Result<bool>;
    /// Hides the tenant at once; maintenance deletes its rows in batches.
    async fn erase_tenant(&self, id: &TenantId) -> Result<bool>;

    async fn add_user(&self, user: &User) -> Result<()>;
    async fn find_user(&self, id: &UserId) -> Result<Option<User>>;
    async fn find_user_by_email(&self, email: &str) -> Result<Option<User>>;
    async fn users(&self) -> Result<Vec<User>>;
    async fn set_user_status(&self, id: &UserId, status: Status) -> Result<bool>;
    /// Sets a new password hash and ends the user's sessions.
    async fn set_password_hash(&self, id: &UserId, hash: &str) -> Result<bool>;

    async fn add_membership(&self, membership: &Membership) -> Result<()>;
    async fn remove_membership(&self, user: &UserId, tenant: &TenantId) -> Result<bool>;
    async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>>;
    /// The user's membership in a tenant, even if either is disabled.
    async fn find_tenant_membership(
        &self,
        user: &UserId,
        tenant: &TenantId,
    ) -> Result<Option<TenantMembership>>;
    /// Memberships whose user and tenant are active: most recently used first, then by the tenant's name.
    async fn active_memberships(&self, user: &UserId) -> Result<Vec<TenantMembership>>;
}
