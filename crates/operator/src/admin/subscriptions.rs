//! Subscriptions: made with two keys, suspended and resumed, given a quota, and cancelled for good.

use std::time::Duration;

use domain::Secret;
use domain::ids::SubscriptionId;
use domain::subscription::Products;
use store::{KeyInfo, KeySlot, Status, Subscription};

use super::{Admin, AdminError, Replacement, Result};
use crate::checks::checked_name;

/// The largest quota that can be given.
pub const DAILY_QUOTA_MAX: u64 = 1_000_000_000_000;

#[derive(Clone, Debug)]
pub struct NewSubscription {
    pub name: String,
    pub products: Products,
    /// How many calls it may make a day, where that is its own.
    pub daily_quota: Option<u64>,
}

/// A pair of keys, in plain; shown once.
#[derive(Clone, Debug)]
pub struct Keys {
    pub primary: Secret,
    pub secondary: Secret,
}

impl Admin {
    /// 32 hexadecimal digits, as subscription keys look.
    fn key(&self) -> Secret {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes);
        Secret::new(domain::secret::hex(&bytes))
    }

    pub async fn add_subscription(&self, new: NewSubscription) -> Result<(Subscription, Keys)> {
        if new.products == Products::default() {
            return Err(AdminError::Invalid("a subscription needs one product at least".into()));
        }
        let subscription = Subscription {
            id: SubscriptionId::from(self.random.guid()),
            name: checked_name(&new.name)?,
            products: new.products,
            status: Status::Active,
            created_at: self.now(),
            daily_quota: new.daily_quota.map(checked_quota).transpose()?,
            cancelled_at: None,
        };
        let keys = Keys { primary: self.key(), secondary: self.key() };
        self.store.add_subscription(&subscription, &keys.primary, &keys.secondary).await?;
        Ok((subscription, keys))
    }

    pub async fn subscription(&self, id: &str) -> Result<Subscription> {
        let one = self.store.find_subscription(&SubscriptionId::new(id)).await?;
        one.ok_or_else(|| AdminError::Missing(format!("subscription \"{id}\"")))
    }

    /// The keys that a subscription has now: by slot, the one in use first, then those that it replaced and that
    /// are still good.
    pub async fn keys_of(&self, id: &SubscriptionId) -> Result<Vec<KeyInfo>> {
        let now = self.now();
        let mut keys = self.store.subscription_keys(id).await?;
        keys.retain(|key| key.valid_until.is_none_or(|until| until > now));
        Ok(keys)
    }

    pub async fn set_subscription_status(&self, id: &str, status: Status) -> Result<()> {
        let changed = self.store.set_subscription_status(&SubscriptionId::new(id), status).await?;
        self.check_changed(id, changed).await
    }

    /// How many calls it may make a day; none: as many as the configuration says.
    pub async fn set_daily_quota(&self, id: &str, calls_max: Option<u64>) -> Result<()> {
        let calls_max = calls_max.map(checked_quota).transpose()?;
        let changed = self.store.set_daily_quota(&SubscriptionId::new(id), calls_max).await?;
        self.check_changed(id, changed).await
    }

    /// Ends a subscription for good. One that is over already stays as it is.
    pub async fn cancel_subscription(&self, id: &str) -> Result<Subscription> {
        self.store.cancel_subscription(&SubscriptionId::new(id), self.now()).await?;
        self.subscription(id).await
    }

    /// A new key in a slot; the old one stays valid for `overlap`.
    pub async fn rotate_key(&self, id: &str, slot: KeySlot, overlap: Duration) -> Result<Replacement> {
        let (secret, previous_valid_until) = (self.key(), self.now() + overlap);
        let rotated =
            self.store.rotate_key(&SubscriptionId::new(id), slot, &secret, previous_valid_until).await?;
        self.check_changed(id, rotated).await?;
        Ok(Replacement { secret, previous_valid_until })
    }

    /// What could not be changed is not there, or is cancelled.
    async fn check_changed(&self, id: &str, changed: bool) -> Result<()> {
        if changed {
            return Ok(());
        }
        let one = self.subscription(id).await?;
        Err(AdminError::Cancelled(format!("subscription \"{}\"", one.id)))
    }
}

fn checked_quota(calls_max: u64) -> Result<u64> {
    if (1..=DAILY_QUOTA_MAX).contains(&calls_max) {
        return Ok(calls_max);
    }
    Err(AdminError::Invalid(format!("a quota is 1 to {DAILY_QUOTA_MAX} calls a day, not {calls_max}")))
}
