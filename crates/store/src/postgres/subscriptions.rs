//! Subscriptions, their keys and their call counts in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::ids::SubscriptionId;
use domain::{Random, Secret, TeamId, Ticks};

use super::audit::append_audit;
use super::rows::{column, execute, parse, parse_all, row};
use super::{PostgresStore, exists, store_error};
use crate::audit::Act;
use crate::list_filter::SUBSCRIPTIONS;
use crate::plan::{signed, unsigned};
use crate::subscriptions::{SUBSCRIPTION_KEY, SealedKey, revealed};
use crate::{
    AuditContext, CallCount, KeyInfo, KeyLastUse, KeySlot, ListFilter, ListPage, ListQuery, Result,
    RevealedKey, Status, Subscription, SubscriptionUpdate, Subscriptions, UpdateOutcome,
};

const SUBSCRIPTION: &str = "SELECT s.id, s.name, s.products, s.standing, s.created_at, s.daily_quota, s.cancelled_at, s.revision, s.team_id, s.sandbox FROM subscriptions s";

async fn insert_key(on: &Transaction<'_>, id: &SubscriptionId, key: &SealedKey) -> Result<()> {
    execute(
        on,
        "INSERT INTO subscription_keys (hash, subscription_id, slot, sealed) VALUES ($1, $2, $3, $4)",
        &[&key.hash.as_slice(), &id.as_str(), &key.slot.code(), &key.sealed],
    )
    .await
    .map_err(exists("such a key".into()))?;
    Ok(())
}

/// Inserts a subscription with its primary and its secondary key, and audits it.
pub(super) async fn insert_subscription(
    on: &Transaction<'_>,
    random: &dyn Random,
    one: &Subscription,
    keys: &[SealedKey; 2],
    act: &Act,
) -> Result<()> {
    execute(
        on,
        "INSERT INTO subscriptions (id, name, products, standing, created_at, daily_quota, cancelled_at,
             revision, team_id, sandbox)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        &[
            &one.id.as_str(),
            &one.name,
            &one.products.bits(),
            &one.status.code(),
            &one.created_at.0,
            &one.daily_quota.map(signed),
            &one.cancelled_at.map(|at| at.0),
            &signed(one.revision),
            &one.team.as_ref().map(TeamId::as_str),
            &i64::from(one.is_sandbox),
        ],
    )
    .await
    .map_err(exists(format!("a subscription \"{}\"", one.id)))?;
    for key in keys {
        insert_key(on, &one.id, key).await?;
    }
    append_audit(on, random, act.subscription_added(one)).await
}

#[async_trait]
impl Subscriptions for PostgresStore {
    async fn add_subscription(
        &self,
        one: &Subscription,
        primary: &Secret,
        secondary: &Secret,
        context: &AuditContext,
    ) -> Result<()> {
        let keys = SealedKey::pair(self.ports(), &one.id, primary, secondary)?;
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let (random, act) = (&*self.ports().random, self.act(context));
        insert_subscription(&transaction, random, one, &keys, &act).await?;
        let committed = transaction.commit().await.map_err(store_error);
        // A team's subscription may let its clients' webhooks be delivered to.
        self.access_changed();
        committed
    }

    async fn find_subscription(&self, id: &SubscriptionId) -> Result<Option<Subscription>> {
        let row = self.row(&format!("{SUBSCRIPTION} WHERE s.id = $1"), &[&id.as_str()]).await?;
        row.as_ref().map(parse).transpose()
    }

    async fn list_subscriptions(
        &self,
        filter: &ListFilter,
        query: &ListQuery,
    ) -> Result<ListPage<Subscription>> {
        let rows = self.list_filtered((SUBSCRIPTION, SUBSCRIPTIONS), filter, query).await?;
        Ok(query.page(rows.iter().map(parse).collect::<Result<_>>()?))
    }

    async fn update_subscription(
        &self,
        id: &SubscriptionId,
        update: &SubscriptionUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Subscription>> {
        let (updated, row) = self
            .update_row(
                (
                    "UPDATE subscriptions SET standing = coalesce($2, standing),
                     daily_quota = CASE WHEN $3 THEN $4 ELSE daily_quota END,
                     team_id = CASE WHEN $6 THEN $7 ELSE team_id END, sandbox = coalesce($8, sandbox),
                     revision = revision + 1
                 WHERE id = $1 AND cancelled_at IS NULL AND ($5::bigint IS NULL OR revision = $5)",
                    &[
                        &id.as_str(),
                        &update.status.map(Status::code),
                        &update.daily_quota.is_some(),
                        &update.daily_quota.flatten().map(signed),
                        &expected_revision.map(signed),
                        &update.team.is_some(),
                        &update.team.as_ref().and_then(Option::as_ref).map(TeamId::as_str),
                        &update.is_sandbox.map(i64::from),
                    ],
                ),
                (&format!("{SUBSCRIPTION} WHERE s.id = $1"), id.as_str()),
                parse,
                |before, after| self.act(context).subscription_changed(before, after),
            )
            .await?;
        if row.as_ref().is_some_and(|row| row.cancelled_at.is_some()) {
            return Ok(UpdateOutcome::Cancelled);
        }
        Ok(UpdateOutcome::of(updated, row))
    }

    async fn cancel_subscription(
        &self,
        id: &SubscriptionId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<bool> {
        let (cancelled, _) = self
            .update_row(
                (
                    "WITH cancelled AS (
                 UPDATE subscriptions SET cancelled_at = $2, standing = $3, revision = revision + 1
                 WHERE id = $1 AND cancelled_at IS NULL RETURNING id),
             gone AS (DELETE FROM subscription_keys WHERE subscription_id IN (SELECT id FROM cancelled))
             SELECT id FROM cancelled",
                    &[&id.as_str(), &now.0, &Status::Disabled.code()],
                ),
                (&format!("{SUBSCRIPTION} WHERE s.id = $1"), id.as_str()),
                parse,
                |before, after| self.act(context).subscription_cancelled(before, after),
            )
            .await?;
        Ok(cancelled)
    }

    async fn subscription_keys(&self, id: &SubscriptionId) -> Result<Vec<KeyInfo>> {
        let rows = self
            .rows(
                "SELECT slot, valid_until, last_used_at, sealed IS NOT NULL AS is_revealable FROM subscription_keys
                 WHERE subscription_id = $1 ORDER BY slot, valid_until IS NOT NULL, valid_until DESC",
                &[&id.as_str()],
            )
            .await?;
        parse_all(&rows)
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
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        // The subscription's row is locked first, here and when it is cancelled.
        transaction
            .execute("UPDATE subscriptions SET revision = revision + 1 WHERE id = $1", &[&id.as_str()])
            .await
            .map_err(store_error)?;
        let replaced = transaction
            .execute(
                "UPDATE subscription_keys SET valid_until = $3, sealed = NULL
                 WHERE subscription_id = $1 AND slot = $2 AND valid_until IS NULL",
                &[&id.as_str(), &slot.code(), &previous_valid_until.0],
            )
            .await
            .map_err(store_error)?;
        if replaced == 0 {
            return Ok(false);
        }
        insert_key(&transaction, id, &key).await?;
        let entry = self.act(context).key_rotated(id, slot, previous_valid_until);
        append_audit(&transaction, &*self.ports().random, entry).await?;
        transaction.commit().await.map_err(store_error)?;
        self.access_changed();
        Ok(true)
    }

    async fn reveal_key(
        &self,
        id: &SubscriptionId,
        slot: KeySlot,
        context: &AuditContext,
    ) -> Result<RevealedKey> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let found = row(
            &transaction,
            "SELECT sealed FROM subscription_keys WHERE subscription_id = $1 AND slot = $2 AND valid_until IS NULL",
            &[&id.as_str(), &slot.code()],
        )
        .await?;
        let Some(found) = found else { return Ok(RevealedKey::NotFound) };
        let key = revealed(self.ports(), (id, slot), found.get(0))?;
        if let RevealedKey::Revealed(_) = key {
            let entry = self.act(context).key_revealed(id, slot);
            append_audit(&transaction, &*self.ports().random, entry).await?;
            transaction.commit().await.map_err(store_error)?;
        }
        Ok(key)
    }

    async fn find_subscription_by_key(&self, key: &Secret, now: Ticks) -> Result<Option<Subscription>> {
        let hash = self.ports().vault.fingerprint(SUBSCRIPTION_KEY, key);
        let row = self
            .row(
                &format!(
                    "{SUBSCRIPTION} JOIN subscription_keys k ON s.id = k.subscription_id
                     LEFT JOIN teams t ON t.id = s.team_id
                     WHERE k.hash = $1 AND (k.valid_until IS NULL OR k.valid_until > $2)
                     AND (s.team_id IS NULL OR t.standing = 1)"
                ),
                &[&hash.as_slice(), &now.0],
            )
            .await?;
        row.as_ref().map(parse).transpose()
    }

    async fn record_usage(&self, calls: &[CallCount], used: &[KeyLastUse]) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        // A fixed order on every node prevents deadlocks.
        let mut calls: Vec<&CallCount> = calls.iter().collect();
        calls.sort_by_key(|one| (&one.subscription, one.day, &one.route));
        transaction
            .execute(
                "INSERT INTO calls (subscription_id, day, route, calls, failed)
                 SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[])
                 ON CONFLICT (subscription_id, day, route) DO UPDATE
                 SET calls = calls.calls + excluded.calls, failed = calls.failed + excluded.failed",
                &[
                    &column(&calls, |one| one.subscription.as_str()),
                    &column(&calls, |one| one.day),
                    &column(&calls, |one| one.route.as_str()),
                    &column(&calls, |one| signed(one.calls)),
                    &column(&calls, |one| signed(one.failed)),
                ],
            )
            .await
            .map_err(store_error)?;
        let vault = &self.ports().vault;
        let mut used: Vec<_> =
            used.iter().map(|one| (vault.fingerprint(SUBSCRIPTION_KEY, &one.key), one.at.0)).collect();
        used.sort_unstable();
        for (hash, at) in used {
            transaction
                .execute(
                    "UPDATE subscription_keys SET last_used_at = $2 WHERE hash = $1
                     AND (last_used_at IS NULL OR last_used_at < $2)",
                    &[&hash.as_slice(), &at],
                )
                .await
                .map_err(store_error)?;
        }
        transaction.commit().await.map_err(store_error)
    }

    async fn call_counts(&self, id: &SubscriptionId, from_day: i64, to_day: i64) -> Result<Vec<CallCount>> {
        let rows = self
            .rows(
                "SELECT subscription_id, day, route, calls, failed FROM calls
                 WHERE subscription_id = $1 AND day BETWEEN $2 AND $3
                 ORDER BY day DESC, route",
                &[&id.as_str(), &from_day, &to_day],
            )
            .await?;
        parse_all(&rows)
    }

    async fn calls_on_day(&self, id: &SubscriptionId, day: i64) -> Result<u64> {
        let row = self
            .row(
                "SELECT coalesce(sum(calls), 0)::bigint FROM calls WHERE subscription_id = $1 AND day = $2",
                &[&id.as_str(), &day],
            )
            .await?;
        Ok(row.map_or(0, |row| unsigned(row.get(0))))
    }
}
