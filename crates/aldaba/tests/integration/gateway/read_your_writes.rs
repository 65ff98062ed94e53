//! Read-your-writes: once the ingest API has answered, every later read on the same node shows the change, although
//! responses are cached.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use serde_json::Value;

use super::payroll::line;
use crate::harness::{
    ApiFixture, Database, EmbeddedServer, HttpResponse, Installation, SubscriptionKeys, change_line, charge,
    company, context, customer, encode_form, items, wait_for_duration,
};

const CHARGES: &str = "/accounting/api/charges";
const PAYROLL: &str = "/payroll/api/companies";
const ROUNDS: u64 = 80;
/// Longer than the cache serves a response without asking the store.
const NO_LONGER_FRESH: Duration = Duration::from_millis(600);

/// The last round that the ingest API has acknowledged.
#[derive(Clone, Copy, Debug)]
struct Acknowledged {
    round: u64,
    head: u64,
}

/// A page, and how to read the round that it shows.
struct Page {
    path: String,
    round: fn(&HttpResponse) -> u64,
}

fn pages() -> Vec<Page> {
    let filtered =
        |filter: &str| format!("{PAYROLL}?{}", encode_form(&[("filter", filter), ("pageSize", "1")]));
    vec![
        Page { path: format!("{CHARGES}?pageSize=1000"), round: |response| amount(&first(response)) },
        Page { path: format!("{CHARGES}?pageSize=1"), round: |response| total(response) - 1 },
        Page { path: format!("{CHARGES}/x"), round: |response| amount(&response.json()) },
        Page { path: filtered("companyCode eq 1"), round: |response| name_round(&first(response)) },
        Page { path: filtered("startswith(companyName,'Alta')"), round: total },
    ]
}

/// The lines of one round: in accounting and payroll, one record changes and one is created.
fn lines(round: u64) -> Vec<Value> {
    let mut lines = vec![charge("c", "x", round), line(1, &format!("Ronda {round}"), "", "")];
    if round > 0 {
        lines.push(charge("c", &format!("x{round}"), 0));
        lines.push(line(1000 + round, &format!("Alta {round}"), "", ""));
    }
    lines
}

fn first(response: &HttpResponse) -> Value {
    items(response).swap_remove(0)
}

fn amount(record: &Value) -> u64 {
    record["amount"].as_u64().unwrap()
}

fn name_round(record: &Value) -> u64 {
    record["companyName"].as_str().unwrap().trim_start_matches("Ronda ").parse().unwrap()
}

fn total(response: &HttpResponse) -> u64 {
    let pagination: Value = serde_json::from_str(response.header("x-pagination")).unwrap();
    pagination["totalCount"].as_u64().unwrap()
}

fn head(response: &HttpResponse) -> Option<u64> {
    let text = response.header("x-sequence-version");
    (!text.is_empty()).then(|| text.parse().unwrap())
}

/// Reads a page repeatedly, every other time with the etag of the last response.
fn follow(api: &ApiFixture<'_>, page: &Page, acknowledged: &Mutex<Acknowledged>, is_over: &AtomicBool) {
    let (mut last_round, mut etag, mut last) = (0, String::new(), false);
    for turn in 0_u64.. {
        let before = *acknowledged.lock().unwrap();
        let known = if turn % 2 == 1 { etag.as_str() } else { "" };
        let response = api.get_for_company("c", &page.path).header("if-none-match", known).send();
        let now = match response.status {
            200 => (page.round)(&response),
            304 if !known.is_empty() => last_round,
            _ => panic!("{}: {response:?}", page.path),
        };
        assert!(now >= before.round, "{}: shows {now} after {before:?}: {response:?}", page.path);
        assert!(now >= last_round, "{}: went back from {last_round}: {response:?}", page.path);
        assert!(
            head(&response).is_none_or(|head| head >= before.head),
            "{}: {before:?}: {response:?}",
            page.path
        );
        assert_eq!(head(&response).is_none(), page.path.ends_with("/x"), "only lists carry the log position");
        if now > last_round {
            assert_ne!(response.header("etag"), etag, "{}: {response:?}", page.path);
        }
        (last_round, etag) = (now, response.header("etag").to_owned());
        if last {
            assert_eq!(last_round, ROUNDS);
            return;
        }
        last = is_over.load(Ordering::Acquire);
    }
}

fn assert_no_stale_reads(api: &ApiFixture<'_>) {
    let answer = api.ingest.send_lines(&[vec![company("c")], lines(0)].concat());
    assert_eq!(answer.rejected, 0, "{answer:?}");
    let acknowledged = Mutex::new(Acknowledged { round: 0, head: answer.head() });
    let is_over = AtomicBool::new(false);
    let pages = pages();
    thread::scope(|scope| {
        let readers: Vec<_> =
            pages.iter().map(|page| scope.spawn(|| follow(api, page, &acknowledged, &is_over))).collect();
        for round in 1..=ROUNDS {
            let answer = api.ingest.send_lines(&lines(round));
            assert_eq!(answer.rejected, 0, "{answer:?}");
            *acknowledged.lock().unwrap() = Acknowledged { round, head: answer.head() };
            // A reader ends early only when it has failed.
            if readers.iter().any(ScopedJoinHandle::is_finished) {
                break;
            }
        }
        is_over.store(true, Ordering::Release);
    });
}

#[test]
fn reads_are_never_stale_on_sqlite() {
    assert_no_stale_reads(&ApiFixture::new());
}

#[test]
fn reads_are_never_stale_on_postgresql() {
    run_on_postgresql(assert_no_stale_reads);
}

fn run_on_postgresql(check: fn(&ApiFixture<'_>)) {
    let database = Database::create();
    let server =
        EmbeddedServer::start(Installation::with_store(&database.url()), &["gateway.rate_per_minute=0"]);
    check(&ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[])));
    server.stop();
}

/// Deleted records disappear as soon as the ingest API answers, from cached pages too.
fn assert_deletions_are_visible(api: &ApiFixture<'_>) {
    let charges = |company: &str| [charge(company, "1", 1), charge(company, "2", 2)];
    let filter = format!("{PAYROLL}?{}", encode_form(&[("filter", "companyCode ge 7")]));
    for round in 0..8 {
        let id = &format!("g{round}");
        let lines = [vec![company(id), line(7, "Bar", "", "")], charges(id).to_vec()].concat();
        assert_eq!(api.ingest.send_lines(&lines).rejected, 0);
        let read_three_times = |path: &str| {
            [(); 3].map(|()| api.get_for_company(id, path).send()).map(|response| response.status)
        };
        let record = format!("{CHARGES}/1");
        for path in
            [CHARGES, &record, &format!("{CHARGES}/2"), &filter, &format!("/accounting/api/companies/{id}")]
        {
            assert_eq!(read_three_times(path), [200; 3], "{path}");
        }
        api.ingest.send_lines(&[change_line("charges", id, "1", "delete")]);
        api.get_for_company(id, &record).send().problem(404);
        let left = api.read_for_company(id, CHARGES);
        assert_eq!((items(&left).len(), total(&left)), (1, 1));
        let mut payroll = change_line("companies", "", "7", "delete");
        payroll["area"] = "payroll".into();
        assert_eq!(api.ingest.send_lines(&[payroll]).rejected, 0);
        let none = api.read_for_company(id, &filter);
        assert_eq!((items(&none).len(), total(&none)), (0, 0));
        api.ingest.send_lines(&[change_line("companies", "", id, "delete")]);
        for path in [CHARGES, &record, &format!("{CHARGES}/2"), &format!("/accounting/api/companies/{id}")] {
            api.get_for_company(id, path).send().problem(404);
        }
        api.ingest.send_lines(&[company(id)]);
        assert_eq!(
            items(&api.read_for_company(id, CHARGES)),
            [] as [Value; 0],
            "the recreated company is empty"
        );
    }
}

#[test]
fn deletions_are_visible_at_once_on_sqlite() {
    assert_deletions_are_visible(&ApiFixture::new());
}

#[test]
fn deletions_are_visible_at_once_on_postgresql() {
    run_on_postgresql(assert_deletions_are_visible);
}

#[test]
fn the_etag_is_stable_while_only_the_log_position_moves() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c"), customer("c", "u", "Bar"), line(7, "Bar", "", "")]);
    let filter = format!("{PAYROLL}?{}", encode_form(&[("filter", "companyCode eq 7")]));
    for path in ["/accounting/api/customers", &filter] {
        let first = api.read_for_company("c", path);
        let etag = first.header("etag").to_owned();
        let same = || {
            let response = api.get_for_company("c", path).header("if-none-match", &etag).send();
            assert_eq!(
                (response.status, response.header("etag"), response.body.len()),
                (304, etag.as_str(), 0)
            );
            head(&response).unwrap()
        };
        let before = head(&first).unwrap();
        assert_eq!([(); 5].map(|()| same()), [before; 5]);
        wait_for_duration(NO_LONGER_FRESH);
        assert_eq!(same(), before, "after a check with the store the etag is the same");
        for round in 0..3 {
            let now = api.ingest.send_lines(&[charge("c", path, round + before)]).head();
            assert_eq!(
                [(); 3].map(|()| same()),
                [now; 3],
                "{path}: other records move the log position, not the etag"
            );
            let whole = api.read_for_company("c", path);
            assert_eq!(
                (head(&whole), whole.header("etag"), &whole.body),
                (Some(now), etag.as_str(), &first.body)
            );
        }
    }
}

#[test]
fn cached_pages_are_separate_per_tenant_and_company() {
    let (one, other) = (ApiFixture::new(), ApiFixture::new());
    for (api, name) in [(&one, "uno"), (&other, "otro")] {
        api.ingest.send_lines(&[
            company("a"),
            company("b"),
            customer("a", "u", name),
            customer("b", "u", "b"),
        ]);
    }
    let name = |response: &HttpResponse| first(response)["tradeName"].as_str().unwrap().to_owned();
    for _ in 0..3 {
        for path in ["/accounting/api/customers", "/accounting/api/customers?pageSize=5"] {
            assert_eq!(name(&one.read_for_company("a", path)), "uno");
            assert_eq!(name(&other.read_for_company("a", path)), "otro", "another tenant has its own page");
            assert_eq!(name(&one.read_for_company("b", path)), "b", "another company has its own page");
        }
        assert_eq!(one.read_for_company("a", "/accounting/api/customers/u").json()["tradeName"], "uno");
        assert_eq!(other.read_for_company("a", "/accounting/api/customers/u").json()["tradeName"], "otro");
        assert_eq!(one.read_for_company("b", "/accounting/api/customers/u").json()["tradeName"], "b");
    }
}

#[test]
fn a_cached_page_does_not_skip_any_check() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c"), customer("c", "u", "Bar")]);
    for path in ["/accounting/api/customers", "/accounting/api/customers/u"] {
        let request = || api.get_for_company("c", path);
        assert_eq!([(); 2].map(|()| request().send().status), [200; 2]);
        request().and_header("context", &context("c")).send().problem(400);
        request().header("context", "").send().problem(400);
        request().header("context", "none").send().problem(400);
        request().header("context", &context("d")).send().problem(404);
        request().header("authorization", "").send().problem(401);
        request().header("ocp-apim-subscription-key", "").send().problem(401);
        assert_eq!(request().send().status, 200);
    }
}
