//! A tenant of a test: sends changes for it and reads its records, pages and log. Also builds the changes that tests send.

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
pub(crate) struct TestTenant {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) id: TenantId,
    pub(crate) process: ProcessId,
}

impl TestTenant {
    pub(crate) fn new(store: Arc<dyn Store>, id: TenantId) -> Self {
        Self { store, id, process: Guid::from_bytes([1; 16]) }
    }

    /// The same tenant through another open store.
    pub(crate) fn via(&self, store: &Arc<dyn Store>) -> Self {
        Self { store: store.clone(), ..self.clone() }
    }

    pub(crate) fn batch(&self, changes: impl IntoIterator<Item = Change>) -> ChangeBatch {
        let lines = (1..).zip(changes).map(|(number, change)| ChangeLine { number, change });
        ChangeBatch {
            tenant: self.id.clone(),
            process: self.process,
            lines: lines.collect(),
            counts: BatchCounts::default(),
            checkpoint: None,
            expires_at: None,
            edit: None,
        }
    }

    /// A batch under an idempotency key, from this line on.
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

    /// Sends changes that must all be accepted.
    pub(crate) async fn accept(&self, changes: impl IntoIterator<Item = Change>) -> BatchCounts {
        let counts = self.send(changes).await;
        assert_eq!(counts.errors, [], "every line is accepted");
        counts
    }

    pub(crate) fn query(&self, after: u64, rows_max: usize) -> LogQuery {
        LogQuery { tenant: self.id.clone(), events: None, company: None, after, rows_max }
    }

    pub(crate) async fn read(&self, query: &LogQuery) -> Vec<LogEntry> {
        match self.store.read_log(query).await.unwrap() {
            LogPage::Entries(entries) => entries,
            LogPage::BelowFloor { floor } => panic!("the query starts below the floor {floor}"),
        }
    }

    /// The whole log above its floor.
    pub(crate) async fn log(&self) -> Vec<LogEntry> {
        self.read(&self.query(self.bounds().await.floor, usize::MAX)).await
    }

    pub(crate) async fn last_entry(&self) -> LogEntry {
        self.log().await.pop().expect("the log has an entry")
    }

    /// `1 customers k1 Created`, entry by entry.
    pub(crate) async fn log_lines(&self) -> Vec<String> {
        log_lines(&self.log().await)
    }

    /// The sequences that a query finds.
    pub(crate) async fn sequences(&self, query: &LogQuery) -> Vec<u64> {
        self.read(query).await.iter().map(|entry| entry.sequence).collect()
    }

    pub(crate) async fn bounds(&self) -> LogBounds {
        self.store.log_bounds(&self.id).await.unwrap()
    }

    pub(crate) async fn head(&self) -> u64 {
        self.bounds().await.head
    }

    pub(crate) async fn prune(&self, before: Ticks, rows_max: usize) -> usize {
        self.store.prune_log(&self.id, before, rows_max).await.unwrap()
    }

    /// Purges all tenants until no rows are left to purge, and returns how many rows were removed.
    pub(crate) async fn purge_all(&self, rows_max: usize) -> usize {
        let mut all = 0;
        loop {
            let removed = self.store.purge(rows_max).await.unwrap();
            assert!(removed <= rows_max, "{removed} rows in one call");
            all += removed;
            if removed == 0 {
                return all;
            }
        }
    }

    /// The record with the id of a change.
    pub(crate) async fn record(&self, subject: &Change) -> Option<Record> {
        let company = subject.company.as_ref().map(CorrelationId::as_str);
        self.store
            .find_record(&self.id, company, subject.resource, subject.correlation_id.as_str())
            .await
            .unwrap()
    }

    pub(crate) async fn has(&self, subject: &Change) -> bool {
        self.record(subject).await.is_some()
    }

    pub(crate) async fn body(&self, subject: &Change) -> Value {
        let record = self.record(subject).await.expect("the record exists");
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
            tenant: self.id.clone(),
            company: company.map(Into::into),
            resource,
            offset,
            rows_max,
        };
        self.store.page(&query).await.unwrap()
    }

    /// A page of the collection of a change.
    pub(crate) async fn page(&self, subject: &Change, offset: u64, rows_max: usize) -> Page {
        let company = subject.company.as_ref().map(CorrelationId::as_str);
        let found = self.find_page(company, subject.resource, offset, rows_max).await;
        found.expect("the company exists")
    }

    /// A page of the matching payroll companies. The filter and the order are OData text; empty means none.
    pub(crate) async fn payroll_page(&self, filter: &str, order: &str, offset: u64, rows_max: usize) -> Page {
        let filter = (!filter.is_empty()).then(|| Filter::parse(filter).unwrap());
        let order = (!order.is_empty()).then(|| OrderBy::parse(order).unwrap());
        let query = PayrollQuery { tenant: self.id.clone(), filter, order, offset, rows_max };
        self.store.payroll_page(&query).await.unwrap()
    }

    /// The ids of the collection of a change, in page order.
    pub(crate) async fn ids(&self, subject: &Change) -> Vec<String> {
        let page = self.page(subject, 0, usize::MAX).await;
        assert_eq!(page.total, page.bodies.len() as u64);
        page.bodies.iter().map(id_of).collect()
    }
}

pub(crate) fn log_lines(entries: &[LogEntry]) -> Vec<String> {
    let line = |entry: &LogEntry| {
        let (number, id, kind) = (entry.sequence, &entry.correlation_id, entry.kind.as_str());
        format!("{number} {} {id} {kind}", entry.resource.as_str())
    };
    entries.iter().map(line).collect()
}

pub(crate) fn id_of(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap();
    body["correlationId"].as_str().unwrap().to_owned()
}

fn json_string(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Parses a change as the ingest API does.
pub(crate) fn parse_change(
    area: &str,
    resource: &str,
    company: Option<&str>,
    id: Option<&str>,
    data: &str,
) -> Change {
    let company =
        company.map_or_else(String::new, |company| format!(r#""company":{},"#, json_string(company)));
    let id = id.map_or_else(String::new, |id| format!(r#""correlationId":{},"#, json_string(id)));
    let line = format!(
        r#"{{"area":"{area}","resource":"{resource}",{company}{id}"action":"upsert","data":{data}}}"#
    );
    let parsed = Change::parse(line.as_bytes(), || unreachable!("every line has an id"));
    parsed.unwrap_or_else(|fault| panic!("{line}: {fault:?}")).change
}

/// A company whose account codes have 8 digits.
pub(crate) fn company(id: &str) -> Change {
    company_with(id, "Talleres Iturri", 8)
}

pub(crate) fn company_with(id: &str, name: &str, account_length: u32) -> Change {
    let data = format!(
        r#"{{"vatName":"{name}","vatNumber":"B12345674","chartOfAccountId":1,"accountLength":{account_length}}}"#
    );
    parse_change("accounting", "companies", None, Some(id), &data)
}

pub(crate) fn customer(company: &str, id: &str, name: &str) -> Change {
    customer_with(company, id, name, "43000001")
}

pub(crate) fn customer_with(company: &str, id: &str, name: &str, code: &str) -> Change {
    let data = format!(
        r#"{{"tradeName":"{name}","accountCode":"{code}","accountCodeCorrelationId":"account-of-{id}"}}"#
    );
    parse_change("accounting", "customers", Some(company), Some(id), &data)
}

pub(crate) fn account(company: &str, id: &str, code: &str) -> Change {
    let data = format!(r#"{{"code":"{code}","description":"Clientes"}}"#);
    parse_change("accounting", "accounts", Some(company), Some(id), &data)
}

/// A record that accepts any data.
pub(crate) fn journal(company: &str, id: &str, data: &str) -> Change {
    parse_change("accounting", "journals", Some(company), Some(id), data)
}

/// A payroll company with the writer's `last_update`.
pub(crate) fn payroll(code: u64, name: &str, last_update: Option<&str>) -> Change {
    payroll_with(code, name, "B12345674", last_update)
}

pub(crate) fn payroll_with(code: u64, name: &str, identifier: &str, last_update: Option<&str>) -> Change {
    let last = last_update.map_or_else(String::new, |last| format!(r#","lastUpdate":"{last}""#));
    let (name, identifier) = (json_string(name), json_string(identifier));
    let data =
        format!(r#"{{"companyCode":{code},"companyName":{name},"identifierNumber":{identifier}{last}}}"#);
    parse_change("payroll", "companies", None, None, &data)
}

/// An invoicing record.
pub(crate) fn entity(name: &str, id: &str, data: &str) -> Change {
    parse_change("invoicing", name, None, Some(id), data)
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
