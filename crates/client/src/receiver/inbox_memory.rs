//! An inbox that forgets with the process: for tests, and for who reads the pull feed at every start anyway.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use domain::Guid;

use super::inbox::{Arrival, InboxStore, RecordKey};

const KEPT_MAX: usize = 100_000;

/// Remembers the last 100,000 ids and as many records, and no more.
#[derive(Debug, Default)]
pub struct MemoryInbox {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    ids: HashSet<Guid>,
    ids_by_age: VecDeque<Guid>,
    newest: HashMap<RecordKey, u64>,
    records_by_age: VecDeque<RecordKey>,
}

impl MemoryInbox {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl InboxStore for MemoryInbox {
    async fn has_seen(&self, outgoing_id: Guid) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.kept().ids.contains(&outgoing_id))
    }

    async fn newest(
        &self,
        record: &RecordKey,
    ) -> Result<Option<u64>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.kept().newest.get(record).copied())
    }

    async fn keep(&self, arrival: &Arrival) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut kept = self.kept();
        if let Some(id) = arrival.outgoing_id
            && kept.ids.insert(id)
        {
            kept.ids_by_age.push_back(id);
        }
        if let Some(number) = arrival.sequence_version {
            let known = kept.newest.get(&arrival.record).copied();
            if known.is_none() {
                kept.records_by_age.push_back(arrival.record.clone());
            }
            kept.newest.insert(arrival.record.clone(), known.map_or(number, |known| known.max(number)));
        }
        while kept.ids_by_age.len() > KEPT_MAX {
            if let Some(oldest) = kept.ids_by_age.pop_front() {
                kept.ids.remove(&oldest);
            }
        }
        while kept.records_by_age.len() > KEPT_MAX {
            if let Some(oldest) = kept.records_by_age.pop_front() {
                kept.newest.remove(&oldest);
            }
        }
        Ok(())
    }
}
