//! Subscriptions, their keys and their call counts in SQLite.

use async_trait::async_trait;
use domain::ids::SubscriptionId;
use domain::{Random, Secret, TeamId, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::directory::change;
use super::rows::{find, list_filtered, parse};
use super::{SqliteStore, exists, store_error};
use crate::audit::Act;
use crate::list_filter::SUBSCRIPTIONS;
use crate::plan::{signed, unsigned};
use crate::subscriptions::{SUBSCRIPTION_KEY, SealedKey, revealed};
use crate::{
    AuditContext, CallCount, KeyInfo, KeyLastUse, KeySlot, ListFilter, ListPage, ListQuery, Result,
    RevealedKey, Status, Subscription, SubscriptionUpdate, Subscriptions, UpdateOutcome,
};

const SUBSCRIPTION: &str = "SELECT s.id, s.name, s.products, s.standing, s.created_at, s.daily_quota, s.cancelled_at, s.revision, s.team_id, s.sandbox FROM subscriptions s";

fn find_row(connection: &Connection, id: &SubscriptionId) -> Result<Option<Subscription>> {
    find(connection, &format!("{SUBSCRIPTION} WHERE s.id = ?1"), id.as_str(), parse)
}

fn insert_key(writer: &Connection, id: &SubscriptionId, key: &SealedKey) -> Result<()> {
    writer
        .execute(
            "INSERT INTO subscription_keys (hash, subscription_id, slot, sealed) VALUES (?1, ?2, ?3, ?4)",
            params![key.hash, id.as_str(), key.slot.code(), key.sealed],
        )
        .map_err(exists("such a key".into()))?;
    Ok(())
}

/// Inserts a subscription with its primary and its secondary key, and audits it.
pub(super) fn insert_subscription(
    writer: &Connection,
    random: &dyn Random,
    one: &Subscription,
    keys: &[SealedKey; 2],
    act: &Act,
) -> Result<()> {
    writer
        .execute(
            "INSERT INTO subscriptions (id, name, products, standing, created_at, daily_quota, cancelled_at, revision,
                 team_id, sandbox)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                one.id.as_str(),
                one.name,
                one.products.bits(),
                one.status.code(),
                one.created_at.0,
                one.daily_quota.map(signed),
                one.cancelled_at.map(|at| at.0),
                signed(one.revision),
                one.team.as_ref().map(TeamId::as_str),
                one.is_sandbox
            ],
        )
        .map_err(exists(format!("a subscription \"{}\"", one.id)))?;
    keys.iter().try_for_each(|key| insert_key(writer, &one.id, key))?;
    append_audit(writer, random, act.subscription_added(one))
}

#[async_trait]
impl Subscriptions for SqliteStore {
    async fn add_subscription(
        &self,
        one: &Subscription,
        primary: &Secret,
        secondary: &Secret,
        context: &AuditContext,
    ) -> Result<()> {
        let keys = SealedKey::pair(self.ports(), &one.id, primary, secondary)?;
        let (one, act, random) = (one.clone(), self.act(context), self.ports().random.clone());
        // A team's subscription may let its clients' webhooks be delivered to.
        self.write_access(move |writer| insert_subscription(writer, &*random, &one, &keys, &act)).await
    }

    async fn find_subscription(&self, id: &SubscriptionId) -> Result<Option<Subscription>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{SUBSCRIPTION} WHERE s.id = ?1"))
                .and_then(|mut find| find.query_row([id.as_str()], parse).optional())
                .map_err(store_error)
        })
    }

    async fn list_subscriptions(
        &self,
        filter: &ListFilter,
        query: &ListQuery,
    ) -> Result<ListPage<Subscription>> {
        let list = (SUBSCRIPTION, SUBSCRIPTIONS);
        self.read(|reader| list_filtered(reader, list, filter, query, parse))
    }

    async fn update_subscription(
        &self,
        id: &SubscriptionId,
        update: &SubscriptionUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Subscription>> {
        let (id, update) = (id.clone(), update.clone());
        let (act, random) = (self.act(context), self.ports().random.clone());
        self.write_access(move |writer| {
            let before = find_row(writer, &id)?;
            let updated = change(
                writer,
                "UPDATE subscriptions SET standing = coalesce(?2, standing),
                     daily_quota = CASE WHEN ?3 THEN ?4 ELSE daily_quota END,
                     team_id = CASE WHEN ?6 THEN ?7 ELSE team_id END, sandbox = coalesce(?8, sandbox),
                     revision = revision + 1
                 WHERE id = ?1 AND cancelled_at IS NULL AND (?5 IS NULL OR revision = ?5)",
                params![
                    id.as_str(),
                    update.status.map(Status::code),
                    update.daily_quota.is_some(),
                    update.daily_quota.flatten().map(signed),
                    expected_revision.map(signed),
                    update.team.is_some(),
                    update.team.as_ref().and_then(Option::as_ref).map(TeamId::as_str),
                    update.is_sandbox
                ],
            )?;
            let row = find_row(writer, &id)?;
            if row.as_ref().is_some_and(|row| row.cancelled_at.is_some()) {
                return Ok(UpdateOutcome::Cancelled);
            }
            let outcome = UpdateOutcome::of(updated, row);
            if let (Some(before), UpdateOutcome::Updated(after)) = (&before, &outcome) {
                append_audit(writer, &*random, act.subscription_changed(before, after))?;
            }
            Ok(outcome)
        })
        .await
    }

    async fn cancel_subscription(
        &self,
        id: &SubscriptionId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<bool> {
        let (id, act, random) = (id.clone(), self.act(context), self.ports().random.clone());
        self.write_access(move |writer| {
            let before = find_row(writer, &id)?;
            let cancelled = change(
                writer,
                "UPDATE subscriptions SET cancelled_at = ?2, standing = ?3, revision = revision + 1
                 WHERE id = ?1 AND cancelled_at IS NULL",
                params![id.as_str(), now.0, Status::Disabled.code()],
            )?;
            change(writer, "DELETE FROM subscription_keys WHERE subscription_id = ?1", [id.as_str()])?;
            if let (true, Some(before), Some(after)) = (cancelled, before, find_row(writer, &id)?) {
                append_audit(writer, &*random, act.subscription_cancelled(&before, &after))?;
            }
            Ok(cancelled)
        })
        .await
    }

    async fn subscription_keys(&self, id: &SubscriptionId) -> Result<Vec<KeyInfo>> {
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT slot, valid_until, last_used_at, sealed IS NOT NULL AS is_revealable FROM subscription_keys
                     WHERE subscription_id = ?1 ORDER BY slot, valid_until IS NOT NULL, valid_until DESC",
                )
                .and_then(|mut all| all.query_map([id.as_str()], parse)?.collect())
                .map_err(store_error)
        })
    }

    async fn rotate_key(
        &self,
        id: &SubscriptionId,
        slot: KeySlot,
        key: &Secret,
        previous_valid_until: Ticks,
        context: &AuditContext,
    ) -> Result<bool> {
        let key = SealedKey::new(self.ports(), id, slot, key)?;
        let (id, act, random) = (id.clone(), self.act(context), self.ports().random.clone());
        self.write_access(move |writer| {
            let replaced = change(
                writer,
                "UPDATE subscription_keys SET valid_until = ?3, sealed = NULL
                 WHERE subscription_id = ?1 AND slot = ?2 AND valid_until IS NULL",
                params![id.as_str(), slot.code(), previous_valid_until.0],
            )?;
            if !replaced {
                return Ok(false);
            }
            insert_key(writer, &id, &key)?;
            append_audit(writer, &*random, act.key_rotated(&id, slot, previous_valid_until))?;
            change(writer, "UPDATE subscriptions SET revision = revision + 1 WHERE id = ?1", [id.as_str()])
        })
        .await
    }

    async fn reveal_key(
        &self,
        id: &SubscriptionId,
        slot: KeySlot,
        context: &AuditContext,
    ) -> Result<RevealedKey> {
        let (id, act, ports) = (id.clone(), self.act(context), self.ports().clone());
        self.write(move |writer| {
            let row: Option<Option<Vec<u8>>> = writer
                .prepare_cached(
                    "SELECT sealed FROM subscription_keys
                     WHERE subscription_id = ?1 AND slot = ?2 AND valid_until IS NULL",
                )
                .and_then(|mut find| {
                    find.query_row(params![id.as_str(), slot.code()], |row| row.get(0)).optional()
                })
                .map_err(store_error)?;
            let Some(sealed) = row else { return Ok(RevealedKey::NotFound) };
            let key = revealed(&ports, (&id, slot), sealed.as_deref())?;
            if let RevealedKey::Revealed(_) = key {
                append_audit(writer, &*ports.random, act.key_revealed(&id, slot))?;
            }
            Ok(key)
        })
        .await
    }

    async fn find_subscription_by_key(&self, key: &Secret, now: Ticks) -> Result<Option<Subscription>> {
        let hash = self.ports().vault.fingerprint(SUBSCRIPTION_KEY, key);
        self.read(|reader| {
            reader
                .prepare_cached(&format!(
                    "{SUBSCRIPTION} JOIN subscription_keys k ON s.id = k.subscription_id
                     LEFT JOIN teams t ON t.id = s.team_id
                     WHERE k.hash = ?1 AND (k.valid_until IS NULL OR k.valid_until > ?2)
                     AND (s.team_id IS NULL OR t.standing = 1)"
                ))
                .and_then(|mut find| find.query_row(params![hash, now.0], parse).optional())
                .map_err(store_error)
        })
    }

    async fn record_usage(&self, calls: &[CallCount], used: &[KeyLastUse]) -> Result<()> {
        let calls = calls.to_vec();
        let vault = &self.ports().vault;
        let used: Vec<_> =
            used.iter().map(|one| (vault.fingerprint(SUBSCRIPTION_KEY, &one.key), one.at)).collect();
        self.write(move |writer| {
            let mut count = writer
                .prepare_cached(
                    "INSERT INTO calls (subscription_id, day, route, calls, failed) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (subscription_id, day, route) DO UPDATE
                     SET calls = calls + excluded.calls, failed = failed + excluded.failed",
                )
                .map_err(store_error)?;
            for one in &calls {
                let id = one.subscription.as_str();
                count
                    .execute(params![id, one.day, one.route, signed(one.calls), signed(one.failed)])
                    .map_err(store_error)?;
            }
            for (hash, at) in &used {
                change(
                    writer,
                    "UPDATE subscription_keys SET last_used_at = ?2 WHERE hash = ?1
                     AND (last_used_at IS NULL OR last_used_at < ?2)",
                    params![hash, at.0],
                )?;
            }
            Ok(())
        })
        .await
    }

    async fn call_counts(&self, id: &SubscriptionId, from_day: i64, to_day: i64) -> Result<Vec<CallCount>> {
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT subscription_id, day, route, calls, failed FROM calls
                     WHERE subscription_id = ?1 AND day BETWEEN ?2 AND ?3
                     ORDER BY day DESC, route",
                )
                .and_then(|mut all| all.query_map(params![id.as_str(), from_day, to_day], parse)?.collect())
                .map_err(store_error)
        })
    }

    async fn calls_on_day(&self, id: &SubscriptionId, day: i64) -> Result<u64> {
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT coalesce(sum(calls), 0) FROM calls WHERE subscription_id = ?1 AND day = ?2",
                )
                .and_then(|mut sum| sum.query_row(params![id.as_str(), day], |row| row.get(0)))
                .map(unsigned)
                .map_err(store_error)
        })
    }
}
