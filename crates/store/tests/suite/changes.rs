//! What a change does to its record and tells the log, for records of every ending.

use std::collections::HashSet;
use std::time::Duration;

use domain::Ticks;
use domain::change::Change;
use domain::event::EventKind;
use serde_json::json;

use super::desk::{company, company_with, customer, delete, disable, enable, entity, fail, id_of, journal};
use super::stage::Stage;

/// Customers, accounts and suppliers: never deleted, only disabled.
pub(crate) async fn customers_live_until_they_are_disabled(stage: Stage) {
    let desk = stage.desk().await;
    let ana = customer("c1", "k1", "Ana");
    desk.accept([company("c1"), ana.clone()]).await;
    assert_eq!(desk.body(&ana).await["state"], "Enabled");

    desk.accept([customer("c1", "k1", "Ana Ruiz")]).await;
    assert_eq!(desk.body(&ana).await["tradeName"], "Ana Ruiz");

    desk.accept([disable(ana.clone())]).await;
    let disabled = desk.body(&ana).await;
    assert_eq!(disabled["state"], "Disabled");
    assert_eq!(disabled["tradeName"], "Ana Ruiz", "disabling keeps the data");

    desk.accept([customer("c1", "k1", "Ana Gil")]).await;
    let updated = desk.body(&ana).await;
    assert_eq!(updated["tradeName"], "Ana Gil");
    assert_eq!(updated["state"], "Disabled", "an upsert does not enable");

    desk.accept([enable(ana.clone())]).await;
    assert_eq!(desk.body(&ana).await["state"], "Enabled");

    let before_the_failure = desk.record(&ana).await;
    desk.accept([fail(ana.clone())]).await;
    assert_eq!(desk.record(&ana).await, before_the_failure, "a failure is only told");
    assert_eq!(
        desk.told().await,
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
pub(crate) async fn journals_live_until_they_are_deleted(stage: Stage) {
    let desk = stage.desk().await;
    let opening = journal("c1", "j1", r#"{"total":1.50}"#);
    desk.accept([company("c1"), opening.clone()]).await;
    let body = desk.record(&opening).await.unwrap().body;
    assert!(
        body.starts_with(r#"{"total":1.50,"correlationId":"j1","version":""#),
        "the writer's members come first and as they were written: {body}"
    );
    assert!(!body.contains("state"));

    desk.accept([journal("c1", "j1", r#"{"total":2}"#)]).await;
    assert_eq!(desk.body(&opening).await["total"], 2);

    desk.accept([delete(opening.clone())]).await;
    assert!(!desk.has(&opening).await);
    assert_eq!(desk.ids(&opening).await, [""; 0]);

    desk.accept([fail(opening.clone())]).await;
    assert!(!desk.has(&opening).await, "a failure makes no record");
    assert_eq!(
        desk.told().await,
        [
            "1 companies c1 Created",
            "2 journals j1 Created",
            "3 journals j1 Updated",
            "4 journals j1 Deleted",
            "5 journals j1 ErrorOccurred",
        ]
    );
}

/// Companies: disabled and enabled, which tells Updated, and deleted.
pub(crate) async fn companies_can_be_disabled_and_deleted(stage: Stage) {
    let desk = stage.desk().await;
    let iturri = company("c1");
    desk.accept([iturri.clone()]).await;
    desk.accept([disable(iturri.clone())]).await;
    assert_eq!(desk.body(&iturri).await["state"], "Disabled");
    desk.accept([customer("c1", "k1", "Ana")]).await;
    desk.accept([enable(iturri.clone()), fail(iturri.clone())]).await;
    assert_eq!(desk.body(&iturri).await["state"], "Enabled");
    desk.accept([delete(iturri.clone())]).await;
    assert!(!desk.has(&iturri).await);
    assert_eq!(
        desk.told().await,
        [
            "1 companies c1 Created",
            "2 companies c1 Updated",
            "3 customers k1 Created",
            "4 companies c1 Updated",
            "5 companies c1 ErrorOccurred",
            "6 companies c1 Deleted",
        ]
    );
    for entry in desk.log().await {
        assert_eq!(&*entry.company, "c1", "a company belongs to itself");
    }
}

/// CompanyData and CompanySettings: there is one, and it is only ever updated.
pub(crate) async fn company_data_is_only_ever_updated(stage: Stage) {
    let desk = stage.desk().await;
    let data = entity("CompanyData", "d1", r#"{"phone":"948"}"#);
    desk.accept([data.clone()]).await;
    desk.accept([entity("CompanyData", "d1", r#"{"phone":"945"}"#)]).await;
    assert_eq!(desk.body(&data).await["phone"], "945");
    assert_eq!(desk.told().await, ["1 CompanyData d1 Updated", "2 CompanyData d1 Updated"]);
}

pub(crate) async fn a_record_carries_the_number_and_the_version_of_its_entry(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let ana = customer("c1", "k1", "Ana");
    let steps = [ana.clone(), customer("c1", "k1", "Ana Ruiz"), disable(ana.clone()), enable(ana.clone())];
    for (step, number) in steps.into_iter().zip(2_u64..) {
        let now = stage.clock.forward(Duration::from_millis(1500));
        let counts = desk.accept([step]).await;
        let entry = desk.last_entry().await;
        assert_eq!((counts.accepted, counts.last_sequence), (1, number));
        assert_eq!((entry.sequence, entry.version), (number, now));
        assert_eq!(desk.record(&ana).await.unwrap().sequence, number);
        let body = desk.body(&ana).await;
        assert_eq!(body["sequenceVersion"], json!(number.to_string()));
        assert_eq!(body["version"], json!(entry.version.iso()));
    }
}

pub(crate) async fn versions_grow_while_the_clock_stands_or_jumps_back(stage: Stage) {
    let desk = stage.desk().await;
    let start = stage.now();
    desk.accept([company("c1"), company("c2")]).await;
    desk.accept([company("c3")]).await;
    stage.clock.back(Duration::from_hours(1));
    desk.accept([company("c4"), company("c5")]).await;
    let later = stage.clock.forward(Duration::from_hours(2));
    desk.accept([company("c6")]).await;
    let versions: Vec<Ticks> = desk.log().await.iter().map(|entry| entry.version).collect();
    let tick = |count: i64| Ticks(start.0 + count);
    assert_eq!(versions, [tick(0), tick(1), tick(2), tick(3), tick(4), later]);
    assert_eq!(desk.body(&company("c5")).await["version"], json!(tick(4).iso()));
}

pub(crate) async fn numbers_count_from_one_in_every_tenant(stage: Stage) {
    let (bilbao, vigo) = (stage.desk().await, stage.desk().await);
    assert_eq!((bilbao.head().await, vigo.head().await), (0, 0));
    for number in 1..=3 {
        let id = format!("c{number}");
        assert_eq!(bilbao.accept([company(&id)]).await.last_sequence, number);
        assert_eq!(vigo.accept([company(&id)]).await.last_sequence, number);
    }
    assert_eq!(bilbao.told().await, vigo.told().await);
    assert_eq!(
        bilbao.told().await,
        ["1 companies c1 Created", "2 companies c2 Created", "3 companies c3 Created"]
    );
}

pub(crate) async fn what_changes_nothing_leaves_no_trace(stage: Stage) {
    let desk = stage.desk().await;
    let nested = r#"{"lines":[{"debit":1.0,"account":"57"}],"notes":{"es":"a","en":"b"}}"#;
    let reordered = r#"{"notes":{"en":"b","es":"a"},"lines":[{"account":"57","debit":1.0}]}"#;
    let (ana, opening) = (customer("c1", "k1", "Ana"), journal("c1", "j1", nested));
    desk.accept([company("c1"), ana.clone(), opening.clone(), entity("Product", "p1", "{}")]).await;
    let seen = [desk.record(&ana).await, desk.record(&opening).await, desk.record(&company("c1")).await];
    let pages = [desk.page(&ana, 0, 10).await, desk.page(&opening, 0, 10).await];

    stage.clock.forward(Duration::from_mins(1));
    let idle = [
        company("c1"),
        enable(company("c1")),
        ana.clone(),
        enable(ana.clone()),
        opening.clone(),
        journal("c1", "j1", reordered),
        journal("c1", "j1", &nested.replace(':', " : ")),
        entity("Product", "p1", "{}"),
    ];
    let counts = desk.accept(idle).await;
    assert_eq!((counts.accepted, counts.rejected, counts.last_sequence), (8, 0, 4));
    assert_eq!(desk.head().await, 4);
    assert_eq!(desk.log().await.len(), 4);
    assert_eq!(
        [desk.record(&ana).await, desk.record(&opening).await, desk.record(&company("c1")).await],
        seen
    );
    assert_eq!([desk.page(&ana, 0, 10).await, desk.page(&opening, 0, 10).await], pages);

    desk.accept([disable(ana.clone()), disable(ana.clone()), ana.clone()]).await;
    desk.accept([disable(ana.clone())]).await;
    assert_eq!(desk.head().await, 5, "disabling twice is disabling once");
    assert_eq!(desk.body(&ana).await["state"], "Disabled");

    desk.accept([journal("c1", "j1", &nested.replace("1.0", "1.00"))]).await;
    assert_eq!(desk.head().await, 6, "numbers are kept to the digit");
}

pub(crate) async fn an_entry_keeps_all_that_was_said(stage: Stage) {
    let mut desk = stage.desk().await;
    desk.process = domain::Guid::parse("9b2f7c1e-5a44-4d0e-8a53-0f6d6f1f9a01").unwrap();
    let said = Change {
        user: "maría".into(),
        source_interface: "ERP \"Norte\"".into(),
        source_action: "Save".into(),
        ..customer("c1", "k1", "Ana")
    };
    desk.accept([company("c1"), said.clone()]).await;
    desk.accept([disable(said)]).await;
    let log = desk.log().await;
    assert_eq!((&*log[0].user, &*log[0].source_interface, &*log[0].source_action), ("", "", ""));
    for entry in &log[1..] {
        assert_eq!(entry.resource, customer("c1", "k1", "").resource);
        assert_eq!((&*entry.company, &*entry.correlation_id), ("c1", "k1"));
        assert_eq!(
            (&*entry.user, &*entry.source_interface, &*entry.source_action),
            ("maría", "ERP \"Norte\"", "Save")
        );
        assert_eq!((entry.process, entry.changes.as_deref(), entry.envelope), (desk.process, None, 1));
    }
    let conversations: HashSet<_> = log.iter().map(|entry| entry.conversation).collect();
    assert_eq!(conversations.len(), 3, "every change is a conversation of its own");
    assert_eq!(
        log.iter().map(|entry| entry.kind).collect::<Vec<_>>(),
        [EventKind::Created, EventKind::Created, EventKind::Disabled]
    );
}

/// Each line stands on what the lines before it did, within one batch as well.
pub(crate) async fn a_batch_sees_its_own_earlier_lines(stage: Stage) {
    let desk = stage.desk().await;
    let ana = customer("c1", "k1", "Ana");
    let counts = desk
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
        desk.told().await,
        [
            "1 companies c1 Created",
            "2 customers k1 Created",
            "3 customers k1 Updated",
            "4 customers k1 Disabled",
        ]
    );
    let body = desk.body(&ana).await;
    assert_eq!(
        (&body["tradeName"], &body["state"], &body["sequenceVersion"]),
        (&json!("Ana Ruiz"), &json!("Disabled"), &json!("4"))
    );
    let page = desk.page(&ana, 0, 10).await;
    assert_eq!((page.total, page.version, page.head), (1, 4, 4));
}

pub(crate) async fn an_id_is_deleted_and_made_again_within_a_batch(stage: Stage) {
    let desk = stage.desk().await;
    let made = |id: &str, text: &str| journal("c1", id, &format!(r#"{{"text":"{text}"}}"#));
    let gone = |id: &str| delete(made(id, ""));
    desk.accept([company("c1"), made("j1", "old"), made("j2", "old"), made("j3", "old")]).await;

    desk.accept([made("j4", "short-lived"), gone("j4")]).await;
    assert!(!desk.has(&made("j4", "")).await);
    assert_eq!(desk.ids(&made("any", "")).await, ["j1", "j2", "j3"]);

    desk.accept([gone("j1"), made("j1", "new")]).await;
    assert_eq!(desk.body(&made("j1", "")).await["text"], "new");
    assert_eq!(desk.ids(&made("any", "")).await, ["j2", "j3", "j1"], "made anew is made last");

    desk.accept([gone("j2"), made("j2", "new"), gone("j2")]).await;
    desk.accept([made("j5", "a"), gone("j5"), made("j5", "b"), made("j6", "c")]).await;
    assert_eq!(desk.body(&made("j5", "")).await["text"], "b");
    assert_eq!(desk.ids(&made("any", "")).await, ["j3", "j1", "j5", "j6"]);
    assert_eq!(
        desk.told().await[4..],
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

/// Ids are compared byte by byte, and looked for as they are.
pub(crate) async fn any_text_can_be_an_id(stage: Stage) {
    let desk = stage.desk().await;
    let long = "ñ".repeat(200);
    let ids = [
        "k", "K", "k ", " k", "ñ", "n\u{303}", "ß", "ss", "%", "_", "'\"\\", "🗝️", "a/b?c#d", "\u{1}", &long,
    ];
    desk.accept(ids.iter().map(|id| company(id))).await;
    desk.accept(ids.iter().map(|id| journal(id, id, &format!("{{\"n\":{}}}", json!(id))))).await;
    assert_eq!(desk.ids(&company("any")).await, ids);
    for id in ids {
        let one = journal(id, id, "{}");
        assert_eq!(desk.body(&one).await["n"], json!(id));
        assert_eq!(desk.page(&one, 0, 10).await.bodies.iter().map(id_of).collect::<Vec<_>>(), [id]);
    }
    desk.accept(ids.iter().map(|id| company(id))).await;
    assert_eq!(desk.head().await, 2 * ids.len() as u64, "each was found again");
    for absent in ["k\0", "\0", "SS", "", "kk"] {
        let found = desk.store.find_record(&desk.tenant, None, company("any").resource, absent).await;
        assert_eq!(found, Ok(None), "{absent:?}");
        assert_eq!(
            desk.find_page(Some(absent), journal("any", "j", "{}").resource, 0, 1).await,
            None,
            "{absent:?}"
        );
    }
}
