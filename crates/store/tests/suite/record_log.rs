//! The log of one record, the sizes of collections, and edits by hand with their audit entries.

use domain::change::Change;
use store::{
    AuditEntry, AuditKind, AuditQuery, BatchCounts, ChangeBatch, CollectionSize, RECORD_CHANGED, RecordEdit,
    RecordLogQuery,
};

use super::fixture::{Fixture, by};
use super::test_tenant::{
    TestTenant, company, customer, delete, disable, entity, fail, journal, log_lines, payroll,
};

fn log_of(tenant: &TestTenant, subject: &Change, before: Option<u64>, rows_max: usize) -> RecordLogQuery {
    RecordLogQuery {
        tenant: tenant.id.clone(),
        resource: subject.resource,
        company: subject.company.as_ref().map(|company| company.as_str().into()),
        correlation_id: subject.correlation_id.as_str().into(),
        before,
        rows_max,
    }
}

async fn lines(tenant: &TestTenant, subject: &Change, before: Option<u64>, rows_max: usize) -> Vec<String> {
    let found = tenant.store.read_record_log(&log_of(tenant, subject, before, rows_max)).await.unwrap();
    log_lines(&found.into_iter().map(|event| event.entry).collect::<Vec<_>>())
}

pub(crate) async fn log_of_a_record_is_its_own_newest_first(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let other = fixture.add_tenant().await;
    tenant.accept([company("c1"), company("c2"), customer("c1", "k1", "Ana")]).await;
    tenant.accept([customer("c2", "k1", "Berta"), journal("c1", "k1", "{}"), company("k1")]).await;
    tenant.accept([customer("c1", "k1", "Ana B."), disable(customer("c1", "k1", ""))]).await;
    tenant.accept([fail(customer("c1", "k1", "")), entity("Customer", "k1", "{}")]).await;
    other.accept([company("c1"), customer("c1", "k1", "Ana")]).await;
    let subject = customer("c1", "k1", "");
    let all = [
        "9 customers k1 ErrorOccurred",
        "8 customers k1 Disabled",
        "7 customers k1 Updated",
        "3 customers k1 Created",
    ];
    assert_eq!(lines(&tenant, &subject, None, 10).await, all);
    assert_eq!(lines(&tenant, &subject, None, 2).await, all[..2]);
    assert_eq!(lines(&tenant, &subject, Some(8), 10).await, all[2..]);
    assert_eq!(lines(&tenant, &company("k1"), None, 10).await, ["6 companies k1 Created"]);
    assert_eq!(lines(&tenant, &entity("Customer", "k1", "{}"), None, 10).await, ["10 Customer k1 Created"]);
    assert_eq!(lines(&tenant, &customer("c3", "k1", ""), None, 10).await, Vec::<String>::new());
    let unknown = TestTenant::new(tenant.store.clone(), domain::TenantId::new("nobody"));
    assert_eq!(lines(&unknown, &subject, None, 10).await, Vec::<String>::new());
}

pub(crate) async fn log_of_a_record_outlives_it(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let subject = || journal("c1", "j1", "{}");
    tenant.accept([company("c1"), subject(), delete(subject()), subject(), delete(company("c1"))]).await;
    assert!(!tenant.has(&subject()).await);
    let all = ["4 journals j1 Created", "3 journals j1 Deleted", "2 journals j1 Created"];
    assert_eq!(lines(&tenant, &subject(), None, 10).await, all);
    assert_eq!(lines(&tenant, &company("c1"), None, 1).await, ["5 companies c1 Deleted"]);
}

pub(crate) async fn sizes_are_those_of_the_company_or_the_tenant(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let sizes =
        async |company: Option<&str>| tenant.store.collection_sizes(&tenant.id, company).await.unwrap();
    let size = |subject: &Change, records| CollectionSize { resource: subject.resource, records };
    assert_eq!(sizes(None).await, Some(vec![]));
    assert_eq!(sizes(Some("c1")).await, None);
    tenant.accept([company("c1"), company("c2"), payroll(1, "Norte", None), entity("Bank", "b", "{}")]).await;
    assert_eq!(sizes(Some("c1")).await, Some(vec![]));
    tenant.accept([journal("c1", "j1", "{}"), journal("c1", "j2", "{}"), customer("c1", "k", "Ana")]).await;
    tenant.accept([delete(journal("c1", "j1", "{}")), journal("c2", "j1", "{}")]).await;
    let of_company = vec![size(&customer("c1", "k", ""), 1), size(&journal("c1", "j", "{}"), 1)];
    assert_eq!(sizes(Some("c1")).await, Some(of_company));
    let of_tenant =
        vec![size(&company("c"), 2), size(&payroll(1, "", None), 1), size(&entity("Bank", "b", "{}"), 1)];
    assert_eq!(sizes(None).await, Some(of_tenant));
    tenant.accept([delete(company("c1"))]).await;
    assert_eq!(sizes(Some("c1")).await, None);
    let nobody = domain::TenantId::new("nobody");
    assert_eq!(tenant.store.collection_sizes(&nobody, None).await, Ok(None));
}

fn edit(tenant: &TestTenant, at: domain::Ticks, change: Change, expected: Option<u64>) -> ChangeBatch {
    let audit = AuditEntry::new(AuditKind::RecordEdited, at, &by())
        .tenant(&tenant.id)
        .object("record", &change.correlation_id)
        .note("a reason");
    let edit = RecordEdit { audit, expected_sequence: expected };
    ChangeBatch { edit: Some(edit), ..tenant.batch([change]) }
}

async fn apply(fixture: &Fixture, tenant: &TestTenant, change: Change, expected: Option<u64>) -> BatchCounts {
    tenant.store.apply_changes(edit(tenant, fixture.now(), change, expected)).await.unwrap()
}

/// The sequences that the entries of edits name, oldest first.
async fn edited(fixture: &Fixture) -> Vec<String> {
    let query = AuditQuery { kind: Some(AuditKind::RecordEdited), rows_max: 100, ..AuditQuery::default() };
    let mut entries = fixture.store.audit(&query).await.unwrap();
    entries.sort_by_key(|record| record.entry.changes.last().map(|change| change.to.to_string()));
    let sequence = |entry: &AuditEntry| {
        assert_eq!((entry.note.as_str(), entry.changes.len()), ("a reason", 1), "{entry:?}");
        entry.changes[0].to.as_str().unwrap().to_owned()
    };
    entries.iter().map(|record| sequence(&record.entry)).collect()
}

pub(crate) async fn edit_and_its_audit_entry_are_one_transaction(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1"), customer("c1", "k1", "Ana")]).await;
    let counts = apply(&fixture, &tenant, customer("c1", "k1", "Berta"), None).await;
    assert_eq!((counts.accepted, counts.last_sequence), (1, 3));
    assert_eq!(edited(&fixture).await, ["3"]);
    // What changes nothing, or is rejected, leaves no entry.
    let counts = apply(&fixture, &tenant, customer("c1", "k1", "Berta"), None).await;
    assert_eq!((counts.accepted, counts.last_sequence), (1, 3));
    let counts = apply(&fixture, &tenant, disable(customer("c1", "k2", "")), None).await;
    assert_eq!((counts.rejected, &*counts.errors[0].fault.code), (1, "unknown_record"));
    assert_eq!(edited(&fixture).await, ["3"]);
    apply(&fixture, &tenant, disable(customer("c1", "k1", "")), None).await;
    assert_eq!(edited(&fixture).await, ["3", "4"]);
}

pub(crate) async fn edit_of_a_record_that_has_changed_is_rejected(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1"), customer("c1", "k1", "Ana"), customer("c1", "k1", "Berta")]).await;
    for (change, stale) in [
        (customer("c1", "k1", "Carla"), 2),
        (customer("c1", "k1", "Carla"), 0),
        (customer("c1", "k2", "Carla"), 2),
    ] {
        let counts = apply(&fixture, &tenant, change, Some(stale)).await;
        assert_eq!((counts.rejected, &*counts.errors[0].fault.code), (1, RECORD_CHANGED.as_str()));
    }
    assert_eq!((tenant.head().await, edited(&fixture).await.len()), (3, 0));
    let accepted = apply(&fixture, &tenant, customer("c1", "k1", "Carla"), Some(3)).await;
    assert_eq!((accepted.accepted, accepted.last_sequence), (1, 4));
    let created = apply(&fixture, &tenant, customer("c1", "k2", "Carla"), Some(0)).await;
    assert_eq!((created.accepted, created.last_sequence), (1, 5));
    assert_eq!(edited(&fixture).await, ["4", "5"]);
}
