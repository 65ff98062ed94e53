//! What belongs to the tenant itself: payroll's companies and invoicing's entities.

use std::time::Duration;

use domain::Ticks;
use domain::change::Change;
use serde_json::json;

use super::desk::{Desk, delete, entity, payroll};
use super::stage::Stage;

async fn last_update(desk: &Desk, code: u64) -> String {
    desk.body(&payroll(code, "", None)).await["lastUpdate"].as_str().unwrap().to_owned()
}

pub(crate) async fn a_payroll_company_has_the_writers_last_update_or_the_commits(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([
        payroll(1, "Norte", Some("2020-01-02T03:04:05.678Z")),
        payroll(2, "Sur", None),
        payroll(3, "Este", Some("2020-01-02")),
    ])
    .await;
    let found = desk.record(&payroll(1, "", None)).await.unwrap();
    assert_eq!(
        &*found.body,
        r#"{"companyCode":1,"companyName":"Norte","identifierNumber":"B12345674","lastUpdate":"2020-01-02T03:04:05.678Z"}"#
    );
    assert_eq!(found.sequence, 1);
    assert_eq!(last_update(&desk, 2).await, stage.now().iso_millis());
    assert_eq!(last_update(&desk, 3).await, "2020-01-02T00:00:00.000Z");

    let later = stage.clock.forward(Duration::from_mins(1));
    desk.accept([payroll(1, "Norte SL", None), payroll(3, "Este", Some("2021-01-02"))]).await;
    assert_eq!(last_update(&desk, 1).await, later.iso_millis(), "a change without one gets the commit's");
    assert_eq!(last_update(&desk, 3).await, "2021-01-02T00:00:00.000Z");
    assert_eq!(
        desk.told().await,
        [
            "1 companies 1 Created",
            "2 companies 2 Created",
            "3 companies 3 Created",
            "4 companies 1 Updated",
            "5 companies 3 Updated",
        ]
    );
    for entry in desk.log().await {
        assert_eq!((&*entry.company, entry.changes), ("", None));
    }
}

pub(crate) async fn a_payroll_company_that_says_the_same_is_left_alone(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([payroll(1, "Norte", Some("2020-01-02")), payroll(2, "Sur", None)]).await;
    let sur = last_update(&desk, 2).await;
    stage.clock.forward(Duration::from_mins(1));
    desk.accept([
        payroll(1, "Norte", None),
        payroll(1, "Norte", Some("2020-01-02T00:00:00Z")),
        payroll(2, "Sur", None),
        payroll(2, "Sur", Some(&sur)),
    ])
    .await;
    assert_eq!(desk.head().await, 2);
    assert_eq!(last_update(&desk, 1).await, "2020-01-02T00:00:00.000Z");
    assert_eq!(last_update(&desk, 2).await, sur);
}

pub(crate) async fn a_payroll_company_is_deleted_by_its_code(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([payroll(1, "Norte", None), payroll(2, "Sur", None)]).await;
    let line = r#"{"area":"payroll","resource":"companies","action":"delete","data":{"companyCode":1}}"#;
    let by_code = Change::parse(line.as_bytes(), || unreachable!()).unwrap().change;
    desk.accept([by_code]).await;
    assert!(!desk.has(&payroll(1, "", None)).await);
    assert_eq!(desk.page(&payroll(1, "", None), 0, 10).await.total, 1);

    desk.accept([payroll(1, "Norte otra vez", None)]).await;
    desk.accept([
        delete(payroll(2, "", None)),
        payroll(2, "Sur otra vez", None),
        delete(payroll(1, "", None)),
    ])
    .await;
    let page = desk.page(&payroll(1, "", None), 0, 10).await;
    assert_eq!(page.bodies.len(), 1);
    assert_eq!(desk.body(&payroll(2, "", None)).await["companyName"], "Sur otra vez");
    assert_eq!(desk.last_entry().await.sequence, 7);
}

pub(crate) async fn invoicing_tells_what_changed(stage: Stage) {
    let desk = stage.desk().await;
    let first = r#"{"name":"Tornillo","price":1.50,"tags":["a"],"notes":null}"#;
    desk.accept([entity("Product", "p1", first)]).await;
    desk.accept([entity("Product", "p1", r#"{"name":"Tornillo \"M4\"","price":1.50,"tags":["a","b"]}"#)])
        .await;
    desk.accept([entity("Product", "p1", r#"{"tags":["a","b"],"price":1.50,"name":"Tornillo \"M4\""}"#)])
        .await;
    desk.accept([delete(entity("Product", "p1", "{}"))]).await;
    let changes: Vec<_> = desk.log().await.into_iter().map(|entry| entry.changes.unwrap()).collect();
    assert_eq!(
        changes.iter().map(|text| &**text).collect::<Vec<_>>(),
        [
            r#"[{"Name":"name","Value":"Tornillo"},{"Name":"price","Value":"1.50"},{"Name":"tags","Value":"[\"a\"]"},{"Name":"notes","Value":""}]"#,
            r#"[{"Name":"name","Value":"Tornillo \"M4\""},{"Name":"tags","Value":"[\"a\",\"b\"]"},{"Name":"notes","Value":""}]"#,
            "[]",
        ]
    );
}

pub(crate) async fn the_tenants_own_records_have_pages_too(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept((1..=5).map(|number| entity("Bank", &format!("b{number}"), &format!(r#"{{"n":{number}}}"#))))
        .await;
    desk.accept([delete(entity("Bank", "b2", "{}"))]).await;
    assert_eq!(desk.ids(&entity("Bank", "any", "{}")).await, ["b1", "b3", "b4", "b5"]);
    let page = desk.page(&entity("Bank", "any", "{}"), 1, 2).await;
    assert_eq!((page.total, page.version, page.head), (4, 6, 6));
    assert_eq!(page.bodies.len(), 2);
    let body = desk.body(&entity("Bank", "b4", "{}")).await;
    let version = Ticks(stage.now().0 + 3).iso();
    assert_eq!(body, json!({"n": 4, "correlationId": "b4", "version": version, "sequenceVersion": "4"}));
}
