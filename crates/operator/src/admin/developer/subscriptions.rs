//! The subscriptions of a developer's team: keys, limits and usage. Every member may see and replace the keys.

use std::time::Duration;

use domain::Secret;
use store::{KeyInfo, KeySlot, ListPage, ListQuery, Subscription};

use super::{DeveloperAdmin, checked_overlap};
use crate::admin::{CallLimits, Result, RotatedSecret, Usage};

/// A subscription with what its team needs to know to use it.
#[derive(Clone, Debug)]
pub struct TeamSubscription {
    pub subscription: Subscription,
    /// The valid keys: by slot, the current one first, then replaced ones within their overlap.
    pub keys: Vec<KeyInfo>,
    /// The limits that apply to it.
    pub limits: CallLimits,
    /// Counted calls of today (UTC); those of the last seconds may be missing.
    pub calls_today: u64,
}

impl DeveloperAdmin {
    /// The subscriptions of a team, oldest first.
    pub async fn subscriptions(&self, team: &str, query: &ListQuery) -> Result<ListPage<Subscription>> {
        let member = self.require_member(team).await?;
        Ok(self.admin.store.list_subscriptions(Some(&member.team), query).await?)
    }

    /// A subscription of one of the developer's teams.
    pub async fn subscription(&self, id: &str) -> Result<TeamSubscription> {
        let subscription = self.require_subscription(id).await?;
        let store = &self.admin.store;
        let calls_today = store.calls_on_day(&subscription.id, self.admin.now().day()).await?;
        let keys = self.admin.keys_of(&subscription.id).await?;
        let limits = self.admin.limits.of(&subscription);
        Ok(TeamSubscription { subscription, keys, limits, calls_today })
    }

    /// Its calls by day and route, of the last `days` days with today.
    pub async fn usage(&self, id: &str, days: u16) -> Result<Usage> {
        self.require_subscription(id).await?;
        let today = self.admin.now().day();
        let from = (today - i64::from(days.max(1)) + 1).max(0);
        self.admin.usage(id, Some(from), Some(today)).await
    }

    /// The current key of a slot. Who shows it has asked the developer to sign in again; every reveal is in the audit.
    pub async fn reveal_key(&self, id: &str, slot: KeySlot) -> Result<Secret> {
        self.require_subscription(id).await?;
        self.admin.reveal_key_as(id, slot, &self.context).await
    }

    /// Puts a new key into a slot; the old one stays valid for `overlap`, which is `OVERLAP_MAX` at most.
    pub async fn regenerate_key(&self, id: &str, slot: KeySlot, overlap: Duration) -> Result<RotatedSecret> {
        let subscription = self.require_subscription(id).await?;
        self.require_active(subscription.team.as_ref()).await?;
        self.admin.rotate_key_as(id, slot, checked_overlap(overlap)?, &self.context).await
    }

    /// A subscription of one of the developer's teams; one of another team does not exist.
    async fn require_subscription(&self, id: &str) -> Result<Subscription> {
        let subscription = self.admin.subscription(id).await?;
        let what = || format!("subscription \"{id}\"");
        self.require_member_of(subscription.team.as_ref(), what).await?;
        Ok(subscription)
    }
}
