//! The inputs of a plan: the stored rows that a batch touches. The planner updates them in place.

use std::collections::{BTreeMap, HashMap, HashSet};

use domain::catalogue::Owner;
use domain::change::{Action, Change};
use domain::record::{PayrollCompany, State, Upsert, account_code};
use domain::{Resource, Ticks};
use serde::Deserialize;

use super::{CollectionCounters, CollectionKey, NO_COMPANY, RecordKey, StoredRecord};
use crate::{ChangeBatch, IngestProgress};

#[derive(Debug)]
pub(crate) struct PlanInputs {
    pub(super) head: u64,
    pub(super) version: Ticks,
    pub(super) records: HashMap<RecordKey, PlannedRecord>,
    pub(super) collections: HashMap<CollectionKey, CollectionCounters>,
    pub(super) progress: HashMap<String, IngestProgress>,
    account_lengths: HashMap<i64, u32>,
    /// Accounts by (company, code) and ordinal. Empty unless a change names an account by its code alone.
    accounts: HashMap<(i64, Box<str>), BTreeMap<u64, StoredAccount>>,
    looks_up_accounts: bool,
}

/// An account with a code that a change names.
#[derive(Debug)]
struct StoredAccount {
    id: Box<str>,
    state: State,
}

/// A record that exists at this point of the plan.
#[derive(Debug)]
pub(super) struct PlannedRecord {
    pub(super) stored: StoredRecord,
    pub(super) payroll: Option<PayrollCompany>,
    /// Not stored yet.
    pub(super) is_new: bool,
    pub(super) is_changed: bool,
}

impl PlanInputs {
    pub(crate) fn new(head: u64, version: Ticks) -> Self {
        Self {
            head,
            version,
            records: HashMap::new(),
            collections: HashMap::new(),
            progress: HashMap::new(),
            account_lengths: HashMap::new(),
            accounts: HashMap::new(),
            looks_up_accounts: false,
        }
    }

    /// The rows to load first: the companies that the changes name.
    pub(crate) fn company_keys(batches: &[ChangeBatch]) -> Vec<RecordKey> {
        let mut seen = HashSet::new();
        let named = changes(batches).filter_map(|change| match change.company.as_ref() {
            Some(company) => Some(company.as_str()),
            None if change.resource == Resource::companies() => Some(change.correlation_id.as_str()),
            None => None,
        });
        named
            .filter(|id| seen.insert(*id))
            .map(|id| RecordKey { collection: CollectionKey::companies(), id: id.into() })
            .collect()
    }

    /// The rows to load once the companies are known: the records.
    pub(crate) fn record_keys(&self, batches: &[ChangeBatch]) -> Vec<RecordKey> {
        let mut seen = HashSet::new();
        changes(batches)
            .filter(|change| change.resource != Resource::companies())
            .filter_map(|change| {
                let collection = self.collection(change)?;
                seen.insert((collection, change.correlation_id.as_str()))
                    .then(|| RecordKey { collection, id: change.correlation_id.as_str().into() })
            })
            .collect()
    }

    /// The collections to load once the companies are known.
    pub(crate) fn collection_keys(&self, batches: &[ChangeBatch]) -> Vec<CollectionKey> {
        let mut seen = HashSet::new();
        changes(batches)
            .filter_map(|change| self.collection(change))
            .filter(|collection| seen.insert(*collection))
            .collect()
    }

    /// The accounts to load once the companies are known: (company, code), each once.
    pub(crate) fn account_codes(&mut self, batches: &[ChangeBatch]) -> Vec<(i64, Box<str>)> {
        let mut codes = HashSet::new();
        for change in changes(batches) {
            if let Action::Upsert(Upsert { unlinked_account: Some(unlinked), .. }) = &change.action {
                self.looks_up_accounts = true;
                let collection = self.collection(change);
                codes.extend(collection.map(|collection| (collection.company_no, unlinked.code.clone())));
            }
        }
        codes.into_iter().collect()
    }

    /// The idempotency keys whose progress must be loaded.
    pub(crate) fn ingest_keys(batches: &[ChangeBatch]) -> Vec<String> {
        batches
            .iter()
            .filter_map(|batch| batch.checkpoint.as_ref())
            .map(|checkpoint| checkpoint.key.clone())
            .collect()
    }

    pub(crate) fn insert_record(&mut self, key: RecordKey, stored: StoredRecord) {
        self.records.insert(key, PlannedRecord { stored, payroll: None, is_new: false, is_changed: false });
    }

    pub(crate) fn insert_account(
        &mut self,
        (company_no, code): (i64, Box<str>),
        ordinal: u64,
        id: Box<str>,
        state: State,
    ) {
        self.accounts.entry((company_no, code)).or_default().insert(ordinal, StoredAccount { id, state });
    }

    /// Whether changes may name the records of this collection by their code.
    pub(super) fn looks_up(&self, collection: CollectionKey) -> bool {
        self.looks_up_accounts && collection.resource == Resource::accounts()
    }

    /// An account was created or changed by this plan: changes that follow may name its code.
    pub(super) fn note_account(&mut self, key: &RecordKey) {
        let Some(PlannedRecord { stored, .. }) = self.records.get(key) else { return };
        if let Some(code) = account_code(&stored.body) {
            let (code, ordinal, state) = (code.into(), stored.ordinal, stored.state);
            self.insert_account((key.collection.company_no, code), ordinal, key.id.clone(), state);
        }
    }

    /// The id of the company's account with this code: of several the first enabled one.
    pub(super) fn find_account(&self, company_no: i64, code: &str) -> Option<&str> {
        let collection = CollectionKey { company_no, resource: Resource::accounts() };
        let accounts = self.accounts.get(&(company_no, code.into()))?;
        let current = accounts.values().filter_map(|account| {
            // What the plan has changed counts in its present form.
            let key = RecordKey { collection, id: account.id.clone() };
            let state = match self.records.get(&key) {
                Some(planned) if account_code(&planned.stored.body) != Some(code) => return None,
                Some(planned) => planned.stored.state,
                None => account.state,
            };
            Some((&*account.id, state))
        });
        let mut first = None;
        for (id, state) in current {
            if state == State::Enabled {
                return Some(id);
            }
            first.get_or_insert(id);
        }
        first
    }

    pub(crate) fn insert_collection(&mut self, collection: CollectionKey, counters: CollectionCounters) {
        self.collections.insert(collection, counters);
    }

    pub(crate) fn insert_progress(&mut self, key: String, progress: IngestProgress) {
        self.progress.insert(key, progress);
    }

    /// The collection of a change's record; none if its company does not exist.
    pub(super) fn collection(&self, change: &Change) -> Option<CollectionKey> {
        let company_no = match change.resource.owner() {
            Owner::Tenant => NO_COMPANY,
            Owner::Company => {
                let id = change.company.as_ref()?.as_str().into();
                let company = self.records.get(&RecordKey { collection: CollectionKey::companies(), id })?;
                super::signed(company.stored.ordinal)
            }
        };
        Some(CollectionKey { company_no, resource: change.resource })
    }

    /// The number of digits of the company's account codes.
    pub(super) fn account_length(&mut self, company_no: i64, company: &str) -> Option<u32> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Body {
            account_length: u32,
        }
        if let Some(length) = self.account_lengths.get(&company_no) {
            return Some(*length);
        }
        let key = RecordKey { collection: CollectionKey::companies(), id: company.into() };
        let body: Body = serde_json::from_str(&self.records.get(&key)?.stored.body).ok()?;
        self.account_lengths.insert(company_no, body.account_length);
        Some(body.account_length)
    }

    pub(super) fn forget_account_length(&mut self, company_no: i64) {
        self.account_lengths.remove(&company_no);
    }
}

fn changes(batches: &[ChangeBatch]) -> impl Iterator<Item = &Change> {
    batches.iter().flat_map(|batch| &batch.lines).map(|line| &line.change)
}
