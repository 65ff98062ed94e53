//! Maintenance in memory.

use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use domain::Ticks;

use super::MemoryStore;
use super::webhooks::WebhookTable;
use crate::notices::NOTICE_LIFE;
use crate::{
    CALL_LOG_KEPT, ExpiredRows, Health, InvalidationCounters, Maintenance, Operations, Replay, Result,
    RetentionCutoffs,
};

/// Removes up to `max` entries that match; returns how many.
fn remove_expired<K: Ord + Clone, V>(
    map: &mut BTreeMap<K, V>,
    max: usize,
    past: impl Fn(&V) -> bool,
) -> usize {
    let keys: Vec<K> =
        map.iter().filter(|(_, value)| past(value)).take(max).map(|(key, _)| key.clone()).collect();
    for key in &keys {
        map.remove(key);
    }
    keys.len()
}

impl WebhookTable {
    /// Deletes old history: attempts, deliveries and finished replays.
    fn expire(&mut self, before: Ticks, rows_max: usize) -> usize {
        let mut deleted = 0;
        for stored in self.all.values_mut() {
            let old = stored.attempts.partition_point(|one| one.at < before).min(rows_max - deleted);
            stored.attempts.drain(..old);
            deleted += old;
            while deleted < rows_max
                && let Some(entry) = stored.delivered.first_entry().filter(|entry| entry.key().0 < before)
            {
                entry.remove();
                deleted += 1;
            }
            let is_past = |one: &Replay| one.is_done && one.requested_at < before;
            while deleted < rows_max
                && let Some(index) = stored.replays.iter().position(is_past)
            {
                stored.replays.remove(index);
                deleted += 1;
            }
        }
        deleted
    }
}

#[async_trait]
impl Maintenance for MemoryStore {
    async fn health(&self) -> Result<Health> {
        Ok(Health { schema: 0, queued: 0 })
    }

    async fn expire(&self, cutoffs: RetentionCutoffs, rows_max: usize) -> Result<ExpiredRows> {
        let now = cutoffs.now;
        let mut state = self.state_mut()?;
        Ok(ExpiredRows {
            codes: remove_expired(&mut state.codes, rows_max, |stored| stored.code.expires_at < now),
            refresh_tokens: remove_expired(&mut state.refresh_tokens, rows_max, |row| row.expires_at < now),
            grants: remove_expired(&mut state.grants, rows_max, |grant| grant.expires_at < now),
            keys: remove_expired(&mut state.keys, rows_max, |key| {
                key.valid_until.is_some_and(|until| until < now)
            }),
            processes: remove_expired(&mut state.processes, rows_max, |(_, touched)| {
                *touched < cutoffs.processes
            }),
            sessions: remove_expired(&mut state.sessions, rows_max, |session| session.expires_at < now),
            sign_in_buckets: remove_expired(&mut state.sign_in_buckets, rows_max, |row| {
                row.expires_at() < now
            }),
            used_challenges: remove_expired(&mut state.used_challenges, rows_max, |expires_at| {
                *expires_at < now
            }),
            audit: remove_expired(&mut state.audit, rows_max, |entry| entry.at < cutoffs.audit),
            calls: {
                let before = cutoffs.calls.day();
                let old: Vec<_> =
                    state.calls.keys().filter(|(_, day, _)| *day < before).take(rows_max).cloned().collect();
                state.calls.retain(|key, _| !old.contains(key));
                old.len()
            },
            deliveries: state.webhooks.expire(cutoffs.deliveries, rows_max),
            mails: remove_expired(&mut state.mails, rows_max, |mail| mail.expires_at() < cutoffs.mails),
            logouts: remove_expired(&mut state.logouts, rows_max, |one| one.expires_at() < cutoffs.mails)
                + remove_expired(&mut state.session_clients, rows_max, |expires_at| *expires_at < now),
            invitations: remove_expired(&mut state.invitations, rows_max, |one| {
                one.expires_at < cutoffs.mails
            }),
            links: remove_expired(&mut state.invitation_links, rows_max, |link| link.expires_at < now)
                + remove_expired(&mut state.password_resets, rows_max, |reset| reset.expires_at < now),
            call_log: {
                let before = now.minus(CALL_LOG_KEPT);
                remove_expired(&mut state.call_log, rows_max, |call| call.at < before)
            },
            figures: state.expire_figures(now, rows_max),
            notices: remove_expired(&mut state.notices, rows_max, |stored| {
                stored.notice.at < now.minus(NOTICE_LIFE)
            }),
            reads: state.expire_reads(cutoffs.reads.day(), rows_max),
        })
    }

    /// Does nothing: this store deletes rows immediately.
    async fn purge(&self, _rows_max: usize) -> Result<usize> {
        self.state_mut().map(|_| 0)
    }

    fn invalidation(&self) -> &InvalidationCounters {
        &self.invalidation
    }

    fn change_commits(&self) -> u64 {
        self.change_commits.load(Ordering::Relaxed)
    }

    fn operations(&self) -> &Operations {
        &self.operations
    }

    /// The in-memory store has no worker.
    async fn worker_ended(&self) {
        std::future::pending::<()>().await;
    }

    async fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }
}
