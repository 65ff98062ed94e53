//! Tenants and the memberships of users.

use async_trait::async_trait;
use domain::{AccountId, Guid, MembershipId, Random, TeamId, TenantId, Ticks};

use crate::{Account, AuditContext, ListPage, ListQuery, Result, UpdateOutcome};

/// The modules of a new membership.
const DEFAULT_MODULES: &str = "ACC;COR;IMP;PAY;INV";

/// Whether an entity may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Active,
    Disabled,
    /// A user of a restored backup who has not signed in since. What the user had allowed does not stand until then, as
    /// with a disabled user. Only users have this status.
    Unconfirmed,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Unconfirmed => "unconfirmed",
        }
    }

    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Disabled => 0,
            Self::Active => 1,
            Self::Unconfirmed => 2,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        match code {
            0 => Self::Disabled,
            2 => Self::Unconfirmed,
            _ => Self::Active,
        }
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
    /// Incremented by every update.
    pub revision: u64,
    /// The team whose sandbox it is; None: a customer of the operator. It never changes.
    pub sandbox_of: Option<TeamId>,
}

/// Changes to a tenant; `None` leaves a property as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantUpdate {
    pub status: Option<Status>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    pub id: MembershipId,
    pub user: AccountId,
    pub tenant: TenantId,
    /// `svc.es.modules`, semicolon-separated.
    pub modules: String,
    pub key_user_correlation_id: Guid,
    pub equipo_user_id: String,
    pub second_client_id: String,
    pub created_at: Ticks,
    /// When the user last chose this tenant at a sign-in.
    pub last_used_at: Option<Ticks>,
    /// Whether the user sees and ends applications' access for the whole tenant.
    pub is_admin: bool,
}

impl Membership {
    /// A new membership with all modules.
    pub fn new(random: &dyn Random, user: &AccountId, tenant: &TenantId, now: Ticks) -> Self {
        Self {
            id: MembershipId::from(random.guid()),
            user: user.clone(),
            tenant: tenant.clone(),
            modules: DEFAULT_MODULES.into(),
            key_user_correlation_id: random.guid(),
            equipo_user_id: short_number(random.guid()),
            second_client_id: short_number(random.guid()),
            created_at: now,
            last_used_at: None,
            is_admin: false,
        }
    }
}

fn short_number(guid: Guid) -> String {
    let [a, b, c, ..] = *guid.as_bytes();
    u32::from_be_bytes([0, a, b, c]).to_string()
}

/// A membership with its user and its tenant: everything that a token's claims need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantMembership {
    pub user: Account,
    pub tenant: Tenant,
    pub membership: Membership,
}

impl TenantMembership {
    /// Whether both the user and the tenant are active.
    pub fn is_active(&self) -> bool {
        self.user.status == Status::Active && self.tenant.status == Status::Active
    }
}

/// Every mutation and its audit entry are one transaction.
#[async_trait]
pub trait Directory: Send + Sync + 'static {
    async fn add_tenant(&self, tenant: &Tenant, context: &AuditContext) -> Result<()>;
    async fn find_tenant(&self, id: &TenantId) -> Result<Option<Tenant>>;
    async fn list_tenants(&self, query: &ListQuery) -> Result<ListPage<Tenant>>;
    /// Changes a tenant, if it has the expected revision (any by default).
    async fn update_tenant(
        &self,
        id: &TenantId,
        update: &TenantUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Tenant>>;
    async fn set_tenant_status(&self, id: &TenantId, status: Status, context: &AuditContext) -> Result<bool> {
        let update = TenantUpdate { status: Some(status) };
        Ok(self.update_tenant(id, &update, None, context).await?.is_updated())
    }
    /// Hides the tenant at once; maintenance deletes its rows in batches.
    async fn erase_tenant(&self, id: &TenantId, context: &AuditContext) -> Result<bool>;

    /// Sandboxes are apart: their users have no other membership, and nobody else has one in them (`SandboxApart`).
    async fn add_membership(&self, membership: &Membership, context: &AuditContext) -> Result<()>;
    /// Makes a member an administrator of the tenant, or no longer one, and audits it; false if there is no such
    /// membership.
    async fn set_membership_admin(
        &self,
        user: &AccountId,
        tenant: &TenantId,
        is_admin: bool,
        context: &AuditContext,
    ) -> Result<bool>;
    /// Removes a membership and ends what hung on it: authorizations, grants and unused codes. A membership that is
    /// added again is another one.
    async fn remove_membership(
        &self,
        user: &AccountId,
        tenant: &TenantId,
        context: &AuditContext,
    ) -> Result<bool>;
    async fn list_memberships(&self, user: &AccountId, query: &ListQuery) -> Result<ListPage<Membership>>;
    /// The user's membership in a tenant, even if either is disabled.
    async fn find_tenant_membership(
        &self,
        user: &AccountId,
        tenant: &TenantId,
    ) -> Result<Option<TenantMembership>>;
    /// Memberships whose user and tenant are active: most recently used first, then by the tenant's name.
    async fn active_memberships(&self, user: &AccountId) -> Result<Vec<TenantMembership>>;
}
