//! Companies and their records: deletion removes the records, a recreated company starts empty, and tenants and companies
//! are isolated from each other.

use domain::change::Change;

use super::fixture::Fixture;
use super::test_tenant::{company, company_with, customer, delete, entity, journal, payroll};

const PURGE_ROWS_MAX: usize = 16;

fn journals(company: &str, count: usize) -> impl Iterator<Item = Change> {
    (1..=count).map(move |number| journal(company, &format!("j{number}"), r#"{"of":"the first"}"#))
}

pub(crate) async fn deleting_a_company_deletes_its_records(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant
        .accept([company("c1"), company("c2"), customer("c1", "k1", "Ana"), customer("c2", "k1", "Berta")])
        .await;
    tenant.accept(journals("c1", 3)).await;
    tenant.accept([delete(company("c1"))]).await;

    assert!(!tenant.has(&company("c1")).await);
    assert!(!tenant.has(&customer("c1", "k1", "")).await);
    assert!(!tenant.has(&journal("c1", "j1", "{}")).await);
    assert_eq!(tenant.find_page(Some("c1"), journal("c1", "j1", "{}").resource, 0, 10).await, None);
    assert_eq!(tenant.ids(&company("any")).await, ["c2"]);
    assert_eq!(tenant.store.company_ids(&tenant.id, 10).await, Ok(vec!["c2".into()]));
    assert_eq!(tenant.body(&customer("c2", "k1", "")).await["tradeName"], "Berta");
    assert_eq!(
        tenant.log_lines().await[7..],
        ["8 companies c1 Deleted"],
        "one log entry, however many records"
    );

    let refused = tenant.send([customer("c1", "k1", "Ana"), delete(company("c1"))]).await;
    let codes: Vec<_> = refused.errors.iter().map(|error| &*error.fault.code).collect();
    assert_eq!(codes, ["unknown_company", "unknown_record"]);
}

pub(crate) async fn recreated_company_starts_empty_and_survives_the_purge(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    tenant.accept(journals("c1", 50)).await;
    tenant.accept((1..=50).step_by(3).map(|number| delete(journal("c1", &format!("j{number}"), "{}")))).await;
    tenant.accept([customer("c1", "k1", "Ana"), delete(company("c1"))]).await;
    tenant.accept([company_with("c1", "Talleres Nuevos", 8)]).await;

    let second = |number: u32| journal("c1", &format!("j{number}"), r#"{"of":"the second"}"#);
    assert_eq!(tenant.body(&company("c1")).await["vatName"], "Talleres Nuevos");
    let empty = tenant.page(&second(1), 0, 10).await;
    assert_eq!((empty.bodies.len(), empty.total), (0, 0));
    assert!(!tenant.has(&customer("c1", "k1", "")).await);
    assert!(!tenant.has(&second(2)).await);

    tenant.accept((1..=20).map(second)).await;
    tenant.accept([delete(second(7))]).await;
    assert_eq!(tenant.store.purge(0).await, Ok(0), "a limit of 0 purges nothing");
    let purged = tenant.purge_all(PURGE_ROWS_MAX).await;
    assert!(purged == 0 || purged >= 34, "{purged} rows of the first company were purged");
    let remaining: Vec<String> =
        (1..=20).filter(|number| *number != 7).map(|number| format!("j{number}")).collect();
    assert_eq!(tenant.ids(&second(1)).await, remaining);
    for id in remaining {
        assert_eq!(tenant.body(&journal("c1", &id, "{}")).await["of"], "the second");
    }
    assert_eq!(tenant.purge_all(PURGE_ROWS_MAX).await, 0);
}

pub(crate) async fn company_can_be_deleted_and_recreated_within_a_batch(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let old = |id: &str| journal("c1", id, r#"{"of":"the first"}"#);
    let new = |id: &str| journal("c1", id, r#"{"of":"the second"}"#);
    tenant.accept([company("c1"), old("j1"), old("j2")]).await;
    let counts = tenant
        .accept([
            old("j3"),
            journal("c1", "j1", r#"{"of":"a moment"}"#),
            delete(old("j2")),
            delete(company("c1")),
            company("c1"),
            new("j2"),
            new("j3"),
            delete(new("j2")),
        ])
        .await;
    assert_eq!((counts.accepted, counts.last_sequence), (8, 11));
    assert_eq!(tenant.ids(&new("any")).await, ["j3"]);
    assert_eq!(tenant.body(&new("j3")).await["of"], "the second");
    assert!(!tenant.has(&old("j1")).await);
    assert_eq!(
        tenant.log_lines().await[3..],
        [
            "4 journals j3 Created",
            "5 journals j1 Updated",
            "6 journals j2 Deleted",
            "7 companies c1 Deleted",
            "8 companies c1 Created",
            "9 journals j2 Created",
            "10 journals j3 Created",
            "11 journals j2 Deleted",
        ]
    );

    // A company created and deleted within a batch leaves only log entries.
    tenant.accept([company("c2"), customer("c2", "k1", "Ana"), delete(company("c2"))]).await;
    assert!(!tenant.has(&customer("c2", "k1", "")).await);
    assert_eq!(tenant.ids(&company("any")).await, ["c1"]);
    tenant.purge_all(PURGE_ROWS_MAX).await;
    assert_eq!(tenant.ids(&new("any")).await, ["j3"]);
    tenant.accept([new("j2"), delete(new("j3"))]).await;
    assert_eq!(tenant.ids(&new("any")).await, ["j2"]);
}

pub(crate) async fn tenants_and_companies_do_not_see_each_others_records(fixture: Fixture) {
    let (bilbao, vigo) = (fixture.add_tenant().await, fixture.add_tenant().await);
    let named = |company: &str, owner: &str| journal(company, "j1", &format!(r#"{{"owner":"{owner}"}}"#));
    bilbao.accept([company("c1"), company("c2"), named("c1", "Bilbao 1"), named("c2", "Bilbao 2")]).await;
    vigo.accept([company("c1"), named("c1", "Vigo 1"), payroll(7, "Vigo", None), entity("Bank", "b1", "{}")])
        .await;

    assert_eq!(bilbao.body(&named("c1", "")).await["owner"], "Bilbao 1");
    assert_eq!(bilbao.body(&named("c2", "")).await["owner"], "Bilbao 2");
    assert_eq!(vigo.body(&named("c1", "")).await["owner"], "Vigo 1");
    assert_eq!(vigo.find_page(Some("c2"), named("c2", "").resource, 0, 10).await, None);
    assert!(!bilbao.has(&payroll(7, "", None)).await);
    assert!(!bilbao.has(&entity("Bank", "b1", "{}")).await);
    assert!(!vigo.has(&entity("Product", "b1", "{}")).await, "ids are separate per resource");

    vigo.accept([delete(company("c1"))]).await;
    vigo.purge_all(PURGE_ROWS_MAX).await;
    assert_eq!(bilbao.body(&named("c1", "")).await["owner"], "Bilbao 1");
    assert_eq!(bilbao.log().await.len(), 4);
    assert_eq!(vigo.log().await.len(), 5);
}

pub(crate) async fn companies_are_listed_in_order_of_creation(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept(["c3", "c1", "c2", "c4"].map(company)).await;
    tenant.accept([delete(company("c1")), company_with("c3", "Otro nombre", 8)]).await;
    tenant.accept([company("c1")]).await;
    let ids = |max| tenant.store.company_ids(&tenant.id, max);
    assert_eq!(ids(10).await, Ok(["c3", "c2", "c4", "c1"].map(Into::into).to_vec()));
    assert_eq!(ids(2).await, Ok(["c3", "c2"].map(Into::into).to_vec()));
    assert_eq!(tenant.ids(&company("any")).await, ["c3", "c2", "c4", "c1"]);
}
