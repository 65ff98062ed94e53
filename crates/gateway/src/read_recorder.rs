//! Counts who read what in memory: by tenant, client, resource, company and hour. A background task adds the counts to the
//! store every few seconds. A call updates one map, of its own thread; nothing is written or waited for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::figures::Resolution;
use domain::{Caller, ClientId, TenantId, Ticks};
use parking_lot::Mutex;
use store::{ReadCount, ReadTarget, Reads, Result};

const SHARDS: usize = 16;
/// Counts that are not written yet; about 8 MB. Beyond it, reads are counted without their company.
const KEYS_MAX: usize = 50_000;
/// Counts in one transaction.
const BATCH_KEYS_MAX: usize = 1000;

/// The shard of each thread, so that threads do not wait for each other.
static NEXT_SHARD: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    static SHARD: usize = NEXT_SHARD.fetch_add(1, Ordering::Relaxed) % SHARDS;
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ReadKey {
    tenant: TenantId,
    client: ClientId,
    target: ReadTarget,
    company: Option<Box<str>>,
    hour: i64,
}

#[derive(Debug, Default)]
pub(crate) struct ReadRecorder {
    shards: [Mutex<HashMap<ReadKey, u64>>; SHARDS],
    /// Keys in all shards.
    keys: AtomicUsize,
    /// The counts that are being written, or that could not be written.
    unwritten: tokio::sync::Mutex<Vec<ReadCount>>,
}

impl ReadRecorder {
    pub(crate) fn count(&self, caller: &Caller, target: ReadTarget, company: Option<Box<str>>, now: Ticks) {
        let is_full = self.keys.load(Ordering::Relaxed) >= KEYS_MAX;
        let mut key = ReadKey {
            tenant: caller.tenant.clone(),
            client: caller.client.clone(),
            target,
            company,
            hour: Resolution::Hour.number_at(now),
        };
        let mut counts = self.shards[SHARD.with(|shard| *shard)].lock();
        if let Some(reads) = counts.get_mut(&key) {
            *reads += 1;
            return;
        }
        if is_full {
            key.company = None;
        }
        *counts.entry(key).or_insert_with(|| {
            self.keys.fetch_add(1, Ordering::Relaxed);
            0
        }) += 1;
    }

    /// Adds what was counted to the store. After an error the same counts are added next time.
    pub(crate) async fn flush<S: Reads + ?Sized>(&self, store: &S) -> Result<()> {
        let mut unwritten = self.unwritten.lock().await;
        if unwritten.is_empty() {
            *unwritten = self.take();
        }
        while !unwritten.is_empty() {
            let rest = unwritten.len().saturating_sub(BATCH_KEYS_MAX);
            store.add_reads(&unwritten[rest..]).await?;
            unwritten.truncate(rest);
        }
        Ok(())
    }

    fn take(&self) -> Vec<ReadCount> {
        let mut taken: HashMap<ReadKey, u64> = HashMap::new();
        for shard in &self.shards {
            let counts = std::mem::take(&mut *shard.lock());
            self.keys.fetch_sub(counts.len(), Ordering::Relaxed);
            for (key, reads) in counts {
                *taken.entry(key).or_default() += reads;
            }
        }
        let count = |(key, reads): (ReadKey, u64)| {
            let ReadKey { tenant, client, target, company, hour } = key;
            ReadCount { tenant, client, target, company, hour, reads }
        };
        taken.into_iter().map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use domain::{AccountId, GrantId, Resource, Scopes};
    use store::{ReadPage, ReadQuery, StoreError};

    use super::*;

    const NOW: Ticks = Ticks(639_000_000_000_000_000);

    #[derive(Default)]
    struct FakeStore {
        added: Mutex<Vec<ReadCount>>,
        fails: Mutex<bool>,
    }

    #[async_trait]
    impl Reads for FakeStore {
        async fn add_reads(&self, counts: &[ReadCount]) -> Result<()> {
            assert!(counts.len() <= BATCH_KEYS_MAX);
            if *self.fails.lock() {
                return Err(StoreError::Unavailable("no".into()));
            }
            self.added.lock().extend(counts.iter().cloned());
            Ok(())
        }

        async fn list_reads(&self, _: &ReadQuery) -> Result<ReadPage> {
            Ok(ReadPage::default())
        }
    }

    impl FakeStore {
        fn total(&self) -> u64 {
            self.added.lock().iter().map(|count| count.reads).sum()
        }
    }

    fn caller(client: &str) -> Caller {
        Caller {
            user: AccountId::new("u"),
            tenant: TenantId::new("t"),
            client: ClientId::new(client),
            grant: GrantId::new("g"),
            scopes: Scopes::default(),
            expires_at: Ticks(i64::MAX),
        }
    }

    fn journals() -> ReadTarget {
        ReadTarget::find(domain::Area::Accounting, "journals").unwrap()
    }

    #[tokio::test]
    async fn reads_of_all_threads_add_up_and_are_written_once() {
        let (recorder, store) = (ReadRecorder::default(), FakeStore::default());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        recorder.count(&caller("a"), journals(), Some("c1".into()), NOW);
                    }
                    recorder.count(&caller("b"), ReadTarget::Resource(Resource::companies()), None, NOW);
                });
            }
        });
        *store.fails.lock() = true;
        assert!(recorder.flush(&store).await.is_err());
        *store.fails.lock() = false;
        recorder.flush(&store).await.unwrap();
        recorder.flush(&store).await.unwrap();
        let mut added = store.added.lock().clone();
        added.sort_by_key(|count| count.client.clone());
        let counted: Vec<_> =
            added.iter().map(|one| (one.client.as_str(), one.company.as_deref(), one.reads)).collect();
        assert_eq!(counted, [("a", Some("c1"), 400), ("b", None, 4)]);
        assert!(added.iter().all(|count| count.hour == Resolution::Hour.number_at(NOW)));
        assert_eq!(recorder.keys.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn beyond_the_bound_reads_lose_their_company_and_nothing_else() {
        let (recorder, store) = (ReadRecorder::default(), FakeStore::default());
        for number in 0..KEYS_MAX + 10 {
            recorder.count(&caller("a"), journals(), Some(number.to_string().into()), NOW);
        }
        recorder.count(&caller("a"), journals(), Some("7".into()), NOW);
        recorder.flush(&store).await.unwrap();
        let added = store.added.lock().clone();
        assert_eq!(added.len(), KEYS_MAX + 1);
        let without: Vec<_> = added.iter().filter(|one| one.company.is_none()).map(|one| one.reads).collect();
        assert_eq!(without, [10]);
        assert_eq!(store.total(), KEYS_MAX as u64 + 11);
    }
}
