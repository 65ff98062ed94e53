//! Deleted and erased data leaves no row behind after the purge.

use store::{CellValue, ListQuery};

use super::rows::{fill_every_table, rows};
use crate::suite::fixture::{Fixture, by, concurrently};
use crate::suite::test_tenant::{company, delete, journal};

/// Also with writes during the erasure and during the purge.
pub(crate) async fn erased_tenant_leaves_no_rows(fixture: Fixture) {
    let second_store = fixture.reopen().await.store;
    let first = fill_every_table(&fixture).await;
    for tenant in fixture.store.list_tenants(&ListQuery::default()).await.map(|page| page.rows).unwrap() {
        fixture.store.erase_tenant(&tenant.id, &by()).await.unwrap();
    }
    for _ in 0..5 {
        let tenant = fixture.add_tenant().await;
        tenant.accept([company("c1"), journal("c1", "j", "{}")]).await;
        concurrently(24, &[&fixture.store, &second_store], |number, store| {
            let tenant = tenant.via(&store);
            async move {
                let ids = [number, number + 100].map(|number| format!("j{number}"));
                match number {
                    11 => drop(tenant.store.erase_tenant(&tenant.id, &by()).await.unwrap()),
                    18.. => drop(tenant.store.purge(10).await.unwrap()),
                    _ => drop(tenant.try_send(ids.iter().map(|id| journal("c1", id, "{}"))).await),
                }
            }
        })
        .await;
    }
    first.purge_all(300).await;
    let rows = rows(fixture.handle.archive()).await;
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
        "reads",
        "memberships",
        "grants",
        "refresh_tokens",
    ] {
        assert!(rows[table].is_empty(), "{table} has {:?}", rows[table].first());
    }
    assert!(!rows["accounts"].is_empty() && !rows["signing_keys"].is_empty());
}

pub(crate) async fn deleted_company_leaves_no_rows(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1"), company("c2"), journal("c2", "j1", "{}")]).await;
    tenant.accept((0..50).map(|number| journal("c1", &format!("j{number}"), "{}"))).await;
    tenant.accept([delete(journal("c1", "j3", "{}")), delete(company("c1"))]).await;
    tenant.purge_all(300).await;
    let rows = rows(fixture.handle.archive()).await;
    for table in ["records", "collections", "gaps"] {
        let of_the_first = rows[table].iter().filter(|row| row[1] == CellValue::Int(1));
        assert_eq!(of_the_first.count(), 0, "{table}");
    }
    assert!(rows["departed_companies"].is_empty());
    assert_eq!(rows["records"].len(), 2);
    assert_eq!(rows["log"].len(), 55, "the log keeps its entries");
}

/// A batch of unchanged and rejected lines writes nothing.
pub(crate) async fn unchanged_batch_writes_no_rows(fixture: Fixture) {
    let tenant = fill_every_table(&fixture).await;
    let before = rows(fixture.handle.archive()).await;
    fixture.clock.advance(std::time::Duration::from_hours(1));
    tenant.send([company("c1"), journal("c1", "j1", "{}"), delete(journal("c1", "none", "{}"))]).await;
    assert_eq!(rows(fixture.handle.archive()).await, before);
}
