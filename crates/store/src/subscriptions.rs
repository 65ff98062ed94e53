//! Subscriptions, their keys and their usage. Keys arrive in plain text and are stored as keyed hashes, by which they are
//! found, and sealed, so that their team can see them again.

use async_trait::async_trait;
use domain::ids::SubscriptionId;
use domain::subscription::Products;
use domain::{Secret, TeamId, Ticks};

use crate::{AuditContext, ListFilter, ListPage, ListQuery, Ports, Result, Status, UpdateOutcome};

/// Purpose of the keyed hash.
pub(crate) const SUBSCRIPTION_KEY: &str = "subscription key";

/// Purpose of a sealed key: it opens in its subscription and its slot alone.
pub(crate) fn sealing_purpose(id: &SubscriptionId, slot: KeySlot) -> String {
    format!("{SUBSCRIPTION_KEY} {} {id}", slot.as_str())
}

/// A key as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct SealedKey {
    pub(crate) slot: KeySlot,
    pub(crate) hash: [u8; 32],
    pub(crate) sealed: Vec<u8>,
}

impl SealedKey {
    pub(crate) fn new(ports: &Ports, id: &SubscriptionId, slot: KeySlot, key: &Secret) -> Result<Self> {
        let hash = ports.vault.fingerprint(SUBSCRIPTION_KEY, key);
        let sealed = ports.vault.seal(&*ports.random, &sealing_purpose(id, slot), key.reveal())?;
        Ok(Self { slot, hash, sealed })
    }

    /// The keys of a new subscription.
    pub(crate) fn pair(
        ports: &Ports,
        id: &SubscriptionId,
        primary: &Secret,
        secondary: &Secret,
    ) -> Result<[Self; 2]> {
        let primary = Self::new(ports, id, KeySlot::Primary, primary)?;
        Ok([primary, Self::new(ports, id, KeySlot::Secondary, secondary)?])
    }
}

/// The outcome of revealing a key whose row has this sealed copy, or none.
pub(crate) fn revealed(
    ports: &Ports,
    (id, slot): (&SubscriptionId, KeySlot),
    sealed: Option<&[u8]>,
) -> Result<RevealedKey> {
    let Some(sealed) = sealed else { return Ok(RevealedKey::NotKept) };
    ports.vault.open(&sealing_purpose(id, slot), sealed).map(RevealedKey::Revealed)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySlot {
    Primary,
    Secondary,
}

impl KeySlot {
    pub const ALL: [Self; 2] = [Self::Primary, Self::Secondary];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
        }
    }

    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Primary => 1,
            Self::Secondary => 2,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        if code == 2 { Self::Secondary } else { Self::Primary }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    pub id: SubscriptionId,
    pub name: String,
    pub products: Products,
    /// The team that owns the subscription: it opens for that team's clients alone. None: it opens for every client.
    pub team: Option<TeamId>,
    /// It opens sandbox tenants alone.
    pub is_sandbox: bool,
    pub status: Status,
    pub created_at: Ticks,
    /// The subscription's own limit of calls per day, if it has one.
    pub daily_quota: Option<u64>,
    /// When the subscription was cancelled for good; it has no keys any more.
    pub cancelled_at: Option<Ticks>,
    /// Incremented by every update.
    pub revision: u64,
}

/// Changes to a subscription; `None` leaves a property as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionUpdate {
    pub status: Option<Status>,
    /// `Some(None)` removes the subscription's own quota.
    pub daily_quota: Option<Option<u64>>,
    /// `Some(None)` takes the subscription out of its team: it then opens for every client.
    pub team: Option<Option<TeamId>>,
    pub is_sandbox: Option<bool>,
}

/// A key without its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    pub slot: KeySlot,
    /// Set on a replaced key: it is valid until then.
    pub valid_until: Option<Ticks>,
    pub last_used_at: Option<Ticks>,
    /// Whether it can be revealed: it is current, and was made since keys are also stored sealed.
    pub is_revealable: bool,
}

/// The outcome of revealing a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum RevealedKey {
    Revealed(Secret),
    /// The key was made by a version that stored only its hash: a new one can be revealed.
    NotKept,
    /// There is no such subscription, or it is cancelled and has no keys.
    NotFound,
}

/// The calls of a subscription to one route on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallCount {
    pub subscription: SubscriptionId,
    /// Days since 0001-01-01.
    pub day: i64,
    pub route: String,
    pub calls: u64,
    /// Calls that got an error response.
    pub failed: u64,
}

/// When a key was last used.
#[derive(Clone, Debug)]
pub struct KeyLastUse {
    pub key: Secret,
    pub at: Ticks,
}

/// Every mutation and its audit entry are one transaction; usage is not audited.
#[async_trait]
pub trait Subscriptions: Send + Sync + 'static {
    async fn add_subscription(
        &self,
        one: &Subscription,
        primary: &Secret,
        secondary: &Secret,
        context: &AuditContext,
    ) -> Result<()>;
    async fn find_subscription(&self, id: &SubscriptionId) -> Result<Option<Subscription>>;
    async fn list_subscriptions(
        &self,
        filter: &ListFilter,
        query: &ListQuery,
    ) -> Result<ListPage<Subscription>>;
    /// Changes a subscription that is not cancelled, if it has the expected revision (any by default).
    async fn update_subscription(
        &self,
        id: &SubscriptionId,
        update: &SubscriptionUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Subscription>>;
    async fn set_subscription_status(
        &self,
        id: &SubscriptionId,
        status: Status,
        context: &AuditContext,
    ) -> Result<bool> {
        let update = SubscriptionUpdate { status: Some(status), ..SubscriptionUpdate::default() };
        Ok(self.update_subscription(id, &update, None, context).await?.is_updated())
    }
    async fn set_daily_quota(
        &self,
        id: &SubscriptionId,
        calls_max: Option<u64>,
        context: &AuditContext,
    ) -> Result<bool> {
        let update = SubscriptionUpdate { daily_quota: Some(calls_max), ..SubscriptionUpdate::default() };
        Ok(self.update_subscription(id, &update, None, context).await?.is_updated())
    }
    /// Cancels a subscription for good and deletes its keys.
    async fn cancel_subscription(
        &self,
        id: &SubscriptionId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<bool>;

    /// A subscription's keys by slot, the current one first.
    async fn subscription_keys(&self, id: &SubscriptionId) -> Result<Vec<KeyInfo>>;
    /// Puts a new key into a slot; the replaced key stays valid until `previous_valid_until`.
    async fn rotate_key(
        &self,
        id: &SubscriptionId,
        slot: KeySlot,
        key: &Secret,
        previous_valid_until: Ticks,
        context: &AuditContext,
    ) -> Result<bool>;
    /// The current key of a slot in plain text; every reveal leaves an audit entry.
    async fn reveal_key(
        &self,
        id: &SubscriptionId,
        slot: KeySlot,
        context: &AuditContext,
    ) -> Result<RevealedKey>;
    /// The subscription of a valid key, even if it is disabled; None where its team is disabled.
    async fn find_subscription_by_key(&self, key: &Secret, now: Ticks) -> Result<Option<Subscription>>;

    /// Adds call counts, and updates when keys were last used.
    async fn record_usage(&self, calls: &[CallCount], used: &[KeyLastUse]) -> Result<()>;
    /// A subscription's calls in a range of days: latest day first, then by route.
    async fn call_counts(&self, id: &SubscriptionId, from_day: i64, to_day: i64) -> Result<Vec<CallCount>>;
    /// A subscription's number of calls on a day.
    async fn calls_on_day(&self, id: &SubscriptionId, day: i64) -> Result<u64>;
}
