//! The inputs of a plan: the stored rows that a batch touches. The planner updates them in place.

use std::collections::{HashMap, HashSet};

use domain::catalogue::Owner;
use domain::change::Change;
use domain::record::PayrollCompany;
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
