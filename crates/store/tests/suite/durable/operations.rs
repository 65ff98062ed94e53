//! The figures that the metrics endpoint shows about the store.

use store::{OperationClass, StoreError, error_counts};

use crate::suite::fixture::Fixture;
use crate::suite::test_tenant::{company, journal};

pub(crate) async fn operations_are_measured_by_class(fixture: Fixture) {
    let counts = || {
        OperationClass::ALL
            .map(|class| fixture.store.operations().latencies(class).buckets.iter().sum::<u64>())
    };
    let [_, transactions, changes] = counts();
    let tenant = fixture.add_tenant().await;
    assert!(counts()[1] > transactions, "{:?}", counts());
    tenant.accept([company("c1"), journal("c1", "j", "{}")]).await;
    assert_eq!(counts()[2], changes + 1, "one batch");
    let queries = counts()[0];
    fixture.store.find_tenant(&tenant.id).await.unwrap().unwrap();
    assert!(counts()[0] > queries, "{:?}", counts());
    let sum = fixture.store.operations().latencies(OperationClass::Changes).sum;
    assert!(!sum.is_zero());

    let [unavailable, ..] = error_counts();
    fixture.store.close().await;
    let closed = tenant.try_send([journal("c1", "late", "{}")]).await;
    assert!(matches!(closed, Err(StoreError::Unavailable(_))), "{closed:?}");
    assert!(error_counts()[0] > unavailable, "a closed store counts as unavailable");
}
