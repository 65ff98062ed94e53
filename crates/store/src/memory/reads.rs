//! Who read what in memory.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use domain::TenantId;

use super::{MemoryStore, State};
use crate::reads::{ReadRowKey, add_hours, additions, growing_days, within_bound};
use crate::{ReadCount, ReadPage, ReadQuery, Reads, Result};

impl State {
    pub(super) fn expire_reads(&mut self, before_day: i64, rows_max: usize) -> usize {
        let old: Vec<ReadRowKey> =
            self.reads.keys().filter(|key| key.day < before_day).take(rows_max).cloned().collect();
        for key in &old {
            self.reads.remove(key);
        }
        old.len()
    }

    fn reads_on(&self, tenant_no: i64, day: i64) -> usize {
        self.reads.keys().filter(|key| key.tenant_no == tenant_no && key.day == day).count()
    }
}

#[async_trait]
impl Reads for MemoryStore {
    async fn add_reads(&self, counts: &[ReadCount]) -> Result<()> {
        let mut state = self.state_mut()?;
        let number = |count: &ReadCount| Some((count.tenant.clone(), state.tenant_no(&count.tenant)?));
        let tenant_nos: HashMap<TenantId, i64> = counts.iter().filter_map(number).collect();
        let rows = additions(counts, &tenant_nos);
        let stored: HashSet<ReadRowKey> =
            rows.keys().filter(|key| state.reads.contains_key(key)).cloned().collect();
        let size = |(tenant_no, day)| ((tenant_no, day), state.reads_on(tenant_no, day));
        let sizes = growing_days(&rows, &stored).into_iter().map(size).collect();
        for (key, hours) in within_bound(rows, &stored, &sizes) {
            add_hours(state.reads.entry(key).or_default(), &hours);
        }
        Ok(())
    }

    async fn list_reads(&self, query: &ReadQuery) -> Result<ReadPage> {
        let state = self.state();
        let Some(tenant_no) = state.tenant_no(&query.tenant) else { return Ok(ReadPage::default()) };
        let start = ReadRowKey { tenant_no, ..query.start() };
        let position = |key: &ReadRowKey| (key.day, key.client.clone(), key.resource, key.company.clone());
        let is_wanted = |key: &&ReadRowKey| {
            key.tenant_no == tenant_no
                && position(key) < position(&start)
                && key.day >= query.since()
                && query.client.as_ref().is_none_or(|client| *client == key.client)
                && query.target.is_none_or(|target| i64::from(target.code()) == key.resource)
                && query.company.as_ref().is_none_or(|company| *company == key.company)
        };
        // A column with a condition has the same value in the start and in every row, so the order is that of the others.
        let mut found: Vec<&ReadRowKey> = state.reads.keys().filter(is_wanted).collect();
        found.sort_by_key(|key| Reverse(position(key)));
        let rows = found.into_iter().map(|key| key.clone().into_row(state.reads[key]));
        Ok(query.page(rows.collect::<Result<_>>()?))
    }
}
