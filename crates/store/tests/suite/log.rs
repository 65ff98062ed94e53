//! Reading the log: in order, filtered by events and by company, page by page, down to its floor.

use std::time::Duration;

use domain::event::EventKind::{Created, Deleted, Disabled, Updated};
use domain::{Resource, Ticks};
use store::{LogBounds, LogPage, LogQuery};

use super::desk::{Desk, company, customer, delete, disable, enable, journal, pair, told};
use super::stage::Stage;
use super::webhook_fixtures::{contracted, found, point, written};

/// Twelve changes of two companies.
async fn a_busy_morning(desk: &Desk) {
    let ana = customer("c1", "k1", "Ana");
    desk.accept([company("c1"), company("c2"), ana.clone(), journal("c1", "j1", "{}")]).await;
    desk.accept([journal("c2", "j1", "{}"), customer("c1", "k1", "Ana Ruiz"), disable(ana.clone())]).await;
    desk.accept([delete(journal("c1", "j1", "{}")), customer("c2", "k2", "Berta"), enable(ana.clone())])
        .await;
    desk.accept([delete(journal("c2", "j1", "{}")), disable(ana)]).await;
}

pub(crate) async fn the_log_is_read_in_order_and_in_pages(stage: Stage) {
    let desk = stage.desk().await;
    assert_eq!(desk.told().await, [""; 0]);
    a_busy_morning(&desk).await;
    assert_eq!(
        desk.told().await,
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
            let page = desk.read(&desk.query(after, rows_max)).await;
            assert!(page.len() <= rows_max);
            let Some(last) = page.last() else { break };
            after = last.sequence;
            seen.extend(page);
        }
        assert_eq!(seen, desk.log().await, "{rows_max} rows at a time");
    }
    assert_eq!(desk.numbers(&desk.query(12, 5)).await, [0; 0]);
    assert_eq!(desk.numbers(&desk.query(u64::MAX, 5)).await, [0; 0], "beyond the end is nothing");
    assert_eq!(desk.numbers(&desk.query(0, 0)).await, [0; 0]);
}

pub(crate) async fn events_filter_the_log(stage: Stage) {
    let desk = stage.desk().await;
    a_busy_morning(&desk).await;
    let (customers, journals) = (customer("c1", "k1", ""), journal("c1", "j1", "{}"));
    let only = |events: &[(Resource, _)], after, rows_max| LogQuery {
        events: Some(events.to_vec()),
        ..desk.query(after, rows_max)
    };
    let wanted = [pair(&journals, Deleted), pair(&customers, Disabled), pair(&customers, Created)];
    assert_eq!(desk.numbers(&only(&wanted, 0, 100)).await, [3, 7, 8, 9, 11, 12]);
    assert_eq!(desk.numbers(&only(&wanted, 7, 100)).await, [8, 9, 11, 12]);
    assert_eq!(desk.numbers(&only(&wanted, 3, 3)).await, [7, 8, 9]);
    assert_eq!(desk.numbers(&only(&wanted[..1], 0, 1)).await, [8]);
    assert_eq!(desk.numbers(&only(&[pair(&journals, Updated)], 0, 100)).await, [0; 0]);
    assert_eq!(desk.numbers(&only(&[], 0, 100)).await, [0; 0], "no event is no entry");
    let twice = [wanted[0], wanted[1], wanted[0], wanted[0]];
    assert_eq!(desk.numbers(&only(&twice, 0, 3)).await, [7, 8, 11], "asked twice, told once");

    let found = desk.read(&only(&wanted, 7, 2)).await;
    assert_eq!(told(&found), ["8 journals j1 Deleted", "9 customers k2 Created"]);
    assert_eq!(found[..], desk.log().await[7..9]);
}

pub(crate) async fn a_company_filters_the_log_to_its_own_generation(stage: Stage) {
    let desk = stage.desk().await;
    a_busy_morning(&desk).await;
    let of = |company: &str| LogQuery { company: Some(company.into()), ..desk.query(0, 100) };
    assert_eq!(desk.numbers(&of("c1")).await, [1, 3, 4, 6, 7, 8, 10, 12]);
    assert_eq!(desk.numbers(&of("c2")).await, [2, 5, 9, 11]);
    assert_eq!(desk.numbers(&of("c3")).await, [0; 0]);
    let filtered = LogQuery {
        events: Some(vec![pair(&customer("any", "k", ""), Created), pair(&company("c"), Created)]),
        ..of("c1")
    };
    assert_eq!(desk.numbers(&filtered).await, [1, 3]);
    assert_eq!(desk.numbers(&LogQuery { after: 1, rows_max: 1, ..filtered }).await, [3]);

    desk.accept([delete(company("c1"))]).await;
    assert_eq!(desk.numbers(&of("c1")).await, [0; 0], "a company that is gone has no log");
    desk.accept([company("c1"), customer("c1", "k9", "Eva")]).await;
    assert_eq!(desk.numbers(&of("c1")).await, [14, 15], "the new one has only its own");
    assert_eq!(desk.numbers(&of("c2")).await, [2, 5, 9, 11]);
}

pub(crate) async fn what_is_old_is_pruned_and_the_floor_rises(stage: Stage) {
    let desk = stage.desk().await;
    let other = stage.desk().await;
    other.accept([company("c1")]).await;
    a_busy_morning(&desk).await;
    let noon = stage.clock.forward(Duration::from_hours(1));
    desk.accept([company("c3"), company("c4")]).await;
    assert_eq!(desk.bounds().await, LogBounds { floor: 0, head: 14 });
    assert_eq!(desk.prune(Ticks(0), 100).await, 0);

    assert_eq!(desk.prune(noon, 5).await, 5, "no more than asked");
    assert_eq!(desk.bounds().await, LogBounds { floor: 5, head: 14 });
    let below = desk.store.read_log(&desk.query(4, 100)).await;
    assert_eq!(below, Ok(LogPage::BelowFloor { floor: 5 }));
    let by_event = LogQuery { events: Some(vec![pair(&company("c"), Created)]), ..desk.query(0, 100) };
    assert_eq!(desk.store.read_log(&by_event).await, Ok(LogPage::BelowFloor { floor: 5 }));
    assert_eq!(desk.numbers(&desk.query(5, 100)).await, (6..=14).collect::<Vec<_>>());

    assert_eq!(desk.prune(noon, 100).await, 7, "no more than is old");
    assert_eq!(desk.prune(noon, 100).await, 0);
    assert_eq!(desk.told().await, ["13 companies c3 Created", "14 companies c4 Created"]);
    assert!(desk.has(&customer("c1", "k1", "")).await, "records stay");
    assert_eq!(other.log().await.len(), 1, "and so does another's log");

    assert_eq!(desk.prune(Ticks(i64::MAX), 100).await, 2);
    assert_eq!(desk.bounds().await, LogBounds { floor: 14, head: 14 });
    assert_eq!(desk.numbers(&desk.query(14, 100)).await, [0; 0]);
    assert_eq!(desk.accept([company("c5")]).await.last_sequence, 15, "numbers go on");
    assert_eq!(desk.numbers(&desk.query(14, 100)).await, [15]);
}

pub(crate) async fn who_is_not_further_behind_than_what_is_kept_loses_nothing(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    desk.accept([company("c1")]).await;
    let webhook = contracted(&stage, &desk, "a").await;
    for number in 0..12 {
        desk.accept([customer("c1", &format!("k{number}"), "Ana"), customer("c1", "k", &number.to_string())])
            .await;
        // The clock goes on, stands still, and jumps both ways.
        match number % 4 {
            0 => drop(stage.clock.forward(Duration::from_hours(3))),
            1 => drop(stage.clock.back(Duration::from_hours(5))),
            2 => drop(stage.clock.forward(Duration::from_hours(9))),
            _ => {}
        }
    }
    let resource = Resource::customers();
    let cursor = found(store, webhook.id).await.cursor.unwrap();
    let log = desk.log().await;
    let waiting = log.iter().filter(|entry| entry.sequence > cursor);
    for oldest in waiting {
        while desk.prune(oldest.version, 2).await > 0 {}
        assert_eq!(desk.bounds().await.floor, oldest.sequence - 1, "what is younger is all there");
        let mut step = point(store, &webhook).await;
        step.cursor = Some(oldest.sequence - 1);
        written(store, step).await;
        let cursor = found(store, webhook.id).await.cursor.unwrap();
        let tail = store.read_tail(&desk.tenant, resource, cursor, 100).await.unwrap();
        assert!(tail.floor <= cursor, "nothing is lost to it");
        let come: Vec<u64> = tail.events.iter().map(|event| event.entry.sequence).collect();
        assert_eq!(come, (oldest.sequence..=desk.head().await).collect::<Vec<_>>());
    }
}
