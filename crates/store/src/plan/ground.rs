//! The ground that a plan stands on: the rows that a batch touches, as they are before and become.

use std::collections::{HashMap, HashSet};

use domain::catalogue::Owner;
use domain::change::Change;
use domain::record::PayrollCompany;
use domain::{Resource, Ticks};
use serde::Deserialize;

use super::{Collection, Key, Place, Stored, TENANT};
use crate::{ChangeBatch, IngestProgress};

#[derive(Debug)]
pub(crate) struct Ground {
    pub(super) head: u64,
    pub(super) version: Ticks,
    pub(super) records: HashMap<Key, Live>,
    pub(super) collections: HashMap<Place, Collection>,
    pub(super) progress: HashMap<String, IngestProgress>,
    account_lengths: HashMap<i64, u32>,
}

/// A record that exists at this point of the plan.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) stored: Stored,
    pub(super) payroll: Option<PayrollCompany>,
    /// Not in the store yet.
    pub(super) fresh: bool,
    pub(super) touched: bool,
}

impl Ground {
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

    /// The first rows to load: the companies that the changes name.
    pub(crate) fn company_keys(batches: &[ChangeBatch]) -> Vec<Key> {
        let mut seen = HashSet::new();
        let named = changes(batches).filter_map(|change| match change.company.as_ref() {
            Some(company) => Some(company.as_str()),
            None if change.resource == Resource::companies() => Some(change.correlation_id.as_str()),
            None => None,
        });
        named
            .filter(|id| seen.insert(*id))
            .map(|id| Key { place: Place::companies(), id: id.into() })
            .collect()
    }

    /// The next rows to load, once the companies are known: the records themselves.
    pub(crate) fn record_keys(&self, batches: &[ChangeBatch]) -> Vec<Key> {
        let mut seen = HashSet::new();
        changes(batches)
            .filter(|change| change.resource != Resource::companies())
            .filter_map(|change| {
                let place = self.place(change)?;
                seen.insert((place, change.correlation_id.as_str()))
                    .then(|| Key { place, id: change.correlation_id.as_str().into() })
            })
            .collect()
    }

    /// The collections to load, once the companies are known.
    pub(crate) fn places(&self, batches: &[ChangeBatch]) -> Vec<Place> {
        let mut seen = HashSet::new();
        changes(batches).filter_map(|change| self.place(change)).filter(|place| seen.insert(*place)).collect()
    }

    /// The idempotency keys whose progress to load.
    pub(crate) fn progress_keys(batches: &[ChangeBatch]) -> Vec<String> {
        batches.iter().filter_map(|batch| batch.checkpoint.as_ref()).map(|mark| mark.key.clone()).collect()
    }

    pub(crate) fn know_record(&mut self, key: Key, stored: Stored) {
        self.records.insert(key, Live { stored, payroll: None, fresh: false, touched: false });
    }

    pub(crate) fn know_collection(&mut self, place: Place, collection: Collection) {
        self.collections.insert(place, collection);
    }

    pub(crate) fn know_progress(&mut self, key: String, progress: IngestProgress) {
        self.progress.insert(key, progress);
    }

    /// Where a change's record lives; none if its company does not.
    pub(super) fn place(&self, change: &Change) -> Option<Place> {
        let company_no = match change.resource.owner() {
            Owner::Tenant => TENANT,
            Owner::Company => {
                let id = change.company.as_ref()?.as_str().into();
                let company = self.records.get(&Key { place: Place::companies(), id })?;
                super::signed(company.stored.ordinal)
            }
        };
        Some(Place { company_no, resource: change.resource })
    }

    /// How many digits an account code has in the company of this number.
    pub(super) fn account_length(&mut self, company_no: i64, company: &str) -> Option<u32> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Body {
            account_length: u32,
        }
        if let Some(length) = self.account_lengths.get(&company_no) {
            return Some(*length);
        }
        let key = Key { place: Place::companies(), id: company.into() };
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
