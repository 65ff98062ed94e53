//! Upkeep in memory.

use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use domain::Ticks;

use super::MemoryStore;
use super::webhooks::Hooks;
use crate::{ExpiredRows, Health, InvalidationCounters, Maintenance, Replay, Result, RetentionCutoffs};

/// Takes away up to `max` entries that are past; tells how many.
fn drop_some<K: Ord + Clone, V>(map: &mut BTreeMap<K, V>, max: usize, past: impl Fn(&V) -> bool) -> usize {
    let keys: Vec<K> =
        map.iter().filter(|(_, value)| past(value)).take(max).map(|(key, _)| key.clone()).collect();
    for key in &keys {
        map.remove(key);
    }
    keys.len()
}

impl Hooks {
    /// Drops old history: attempts, deliveries, replays that are done.
    fn expire(&mut self, before: Ticks, rows_max: usize) -> usize {
        let mut gone = 0;
        for kept in self.all.values_mut() {
            let old = kept.attempts.partition_point(|one| one.at < before).min(rows_max - gone);
            kept.attempts.drain(..old);
            gone += old;
            while gone < rows_max
                && let Some(entry) = kept.delivered.first_entry().filter(|entry| entry.key().0 < before)
            {
                entry.remove();
                gone += 1;
            }
            let is_past = |one: &Replay| one.is_done && one.requested_at < before;
            while gone < rows_max
                && let Some(place) = kept.replays.iter().position(is_past)
            {
                kept.replays.remove(place);
                gone += 1;
            }
        }
        gone
    }
}

#[async_trait]
impl Maintenance for MemoryStore {
    async fn health(&self) -> Result<Health> {
        Ok(Health { schema: 0, queued: 0 })
    }

    async fn expire(&self, cutoffs: RetentionCutoffs, rows_max: usize) -> Result<ExpiredRows> {
        let now = cutoffs.now;
        let mut state = self.writing()?;
        Ok(ExpiredRows {
            codes: drop_some(&mut state.codes, rows_max, |kept| kept.code.expires_at < now),
            refresh_tokens: drop_some(&mut state.refresh_tokens, rows_max, |row| row.expires_at < now),
            grants: drop_some(&mut state.grants, rows_max, |grant| grant.expires_at < now),
            keys: drop_some(&mut state.keys, rows_max, |key| {
                key.valid_until.is_some_and(|until| until < now)
            }),
            processes: drop_some(&mut state.processes, rows_max, |(_, touched)| *touched < cutoffs.processes),
            sessions: drop_some(&mut state.sessions, rows_max, |session| session.expires_at < now),
            audit: drop_some(&mut state.audit, rows_max, |entry| entry.at < cutoffs.audit),
            calls: {
                let before = cutoffs.calls.day();
                let old: Vec<_> =
                    state.calls.keys().filter(|(_, day, _)| *day < before).take(rows_max).cloned().collect();
                state.calls.retain(|place, _| !old.contains(place));
                old.len()
            },
            deliveries: state.webhooks.expire(cutoffs.deliveries, rows_max),
        })
    }

    /// Nothing waits: what is deleted here is gone at once.
    async fn purge(&self, _rows_max: usize) -> Result<usize> {
        self.writing().map(|_| 0)
    }

    fn invalidation(&self) -> &InvalidationCounters {
        &self.invalidation
    }

    fn change_commits(&self) -> u64 {
        self.change_commits.load(Ordering::Relaxed)
    }

    async fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }
}
