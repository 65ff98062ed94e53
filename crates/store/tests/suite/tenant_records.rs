//! Records that belong to the tenant and not to a company: payroll companies and invoicing entities.

use std::time::Duration;

use domain::Ticks;
use domain::change::Change;
use serde_json::json;

use super::fixture::Fixture;
use super::test_tenant::{TestTenant, delete, entity, payroll};

async fn last_update(tenant: &TestTenant, code: u64) -> String {
    tenant.body(&payroll(code, "", None)).await["lastUpdate"].as_str().unwrap().to_owned()
}

pub(crate) async fn payroll_last_update_is_the_writers_or_the_commit_time(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant
        .accept([
            payroll(1, "Norte", Some("2020-01-02T03:04:05.678Z")),
            payroll(2, "Sur", None),
            payroll(3, "Este", Some("2020-01-02")),
        ])
        .await;
    let found = tenant.record(&payroll(1, "", None)).await.unwrap();
    assert_eq!(
        &*found.body,
        r#"{"companyCode":1,"companyName":"Norte","identifierNumber":"B12345674","lastUpdate":"2020-01-02T03:04:05.678Z"}"#
    );
    assert_eq!(found.sequence, 1);
    assert_eq!(last_update(&tenant, 2).await, fixture.now().iso_millis());
    assert_eq!(last_update(&tenant, 3).await, "2020-01-02T00:00:00.000Z");

    let later = fixture.clock.advance(Duration::from_mins(1));
    tenant.accept([payroll(1, "Norte SL", None), payroll(3, "Este", Some("2021-01-02"))]).await;
    assert_eq!(
        last_update(&tenant, 1).await,
        later.iso_millis(),
        "a change without a last update gets the commit time"
    );
    assert_eq!(last_update(&tenant, 3).await, "2021-01-02T00:00:00.000Z");
    assert_eq!(
        tenant.log_lines().await,
        [
            "1 companies 1 Created",
            "2 companies 2 Created",
            "3 companies 3 Created",
            "4 companies 1 Updated",
            "5 companies 3 Updated",
        ]
    );
    for entry in tenant.log().await {
        assert_eq!((&*entry.company, entry.changes), ("", None));
    }
}

pub(crate) async fn unchanged_payroll_company_keeps_its_last_update(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([payroll(1, "Norte", Some("2020-01-02")), payroll(2, "Sur", None)]).await;
    let sur_last_update = last_update(&tenant, 2).await;
    fixture.clock.advance(Duration::from_mins(1));
    tenant
        .accept([
            payroll(1, "Norte", None),
            payroll(1, "Norte", Some("2020-01-02T00:00:00Z")),
            payroll(2, "Sur", None),
            payroll(2, "Sur", Some(&sur_last_update)),
        ])
        .await;
    assert_eq!(tenant.head().await, 2);
    assert_eq!(last_update(&tenant, 1).await, "2020-01-02T00:00:00.000Z");
    assert_eq!(last_update(&tenant, 2).await, sur_last_update);
}

pub(crate) async fn payroll_company_is_deleted_by_its_code(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([payroll(1, "Norte", None), payroll(2, "Sur", None)]).await;
    let line = r#"{"area":"payroll","resource":"companies","action":"delete","data":{"companyCode":1}}"#;
    let by_code = Change::parse(line.as_bytes(), || unreachable!()).unwrap().change;
    tenant.accept([by_code]).await;
    assert!(!tenant.has(&payroll(1, "", None)).await);
    assert_eq!(tenant.page(&payroll(1, "", None), 0, 10).await.total, 1);

    tenant.accept([payroll(1, "Norte otra vez", None)]).await;
    tenant
        .accept([
            delete(payroll(2, "", None)),
            payroll(2, "Sur otra vez", None),
            delete(payroll(1, "", None)),
        ])
        .await;
    let page = tenant.page(&payroll(1, "", None), 0, 10).await;
    assert_eq!(page.bodies.len(), 1);
    assert_eq!(tenant.body(&payroll(2, "", None)).await["companyName"], "Sur otra vez");
    assert_eq!(tenant.last_entry().await.sequence, 7);
}

pub(crate) async fn invoicing_entries_list_the_changed_members(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let first = r#"{"name":"Tornillo","price":1.50,"tags":["a"],"notes":null}"#;
    tenant.accept([entity("Product", "p1", first)]).await;
    tenant
        .accept([entity("Product", "p1", r#"{"name":"Tornillo \"M4\"","price":1.50,"tags":["a","b"]}"#)])
        .await;
    tenant
        .accept([entity("Product", "p1", r#"{"tags":["a","b"],"price":1.50,"name":"Tornillo \"M4\""}"#)])
        .await;
    tenant.accept([delete(entity("Product", "p1", "{}"))]).await;
    let changes: Vec<_> = tenant.log().await.into_iter().map(|entry| entry.changes.unwrap()).collect();
    assert_eq!(
        changes.iter().map(|text| &**text).collect::<Vec<_>>(),
        [
            r#"[{"Name":"name","Value":"Tornillo"},{"Name":"price","Value":"1.50"},{"Name":"tags","Value":"[\"a\"]"},{"Name":"notes","Value":""}]"#,
            r#"[{"Name":"name","Value":"Tornillo \"M4\""},{"Name":"tags","Value":"[\"a\",\"b\"]"},{"Name":"notes","Value":""}]"#,
            "[]",
        ]
    );
}

pub(crate) async fn tenant_level_records_have_pages(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant
        .accept((1..=5).map(|number| entity("Bank", &format!("b{number}"), &format!(r#"{{"n":{number}}}"#))))
        .await;
    tenant.accept([delete(entity("Bank", "b2", "{}"))]).await;
    assert_eq!(tenant.ids(&entity("Bank", "any", "{}")).await, ["b1", "b3", "b4", "b5"]);
    let page = tenant.page(&entity("Bank", "any", "{}"), 1, 2).await;
    assert_eq!((page.total, page.version, page.head), (4, 6, 6));
    assert_eq!(page.bodies.len(), 2);
    let body = tenant.body(&entity("Bank", "b4", "{}")).await;
    let version = Ticks(fixture.now().0 + 3).iso();
    assert_eq!(body, json!({"n": 4, "correlationId": "b4", "version": version, "sequenceVersion": "4"}));
}
