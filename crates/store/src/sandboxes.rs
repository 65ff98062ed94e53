//! The sandbox of a team: a tenant of its own with sample data, a user who belongs to no other tenant, and a built-in
//! receiver. It is apart from the tenants of the operator's customers: see `Client::may_enter` and `may_join`.

use async_trait::async_trait;
use domain::subscription::Products;
use domain::{AccountId, ClientId, Guid, Secret, TeamId, TenantId, Ticks, WebhookId};

use crate::{Account, AuditContext, Membership, Result, Status, StoreError, Tenant, Vault};

/// How many requests of a team's receiver are kept, newest first.
pub const RECEIVED_MAX: usize = 200;

/// How the built-in receiver answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiverMode {
    /// Accepts what is signed correctly.
    #[default]
    Accept,
    /// Answers with status 500.
    Fail,
    /// Does not answer until the attempt times out.
    Hang,
    /// Answers with status 410.
    Refuse,
}

impl ReceiverMode {
    pub const ALL: [Self; 4] = [Self::Accept, Self::Fail, Self::Hang, Self::Refuse];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Fail => "fail",
            Self::Hang => "hang",
            Self::Refuse => "refuse",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }

    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Accept => 0,
            Self::Fail => 1,
            Self::Hang => 2,
            Self::Refuse => 3,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        Self::ALL.into_iter().find(|mode| mode.code() == code).unwrap_or_default()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    pub team: TeamId,
    /// Another one after every reset.
    pub tenant: TenantId,
    /// None: the operator has erased the tenant.
    pub tenant_status: Option<Status>,
    pub user: AccountId,
    pub email: String,
    /// The user's password, which the team may see: it guards sample data only.
    pub password: Secret,
    /// In the URL of the built-in receiver.
    pub receiver: Guid,
    pub receiver_mode: ReceiverMode,
    pub created_at: Ticks,
    /// When the sample data was complete; None: loading was interrupted, or is under way.
    pub loaded_at: Option<Ticks>,
}

impl Sandbox {
    pub fn is_ready(&self) -> bool {
        self.tenant_status == Some(Status::Active) && self.loaded_at.is_some()
    }
}

/// A sandbox to make. The membership joins the account and the tenant.
#[derive(Clone, Debug)]
pub struct NewSandbox {
    pub tenant: Tenant,
    pub account: Account,
    pub membership: Membership,
    pub password: Secret,
    pub receiver: Guid,
}

/// The beginning of a sandbox: a new tenant in the place of the old one, for the same user.
#[derive(Clone, Debug)]
pub struct ResetSandbox {
    pub tenant: Tenant,
    pub membership: Membership,
    pub password: Secret,
    pub password_hash: String,
}

/// The outcome of making or resetting a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum SandboxOutcome {
    Done(Sandbox),
    /// The team has one; nothing changed.
    Exists(Sandbox),
    TeamNotFound,
    /// The team has none to reset.
    NotFound,
    /// The operator has disabled its tenant; nothing changed.
    Disabled,
}

/// A sandbox tenant, and the products that are open to each client of its team; nothing is to other clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxClients {
    pub tenant: TenantId,
    pub clients: Vec<(ClientId, Products)>,
}

impl SandboxClients {
    /// The products that are open to a client.
    pub fn products_of(&self, client: &ClientId) -> Products {
        let mut clients = self.clients.iter();
        clients.find(|(id, _)| id == client).map(|(_, products)| *products).unwrap_or_default()
    }
}

/// A request that a built-in receiver got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// Given by the store: higher is newer.
    pub number: u64,
    pub at: Ticks,
    pub webhook: Option<WebhookId>,
    /// `Acknowledge`, `echo`, or the name of the event.
    pub event: String,
    pub method: String,
    /// Path and query.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// The headers whose signatures were verified.
    pub verified: Vec<String>,
    /// Why the signature was not verified; empty if it was, or if there is none to verify.
    pub problem: String,
    /// What the receiver answered; None: it let the attempt time out.
    pub status: Option<u16>,
}

/// Sandboxes are apart: a user of one may join its tenant alone, and nobody else may.
pub(crate) fn may_join(user_of: Option<&TeamId>, tenant_of: Option<&TeamId>) -> bool {
    user_of == tenant_of
}

/// `SandboxApart`, unless the user may join the tenant. Texts are ids of teams.
pub(crate) fn check_apart(user_of: Option<&str>, tenant_of: Option<&str>) -> Result<()> {
    let (user_of, tenant_of) = (user_of.map(TeamId::new), tenant_of.map(TeamId::new));
    if may_join(user_of.as_ref(), tenant_of.as_ref()) { Ok(()) } else { Err(StoreError::SandboxApart) }
}

/// The sandboxes with their clients, from rows of a tenant, a client of its team and the products of one of the team's
/// active subscriptions. Rows of one tenant, and within them of one client, are neighbours.
pub(crate) fn sandbox_clients(
    rows: impl IntoIterator<Item = (TenantId, Option<ClientId>, Option<Products>)>,
) -> Vec<SandboxClients> {
    let mut all: Vec<SandboxClients> = Vec::new();
    for (tenant, client, products) in rows {
        if all.last().is_none_or(|last| last.tenant != tenant) {
            all.push(SandboxClients { tenant, clients: Vec::new() });
        }
        let (Some(last), Some(client)) = (all.last_mut(), client) else { continue };
        let products = products.unwrap_or_default();
        match last.clients.last_mut().filter(|(known, _)| *known == client) {
            Some((_, sum)) => *sum = sum.union(products),
            None => last.clients.push((client, products)),
        }
    }
    all
}

/// How many events were made on a day, after some more; None: it would be more than `events_max`.
pub(crate) fn take_events((day, made): (i64, u64), today: i64, count: u64, events_max: u64) -> Option<u64> {
    let made = if day == today { made } else { 0 };
    Some(made.saturating_add(count)).filter(|made| *made <= events_max)
}

/// The purpose of a sealed password.
pub(crate) fn password_purpose(team: &TeamId) -> String {
    format!("password of the sandbox of {team}")
}

pub(crate) fn open_password(vault: &Vault, team: &TeamId, sealed: &[u8]) -> Result<Secret> {
    vault.open(&password_purpose(team), sealed)
}

/// Headers and names as they are stored.
pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(StoreError::internal)
}

pub(crate) fn from_json<T: serde::de::DeserializeOwned + Default>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

/// Every mutation and its audit entry are one transaction. Exempt is what the service does by itself: marking the data as
/// loaded, counting events, and what the receiver got.
#[async_trait]
pub trait Sandboxes: Send + Sync + 'static {
    /// Makes the sandbox of a team, unless it has one: tenant, user and membership. Its data is loaded afterwards.
    async fn add_sandbox(
        &self,
        team: &TeamId,
        new: &NewSandbox,
        context: &AuditContext,
    ) -> Result<SandboxOutcome>;
    async fn find_sandbox(&self, team: &TeamId) -> Result<Option<Sandbox>>;
    /// The sandbox with this built-in receiver.
    async fn find_sandbox_by_receiver(&self, receiver: Guid) -> Result<Option<Sandbox>>;
    /// The sandboxes by team, after the given one.
    async fn list_sandboxes(&self, after: Option<&TeamId>, rows_max: usize) -> Result<Vec<Sandbox>>;
    /// Erases the tenant with its records, webhooks, authorizations and tokens, and puts a new one in its place, unless it
    /// is disabled. The user stays, with a new password and neither sessions nor second factors. What the receiver got is
    /// deleted, and it accepts again.
    async fn reset_sandbox(
        &self,
        team: &TeamId,
        reset: &ResetSandbox,
        context: &AuditContext,
    ) -> Result<SandboxOutcome>;
    /// The sample data of this tenant is complete.
    async fn mark_sandbox_loaded(&self, tenant: &TenantId, now: Ticks) -> Result<()>;
    /// Counts events that the team makes; false if they would be more than `events_max` on this day.
    async fn take_sandbox_events(&self, team: &TeamId, day: i64, count: u64, events_max: u64)
    -> Result<bool>;

    /// Tells the receiver of a team how to answer; None if the team has no sandbox.
    async fn set_receiver_mode(
        &self,
        team: &TeamId,
        mode: ReceiverMode,
        context: &AuditContext,
    ) -> Result<Option<Sandbox>>;
    /// Adds what the receiver of a team got for this tenant, and deletes the oldest beyond `RECEIVED_MAX`. The number of
    /// `request` is ignored. After a reset nothing of the tenant before is added.
    async fn add_received_request(
        &self,
        team: &TeamId,
        tenant: &TenantId,
        request: &ReceivedRequest,
    ) -> Result<()>;
    /// Newest first; only those before the number `before`, at most `rows_max`.
    async fn received_requests(
        &self,
        team: &TeamId,
        before: Option<u64>,
        rows_max: usize,
    ) -> Result<Vec<ReceivedRequest>>;
}

#[cfg(test)]
mod tests {
    use domain::subscription::Product;

    use super::*;

    #[test]
    fn user_of_a_sandbox_joins_it_alone_and_nobody_else_does() {
        let (panel, other) = (TeamId::new("panel"), TeamId::new("other"));
        for (user, tenant, expected) in [
            (None, None, true),
            (Some(&panel), Some(&panel), true),
            (Some(&panel), None, false),
            (None, Some(&panel), false),
            (Some(&panel), Some(&other), false),
        ] {
            assert_eq!(may_join(user, tenant), expected, "{user:?} {tenant:?}");
        }
    }

    #[test]
    fn clients_of_a_sandbox_have_the_products_of_all_subscriptions() {
        let of = |list: &[Product]| Some(list.iter().copied().collect::<Products>());
        let (tenant, client) = (TenantId::new, ClientId::new);
        let rows = [
            (tenant("s1"), Some(client("a")), of(&[Product::Accounting])),
            (tenant("s1"), Some(client("a")), of(&[Product::Payroll])),
            (tenant("s1"), Some(client("b")), None),
            (tenant("s2"), None, of(&Product::ALL)),
        ];
        let both = Products::from_iter([Product::Accounting, Product::Payroll]);
        let s1 = vec![(client("a"), both), (client("b"), Products::default())];
        let expected = [
            SandboxClients { tenant: tenant("s1"), clients: s1 },
            SandboxClients { tenant: tenant("s2"), clients: Vec::new() },
        ];
        assert_eq!(sandbox_clients(rows), expected);
    }

    #[test]
    fn events_are_counted_by_day() {
        assert_eq!(take_events((7, 1), 7, 1, 2), Some(2));
        assert_eq!(take_events((7, 2), 7, 1, 2), None);
        assert_eq!(take_events((7, 2), 8, 1, 2), Some(1));
        assert_eq!(take_events((7, 0), 7, 1, 0), None);
        assert_eq!(take_events((7, 1), 7, 2, 2), None);
        assert_eq!(take_events((7, 1), 7, u64::MAX, u64::MAX), Some(u64::MAX));
    }
}
