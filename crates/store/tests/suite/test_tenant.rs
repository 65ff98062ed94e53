//! Who writes and reads for one tenant: sends changes, reads records, pages and the log, and says in short
//! words what the log has told.

use std::sync::Arc;

use domain::change::{Action, Change};
use domain::event::EventKind;
use domain::filter::{Filter, OrderBy};
use domain::{CorrelationId, Guid, ProcessId, Resource, TenantId, Ticks};
use serde_json::Value;
use store::{
    BatchCounts, ChangeBatch, ChangeLine, IngestCheckpoint, LogBounds, LogEntry, LogPage, LogQuery, Page,
    PageQuery, PayrollQuery, Record, Result, Store,
};

#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) tenant: TenantId,
    pub(crate) process: ProcessId,
}

impl Desk {
    pub(crate) fn new(store: Arc<dyn Store>, tenant: TenantId) -> Self {
        Self { store, tenant, process: Guid::from_bytes([1; 16]) }
    }

    /// The same tenant's desk at another handle.
    pub(crate) fn at(&self, store: &Arc<dyn Store>) -> Self {
        Self { store: store.clone(), ..self.clone() }
    }

    pub(crate) fn batch(&self, changes: impl IntoIterator<Item = Change>) -> ChangeBatch {
        let lines = (1..).zip(changes).map(|(number, change)| ChangeLine { number, change });
        ChangeBatch {
            tenant: self.tenant.clone(),
            process: self.process,
            lines: lines.collect(),
            counts: BatchCounts::default(),
            checkpoint: None,
        }
    }

    /// A batch of a request under an idempotency key.
    pub(crate) fn chunk(
        &self,
        key: &str,
        from_line: u64,
        changes: impl IntoIterator<Item = Change>,
    ) -> ChangeBatch {
        let mut batch = self.batch(changes);
        for line in &mut batch.lines {
            line.number += from_line;
        }
        let to_line = from_line + batch.lines.len() as u64;
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&to_line.to_be_bytes());
        batch.checkpoint = Some(IngestCheckpoint { key: key.to_owned(), from_line, to_line, hash });
        batch
    }

    pub(crate) async fn try_send(&self, changes: impl IntoIterator<Item = Change>) -> Result<BatchCounts> {
        self.store.apply_changes(self.batch(changes)).await
    }

    pub(crate) async fn send(&self, changes: impl IntoIterator<Item = Change>) -> BatchCounts {
        self.try_send(changes).await.unwrap()
    }

    /// Sends changes that must all be good.
    pub(crate) async fn accept(&self, changes: impl IntoIterator<Item = Change>) -> BatchCounts {
        let counts = self.send(changes).await;
        assert_eq!(counts.errors, [], "all lines were to be accepted");
        counts
    }

    pub(crate) fn query(&self, after: u64, rows_max: usize) -> LogQuery {
        LogQuery { tenant: self.tenant.clone(), events: None, company: None, after, rows_max }
    }

    pub(crate) async fn read(&self, query: &LogQuery) -> Vec<LogEntry> {
        match self.store.read_log(query).await.unwrap() {
            LogPage::Entries(entries) => entries,
            LogPage::BelowFloor { floor } => panic!("the log starts after {floor}"),
        }
    }

    /// The whole log, as far as it was not pruned.
    pub(crate) async fn log(&self) -> Vec<LogEntry> {
        self.read(&self.query(self.bounds().await.floor, usize::MAX)).await
    }

    pub(crate) async fn last_entry(&self) -> LogEntry {
        self.log().await.pop().expect("the log has an entry")
    }

    /// `1 customers k1 Created`, entry by entry.
    pub(crate) async fn told(&self) -> Vec<String> {
        told(&self.log().await)
    }

    /// The numbers of what a query finds.
    pub(crate) async fn numbers(&self, query: &LogQuery) -> Vec<u64> {
        self.read(query).await.iter().map(|entry| entry.sequence).collect()
    }

    pub(crate) async fn bounds(&self) -> LogBounds {
        self.store.log_bounds(&self.tenant).await.unwrap()
    }

    pub(crate) async fn head(&self) -> u64 {
        self.bounds().await.head
    }

    pub(crate) async fn prune(&self, before: Ticks, rows_max: usize) -> usize {
        self.store.prune_log(&self.tenant, before, rows_max).await.unwrap()
    }

    /// Purges until nothing is left to purge, of whichever tenant; tells how many rows went.
    pub(crate) async fn purge_all(&self, rows_max: usize) -> usize {
        let mut all = 0;
        loop {
            let gone = self.store.purge(rows_max).await.unwrap();
            assert!(gone <= rows_max, "{gone} rows at once");
            all += gone;
            if gone == 0 {
                return all;
            }
        }
    }

    /// The record that a change is about.
    pub(crate) async fn record(&self, subject: &Change) -> Option<Record> {
        let company = subject.company.as_ref().map(CorrelationId::as_str);
        self.store
            .find_record(&self.tenant, company, subject.resource, subject.correlation_id.as_str())
            .await
            .unwrap()
    }

    pub(crate) async fn has(&self, subject: &Change) -> bool {
        self.record(subject).await.is_some()
    }

    pub(crate) async fn body(&self, subject: &Change) -> Value {
        let record = self.record(subject).await.expect("the record is there");
        serde_json::from_str(&record.body).unwrap()
    }

    pub(crate) async fn find_page(
        &self,
        company: Option<&str>,
        resource: Resource,
        offset: u64,
        rows_max: usize,
    ) -> Option<Page> {
        let query = PageQuery {
            tenant: self.tenant.clone(),
            company: company.map(Into::into),
            resource,
            offset,
            rows_max,
        };
        self.store.page(&query).await.unwrap()
    }

    /// A page of the collection that a change is about.
    pub(crate) async fn page(&self, subject: &Change, offset: u64, rows_max: usize) -> Page {
        let company = subject.company.as_ref().map(CorrelationId::as_str);
        let found = self.find_page(company, subject.resource, offset, rows_max).await;
        found.expect("the company is there")
    }

    /// A page of the payroll companies that match, asked for as a caller does; no filter or no order: empty.
    pub(crate) async fn payroll_page(&self, filter: &str, order: &str, offset: u64, rows_max: usize) -> Page {
        let filter = (!filter.is_empty()).then(|| Filter::parse(filter).unwrap());
        let order = (!order.is_empty()).then(|| OrderBy::parse(order).unwrap());
        let query = PayrollQuery { tenant: self.tenant.clone(), filter, order, offset, rows_max };
        self.store.payroll_page(&query).await.unwrap()
    }

    /// The ids of the collection that a change is about, in the order of its pages.
    pub(crate) async fn ids(&self, subject: &Change) -> Vec<String> {
        let page = self.page(subject, 0, usize::MAX).await;
        assert_eq!(page.total, page.bodies.len() as u64);
        page.bodies.iter().map(id_of).collect()
    }
}

pub(crate) fn told(entries: &[LogEntry]) -> Vec<String> {
    let words = |entry: &LogEntry| {
        let (number, id, kind) = (entry.sequence, &entry.correlation_id, entry.kind.as_str());
        format!("{number} {} {id} {kind}", entry.resource.as_str())
    };
    entries.iter().map(words).collect()
}

pub(crate) fn id_of(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap();
    body["correlationId"].as_str().unwrap().to_owned()
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Reads a line as the changes door does.
fn read(area: &str, resource: &str, company: Option<&str>, id: Option<&str>, data: &str) -> Change {
    let company = company.map_or_else(String::new, |company| format!(r#""company":{},"#, quoted(company)));
    let id = id.map_or_else(String::new, |id| format!(r#""correlationId":{},"#, quoted(id)));
    let line = format!(
        r#"{{"area":"{area}","resource":"{resource}",{company}{id}"action":"upsert","data":{data}}}"#
    );
    let read = Change::parse(line.as_bytes(), || unreachable!("every line has its id"));
    read.unwrap_or_else(|fault| panic!("{line}: {fault:?}")).change
}

/// A company whose account codes have 8 digits.
pub(crate) fn company(id: &str) -> Change {
    company_with(id, "Talleres Iturri", 8)
}

pub(crate) fn company_with(id: &str, name: &str, account_length: u32) -> Change {
    let data = format!(
        r#"{{"vatName":"{name}","vatNumber":"B12345674","chartOfAccountId":1,"accountLength":{account_length}}}"#
    );
    read("accounting", "companies", None, Some(id), &data)
}

pub(crate) fn customer(company: &str, id: &str, name: &str) -> Change {
    customer_with(company, id, name, "43000001")
}

pub(crate) fn customer_with(company: &str, id: &str, name: &str, code: &str) -> Change {
    let data = format!(r#"{{"tradeName":"{name}","accountCode":"{code}"}}"#);
    read("accounting", "customers", Some(company), Some(id), &data)
}

pub(crate) fn account(company: &str, id: &str, code: &str) -> Change {
    let data = format!(r#"{{"code":"{code}","description":"Clientes"}}"#);
    read("accounting", "accounts", Some(company), Some(id), &data)
}

/// A record that keeps whatever data its writer gives.
pub(crate) fn journal(company: &str, id: &str, data: &str) -> Change {
    read("accounting", "journals", Some(company), Some(id), data)
}

/// A payroll company; `last_update` as the writer gives it.
pub(crate) fn payroll(code: u64, name: &str, last_update: Option<&str>) -> Change {
    payroll_with(code, name, "B12345674", last_update)
}

pub(crate) fn payroll_with(code: u64, name: &str, identifier: &str, last_update: Option<&str>) -> Change {
    let last = last_update.map_or_else(String::new, |last| format!(r#","lastUpdate":"{last}""#));
    let (name, identifier) = (quoted(name), quoted(identifier));
    let data =
        format!(r#"{{"companyCode":{code},"companyName":{name},"identifierNumber":{identifier}{last}}}"#);
    read("payroll", "companies", None, None, &data)
}

/// A record of invoicing.
pub(crate) fn entity(name: &str, id: &str, data: &str) -> Change {
    read("invoicing", name, None, Some(id), data)
}

pub(crate) fn disable(subject: Change) -> Change {
    act(subject, Action::Disable)
}

pub(crate) fn enable(subject: Change) -> Change {
    act(subject, Action::Enable)
}

pub(crate) fn delete(subject: Change) -> Change {
    act(subject, Action::Delete)
}

pub(crate) fn fail(subject: Change) -> Change {
    act(subject, Action::Fail)
}

fn act(subject: Change, action: Action) -> Change {
    Change { action, ..subject }
}

pub(crate) fn pair(subject: &Change, kind: EventKind) -> (Resource, EventKind) {
    (subject.resource, kind)
}
