//! What is refused is named with its line and field; what is good in the same batch is kept.

use domain::FieldError;
use domain::change::Change;
use store::{BatchCounts, LineError, StoreError};

use super::desk::{
    account, company, company_with, customer, customer_with, delete, disable, enable, fail, journal,
};
use super::stage::Stage;

fn fault(line: u64, code: &'static str, message: &str, field: &'static str) -> LineError {
    LineError { line, fault: FieldError::new(code, message).at(field) }
}

pub(crate) async fn refused_lines_are_named_and_the_others_kept(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1"), customer("c1", "k1", "Ana")]).await;
    let counts = desk
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
        desk.told().await,
        [
            "1 companies c1 Created",
            "2 customers k1 Created",
            "3 customers k2 Created",
            "4 customers k1 Updated",
        ]
    );
    for refused in ["k3", "k4", "k5"] {
        assert!(!desk.has(&customer("c1", refused, "")).await);
    }
}

pub(crate) async fn a_batch_of_nothing_good_leaves_no_trace(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let counts = desk.send([customer("c2", "k1", "Ana"), delete(journal("c1", "j1", "{}"))]).await;
    assert_eq!((counts.accepted, counts.rejected, counts.last_sequence), (0, 2, 1));
    assert_eq!(desk.send([]).await, BatchCounts { last_sequence: 1, ..BatchCounts::default() });
    assert_eq!(desk.told().await, ["1 companies c1 Created"]);
}

/// A company's `accountLength` is that of the lines before, in the same batch and in others.
pub(crate) async fn an_account_length_holds_from_its_line_on(stage: Stage) {
    let desk = stage.desk().await;
    let with = |length| company_with("c1", "Talleres Iturri", length);
    let coded = |id: &str, code: &str| customer_with("c1", id, "Ana", code);
    let refused =
        |counts: BatchCounts| -> Vec<u64> { counts.errors.iter().map(|error| error.line).collect() };

    let first = [
        coded("k1", "4300"),
        with(4),
        coded("k2", "4300"),
        with(6),
        coded("k3", "4300"),
        coded("k4", "430000"),
    ];
    assert_eq!(refused(desk.send(first).await), [1, 5]);
    assert_eq!(refused(desk.send([coded("k5", "4300"), coded("k6", "430000")]).await), [1]);
    assert_eq!(refused(desk.send([with(4), coded("k7", "4300")]).await), [0; 0]);

    // A company that is deleted and made again brings its own.
    let again = [delete(with(4)), coded("k8", "4300"), with(2), coded("k8", "4300"), coded("k8", "43")];
    assert_eq!(refused(desk.send(again).await), [2, 4]);
    assert_eq!(desk.ids(&coded("any", "43")).await, ["k8"]);
}

/// A failure of a company that is not there (any more, or yet) is told, and is nobody else's.
pub(crate) async fn a_failure_of_no_company_is_nobodys(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1"), fail(company("c2"))]).await;
    desk.accept([fail(company("c3")), company("c4")]).await;
    assert_eq!(
        desk.told().await,
        [
            "1 companies c1 Created",
            "2 companies c2 ErrorOccurred",
            "3 companies c3 ErrorOccurred",
            "4 companies c4 Created",
        ]
    );
    let mut query = desk.query(0, 10);
    query.company = Some("c4".into());
    assert_eq!(desk.numbers(&query).await, [4]);
}

pub(crate) async fn nobody_writes_or_reads_for_a_tenant_that_is_not_there(stage: Stage) {
    let here = stage.desk().await;
    here.accept([company("c1")]).await;
    let mut nowhere = here.clone();
    nowhere.tenant = domain::TenantId::new("nowhere");
    let unknown = StoreError::UnknownTenant("nowhere".into());
    let sent: Result<BatchCounts, StoreError> = nowhere.try_send([company("c1")]).await;
    assert_eq!(sent, Err(unknown.clone()));
    assert_eq!(nowhere.store.read_log(&nowhere.query(0, 10)).await, Err(unknown.clone()));
    assert_eq!(nowhere.store.log_bounds(&nowhere.tenant).await, Err(unknown));
    assert_eq!(nowhere.prune(stage.now(), 10).await, 0);
    assert_eq!(nowhere.store.find_ingest_progress(&nowhere.tenant, "key").await, Ok(None));
    assert_eq!(nowhere.store.company_ids(&nowhere.tenant, 10).await, Ok(Vec::new()));
    let one: Change = company("c1");
    assert!(!nowhere.has(&one).await);
    assert_eq!(nowhere.find_page(None, one.resource, 0, 10).await, None);
    assert_eq!(nowhere.find_page(Some("c1"), customer("c1", "k1", "").resource, 0, 10).await, None);
}
