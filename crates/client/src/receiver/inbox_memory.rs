//! An inbox store in memory: for tests, and for applications that read the change feed at every start.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use domain::Guid;

use super::inbox::{InboxStore, ReceivedEvent, RecordKey};

const ENTRIES_MAX: usize = 100_000;

/// Stores the last 100,000 ids and the log positions of the last 100,000 records.
#[derive(Debug, Default)]
pub struct MemoryInboxStore {
    processed: Mutex<Processed>,
}

#[derive(Debug, Default)]
struct Processed {
    ids: HashSet<Guid>,
    ids_by_age: VecDeque<Guid>,
    latest_sequence: HashMap<RecordKey, u64>,
    records_by_age: VecDeque<RecordKey>,
}

impl MemoryInboxStore {
    fn processed(&self) -> MutexGuard<'_, Processed> {
        self.processed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl InboxStore for MemoryInboxStore {
    async fn is_processed(
        &self,
        outgoing_id: Guid,
    ) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.processed().ids.contains(&outgoing_id))
    }

    async fn latest_sequence(
        &self,
        record: &RecordKey,
    ) -> Result<Option<u64>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.processed().latest_sequence.get(record).copied())
    }

    async fn mark_processed(
        &self,
        event: &ReceivedEvent,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut processed = self.processed();
        if let Some(id) = event.outgoing_id
            && processed.ids.insert(id)
        {
            processed.ids_by_age.push_back(id);
        }
        if let Some(number) = event.sequence_version {
            let known = processed.latest_sequence.get(&event.record).copied();
            if known.is_none() {
                processed.records_by_age.push_back(event.record.clone());
            }
            processed
                .latest_sequence
                .insert(event.record.clone(), known.map_or(number, |known| known.max(number)));
        }
        while processed.ids_by_age.len() > ENTRIES_MAX {
            if let Some(oldest) = processed.ids_by_age.pop_front() {
                processed.ids.remove(&oldest);
            }
        }
        while processed.records_by_age.len() > ENTRIES_MAX {
            if let Some(oldest) = processed.records_by_age.pop_front() {
                processed.latest_sequence.remove(&oldest);
            }
        }
        Ok(())
    }
}
