//! What was seen, kept in a file: a position of the log, and what was told of the events after it. So a later start
//! finds in the pull feed what was not.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use aldaba_client::api::FeedChange;
use aldaba_client::receiver::Event;
use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// Past this the oldest are forgotten, and would be told again.
const SEEN_MAX: usize = 10_000;

/// Whose log, and what of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LogScope {
    pub(super) service: String,
    pub(super) tenant: String,
    pub(super) resources: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SavedState {
    scope: LogScope,
    /// Everything up to here was seen.
    position: u64,
    /// What was delivered after it.
    sequences: BTreeSet<u64>,
    /// Invoicing's deliveries carry no number: how many came of each record.
    records: HashMap<String, u32>,
}

impl SavedState {
    fn size(&self) -> usize {
        self.sequences.len() + self.records.len()
    }

    /// Whether a change of the feed was delivered. Each delivery counts for one.
    fn has(&mut self, change: &FeedChange) -> bool {
        if self.sequences.remove(&change.sequence_version) {
            return true;
        }
        match self.records.get_mut(&record(&change.event, &change.correlation_id)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

/// `SaleInvoice.Created` and an id, as one.
fn record(event: &str, id: &str) -> String {
    format!("{}/{id}", event.split('.').next().unwrap_or_default())
}

#[derive(Debug)]
pub(super) struct ListenState {
    file: Option<PathBuf>,
    /// What an earlier start left, until this one has begun.
    before: Mutex<Option<SavedState>>,
    saved: Mutex<SavedState>,
}

impl ListenState {
    /// One that forgets.
    pub(super) fn none() -> Self {
        Self { file: None, before: Mutex::default(), saved: Mutex::default() }
    }

    pub(super) fn open(file: &Path) -> Result<Self, Failure> {
        let before = match std::fs::read(file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                let why = format!("{}: it is no file of listen's ({error})", file.display());
                Failure::Failed(format!("{why}; name another with --state, or delete it"))
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::Failed(format!("{}: {error}", file.display()))),
        };
        Ok(Self { file: Some(file.to_owned()), before: Mutex::new(before), saved: Mutex::default() })
    }

    /// Begins, and says whether this goes on from an earlier start: only where the scene is the one remembered.
    /// What came since this program started stays seen.
    pub(super) fn begin(&self, scope: LogScope, head: u64) -> Result<bool, Failure> {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).take();
        let before = before.filter(|before| before.scope == scope && before.position <= head);
        let goes_on = before.is_some();
        self.change(|saved| {
            let SavedState { position, sequences, records, .. } =
                before.unwrap_or_else(|| SavedState { position: head, ..SavedState::default() });
            (saved.scope, saved.position) = (scope, position);
            saved.sequences.extend(sequences);
            for (record, count) in records {
                *saved.records.entry(record).or_default() += count;
            }
        })?;
        Ok(goes_on)
    }

    /// An event was told.
    pub(super) fn record_event(&self, event: &Event) -> Result<(), Failure> {
        if self.file.is_none() || event.is_test() {
            return Ok(());
        }
        self.change(|saved| {
            match event {
                Event::Accounting(change) => drop(saved.sequences.insert(change.sequence_version)),
                Event::Invoicing(change) => {
                    *saved.records.entry(record(&change.entity, &change.entity_id)).or_default() += 1;
                }
            }
            while saved.sequences.len() > SEEN_MAX {
                saved.sequences.pop_first();
            }
            if saved.records.len() > SEEN_MAX {
                saved.records.clear();
            }
        })
    }

    pub(super) fn is_large(&self) -> bool {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner).size() > SEEN_MAX / 20
    }

    pub(super) fn position(&self) -> u64 {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner).position
    }

    /// Passes over what was delivered, and hands out the rest, which counts as seen from here on.
    pub(super) fn missed<T>(&self, changes: Vec<(T, FeedChange)>) -> Result<Vec<(T, FeedChange)>, Failure> {
        let mut missed = Vec::new();
        self.change(|saved| {
            for (place, change) in changes {
                saved.position = saved.position.max(change.sequence_version);
                if !saved.has(&change) {
                    missed.push((place, change));
                }
            }
        })?;
        Ok(missed)
    }

    /// Moves on over what was delivered, up to the first that was not.
    pub(super) fn advance(&self, changes: &[FeedChange]) -> Result<(), Failure> {
        self.change(|saved| {
            for change in changes {
                if !saved.has(change) {
                    return;
                }
                saved.position = change.sequence_version;
            }
        })
    }

    /// Changes what is kept, on disk, too: a file beside it takes its place, so that it is always whole.
    fn change(&self, change: impl FnOnce(&mut SavedState)) -> Result<(), Failure> {
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut saved);
        let Some(file) = &self.file else { return Ok(()) };
        if self.before.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
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
    fn only_its_own_log_is_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state.json");
        assert!(!ListenState::open(&file).unwrap().begin(scope("a"), 7).unwrap());
        let again = ListenState::open(&file).unwrap();
        assert!(again.begin(scope("a"), 9).unwrap());
        assert_eq!(again.position(), 7);
        assert!(!ListenState::open(&file).unwrap().begin(scope("b"), 9).unwrap(), "another tenant's");
        assert!(!ListenState::open(&file).unwrap().begin(scope("b"), 3).unwrap(), "a log that is shorter");
        std::fs::write(&file, "[]").unwrap();
        assert!(ListenState::open(&file).unwrap_err().message().contains("--state"));
    }

    #[test]
    fn what_was_delivered_is_not_missed_and_each_delivery_counts_once() {
        let state = ListenState::none();
        state.begin(scope("a"), 1).unwrap();
        state
            .change(|saved| {
                saved.sequences.insert(3);
                saved.records.insert("Bank/1".into(), 1);
            })
            .unwrap();
        state.advance(&[change(3, "Svc.ACC.Customers.CustomerCreated"), change(4, "Due.Created")]).unwrap();
        assert_eq!(state.position(), 3, "up to the first that was not delivered");
        let fed = [change(4, "Due.Created"), change(5, "Bank.Created"), change(6, "Bank.Updated")];
        let missed = state.missed(fed.into_iter().map(|one| ((), one)).collect()).unwrap();
        let missed: Vec<u64> = missed.iter().map(|((), one)| one.sequence_version).collect();
        assert_eq!((missed, state.position()), (vec![4, 6], 6));
    }
}
