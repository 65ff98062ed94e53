//! Answers are kept in memory, and nobody can tell: what the changes door has answered, every read that begins
//! afterwards shows, on the node that took it, however hot the page is.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use serde_json::Value;

use super::payroll::line;
use crate::harness::{
    Api, Database, Keys, Reply, Serve, Site, act, charge, company, context, customer, encoded, items,
    let_pass,
};

const CHARGES: &str = "/accounting/api/charges";
const PAYROLL: &str = "/payroll/api/companies";
const ROUNDS: u64 = 80;
/// Longer than an answer is believed without asking the store.
const NO_LONGER_FRESH: Duration = Duration::from_millis(600);

/// What the door has answered so far.
#[derive(Clone, Copy, Debug)]
struct Told {
    round: u64,
    head: u64,
}

/// A page, and which round it shows.
struct Page {
    path: String,
    round: fn(&Reply) -> u64,
}

fn pages() -> Vec<Page> {
    let filtered = |filter: &str| format!("{PAYROLL}?{}", encoded(&[("filter", filter), ("pageSize", "1")]));
    vec![
        Page { path: format!("{CHARGES}?pageSize=1000"), round: |reply| amount(&first(reply)) },
        Page { path: format!("{CHARGES}?pageSize=1"), round: |reply| total(reply) - 1 },
        Page { path: format!("{CHARGES}/x"), round: |reply| amount(&reply.json()) },
        Page { path: filtered("companyCode eq 1"), round: |reply| name_round(&first(reply)) },
        Page { path: filtered("startswith(companyName,'Alta')"), round: total },
    ]
}

/// One round: a record changes, and one comes; of both families.
fn lines(round: u64) -> Vec<Value> {
    let mut lines = vec![charge("c", "x", round), line(1, &format!("Ronda {round}"), "", "")];
    if round > 0 {
        lines.push(charge("c", &format!("x{round}"), 0));
        lines.push(line(1000 + round, &format!("Alta {round}"), "", ""));
    }
    lines
}

fn first(reply: &Reply) -> Value {
    items(reply).swap_remove(0)
}

fn amount(record: &Value) -> u64 {
    record["amount"].as_u64().unwrap()
}

fn name_round(record: &Value) -> u64 {
    record["companyName"].as_str().unwrap().trim_start_matches("Ronda ").parse().unwrap()
}

fn total(reply: &Reply) -> u64 {
    let told: Value = serde_json::from_str(reply.header("x-pagination")).unwrap();
    told["totalCount"].as_u64().unwrap()
}

fn head(reply: &Reply) -> Option<u64> {
    let text = reply.header("x-sequence-version");
    (!text.is_empty()).then(|| text.parse().unwrap())
}

/// Reads a page again and again, every other time with the validator of the last answer.
fn follow(api: &Api<'_>, page: &Page, told: &Mutex<Told>, is_over: &AtomicBool) {
    let (mut shown, mut etag, mut last) = (0, String::new(), false);
    for turn in 0_u64.. {
        let before = *told.lock().unwrap();
        let known = if turn % 2 == 1 { etag.as_str() } else { "" };
        let reply = api.get_in("c", &page.path).header("if-none-match", known).send();
        let now = match reply.status {
            200 => (page.round)(&reply),
            304 if !known.is_empty() => shown,
            _ => panic!("{}: {reply:?}", page.path),
        };
        assert!(now >= before.round, "{}: shows {now} after {before:?}: {reply:?}", page.path);
        assert!(now >= shown, "{}: went back from {shown}: {reply:?}", page.path);
        assert!(head(&reply).is_none_or(|head| head >= before.head), "{}: {before:?}: {reply:?}", page.path);
        assert_eq!(head(&reply).is_none(), page.path.ends_with("/x"), "lists tell where the log stands");
        if now > shown {
            assert_ne!(reply.header("etag"), etag, "{}: {reply:?}", page.path);
        }
        (shown, etag) = (now, reply.header("etag").to_owned());
        if last {
            assert_eq!(shown, ROUNDS);
            return;
        }
        last = is_over.load(Ordering::Acquire);
    }
}

fn nobody_reads_the_past(api: &Api<'_>) {
    let answer = api.door.send_lines(&[vec![company("c")], lines(0)].concat());
    assert_eq!(answer.rejected, 0, "{answer:?}");
    let told = Mutex::new(Told { round: 0, head: answer.head() });
    let is_over = AtomicBool::new(false);
    let pages = pages();
    thread::scope(|scope| {
        let readers: Vec<_> =
            pages.iter().map(|page| scope.spawn(|| follow(api, page, &told, &is_over))).collect();
        for round in 1..=ROUNDS {
            let answer = api.door.send_lines(&lines(round));
            assert_eq!(answer.rejected, 0, "{answer:?}");
            *told.lock().unwrap() = Told { round, head: answer.head() };
            // A reader that has seen the past need not be waited for.
            if readers.iter().any(ScopedJoinHandle::is_finished) {
                break;
            }
        }
        is_over.store(true, Ordering::Release);
    });
}

#[test]
fn nobody_reads_the_past_on_the_embedded_store() {
    nobody_reads_the_past(&Api::new());
}

#[test]
fn nobody_reads_the_past_over_postgresql() {
    over_postgresql(nobody_reads_the_past);
}

fn over_postgresql(story: fn(&Api<'_>)) {
    let database = Database::create();
    let serve = Serve::start(Site::over(&database.url()), &["--set", "gateway.rate_per_minute=0"]);
    story(&Api::on(&serve, &Keys::new(&serve, &[])));
    serve.stop();
}

/// What is deleted is gone with the door's answer, from pages that were read a moment ago too.
fn gone_is_gone(api: &Api<'_>) {
    let charges = |company: &str| [charge(company, "1", 1), charge(company, "2", 2)];
    let filter = format!("{PAYROLL}?{}", encoded(&[("filter", "companyCode ge 7")]));
    for round in 0..8 {
        let id = &format!("g{round}");
        let lines = [vec![company(id), line(7, "Bar", "", "")], charges(id).to_vec()].concat();
        assert_eq!(api.door.send_lines(&lines).rejected, 0);
        let hot = |path: &str| [(); 3].map(|()| api.get_in(id, path).send()).map(|reply| reply.status);
        let record = format!("{CHARGES}/1");
        for path in
            [CHARGES, &record, &format!("{CHARGES}/2"), &filter, &format!("/accounting/api/companies/{id}")]
        {
            assert_eq!(hot(path), [200; 3], "{path}");
        }
        api.door.send_lines(&[act("charges", id, "1", "delete")]);
        api.get_in(id, &record).send().problem(404);
        let left = api.read_in(id, CHARGES);
        assert_eq!((items(&left).len(), total(&left)), (1, 1));
        let mut payroll = act("companies", "", "7", "delete");
        payroll["area"] = "payroll".into();
        assert_eq!(api.door.send_lines(&[payroll]).rejected, 0);
        let none = api.read_in(id, &filter);
        assert_eq!((items(&none).len(), total(&none)), (0, 0));
        api.door.send_lines(&[act("companies", "", id, "delete")]);
        for path in [CHARGES, &record, &format!("{CHARGES}/2"), &format!("/accounting/api/companies/{id}")] {
            api.get_in(id, path).send().problem(404);
        }
        api.door.send_lines(&[company(id)]);
        assert_eq!(items(&api.read_in(id, CHARGES)), [] as [Value; 0], "made again, it is empty");
    }
}

#[test]
fn gone_is_gone_on_the_embedded_store() {
    gone_is_gone(&Api::new());
}

#[test]
fn gone_is_gone_over_postgresql() {
    over_postgresql(gone_is_gone);
}

#[test]
fn a_validator_stays_while_nothing_moves_and_the_position_moves_alone() {
    let api = Api::new();
    api.door.send_lines(&[company("c"), customer("c", "u", "Bar"), line(7, "Bar", "", "")]);
    let filter = format!("{PAYROLL}?{}", encoded(&[("filter", "companyCode eq 7")]));
    for path in ["/accounting/api/customers", &filter] {
        let first = api.read_in("c", path);
        let etag = first.header("etag").to_owned();
        let same = || {
            let reply = api.get_in("c", path).header("if-none-match", &etag).send();
            assert_eq!((reply.status, reply.header("etag"), reply.body.len()), (304, etag.as_str(), 0));
            head(&reply).unwrap()
        };
        let before = head(&first).unwrap();
        assert_eq!([(); 5].map(|()| same()), [before; 5]);
        let_pass(NO_LONGER_FRESH);
        assert_eq!(same(), before, "asked of the store, it is still the same");
        for round in 0..3 {
            let now = api.door.send_lines(&[charge("c", path, round + before)]).head();
            assert_eq!([(); 3].map(|()| same()), [now; 3], "{path}: others move the log, not the list");
            let whole = api.read_in("c", path);
            assert_eq!(
                (head(&whole), whole.header("etag"), &whole.body),
                (Some(now), etag.as_str(), &first.body)
            );
        }
    }
}

#[test]
fn a_page_is_kept_for_who_asked_for_it() {
    let (one, other) = (Api::new(), Api::new());
    for (api, name) in [(&one, "uno"), (&other, "otro")] {
        api.door.send_lines(&[company("a"), company("b"), customer("a", "u", name), customer("b", "u", "b")]);
    }
    let name = |reply: &Reply| first(reply)["tradeName"].as_str().unwrap().to_owned();
    for _ in 0..3 {
        for path in ["/accounting/api/customers", "/accounting/api/customers?pageSize=5"] {
            assert_eq!(name(&one.read_in("a", path)), "uno");
            assert_eq!(name(&other.read_in("a", path)), "otro", "another tenant's page is another");
            assert_eq!(name(&one.read_in("b", path)), "b", "and so is another company's");
        }
        assert_eq!(one.read_in("a", "/accounting/api/customers/u").json()["tradeName"], "uno");
        assert_eq!(other.read_in("a", "/accounting/api/customers/u").json()["tradeName"], "otro");
        assert_eq!(one.read_in("b", "/accounting/api/customers/u").json()["tradeName"], "b");
    }
}

#[test]
fn a_hot_page_forgives_nothing_that_a_cold_one_refuses() {
    let api = Api::new();
    api.door.send_lines(&[company("c"), customer("c", "u", "Bar")]);
    for path in ["/accounting/api/customers", "/accounting/api/customers/u"] {
        let call = || api.get_in("c", path);
        assert_eq!([(); 2].map(|()| call().send().status), [200; 2]);
        call().and_header("context", &context("c")).send().problem(400);
        call().header("context", "").send().problem(400);
        call().header("context", "none").send().problem(400);
        call().header("context", &context("d")).send().problem(404);
        call().header("authorization", "").send().problem(401);
        call().header("ocp-apim-subscription-key", "").send().problem(401);
        assert_eq!(call().send().status, 200);
    }
}
