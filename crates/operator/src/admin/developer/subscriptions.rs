//! The subscriptions of a developer's team: keys, limits and usage. Every member may see and replace the keys.

use std::time::Duration;

use domain::Secret;
use store::{KeySlot, ListFilter, ListPage, ListQuery, Subscription};

use super::{DeveloperAdmin, checked_overlap};
use crate::admin::{Result, RotatedSecret, SubscriptionInUse, Usage};

impl DeveloperAdmin {
    /// The subscriptions of a team, oldest first.
    pub async fn subscriptions(&self, team: &str, query: &ListQuery) -> Result<ListPage<Subscription>> {
        let member = self.require_member(team).await?;
        self.admin.subscriptions(&ListFilter::of_team(&member.team), query).await
    }

    /// A subscription of one of the developer's teams.
    pub async fn subscription(&self, id: &str) -> Result<SubscriptionInUse> {
        let subscription = self.require_subscription(id).await?;
        self.admin.with_keys(subscription).await
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
