//! Rejected lines are reported with line and field; the other lines of the batch are applied.

use domain::change::Change;
use domain::{ErrorCode, FieldError};
use store::{BatchCounts, LineError, StoreError};

use super::fixture::Fixture;
use super::test_tenant::{
    account, company, company_with, customer, customer_with, delete, disable, enable, fail, journal,
};

fn fault(line: u64, code: &'static str, message: &str, field: &'static str) -> LineError {
    LineError { line, fault: FieldError::new(ErrorCode::from_name(code).unwrap(), message).at(field) }
}

pub(crate) async fn rejected_lines_are_listed_and_the_others_applied(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1"), customer("c1", "k1", "Ana")]).await;
    let counts = tenant
        .send([
            customer("c1", "k2", "Berta"),
            customer("nowhere", "k3", "Carla"),
            disable(customer("c1", "k4", "Dora")),
            customer_with("c1", "k5", "Eva", "430"),
            account("c1", "a1", "430000001"),
            delete(journal("c1", "j1", "{}")),
            enable(company("c9")),
            delete(company("c9")),
            fail(journal("nowhere", "j1", "{}")),
            customer("c1", "k1", "Ana Ruiz"),
        ])
        .await;
    let expected = BatchCounts {
        accepted: 2,
        rejected: 8,
        last_sequence: 4,
        errors: vec![
            fault(2, "unknown_company", "there is no company \"nowhere\"", "company"),
            fault(3, "unknown_record", "there is no record \"k4\" of customers", "correlationId"),
            fault(
                4,
                "invalid_member",
                "data.accountCode has 3 digits, but the company's accountLength is 8",
                "data.accountCode",
            ),
            fault(
                5,
                "invalid_member",
                "data.code has 9 digits, but the company's accountLength is 8",
                "data.code",
            ),
            fault(6, "unknown_record", "there is no record \"j1\" of journals", "correlationId"),
            fault(7, "unknown_record", "there is no record \"c9\" of companies", "correlationId"),
            fault(8, "unknown_record", "there is no record \"c9\" of companies", "correlationId"),
            fault(9, "unknown_company", "there is no company \"nowhere\"", "company"),
        ],
        warnings: Vec::new(),
    };
    assert_eq!(counts, expected);
    assert_eq!(
        tenant.log_lines().await,
        [
            "1 companies c1 Created",
            "2 customers k1 Created",
            "3 customers k2 Created",
            "4 customers k1 Updated",
        ]
    );
    for refused in ["k3", "k4", "k5"] {
        assert!(!tenant.has(&customer("c1", refused, "")).await);
    }
}

pub(crate) async fn batch_with_only_rejected_lines_changes_nothing(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let counts = tenant.send([customer("c2", "k1", "Ana"), delete(journal("c1", "j1", "{}"))]).await;
    assert_eq!((counts.accepted, counts.rejected, counts.last_sequence), (0, 2, 1));
    assert_eq!(tenant.send([]).await, BatchCounts { last_sequence: 1, ..BatchCounts::default() });
    assert_eq!(tenant.log_lines().await, ["1 companies c1 Created"]);
}

/// A line is checked against the `accountLength` that earlier lines set, in the same batch or before.
pub(crate) async fn account_length_applies_from_its_line_on(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let with = |length| company_with("c1", "Talleres Iturri", length);
    let customer_with_code = |id: &str, code: &str| customer_with("c1", id, "Ana", code);
    let refused =
        |counts: BatchCounts| -> Vec<u64> { counts.errors.iter().map(|error| error.line).collect() };

    let first = [
        customer_with_code("k1", "4300"),
        with(4),
        customer_with_code("k2", "4300"),
        with(6),
        customer_with_code("k3", "4300"),
        customer_with_code("k4", "430000"),
    ];
    assert_eq!(refused(tenant.send(first).await), [1, 5]);
    assert_eq!(
        refused(tenant.send([customer_with_code("k5", "4300"), customer_with_code("k6", "430000")]).await),
        [1]
    );
    assert_eq!(refused(tenant.send([with(4), customer_with_code("k7", "4300")]).await), [0; 0]);

    // A recreated company has its own length.
    let again = [
        delete(with(4)),
        customer_with_code("k8", "4300"),
        with(2),
        customer_with_code("k8", "4300"),
        customer_with_code("k8", "43"),
    ];
    assert_eq!(refused(tenant.send(again).await), [2, 4]);
    assert_eq!(tenant.ids(&customer_with_code("any", "43")).await, ["k8"]);
}

/// A failure of a company that does not exist is logged, and no other company's log contains it.
pub(crate) async fn failure_of_an_unknown_company_belongs_to_no_company(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1"), fail(company("c2"))]).await;
    tenant.accept([fail(company("c3")), company("c4")]).await;
    assert_eq!(
        tenant.log_lines().await,
        [
            "1 companies c1 Created",
            "2 companies c2 ErrorOccurred",
            "3 companies c3 ErrorOccurred",
            "4 companies c4 Created",
        ]
    );
    let mut query = tenant.query(0, 10);
    query.company = Some("c4".into());
    assert_eq!(tenant.sequences(&query).await, [4]);
}

pub(crate) async fn unknown_tenant_can_neither_write_nor_read(fixture: Fixture) {
    let known = fixture.add_tenant().await;
    known.accept([company("c1")]).await;
    let mut unknown_tenant = known.clone();
    unknown_tenant.id = domain::TenantId::new("nowhere");
    let unknown = StoreError::UnknownTenant("nowhere".into());
    let sent: Result<BatchCounts, StoreError> = unknown_tenant.try_send([company("c1")]).await;
    assert_eq!(sent, Err(unknown.clone()));
    assert_eq!(unknown_tenant.store.read_log(&unknown_tenant.query(0, 10)).await, Err(unknown.clone()));
    assert_eq!(unknown_tenant.store.log_bounds(&unknown_tenant.id).await, Err(unknown));
    assert_eq!(unknown_tenant.prune(fixture.now(), 10).await, 0);
    assert_eq!(unknown_tenant.store.find_ingest_progress(&unknown_tenant.id, "key").await, Ok(None));
    assert_eq!(unknown_tenant.store.company_ids(&unknown_tenant.id, 10).await, Ok(Vec::new()));
    let subject: Change = company("c1");
    assert!(!unknown_tenant.has(&subject).await);
    assert_eq!(unknown_tenant.find_page(None, subject.resource, 0, 10).await, None);
    assert_eq!(unknown_tenant.find_page(Some("c1"), customer("c1", "k1", "").resource, 0, 10).await, None);
}
