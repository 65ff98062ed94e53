//! Reading the log: order, pages, filters by event and company, pruning and the floor.

use std::time::Duration;

use domain::event::EventKind::{Created, Deleted, Disabled, Updated};
use domain::{Resource, Ticks};
use store::{LogBounds, LogPage, LogQuery};

use super::fixture::Fixture;
use super::test_tenant::{TestTenant, company, customer, delete, disable, enable, journal, log_lines, pair};
use super::webhook_fixtures::{active_webhook, find_webhook, new_checkpoint, write_checkpoint};

/// Writes twelve changes to two companies.
async fn write_twelve_changes(tenant: &TestTenant) {
    let ana = customer("c1", "k1", "Ana");
    tenant.accept([company("c1"), company("c2"), ana.clone(), journal("c1", "j1", "{}")]).await;
    tenant.accept([journal("c2", "j1", "{}"), customer("c1", "k1", "Ana Ruiz"), disable(ana.clone())]).await;
    tenant
        .accept([delete(journal("c1", "j1", "{}")), customer("c2", "k2", "Berta"), enable(ana.clone())])
        .await;
    tenant.accept([delete(journal("c2", "j1", "{}")), disable(ana)]).await;
}

pub(crate) async fn log_is_read_in_order_and_in_pages(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    assert_eq!(tenant.log_lines().await, [""; 0]);
    write_twelve_changes(&tenant).await;
    assert_eq!(
        tenant.log_lines().await,
        [
            "1 companies c1 Created",
            "2 companies c2 Created",
            "3 customers k1 Created",
            "4 journals j1 Created",
            "5 journals j1 Created",
            "6 customers k1 Updated",
            "7 customers k1 Disabled",
            "8 journals j1 Deleted",
            "9 customers k2 Created",
            "10 customers k1 Updated",
            "11 journals j1 Deleted",
            "12 customers k1 Disabled",
        ]
    );
    for rows_max in [1, 5, 12, 100] {
        let (mut after, mut seen) = (0, Vec::new());
        loop {
            let page = tenant.read(&tenant.query(after, rows_max)).await;
            assert!(page.len() <= rows_max);
            let Some(last) = page.last() else { break };
            after = last.sequence;
            seen.extend(page);
        }
        assert_eq!(seen, tenant.log().await, "{rows_max} rows at a time");
    }
    assert_eq!(tenant.sequences(&tenant.query(12, 5)).await, [0; 0]);
    assert_eq!(tenant.sequences(&tenant.query(u64::MAX, 5)).await, [0; 0], "nothing is after the end");
    assert_eq!(tenant.sequences(&tenant.query(0, 0)).await, [0; 0]);
}

pub(crate) async fn event_filter_selects_log_entries(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    write_twelve_changes(&tenant).await;
    let (customers, journals) = (customer("c1", "k1", ""), journal("c1", "j1", "{}"));
    let filtered = |events: &[(Resource, _)], after, rows_max| LogQuery {
        events: Some(events.to_vec()),
        ..tenant.query(after, rows_max)
    };
    let events = [pair(&journals, Deleted), pair(&customers, Disabled), pair(&customers, Created)];
    assert_eq!(tenant.sequences(&filtered(&events, 0, 100)).await, [3, 7, 8, 9, 11, 12]);
    assert_eq!(tenant.sequences(&filtered(&events, 7, 100)).await, [8, 9, 11, 12]);
    assert_eq!(tenant.sequences(&filtered(&events, 3, 3)).await, [7, 8, 9]);
    assert_eq!(tenant.sequences(&filtered(&events[..1], 0, 1)).await, [8]);
    assert_eq!(tenant.sequences(&filtered(&[pair(&journals, Updated)], 0, 100)).await, [0; 0]);
    assert_eq!(tenant.sequences(&filtered(&[], 0, 100)).await, [0; 0], "an empty event list matches nothing");
    let twice = [events[0], events[1], events[0], events[0]];
    assert_eq!(
        tenant.sequences(&filtered(&twice, 0, 3)).await,
        [7, 8, 11],
        "duplicate filters do not duplicate entries"
    );

    let found = tenant.read(&filtered(&events, 7, 2)).await;
    assert_eq!(log_lines(&found), ["8 journals j1 Deleted", "9 customers k2 Created"]);
    assert_eq!(found[..], tenant.log().await[7..9]);
}

pub(crate) async fn company_filter_selects_the_current_generation_only(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    write_twelve_changes(&tenant).await;
    let of_company = |company: &str| LogQuery { company: Some(company.into()), ..tenant.query(0, 100) };
    assert_eq!(tenant.sequences(&of_company("c1")).await, [1, 3, 4, 6, 7, 8, 10, 12]);
    assert_eq!(tenant.sequences(&of_company("c2")).await, [2, 5, 9, 11]);
    assert_eq!(tenant.sequences(&of_company("c3")).await, [0; 0]);
    let filtered = LogQuery {
        events: Some(vec![pair(&customer("any", "k", ""), Created), pair(&company("c"), Created)]),
        ..of_company("c1")
    };
    assert_eq!(tenant.sequences(&filtered).await, [1, 3]);
    assert_eq!(tenant.sequences(&LogQuery { after: 1, rows_max: 1, ..filtered }).await, [3]);

    tenant.accept([delete(company("c1"))]).await;
    assert_eq!(tenant.sequences(&of_company("c1")).await, [0; 0], "a deleted company has no log");
    tenant.accept([company("c1"), customer("c1", "k9", "Eva")]).await;
    assert_eq!(
        tenant.sequences(&of_company("c1")).await,
        [14, 15],
        "the recreated company has only its own entries"
    );
    assert_eq!(tenant.sequences(&of_company("c2")).await, [2, 5, 9, 11]);
}

pub(crate) async fn pruning_removes_old_entries_and_raises_the_floor(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let other = fixture.add_tenant().await;
    other.accept([company("c1")]).await;
    write_twelve_changes(&tenant).await;
    let noon = fixture.clock.advance(Duration::from_hours(1));
    tenant.accept([company("c3"), company("c4")]).await;
    assert_eq!(tenant.bounds().await, LogBounds { floor: 0, head: 14 });
    assert_eq!(tenant.prune(Ticks(0), 100).await, 0);

    assert_eq!(tenant.prune(noon, 5).await, 5, "no more than the limit");
    assert_eq!(tenant.bounds().await, LogBounds { floor: 5, head: 14 });
    let below = tenant.store.read_log(&tenant.query(4, 100)).await;
    assert_eq!(below, Ok(LogPage::BelowFloor { floor: 5 }));
    let by_event = LogQuery { events: Some(vec![pair(&company("c"), Created)]), ..tenant.query(0, 100) };
    assert_eq!(tenant.store.read_log(&by_event).await, Ok(LogPage::BelowFloor { floor: 5 }));
    assert_eq!(tenant.sequences(&tenant.query(5, 100)).await, (6..=14).collect::<Vec<_>>());

    assert_eq!(tenant.prune(noon, 100).await, 7, "no more than the old entries");
    assert_eq!(tenant.prune(noon, 100).await, 0);
    assert_eq!(tenant.log_lines().await, ["13 companies c3 Created", "14 companies c4 Created"]);
    assert!(tenant.has(&customer("c1", "k1", "")).await, "pruning does not touch records");
    assert_eq!(other.log().await.len(), 1, "another tenant's log is unchanged");

    assert_eq!(tenant.prune(Ticks(i64::MAX), 100).await, 2);
    assert_eq!(tenant.bounds().await, LogBounds { floor: 14, head: 14 });
    assert_eq!(tenant.sequences(&tenant.query(14, 100)).await, [0; 0]);
    assert_eq!(tenant.accept([company("c5")]).await.last_sequence, 15, "sequences continue");
    assert_eq!(tenant.sequences(&tenant.query(14, 100)).await, [15]);
}

pub(crate) async fn cursor_within_the_retention_loses_no_event(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    tenant.accept([company("c1")]).await;
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    for number in 0..12 {
        tenant
            .accept([customer("c1", &format!("k{number}"), "Ana"), customer("c1", "k", &number.to_string())])
            .await;
        // The clock advances, stops and goes back.
        match number % 4 {
            0 => drop(fixture.clock.advance(Duration::from_hours(3))),
            1 => drop(fixture.clock.rewind(Duration::from_hours(5))),
            2 => drop(fixture.clock.advance(Duration::from_hours(9))),
            _ => {}
        }
    }
    let resource = Resource::customers();
    let cursor = find_webhook(store, webhook.id).await.cursor.unwrap();
    let log = tenant.log().await;
    let waiting = log.iter().filter(|entry| entry.sequence > cursor);
    for oldest in waiting {
        while tenant.prune(oldest.version, 2).await > 0 {}
        assert_eq!(tenant.bounds().await.floor, oldest.sequence - 1, "newer entries remain");
        let mut step = new_checkpoint(store, &webhook).await;
        step.cursor = Some(oldest.sequence - 1);
        write_checkpoint(store, step).await;
        let cursor = find_webhook(store, webhook.id).await.cursor.unwrap();
        let tail = store.read_tail(&tenant.id, resource, cursor, 100).await.unwrap();
        assert!(tail.floor <= cursor, "the cursor lost nothing");
        let sequences: Vec<u64> = tail.events.iter().map(|event| event.entry.sequence).collect();
        assert_eq!(sequences, (oldest.sequence..=tenant.head().await).collect::<Vec<_>>());
    }
}
