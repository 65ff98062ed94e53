//! The state file of `listen`: a position in the log and the events received after it, so that the next start can find
//! the missed events in the pull feed.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use aldaba_client::api::FeedChange;
use aldaba_client::receiver::Event;
use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// The number of events to remember. Older ones are dropped and would be printed again as missed.
const EVENTS_MAX: usize = 10_000;

/// The log that a position belongs to, and the subscribed resources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LogScope {
    pub(super) service: String,
    pub(super) tenant: String,
    pub(super) resources: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SavedState {
    /// The file's member keeps its first name.
    #[serde(rename = "scene")]
    scope: LogScope,
    /// All events up to this position were received.
    position: u64,
    /// The events received after it.
    sequences: BTreeSet<u64>,
    /// Invoicing deliveries have no sequence number: the number received for each record.
    records: HashMap<String, u32>,
}

impl SavedState {
    fn size(&self) -> usize {
        self.sequences.len() + self.records.len()
    }

    /// Whether a change of the feed was received. Each delivery matches one change and is then removed.
    fn take_received(&mut self, change: &FeedChange) -> bool {
        if self.sequences.remove(&change.sequence_version) {
            return true;
        }
        match self.records.get_mut(&record_key(&change.event, &change.correlation_id)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

/// `SaleInvoice.Created` and an id as `SaleInvoice/id`.
fn record_key(event: &str, id: &str) -> String {
    format!("{}/{id}", event.split('.').next().unwrap_or_default())
}

#[derive(Debug)]
pub(super) struct ListenState {
    file: Option<PathBuf>,
    /// The state of the previous start, until `begin` takes it.
    previous: Mutex<Option<SavedState>>,
    current: Mutex<SavedState>,
}

impl ListenState {
    /// State without a file.
    pub(super) fn in_memory() -> Self {
        Self { file: None, previous: Mutex::default(), current: Mutex::default() }
    }

    pub(super) fn open(file: &Path) -> Result<Self, Failure> {
        let previous = match std::fs::read(file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                let why = format!("{} is not a state file of `aldaba listen` ({error})", file.display());
                Failure::Failed(format!("{why}; choose another file with --state, or delete it"))
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::Failed(format!("{}: {error}", file.display()))),
        };
        Ok(Self { file: Some(file.to_owned()), previous: Mutex::new(previous), current: Mutex::default() })
    }

    /// Continues from the previous start if it had the same scope, otherwise from `head`, and returns whether it
    /// continued. Events received since this program started are kept.
    pub(super) fn begin(&self, scope: LogScope, head: u64) -> Result<bool, Failure> {
        let previous = self.previous.lock().unwrap_or_else(PoisonError::into_inner).take();
        let previous = previous.filter(|previous| previous.scope == scope && previous.position <= head);
        let continues = previous.is_some();
        self.change(|saved| {
            let SavedState { position, sequences, records, .. } =
                previous.unwrap_or_else(|| SavedState { position: head, ..SavedState::default() });
            (saved.scope, saved.position) = (scope, position);
            saved.sequences.extend(sequences);
            for (record, count) in records {
                *saved.records.entry(record).or_default() += count;
            }
        })?;
        Ok(continues)
    }

    /// Records that an event was received.
    pub(super) fn record_event(&self, event: &Event) -> Result<(), Failure> {
        if self.file.is_none() || event.is_test() {
            return Ok(());
        }
        self.change(|saved| {
            match event {
                Event::Accounting(change) => drop(saved.sequences.insert(change.sequence_version)),
                Event::Invoicing(change) => {
                    *saved.records.entry(record_key(&change.entity, &change.entity_id)).or_default() += 1;
                }
            }
            while saved.sequences.len() > EVENTS_MAX {
                saved.sequences.pop_first();
            }
            if saved.records.len() > EVENTS_MAX {
                saved.records.clear();
            }
        })
    }

    pub(super) fn is_large(&self) -> bool {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).size() > EVENTS_MAX / 20
    }

    pub(super) fn position(&self) -> u64 {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).position
    }

    /// The changes that were not received. They count as received from now on.
    pub(super) fn missed<T>(&self, changes: Vec<(T, FeedChange)>) -> Result<Vec<(T, FeedChange)>, Failure> {
        let mut missed = Vec::new();
        self.change(|saved| {
            for (company, change) in changes {
                saved.position = saved.position.max(change.sequence_version);
                if !saved.take_received(&change) {
                    missed.push((company, change));
                }
            }
        })?;
        Ok(missed)
    }

    /// Moves the position to the last change before the first that was not received.
    pub(super) fn advance(&self, changes: &[FeedChange]) -> Result<(), Failure> {
        self.change(|saved| {
            for change in changes {
                if !saved.take_received(change) {
                    return;
                }
                saved.position = change.sequence_version;
            }
        })
    }

    /// Changes the state and writes the file. A rename replaces the file, so that it is never incomplete.
    fn change(&self, change: impl FnOnce(&mut SavedState)) -> Result<(), Failure> {
        let mut saved = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut saved);
        let Some(file) = &self.file else { return Ok(()) };
        if self.previous.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Ok(());
        }
        let cannot = |error: std::io::Error| Failure::Failed(format!("{}: {error}", file.display()));
        let text = serde_json::to_vec(&*saved).map_err(|error| cannot(error.into()))?;
        let new = file.with_extension("new");
        std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, file)).map_err(cannot)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scope(tenant: &str) -> LogScope {
        LogScope { tenant: tenant.into(), ..LogScope::default() }
    }

    fn change(sequence: u64, event: &str) -> FeedChange {
        let text = json!({
            "sequenceVersion": sequence.to_string(), "event": event, "correlationId": "1", "version": "",
            "user": "", "processId": "",
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn state_continues_only_in_the_same_log() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        assert!(!ListenState::open(&file).unwrap().begin(scope("a"), 7).unwrap());
        let again = ListenState::open(&file).unwrap();
        assert!(again.begin(scope("a"), 9).unwrap());
        assert_eq!(again.position(), 7);
        assert!(!ListenState::open(&file).unwrap().begin(scope("b"), 9).unwrap(), "another tenant");
        assert!(!ListenState::open(&file).unwrap().begin(scope("b"), 3).unwrap(), "a shorter log");
        std::fs::write(&file, "[]").unwrap();
        assert!(ListenState::open(&file).unwrap_err().message().contains("--state"));
    }

    #[test]
    fn received_event_is_not_missed_and_matches_one_change() {
        let state = ListenState::in_memory();
        state.begin(scope("a"), 1).unwrap();
        state
            .change(|saved| {
                saved.sequences.insert(3);
                saved.records.insert("Bank/1".into(), 1);
            })
            .unwrap();
        state.advance(&[change(3, "Svc.ACC.Customers.CustomerCreated"), change(4, "Due.Created")]).unwrap();
        assert_eq!(state.position(), 3, "the first change that was not received stops it");
        let feed = [change(4, "Due.Created"), change(5, "Bank.Created"), change(6, "Bank.Updated")];
        let missed = state.missed(feed.into_iter().map(|change| ((), change)).collect()).unwrap();
        let missed: Vec<u64> = missed.iter().map(|((), change)| change.sequence_version).collect();
        assert_eq!((missed, state.position()), (vec![4, 6], 6));
    }
}
