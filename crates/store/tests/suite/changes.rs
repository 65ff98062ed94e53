//! What each action of a change does to its record and to the log, for each kind of resource.

use std::collections::HashSet;
use std::time::Duration;

use domain::Ticks;
use domain::change::Change;
use domain::event::EventKind;
use serde_json::json;
use store::{ChangeBatch, StoreError};

use super::fixture::Fixture;
use super::test_tenant::{
    company, company_with, customer, delete, disable, enable, entity, fail, id_of, journal,
};

/// Its sender may have given up and sent newer values since.
pub(crate) async fn batch_that_waited_too_long_changes_nothing(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1"), customer("c1", "k1", "Ana")]).await;
    let head = tenant.head().await;
    let mut late = tenant.batch([customer("c1", "k1", "Older"), customer("c1", "k2", "New")]);
    late.expires_at = Some(fixture.now());
    let in_time = tenant.store.apply_changes(ChangeBatch { lines: Vec::new(), ..late.clone() }).await;
    assert_eq!(in_time.map(|counts| counts.last_sequence), Ok(head));
    fixture.clock.advance(Duration::from_millis(1));
    assert_eq!(tenant.store.apply_changes(late).await, Err(StoreError::Expired));
    assert_eq!(tenant.head().await, head);
    assert_eq!(tenant.body(&customer("c1", "k1", "")).await["tradeName"], "Ana");
}

/// Customers, accounts and suppliers: never deleted, only disabled.
pub(crate) async fn customers_are_disabled_never_deleted(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let ana = customer("c1", "k1", "Ana");
    tenant.accept([company("c1"), ana.clone()]).await;
    assert_eq!(tenant.body(&ana).await["state"], "Enabled");

    tenant.accept([customer("c1", "k1", "Ana Ruiz")]).await;
    assert_eq!(tenant.body(&ana).await["tradeName"], "Ana Ruiz");

    tenant.accept([disable(ana.clone())]).await;
    let disabled = tenant.body(&ana).await;
    assert_eq!(disabled["state"], "Disabled");
    assert_eq!(disabled["tradeName"], "Ana Ruiz", "disabling keeps the data");

    tenant.accept([customer("c1", "k1", "Ana Gil")]).await;
    let updated = tenant.body(&ana).await;
    assert_eq!(updated["tradeName"], "Ana Gil");
    assert_eq!(updated["state"], "Disabled", "an upsert does not enable");

    tenant.accept([enable(ana.clone())]).await;
    assert_eq!(tenant.body(&ana).await["state"], "Enabled");

    let before_failure = tenant.record(&ana).await;
    tenant.accept([fail(ana.clone())]).await;
    assert_eq!(tenant.record(&ana).await, before_failure, "a failure only writes a log entry");
    assert_eq!(
        tenant.log_lines().await,
        [
            "1 companies c1 Created",
            "2 customers k1 Created",
            "3 customers k1 Updated",
            "4 customers k1 Disabled",
            "5 customers k1 Updated",
            "6 customers k1 Updated",
            "7 customers k1 ErrorOccurred",
        ]
    );
}

/// Journals and most others: deleted, and without a state.
pub(crate) async fn journals_are_deleted_and_have_no_state(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let opening = journal("c1", "j1", r#"{"total":1.50}"#);
    tenant.accept([company("c1"), opening.clone()]).await;
    let body = tenant.record(&opening).await.unwrap().body;
    assert!(
        body.starts_with(r#"{"total":1.50,"correlationId":"j1","version":""#),
        "the writer's members come first and unchanged: {body}"
    );
    assert!(!body.contains("state"));

    tenant.accept([journal("c1", "j1", r#"{"total":2}"#)]).await;
    assert_eq!(tenant.body(&opening).await["total"], 2);

    tenant.accept([delete(opening.clone())]).await;
    assert!(!tenant.has(&opening).await);
    assert_eq!(tenant.ids(&opening).await, [""; 0]);

    tenant.accept([fail(opening.clone())]).await;
    assert!(!tenant.has(&opening).await, "a failure creates no record");
    assert_eq!(
        tenant.log_lines().await,
        [
            "1 companies c1 Created",
            "2 journals j1 Created",
            "3 journals j1 Updated",
            "4 journals j1 Deleted",
            "5 journals j1 ErrorOccurred",
        ]
    );
}

/// Companies: disabling and enabling write Updated events; deletion writes Deleted.
pub(crate) async fn companies_can_be_disabled_and_deleted(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let iturri = company("c1");
    tenant.accept([iturri.clone()]).await;
    tenant.accept([disable(iturri.clone())]).await;
    assert_eq!(tenant.body(&iturri).await["state"], "Disabled");
    tenant.accept([customer("c1", "k1", "Ana")]).await;
    tenant.accept([enable(iturri.clone()), fail(iturri.clone())]).await;
    assert_eq!(tenant.body(&iturri).await["state"], "Enabled");
    tenant.accept([delete(iturri.clone())]).await;
    assert!(!tenant.has(&iturri).await);
    assert_eq!(
        tenant.log_lines().await,
        [
            "1 companies c1 Created",
            "2 companies c1 Updated",
            "3 customers k1 Created",
            "4 companies c1 Updated",
            "5 companies c1 ErrorOccurred",
            "6 companies c1 Deleted",
        ]
    );
    for entry in tenant.log().await {
        assert_eq!(&*entry.company, "c1", "a company belongs to itself");
    }
}

/// CompanyData and CompanySettings: a tenant has one of each, and every event is Updated.
pub(crate) async fn company_data_only_has_updated_events(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let data = entity("CompanyData", "d1", r#"{"phone":"948"}"#);
    tenant.accept([data.clone()]).await;
    tenant.accept([entity("CompanyData", "d1", r#"{"phone":"945"}"#)]).await;
    assert_eq!(tenant.body(&data).await["phone"], "945");
    assert_eq!(tenant.log_lines().await, ["1 CompanyData d1 Updated", "2 CompanyData d1 Updated"]);
}

pub(crate) async fn record_has_the_sequence_and_version_of_its_log_entry(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let ana = customer("c1", "k1", "Ana");
    let steps = [ana.clone(), customer("c1", "k1", "Ana Ruiz"), disable(ana.clone()), enable(ana.clone())];
    for (step, number) in steps.into_iter().zip(2_u64..) {
        let now = fixture.clock.advance(Duration::from_millis(1500));
        let counts = tenant.accept([step]).await;
        let entry = tenant.last_entry().await;
        assert_eq!((counts.accepted, counts.last_sequence), (1, number));
        assert_eq!((entry.sequence, entry.version), (number, now));
        assert_eq!(tenant.record(&ana).await.unwrap().sequence, number);
        let body = tenant.body(&ana).await;
        assert_eq!(body["sequenceVersion"], json!(number.to_string()));
        assert_eq!(body["version"], json!(entry.version.iso()));
    }
}

pub(crate) async fn versions_grow_when_the_clock_stops_or_goes_back(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let start = fixture.now();
    tenant.accept([company("c1"), company("c2")]).await;
    tenant.accept([company("c3")]).await;
    fixture.clock.rewind(Duration::from_hours(1));
    tenant.accept([company("c4"), company("c5")]).await;
    let later = fixture.clock.advance(Duration::from_hours(2));
    tenant.accept([company("c6")]).await;
    let versions: Vec<Ticks> = tenant.log().await.iter().map(|entry| entry.version).collect();
    let tick = |count: i64| Ticks(start.0 + count);
    assert_eq!(versions, [tick(0), tick(1), tick(2), tick(3), tick(4), later]);
    assert_eq!(tenant.body(&company("c5")).await["version"], json!(tick(4).iso()));
}

pub(crate) async fn sequences_start_at_one_in_every_tenant(fixture: Fixture) {
    let (bilbao, vigo) = (fixture.add_tenant().await, fixture.add_tenant().await);
    assert_eq!((bilbao.head().await, vigo.head().await), (0, 0));
    for number in 1..=3 {
        let id = format!("c{number}");
        assert_eq!(bilbao.accept([company(&id)]).await.last_sequence, number);
        assert_eq!(vigo.accept([company(&id)]).await.last_sequence, number);
    }
    assert_eq!(bilbao.log_lines().await, vigo.log_lines().await);
    assert_eq!(
        bilbao.log_lines().await,
        ["1 companies c1 Created", "2 companies c2 Created", "3 companies c3 Created"]
    );
}

pub(crate) async fn unchanged_records_write_no_log_entry(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let nested = r#"{"lines":[{"debit":1.0,"account":"57"}],"notes":{"es":"a","en":"b"}}"#;
    let reordered = r#"{"notes":{"en":"b","es":"a"},"lines":[{"account":"57","debit":1.0}]}"#;
    let (ana, opening) = (customer("c1", "k1", "Ana"), journal("c1", "j1", nested));
    tenant.accept([company("c1"), ana.clone(), opening.clone(), entity("Product", "p1", "{}")]).await;
    let records =
        [tenant.record(&ana).await, tenant.record(&opening).await, tenant.record(&company("c1")).await];
    let pages = [tenant.page(&ana, 0, 10).await, tenant.page(&opening, 0, 10).await];

    fixture.clock.advance(Duration::from_mins(1));
    let unchanged = [
        company("c1"),
        enable(company("c1")),
        ana.clone(),
        enable(ana.clone()),
        opening.clone(),
        journal("c1", "j1", reordered),
        journal("c1", "j1", &nested.replace(':', " : ")),
        entity("Product", "p1", "{}"),
    ];
    let counts = tenant.accept(unchanged).await;
    assert_eq!((counts.accepted, counts.rejected, counts.last_sequence), (8, 0, 4));
    assert_eq!(tenant.head().await, 4);
    assert_eq!(tenant.log().await.len(), 4);
    assert_eq!(
        [tenant.record(&ana).await, tenant.record(&opening).await, tenant.record(&company("c1")).await],
        records
    );
    assert_eq!([tenant.page(&ana, 0, 10).await, tenant.page(&opening, 0, 10).await], pages);

    tenant.accept([disable(ana.clone()), disable(ana.clone()), ana.clone()]).await;
    tenant.accept([disable(ana.clone())]).await;
    assert_eq!(tenant.head().await, 5, "disabling twice writes one entry");
    assert_eq!(tenant.body(&ana).await["state"], "Disabled");

    tenant.accept([journal("c1", "j1", &nested.replace("1.0", "1.00"))]).await;
    assert_eq!(tenant.head().await, 6, "numbers keep every digit");
}

pub(crate) async fn log_entry_has_every_member_of_the_change(fixture: Fixture) {
    let mut tenant = fixture.add_tenant().await;
    tenant.process = domain::Guid::parse("9b2f7c1e-5a44-4d0e-8a53-0f6d6f1f9a01").unwrap();
    let change = Change {
        user: "maría".into(),
        source_interface: "ERP \"Norte\"".into(),
        source_action: "Save".into(),
        ..customer("c1", "k1", "Ana")
    };
    tenant.accept([company("c1"), change.clone()]).await;
    tenant.accept([disable(change)]).await;
    let log = tenant.log().await;
    assert_eq!((&*log[0].user, &*log[0].source_interface, &*log[0].source_action), ("", "", ""));
    for entry in &log[1..] {
        assert_eq!(entry.resource, customer("c1", "k1", "").resource);
        assert_eq!((&*entry.company, &*entry.correlation_id), ("c1", "k1"));
        assert_eq!(
            (&*entry.user, &*entry.source_interface, &*entry.source_action),
            ("maría", "ERP \"Norte\"", "Save")
        );
        assert_eq!((entry.process, entry.changes.as_deref(), entry.envelope), (tenant.process, None, 1));
    }
    let conversations: HashSet<_> = log.iter().map(|entry| entry.conversation).collect();
    assert_eq!(conversations.len(), 3, "every change has its own conversation id");
    assert_eq!(
        log.iter().map(|entry| entry.kind).collect::<Vec<_>>(),
        [EventKind::Created, EventKind::Created, EventKind::Disabled]
    );
}

/// Each line sees the effect of the earlier lines of its batch.
pub(crate) async fn batch_sees_its_own_earlier_lines(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let ana = customer("c1", "k1", "Ana");
    let counts = tenant
        .accept([
            company_with("c1", "Talleres Iturri", 8),
            ana.clone(),
            customer("c1", "k1", "Ana Ruiz"),
            customer("c1", "k1", "Ana Ruiz"),
            disable(ana.clone()),
            disable(ana.clone()),
        ])
        .await;
    assert_eq!((counts.accepted, counts.last_sequence), (6, 4));
    assert_eq!(
        tenant.log_lines().await,
        [
            "1 companies c1 Created",
            "2 customers k1 Created",
            "3 customers k1 Updated",
            "4 customers k1 Disabled",
        ]
    );
    let body = tenant.body(&ana).await;
    assert_eq!(
        (&body["tradeName"], &body["state"], &body["sequenceVersion"]),
        (&json!("Ana Ruiz"), &json!("Disabled"), &json!("4"))
    );
    let page = tenant.page(&ana, 0, 10).await;
    assert_eq!((page.total, page.version, page.head), (1, 4, 4));
}

pub(crate) async fn record_can_be_deleted_and_recreated_within_a_batch(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let journal_with = |id: &str, text: &str| journal("c1", id, &format!(r#"{{"text":"{text}"}}"#));
    let deletion = |id: &str| delete(journal_with(id, ""));
    tenant
        .accept([
            company("c1"),
            journal_with("j1", "old"),
            journal_with("j2", "old"),
            journal_with("j3", "old"),
        ])
        .await;

    tenant.accept([journal_with("j4", "short-lived"), deletion("j4")]).await;
    assert!(!tenant.has(&journal_with("j4", "")).await);
    assert_eq!(tenant.ids(&journal_with("any", "")).await, ["j1", "j2", "j3"]);

    tenant.accept([deletion("j1"), journal_with("j1", "new")]).await;
    assert_eq!(tenant.body(&journal_with("j1", "")).await["text"], "new");
    assert_eq!(
        tenant.ids(&journal_with("any", "")).await,
        ["j2", "j3", "j1"],
        "a recreated record comes last"
    );

    tenant.accept([deletion("j2"), journal_with("j2", "new"), deletion("j2")]).await;
    tenant
        .accept([journal_with("j5", "a"), deletion("j5"), journal_with("j5", "b"), journal_with("j6", "c")])
        .await;
    assert_eq!(tenant.body(&journal_with("j5", "")).await["text"], "b");
    assert_eq!(tenant.ids(&journal_with("any", "")).await, ["j3", "j1", "j5", "j6"]);
    assert_eq!(
        tenant.log_lines().await[4..],
        [
            "5 journals j4 Created",
            "6 journals j4 Deleted",
            "7 journals j1 Deleted",
            "8 journals j1 Created",
            "9 journals j2 Deleted",
            "10 journals j2 Created",
            "11 journals j2 Deleted",
            "12 journals j5 Created",
            "13 journals j5 Deleted",
            "14 journals j5 Created",
            "15 journals j6 Created",
        ]
    );
}

/// Ids are compared byte by byte.
pub(crate) async fn any_text_is_a_valid_id(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let long = "ñ".repeat(200);
    let ids = [
        "k", "K", "k ", " k", "ñ", "n\u{303}", "ß", "ss", "%", "_", "'\"\\", "🗝️", "a/b?c#d", "\u{1}", &long,
    ];
    tenant.accept(ids.iter().map(|id| company(id))).await;
    tenant.accept(ids.iter().map(|id| journal(id, id, &format!("{{\"n\":{}}}", json!(id))))).await;
    assert_eq!(tenant.ids(&company("any")).await, ids);
    for id in ids {
        let subject = journal(id, id, "{}");
        assert_eq!(tenant.body(&subject).await["n"], json!(id));
        assert_eq!(tenant.page(&subject, 0, 10).await.bodies.iter().map(id_of).collect::<Vec<_>>(), [id]);
    }
    tenant.accept(ids.iter().map(|id| company(id))).await;
    assert_eq!(tenant.head().await, 2 * ids.len() as u64, "every id was found again");
    for absent in ["k\0", "\0", "SS", "", "kk"] {
        let found = tenant.store.find_record(&tenant.id, None, company("any").resource, absent).await;
        assert_eq!(found, Ok(None), "{absent:?}");
        assert_eq!(
            tenant.find_page(Some(absent), journal("any", "j", "{}").resource, 0, 1).await,
            None,
            "{absent:?}"
        );
    }
}
