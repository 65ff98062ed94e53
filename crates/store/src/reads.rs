//! Who read what, for the auditor: how often each client read each resource of each company of a tenant, by hour. Nodes count
//! in memory and add to it every few seconds; a crash may lose the last ones. Single records are not named.
//!
//! It is bounded by age, and by rows for each tenant and day: what goes beyond is counted without its company.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use domain::{Area, ClientId, Resource, TenantId};

use crate::{Result, StoreError, sparse_counts};

/// Rows of a tenant and a day: a client, a resource and a company each. Further companies share a row without a company.
pub const READ_KEYS_MAX: usize = 20_000;
/// The largest page that a store returns, whatever the query asks for.
pub const READ_ROWS_MAX: usize = 1000;
const HOURS_PER_DAY: i64 = 24;
/// The stored number of the feed of all invoicing entities; resources have others.
const INVOICING_FEED: i16 = 0;

/// Reads by hour of the day, UTC.
pub(crate) type Hours = [u64; 24];

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadTarget {
    /// Its list, one of its records, or its feed of changes.
    Resource(Resource),
    /// The feed of all invoicing entities.
    InvoicingFeed,
}

impl ReadTarget {
    pub fn all() -> impl Iterator<Item = Self> {
        let read = |resource: &Resource| resource.is_accounting_family() || resource.area() == Area::Payroll;
        Resource::all().filter(read).map(Self::Resource).chain([Self::InvoicingFeed])
    }

    pub fn area(self) -> Area {
        match self {
            Self::Resource(resource) => resource.area(),
            Self::InvoicingFeed => Area::Invoicing,
        }
    }

    /// The last segment of its path.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resource(resource) => resource.as_str(),
            Self::InvoicingFeed => "changes",
        }
    }

    pub fn find(area: Area, name: &str) -> Option<Self> {
        Self::all().find(|target| target.area() == area && target.as_str() == name)
    }

    pub(crate) fn code(self) -> i16 {
        match self {
            Self::Resource(resource) => resource.code(),
            Self::InvoicingFeed => INVOICING_FEED,
        }
    }

    pub(crate) fn from_code(code: i64) -> Result<Self> {
        let unknown = || StoreError::internal("a count of reads has an unknown resource");
        match i16::try_from(code).map_err(|_| unknown())? {
            INVOICING_FEED => Ok(Self::InvoicingFeed),
            code => Resource::from_code(code).map(Self::Resource).ok_or_else(unknown),
        }
    }
}

/// Reads to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadCount {
    pub tenant: TenantId,
    pub client: ClientId,
    pub target: ReadTarget,
    /// None: what was read belongs to the tenant.
    pub company: Option<Box<str>>,
    /// Whole hours since 0001-01-01.
    pub hour: i64,
    pub reads: u64,
}

/// The reads of one client, resource and company on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadDay {
    /// Whole days since 0001-01-01.
    pub day: i64,
    pub client: ClientId,
    pub target: ReadTarget,
    /// None: the tenant itself, or companies beyond [`READ_KEYS_MAX`].
    pub company: Option<Box<str>>,
    /// By hour of the day, UTC.
    pub hours: [u64; 24],
}

impl ReadDay {
    pub fn total(&self) -> u64 {
        self.hours.iter().sum()
    }

    pub fn cursor(&self) -> ReadCursor {
        let company = self.company.clone().unwrap_or_default();
        let resource = i64::from(self.target.code());
        ReadCursor { day: self.day, client: self.client.clone(), resource, company }
    }
}

/// The position of a row in the list: newest day first, then by client, resource and company, all descending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadCursor {
    pub day: i64,
    pub client: ClientId,
    /// The stored number of what was read.
    pub resource: i64,
    /// Empty for none.
    pub company: Box<str>,
}

/// Which reads of a tenant to list; all conditions must hold.
#[derive(Clone, Debug)]
pub struct ReadQuery {
    pub tenant: TenantId,
    pub client: Option<ClientId>,
    pub target: Option<ReadTarget>,
    pub company: Option<Box<str>>,
    /// Only of this day or later.
    pub since_day: Option<i64>,
    /// Only of this day or earlier.
    pub until_day: Option<i64>,
    /// Only rows after this one in the list: the cursor of the next page.
    pub before: Option<ReadCursor>,
    pub rows_max: usize,
}

impl ReadQuery {
    pub fn of(tenant: TenantId) -> Self {
        let (client, target, company) = (None, None, None);
        let (since_day, until_day, before) = (None, None, None);
        Self { tenant, client, target, company, since_day, until_day, before, rows_max: READ_ROWS_MAX }
    }

    fn rows_max(&self) -> usize {
        self.rows_max.clamp(1, READ_ROWS_MAX)
    }

    /// The `LIMIT`: one row more than the page, to see whether another page follows.
    pub(crate) fn limit(&self) -> i64 {
        i64::try_from(self.rows_max() + 1).unwrap_or(i64::MAX)
    }

    pub(crate) fn since(&self) -> i64 {
        self.since_day.unwrap_or(i64::MIN)
    }

    /// The row before which the page starts. A column with a condition has the condition's value.
    pub(crate) fn start(&self) -> ReadRowKey {
        let before = self.before.as_ref();
        let until = || self.until_day.unwrap_or(i64::MAX - 1).saturating_add(1);
        let client = before.map(|cursor| &cursor.client).or(self.client.as_ref());
        let of_target = |target: ReadTarget| i64::from(target.code());
        let resource = before.map(|cursor| cursor.resource).or(self.target.map(of_target));
        let company = before.map(|cursor| &cursor.company).or(self.company.as_ref());
        ReadRowKey {
            tenant_no: 0,
            day: before.map_or_else(until, |cursor| cursor.day),
            client: client.cloned().unwrap_or_else(|| ClientId::new("")),
            resource: resource.unwrap_or(-1),
            company: company.cloned().unwrap_or_default(),
        }
    }

    /// The column whose index the query uses; the other conditions are checked per row.
    pub(crate) fn leading(&self) -> Option<ReadColumn> {
        match self {
            Self { company: Some(_), .. } => Some(ReadColumn::Company),
            Self { client: Some(_), .. } => Some(ReadColumn::Client),
            Self { target: Some(_), .. } => Some(ReadColumn::Resource),
            _ => None,
        }
    }

    /// The page of the rows that a statement with `limit` found.
    pub(crate) fn page(&self, mut rows: Vec<ReadDay>) -> ReadPage {
        let has_more = rows.len() > self.rows_max();
        rows.truncate(self.rows_max());
        let next = rows.last().filter(|_| has_more).map(ReadDay::cursor);
        ReadPage { rows, next }
    }
}

/// A page of reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadPage {
    pub rows: Vec<ReadDay>,
    /// `ReadQuery::before` of the next page; `None` on the last page.
    pub next: Option<ReadCursor>,
}

/// A column with an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadColumn {
    Client,
    Resource,
    Company,
}

#[async_trait]
pub trait Reads: Send + Sync + 'static {
    /// Adds to the counts of each hour, in one transaction. Reads of unknown tenants are dropped: they were erased meanwhile.
    async fn add_reads(&self, counts: &[ReadCount]) -> Result<()>;

    async fn list_reads(&self, query: &ReadQuery) -> Result<ReadPage>;
}

/// The key of a row, in the order of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ReadRowKey {
    pub(crate) tenant_no: i64,
    pub(crate) day: i64,
    pub(crate) client: ClientId,
    pub(crate) resource: i64,
    /// Empty for none.
    pub(crate) company: Box<str>,
}

impl ReadRowKey {
    pub(crate) fn into_row(self, hours: Hours) -> Result<ReadDay> {
        let Self { tenant_no: _, day, client, resource, company } = self;
        let company = Some(company).filter(|company| !company.is_empty());
        Ok(ReadDay { day, client, target: ReadTarget::from_code(resource)?, company, hours })
    }
}

/// What is added to each row. The order is the same on every node, so that they do not deadlock.
pub(crate) type ReadAdditions = BTreeMap<ReadRowKey, Hours>;

pub(crate) fn additions(counts: &[ReadCount], tenant_nos: &HashMap<TenantId, i64>) -> ReadAdditions {
    let mut rows = ReadAdditions::new();
    for count in counts {
        let Some(tenant_no) = tenant_nos.get(&count.tenant) else { continue };
        let key = ReadRowKey {
            tenant_no: *tenant_no,
            day: count.hour.div_euclid(HOURS_PER_DAY),
            client: count.client.clone(),
            resource: i64::from(count.target.code()),
            company: count.company.clone().unwrap_or_default(),
        };
        let hour = usize::try_from(count.hour.rem_euclid(HOURS_PER_DAY)).unwrap_or(0);
        rows.entry(key).or_default()[hour] += count.reads;
    }
    rows
}

/// The tenants and days that get new rows: how many rows they have decides whether there is room.
pub(crate) fn growing_days(rows: &ReadAdditions, stored: &HashSet<ReadRowKey>) -> BTreeSet<(i64, i64)> {
    rows.keys().filter(|key| !stored.contains(key)).map(|key| (key.tenant_no, key.day)).collect()
}

/// Leaves the company out of new rows for which there is no room. `sizes`: rows of each growing day.
pub(crate) fn within_bound(
    rows: ReadAdditions,
    stored: &HashSet<ReadRowKey>,
    sizes: &HashMap<(i64, i64), usize>,
) -> ReadAdditions {
    let mut sizes = sizes.clone();
    let mut bounded = ReadAdditions::new();
    for (mut key, hours) in rows {
        if !key.company.is_empty() && !stored.contains(&key) {
            let size = sizes.entry((key.tenant_no, key.day)).or_default();
            if *size < READ_KEYS_MAX {
                *size += 1;
            } else {
                key.company = Box::default();
            }
        }
        add_hours(bounded.entry(key).or_default(), &hours);
    }
    bounded
}

pub(crate) fn add_hours(sum: &mut Hours, added: &Hours) {
    sum.iter_mut().zip(added).for_each(|(sum, added)| *sum = sum.saturating_add(*added));
}

pub(crate) fn pack_hours(hours: &Hours) -> Vec<u8> {
    sparse_counts::pack(*hours)
}

pub(crate) fn unpack_hours(packed: &[u8]) -> Result<Hours> {
    let wrong = || StoreError::internal("the counts of reads are malformed");
    let mut hours = Hours::default();
    for (hour, count) in sparse_counts::unpack(packed).ok_or_else(wrong)? {
        *hours.get_mut(hour).ok_or_else(wrong)? = count;
    }
    Ok(hours)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(company: &str) -> ReadRowKey {
        ReadRowKey { tenant_no: 1, day: 2, client: ClientId::new("c"), resource: 3, company: company.into() }
    }

    fn hours(reads: u64) -> Hours {
        let mut hours = Hours::default();
        hours[7] = reads;
        hours
    }

    #[test]
    fn targets_are_found_by_name_and_by_number() {
        for target in ReadTarget::all() {
            assert_eq!(ReadTarget::find(target.area(), target.as_str()), Some(target));
            assert_eq!(ReadTarget::from_code(i64::from(target.code())), Ok(target));
        }
        assert_eq!(ReadTarget::all().count(), 19 + 1 + 1);
        assert_eq!(ReadTarget::find(Area::Accounting, "changes"), None);
        assert!(ReadTarget::from_code(-1).is_err() && ReadTarget::from_code(1 << 40).is_err());
    }

    #[test]
    fn new_companies_beyond_the_bound_share_a_row() {
        let rows: ReadAdditions = [("", 1), ("new 1", 2), ("new 2", 4), ("new 3", 8), ("old", 16)]
            .map(|(id, n)| (key(id), hours(n)))
            .into();
        let stored = HashSet::from([key("old")]);
        assert_eq!(growing_days(&rows, &stored), BTreeSet::from([(1, 2)]));
        let sizes = HashMap::from([((1, 2), READ_KEYS_MAX - 1)]);
        let bounded = within_bound(rows.clone(), &stored, &sizes);
        let expected = [("", 1 + 4 + 8), ("new 1", 2), ("old", 16)].map(|(id, n)| (key(id), hours(n)));
        assert_eq!(bounded, expected.into());
        assert_eq!(within_bound(rows.clone(), &stored, &HashMap::new()), rows, "there is room");
    }

    #[test]
    fn hours_are_packed() {
        let mut all = [u64::MAX; 24];
        all[3] = 0;
        for hours in [Hours::default(), hours(300), all] {
            assert_eq!(unpack_hours(&pack_hours(&hours)), Ok(hours));
        }
        assert_eq!(pack_hours(&hours(5)).len(), 2);
        assert!(unpack_hours(&[24, 1]).is_err() && unpack_hours(&[0]).is_err());
    }
}
