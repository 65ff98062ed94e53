//! What is deleted or erased leaves no row behind once housekeeping is through.

use store::CellValue;

use super::rows::{furnish, rows};
use crate::suite::desk::{company, delete, journal};
use crate::suite::stage::{Stage, at_once};

/// Whoever still writes while the tenant is erased, and while its rows are purged.
pub(crate) async fn an_erased_tenant_leaves_no_rows(stage: Stage) {
    let there = stage.reopen().await.store;
    let first = furnish(&stage).await;
    for tenant in stage.store.tenants().await.unwrap() {
        stage.store.erase_tenant(&tenant.id).await.unwrap();
    }
    for _ in 0..5 {
        let desk = stage.desk().await;
        desk.accept([company("c1"), journal("c1", "j", "{}")]).await;
        at_once(24, &[&stage.store, &there], |number, store| {
            let desk = desk.at(&store);
            async move {
                let ids = [number, number + 100].map(|number| format!("j{number}"));
                match number {
                    11 => drop(desk.store.erase_tenant(&desk.tenant).await.unwrap()),
                    18.. => drop(desk.store.purge(10).await.unwrap()),
                    _ => drop(desk.try_send(ids.iter().map(|id| journal("c1", id, "{}"))).await),
                }
            }
        })
        .await;
    }
    first.purge_all(300).await;
    let rows = rows(stage.handle.archive()).await;
    for table in [
        "tenants",
        "heads",
        "erased_tenants",
        "records",
        "collections",
        "gaps",
        "departed_companies",
        "payroll_companies",
        "log",
        "processes",
        "memberships",
        "grants",
        "refresh_tokens",
    ] {
        assert!(rows[table].is_empty(), "{table} has {:?}", rows[table].first());
    }
    assert!(!rows["users"].is_empty() && !rows["signing_keys"].is_empty());
}

pub(crate) async fn a_deleted_company_leaves_no_rows(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1"), company("c2"), journal("c2", "j1", "{}")]).await;
    desk.accept((0..50).map(|number| journal("c1", &format!("j{number}"), "{}"))).await;
    desk.accept([delete(journal("c1", "j3", "{}")), delete(company("c1"))]).await;
    desk.purge_all(300).await;
    let rows = rows(stage.handle.archive()).await;
    for table in ["records", "collections", "gaps"] {
        let of_the_first = rows[table].iter().filter(|row| row[1] == CellValue::Int(1));
        assert_eq!(of_the_first.count(), 0, "{table}");
    }
    assert!(rows["departed_companies"].is_empty());
    assert_eq!(rows["records"].len(), 2);
    assert_eq!(rows["log"].len(), 55, "the log keeps what was");
}

/// An upsert that says the same, or a batch of refusals, writes nothing at all.
pub(crate) async fn what_changes_nothing_writes_nothing(stage: Stage) {
    let desk = furnish(&stage).await;
    let before = rows(stage.handle.archive()).await;
    stage.clock.forward(std::time::Duration::from_hours(1));
    desk.send([company("c1"), journal("c1", "j1", "{}"), delete(journal("c1", "none", "{}"))]).await;
    assert_eq!(rows(stage.handle.archive()).await, before);
}
