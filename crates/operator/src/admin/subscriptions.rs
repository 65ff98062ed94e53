//! Subscriptions: created with two keys, suspended and resumed, limited by a daily quota, and cancelled for good.

use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::subscription::Products;
use domain::{ErrorCode, Secret};
use store::{
    AuditContext, FIRST_REVISION, KeyInfo, KeySlot, ListFilter, ListPage, ListQuery, RevealedKey, Status,
    Subscription, SubscriptionUpdate,
};

use super::{Admin, AdminError, Permission, Result, RotatedSecret, check_revision, updated};
use crate::checks::checked_name;

/// The largest daily quota.
pub const DAILY_QUOTA_MAX: u64 = 1_000_000_000_000;

#[derive(Clone, Debug)]
pub struct NewSubscription {
    pub name: String,
    pub products: Products,
    /// Calls per day; `None` applies the configured default.
    pub daily_quota: Option<u64>,
    /// The id of the team that owns the subscription: it opens for that team's clients alone.
    pub team: Option<String>,
}

/// How many calls a subscription may make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// None: no limit.
    pub rate_per_minute: Option<u32>,
    /// A day is that of UTC. None: no limit.
    pub calls_per_day: Option<u64>,
}

impl CallLimits {
    /// The limits of a subscription, where these are the configured ones.
    #[must_use]
    pub fn of(self, subscription: &Subscription) -> Self {
        Self { calls_per_day: subscription.daily_quota.or(self.calls_per_day), ..self }
    }
}

/// A subscription with what one needs to know to use it.
#[derive(Clone, Debug)]
pub struct SubscriptionInUse {
    pub subscription: Subscription,
    /// The valid keys: by slot, the current one first, then replaced ones within their overlap.
    pub keys: Vec<KeyInfo>,
    /// The limits that apply to it.
    pub limits: CallLimits,
    /// Counted calls of today (UTC); those of the last seconds may be missing.
    pub calls_today: u64,
}

/// The two keys of a new subscription, in plain text.
#[derive(Clone, Debug)]
pub struct SubscriptionKeys {
    pub primary: Secret,
    pub secondary: Secret,
}

impl Admin {
    /// A new key: 32 hexadecimal digits.
    pub(super) fn key(&self) -> Secret {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes);
        Secret::new(domain::secret::hex(&bytes))
    }

    pub async fn add_subscription(&self, new: NewSubscription) -> Result<(Subscription, SubscriptionKeys)> {
        let context = self.require(Permission::Keys)?;
        if new.products == Products::default() {
            return Err(AdminError::Invalid("a subscription needs one product at least".into()));
        }
        let subscription = Subscription {
            id: SubscriptionId::from(self.random.guid()),
            name: checked_name(&new.name)?,
            products: new.products,
            team: self.existing_team(new.team.as_deref()).await?,
            is_sandbox: false,
            status: Status::Active,
            created_at: self.now(),
            daily_quota: new.daily_quota.map(checked_quota).transpose()?,
            cancelled_at: None,
            revision: FIRST_REVISION,
        };
        let keys = SubscriptionKeys { primary: self.key(), secondary: self.key() };
        self.store.add_subscription(&subscription, &keys.primary, &keys.secondary, context).await?;
        Ok((subscription, keys))
    }

    pub async fn subscriptions(
        &self,
        filter: &ListFilter,
        query: &ListQuery,
    ) -> Result<ListPage<Subscription>> {
        Ok(self.store.list_subscriptions(filter, query).await?)
    }

    pub async fn subscription(&self, id: &str) -> Result<Subscription> {
        let subscription = self.store.find_subscription(&SubscriptionId::new(id)).await?;
        subscription.ok_or_else(|| AdminError::NotFound(format!("subscription \"{id}\"")))
    }

    /// A subscription with its keys, its limits and today's calls.
    pub async fn subscription_in_use(&self, id: &str) -> Result<SubscriptionInUse> {
        let subscription = self.subscription(id).await?;
        self.with_keys(subscription).await
    }

    pub(super) async fn with_keys(&self, subscription: Subscription) -> Result<SubscriptionInUse> {
        let calls_today = self.store.calls_on_day(&subscription.id, self.now().day()).await?;
        let keys = self.keys_of(&subscription.id).await?;
        let limits = self.limits.of(&subscription);
        Ok(SubscriptionInUse { subscription, keys, limits, calls_today })
    }

    /// The valid keys of a subscription: by slot, the current one first, then replaced ones within their overlap.
    pub async fn keys_of(&self, id: &SubscriptionId) -> Result<Vec<KeyInfo>> {
        let now = self.now();
        let mut keys = self.store.subscription_keys(id).await?;
        keys.retain(|key| key.valid_until.is_none_or(|until| until > now));
        Ok(keys)
    }

    /// Changes a subscription that is not cancelled, if it has the expected revision (any by default).
    pub async fn update_subscription(
        &self,
        id: &str,
        update: SubscriptionUpdate,
        expected_revision: Option<u64>,
    ) -> Result<Subscription> {
        let context = self.require(Permission::Keys)?;
        let what = || format!("subscription \"{id}\"");
        if update == SubscriptionUpdate::default() {
            let subscription = self.subscription(id).await?;
            check_revision(subscription.revision, expected_revision, what)?;
            return Ok(subscription);
        }
        if let Some(Some(team)) = &update.team {
            self.team(team.as_str()).await?;
        }
        update.daily_quota.flatten().map(checked_quota).transpose()?;
        let id = SubscriptionId::new(id);
        let outcome = self.store.update_subscription(&id, &update, expected_revision, context).await?;
        updated(outcome, what)
    }

    pub async fn set_subscription_status(&self, id: &str, status: Status) -> Result<Subscription> {
        let update = SubscriptionUpdate { status: Some(status), ..SubscriptionUpdate::default() };
        self.update_subscription(id, update, None).await
    }

    /// Sets the calls per day; `None` applies the configured default.
    pub async fn set_daily_quota(&self, id: &str, calls_max: Option<u64>) -> Result<Subscription> {
        let update = SubscriptionUpdate { daily_quota: Some(calls_max), ..SubscriptionUpdate::default() };
        self.update_subscription(id, update, None).await
    }

    /// Cancels a subscription for good. A cancelled one stays as it is.
    pub async fn cancel_subscription(&self, id: &str) -> Result<Subscription> {
        let context = self.require(Permission::Keys)?;
        self.store.cancel_subscription(&SubscriptionId::new(id), self.now(), context).await?;
        self.subscription(id).await
    }

    /// The current key of a slot in plain text. Every reveal is in the audit.
    pub async fn reveal_key(&self, id: &str, slot: KeySlot) -> Result<Secret> {
        let context = self.require(Permission::Keys)?;
        self.reveal_key_as(id, slot, context).await
    }

    pub(super) async fn reveal_key_as(
        &self,
        id: &str,
        slot: KeySlot,
        context: &AuditContext,
    ) -> Result<Secret> {
        let id = self.subscription(id).await?.id;
        match self.store.reveal_key(&id, slot, context).await? {
            RevealedKey::Revealed(key) => Ok(key),
            RevealedKey::NotKept => Err(AdminError::Conflict {
                code: ErrorCode::NotRevealable,
                why: "this key was made before this version: regenerate it to see it".into(),
            }),
            RevealedKey::NotFound => Err(AdminError::Cancelled(format!("subscription \"{id}\""))),
        }
    }

    /// Puts a new key into a slot; the old one stays valid for `overlap`.
    pub async fn rotate_key(&self, id: &str, slot: KeySlot, overlap: Duration) -> Result<RotatedSecret> {
        let context = self.require(Permission::Keys)?;
        self.rotate_key_as(id, slot, overlap, context).await
    }

    pub(super) async fn rotate_key_as(
        &self,
        id: &str,
        slot: KeySlot,
        overlap: Duration,
        context: &AuditContext,
    ) -> Result<RotatedSecret> {
        let (secret, previous_valid_until) = (self.key(), self.now() + overlap);
        let rotated = self
            .store
            .rotate_key(&SubscriptionId::new(id), slot, &secret, previous_valid_until, context)
            .await?;
        if !rotated {
            let subscription = self.subscription(id).await?;
            return Err(AdminError::Cancelled(format!("subscription \"{}\"", subscription.id)));
        }
        Ok(RotatedSecret { secret, previous_valid_until })
    }
}

fn checked_quota(calls_max: u64) -> Result<u64> {
    if (1..=DAILY_QUOTA_MAX).contains(&calls_max) {
        return Ok(calls_max);
    }
    Err(AdminError::Invalid(format!("a quota is 1 to {DAILY_QUOTA_MAX} calls a day, not {calls_max}")))
}
