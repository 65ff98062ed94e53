//! Subscriptions: what their keys open, and how much they are used. Keys come in plain and are kept as keyed
//! hashes.

use async_trait::async_trait;
use domain::ids::SubscriptionId;
use domain::subscription::Products;
use domain::{Secret, Ticks};

use crate::{Result, Status};

/// Purpose of the fingerprints.
pub(crate) const SUBSCRIPTION_KEY: &str = "subscription key";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySlot {
    Primary,
    Secondary,
}

impl KeySlot {
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
    pub status: Status,
    pub created_at: Ticks,
    /// How many calls it may make a day, where that is its own.
    pub daily_quota: Option<u64>,
    /// Since then it is over, for good; it has no keys any more.
    pub cancelled_at: Option<Ticks>,
}

/// A key, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    pub slot: KeySlot,
    /// One that was replaced is valid until then.
    pub valid_until: Option<Ticks>,
    pub last_used_at: Option<Ticks>,
}

/// How often a subscription called a route on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallCount {
    pub subscription: SubscriptionId,
    /// Days since the first of year 1.
    pub day: i64,
    pub route: String,
    pub calls: u64,
    /// Those of them that were answered with an error.
    pub failed: u64,
}

/// When a key was last used.
#[derive(Clone, Debug)]
pub struct KeyLastUse {
    pub key: Secret,
    pub at: Ticks,
}

#[async_trait]
pub trait Subscriptions: Send + Sync + 'static {
    async fn add_subscription(&self, one: &Subscription, primary: &Secret, secondary: &Secret) -> Result<()>;
    async fn find_subscription(&self, id: &SubscriptionId) -> Result<Option<Subscription>>;
    async fn subscriptions(&self) -> Result<Vec<Subscription>>;
    /// False for one that is not there or is cancelled.
    async fn set_subscription_status(&self, id: &SubscriptionId, status: Status) -> Result<bool>;
    async fn set_daily_quota(&self, id: &SubscriptionId, calls_max: Option<u64>) -> Result<bool>;
    /// Ends a subscription for good: its keys are gone with it.
    async fn cancel_subscription(&self, id: &SubscriptionId, now: Ticks) -> Result<bool>;

    /// A subscription's keys: by slot, the one in use first.
    async fn subscription_keys(&self, id: &SubscriptionId) -> Result<Vec<KeyInfo>>;
    /// Puts a new key into a slot; the old one stays valid until `previous_valid_until`.
    async fn rotate_key(
        &self,
        id: &SubscriptionId,
        slot: KeySlot,
        key: &Secret,
        previous_valid_until: Ticks,
    ) -> Result<bool>;
    /// The subscription that a key opens, whatever its standing.
    async fn find_subscription_by_key(&self, key: &Secret, now: Ticks) -> Result<Option<Subscription>>;

    /// Adds to what was counted, and keeps when keys were last used.
    async fn record_usage(&self, calls: &[CallCount], used: &[KeyLastUse]) -> Result<()>;
    /// What a subscription called from one day to another: latest day first, then by route.
    async fn call_counts(&self, id: &SubscriptionId, from_day: i64, to_day: i64) -> Result<Vec<CallCount>>;
    /// How many calls a subscription made on a day.
    async fn calls_on_day(&self, id: &SubscriptionId, day: i64) -> Result<u64>;
}
