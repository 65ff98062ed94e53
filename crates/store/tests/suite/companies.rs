//! Companies and what they own: a deleted one takes its records along, one made again starts empty, and
//! nobody sees what belongs to another.

use domain::change::Change;

use super::desk::{company, company_with, customer, delete, entity, journal, payroll};
use super::stage::Stage;

const PURGE_ROWS_MAX: usize = 16;

fn journals(company: &str, count: usize) -> impl Iterator<Item = Change> {
    (1..=count).map(move |number| journal(company, &format!("j{number}"), r#"{"of":"the first"}"#))
}

pub(crate) async fn a_deleted_company_takes_its_records_along(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1"), company("c2"), customer("c1", "k1", "Ana"), customer("c2", "k1", "Berta")])
        .await;
    desk.accept(journals("c1", 3)).await;
    desk.accept([delete(company("c1"))]).await;

    assert!(!desk.has(&company("c1")).await);
    assert!(!desk.has(&customer("c1", "k1", "")).await);
    assert!(!desk.has(&journal("c1", "j1", "{}")).await);
    assert_eq!(desk.find_page(Some("c1"), journal("c1", "j1", "{}").resource, 0, 10).await, None);
    assert_eq!(desk.ids(&company("any")).await, ["c2"]);
    assert_eq!(desk.store.company_ids(&desk.tenant, 10).await, Ok(vec!["c2".into()]));
    assert_eq!(desk.body(&customer("c2", "k1", "")).await["tradeName"], "Berta");
    assert_eq!(desk.told().await[7..], ["8 companies c1 Deleted"], "one row, however many records");

    let refused = desk.send([customer("c1", "k1", "Ana"), delete(company("c1"))]).await;
    let codes: Vec<_> = refused.errors.iter().map(|error| &*error.fault.code).collect();
    assert_eq!(codes, ["unknown_company", "unknown_record"]);
}

pub(crate) async fn a_company_made_again_starts_empty_and_stays_whole(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    desk.accept(journals("c1", 50)).await;
    desk.accept((1..=50).step_by(3).map(|number| delete(journal("c1", &format!("j{number}"), "{}")))).await;
    desk.accept([customer("c1", "k1", "Ana"), delete(company("c1"))]).await;
    desk.accept([company_with("c1", "Talleres Nuevos", 8)]).await;

    let second = |number: u32| journal("c1", &format!("j{number}"), r#"{"of":"the second"}"#);
    assert_eq!(desk.body(&company("c1")).await["vatName"], "Talleres Nuevos");
    let empty = desk.page(&second(1), 0, 10).await;
    assert_eq!((empty.bodies.len(), empty.total), (0, 0));
    assert!(!desk.has(&customer("c1", "k1", "")).await);
    assert!(!desk.has(&second(2)).await);

    desk.accept((1..=20).map(second)).await;
    desk.accept([delete(second(7))]).await;
    assert_eq!(desk.store.purge(0).await, Ok(0), "no room, nothing purged");
    let gone = desk.purge_all(PURGE_ROWS_MAX).await;
    assert!(gone == 0 || gone >= 34, "{gone} rows of the first company went");
    let left: Vec<String> =
        (1..=20).filter(|number| *number != 7).map(|number| format!("j{number}")).collect();
    assert_eq!(desk.ids(&second(1)).await, left);
    for id in left {
        assert_eq!(desk.body(&journal("c1", &id, "{}")).await["of"], "the second");
    }
    assert_eq!(desk.purge_all(PURGE_ROWS_MAX).await, 0);
}

pub(crate) async fn a_company_is_deleted_and_made_again_within_a_batch(stage: Stage) {
    let desk = stage.desk().await;
    let old = |id: &str| journal("c1", id, r#"{"of":"the first"}"#);
    let new = |id: &str| journal("c1", id, r#"{"of":"the second"}"#);
    desk.accept([company("c1"), old("j1"), old("j2")]).await;
    let counts = desk
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
    assert_eq!(desk.ids(&new("any")).await, ["j3"]);
    assert_eq!(desk.body(&new("j3")).await["of"], "the second");
    assert!(!desk.has(&old("j1")).await);
    assert_eq!(
        desk.told().await[3..],
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

    // One that lives and dies within a batch leaves nothing but its rows in the log.
    desk.accept([company("c2"), customer("c2", "k1", "Ana"), delete(company("c2"))]).await;
    assert!(!desk.has(&customer("c2", "k1", "")).await);
    assert_eq!(desk.ids(&company("any")).await, ["c1"]);
    desk.purge_all(PURGE_ROWS_MAX).await;
    assert_eq!(desk.ids(&new("any")).await, ["j3"]);
    desk.accept([new("j2"), delete(new("j3"))]).await;
    assert_eq!(desk.ids(&new("any")).await, ["j2"]);
}

pub(crate) async fn nobody_sees_what_belongs_to_another(stage: Stage) {
    let (bilbao, vigo) = (stage.desk().await, stage.desk().await);
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
    assert!(!vigo.has(&entity("Product", "b1", "{}")).await, "nor another resource's");

    vigo.accept([delete(company("c1"))]).await;
    vigo.purge_all(PURGE_ROWS_MAX).await;
    assert_eq!(bilbao.body(&named("c1", "")).await["owner"], "Bilbao 1");
    assert_eq!(bilbao.log().await.len(), 4);
    assert_eq!(vigo.log().await.len(), 5);
}

pub(crate) async fn companies_are_listed_in_order_of_creation(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept(["c3", "c1", "c2", "c4"].map(company)).await;
    desk.accept([delete(company("c1")), company_with("c3", "Otro nombre", 8)]).await;
    desk.accept([company("c1")]).await;
    let ids = |max| desk.store.company_ids(&desk.tenant, max);
    assert_eq!(ids(10).await, Ok(["c3", "c2", "c4", "c1"].map(Into::into).to_vec()));
    assert_eq!(ids(2).await, Ok(["c3", "c2"].map(Into::into).to_vec()));
    assert_eq!(desk.ids(&company("any")).await, ["c3", "c2", "c4", "c1"]);
}
