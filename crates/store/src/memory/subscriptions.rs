//! Subscriptions, their keys and their call counts in memory.

use async_trait::async_trait;
use domain::ids::SubscriptionId;
use domain::{Random, Secret, Ticks};

use super::{MemoryStore, State, StoredKey};
use crate::audit::Act;
use crate::subscriptions::{SUBSCRIPTION_KEY, SealedKey, revealed};
use crate::{
    AuditContext, CallCount, KeyInfo, KeyLastUse, KeySlot, ListFilter, ListPage, ListQuery, Result,
    RevealedKey, Status, StoreError, Subscription, SubscriptionUpdate, Subscriptions, UpdateOutcome,
};

fn key_in_use(subscription: &SubscriptionId, key: SealedKey) -> StoredKey {
    StoredKey {
        subscription: subscription.as_str().into(),
        slot: key.slot,
        valid_until: None,
        last_used_at: None,
        sealed: Some(key.sealed),
    }
}

fn key_exists() -> StoreError {
    StoreError::Exists("such a key".into())
}

impl State {
    /// Inserts a subscription with its primary and its secondary key, and audits it.
    pub(super) fn insert_subscription(
        &mut self,
        random: &dyn Random,
        one: &Subscription,
        [primary, secondary]: [SealedKey; 2],
        act: &Act,
    ) -> Result<()> {
        if self.subscriptions.contains_key(one.id.as_str()) {
            return Err(StoreError::Exists(format!("a subscription \"{}\"", one.id)));
        }
        let is_stored = |key: &SealedKey| self.keys.contains_key(&key.hash);
        if primary.hash == secondary.hash || is_stored(&primary) || is_stored(&secondary) {
            return Err(key_exists());
        }
        for key in [primary, secondary] {
            self.keys.insert(key.hash, key_in_use(&one.id, key));
        }
        self.subscriptions.insert(one.id.as_str().into(), one.clone());
        self.append_audit(random, act.subscription_added(one));
        Ok(())
    }
}

#[async_trait]
impl Subscriptions for MemoryStore {
    async fn add_subscription(
        &self,
        one: &Subscription,
        primary: &Secret,
        secondary: &Secret,
        context: &AuditContext,
    ) -> Result<()> {
        let keys = SealedKey::pair(&self.ports, &one.id, primary, secondary)?;
        let act = self.act(context);
        let added = self.state_mut()?.insert_subscription(&*self.ports.random, one, keys, &act);
        // A team's subscription may let its clients' webhooks be delivered to.
        self.invalidation.access_changed();
        added
    }

    async fn find_subscription(&self, id: &SubscriptionId) -> Result<Option<Subscription>> {
        Ok(self.state().subscriptions.get(id.as_str()).cloned())
    }

    async fn list_subscriptions(
        &self,
        filter: &ListFilter,
        query: &ListQuery,
    ) -> Result<ListPage<Subscription>> {
        Ok(filter.page_of_all(query, self.state().subscriptions.values()))
    }

    async fn update_subscription(
        &self,
        id: &SubscriptionId,
        update: &SubscriptionUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Subscription>> {
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        let Some(subscription) = state.subscriptions.get_mut(id.as_str()) else {
            return Ok(UpdateOutcome::NotFound);
        };
        if subscription.cancelled_at.is_some() {
            return Ok(UpdateOutcome::Cancelled);
        }
        if expected_revision.is_some_and(|expected| expected != subscription.revision) {
            return Ok(UpdateOutcome::RevisionConflict);
        }
        let before = subscription.clone();
        subscription.status = update.status.unwrap_or(subscription.status);
        subscription.daily_quota = update.daily_quota.unwrap_or(subscription.daily_quota);
        subscription.team = update.team.clone().unwrap_or_else(|| subscription.team.clone());
        subscription.is_sandbox = update.is_sandbox.unwrap_or(subscription.is_sandbox);
        subscription.revision += 1;
        let after = subscription.clone();
        state.append_audit(&*self.ports.random, self.act(context).subscription_changed(&before, &after));
        Ok(UpdateOutcome::Updated(after))
    }

    async fn cancel_subscription(
        &self,
        id: &SubscriptionId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<bool> {
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        let subscription = state.subscriptions.get_mut(id.as_str());
        let Some(subscription) = subscription.filter(|subscription| subscription.cancelled_at.is_none())
        else {
            return Ok(false);
        };
        let before = subscription.clone();
        subscription.cancelled_at = Some(now);
        subscription.status = Status::Disabled;
        subscription.revision += 1;
        let entry = self.act(context).subscription_cancelled(&before, subscription);
        state.append_audit(&*self.ports.random, entry);
        state.keys.retain(|_, key| &*key.subscription != id.as_str());
        Ok(true)
    }

    async fn subscription_keys(&self, id: &SubscriptionId) -> Result<Vec<KeyInfo>> {
        let state = self.state();
        let mut keys: Vec<KeyInfo> = state
            .keys
            .values()
            .filter(|key| &*key.subscription == id.as_str())
            .map(|key| KeyInfo {
                slot: key.slot,
                valid_until: key.valid_until,
                last_used_at: key.last_used_at,
                is_revealable: key.sealed.is_some(),
            })
            .collect();
        let latest_first = |key: &KeyInfo| key.valid_until.map(std::cmp::Reverse);
        keys.sort_by_key(|key| (key.slot.code(), latest_first(key)));
        Ok(keys)
    }

    async fn rotate_key(
        &self,
        id: &SubscriptionId,
        slot: KeySlot,
        key: &Secret,
        previous_valid_until: Ticks,
        context: &AuditContext,
    ) -> Result<bool> {
        let key = SealedKey::new(&self.ports, id, slot, key)?;
        let mut state = self.state_mut()?;
        let is_new = !state.keys.contains_key(&key.hash);
        let current = state.keys.values_mut().find(|stored| {
            &*stored.subscription == id.as_str() && stored.slot == slot && stored.valid_until.is_none()
        });
        let Some(current) = current else { return Ok(false) };
        if !is_new {
            return Err(key_exists());
        }
        current.valid_until = Some(previous_valid_until);
        current.sealed = None;
        state.keys.insert(key.hash, key_in_use(id, key));
        let entry = self.act(context).key_rotated(id, slot, previous_valid_until);
        state.append_audit(&*self.ports.random, entry);
        if let Some(subscription) = state.subscriptions.get_mut(id.as_str()) {
            subscription.revision += 1;
        }
        self.invalidation.access_changed();
        Ok(true)
    }

    async fn reveal_key(
        &self,
        id: &SubscriptionId,
        slot: KeySlot,
        context: &AuditContext,
    ) -> Result<RevealedKey> {
        let mut state = self.state_mut()?;
        let current = state.keys.values().find(|stored| {
            &*stored.subscription == id.as_str() && stored.slot == slot && stored.valid_until.is_none()
        });
        let Some(current) = current else { return Ok(RevealedKey::NotFound) };
        let key = revealed(&self.ports, (id, slot), current.sealed.as_deref())?;
        if let RevealedKey::Revealed(_) = key {
            state.append_audit(&*self.ports.random, self.act(context).key_revealed(id, slot));
        }
        Ok(key)
    }

    async fn find_subscription_by_key(&self, key: &Secret, now: Ticks) -> Result<Option<Subscription>> {
        let hash = self.ports.vault.fingerprint(SUBSCRIPTION_KEY, key);
        let state = self.state();
        let valid = state.keys.get(&hash).filter(|stored| stored.valid_until.is_none_or(|until| until > now));
        let found = valid.and_then(|stored| state.subscriptions.get(&stored.subscription));
        let is_open = |one: &&Subscription| one.team.as_ref().is_none_or(|team| state.is_team_active(team));
        Ok(found.filter(is_open).cloned())
    }

    async fn record_usage(&self, calls: &[CallCount], used: &[KeyLastUse]) -> Result<()> {
        let mut state = self.state_mut()?;
        for one in calls {
            let place = (one.subscription.as_str().into(), one.day, one.route.clone());
            let counted = state.calls.entry(place).or_insert((0, 0));
            *counted = (counted.0 + one.calls, counted.1 + one.failed);
        }
        for one in used {
            let hash = self.ports.vault.fingerprint(SUBSCRIPTION_KEY, &one.key);
            if let Some(key) = state.keys.get_mut(&hash) {
                key.last_used_at = key.last_used_at.max(Some(one.at));
            }
        }
        Ok(())
    }

    async fn call_counts(&self, id: &SubscriptionId, from_day: i64, to_day: i64) -> Result<Vec<CallCount>> {
        let state = self.state();
        let of_days = state.calls.iter().filter(|((subscription, day, _), _)| {
            &**subscription == id.as_str() && (from_day..=to_day).contains(day)
        });
        let mut all: Vec<CallCount> = of_days
            .map(|((_, day, route), (calls, failed))| CallCount {
                subscription: id.clone(),
                day: *day,
                route: route.clone(),
                calls: *calls,
                failed: *failed,
            })
            .collect();
        all.sort_by_key(|one| (std::cmp::Reverse(one.day), one.route.clone()));
        Ok(all)
    }

    async fn calls_on_day(&self, id: &SubscriptionId, day: i64) -> Result<u64> {
        Ok(self.call_counts(id, day, day).await?.iter().map(|one| one.calls).sum())
    }
}
