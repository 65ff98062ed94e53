//! Hot pages and changes that were made elsewhere, at another node or by another process: seen within a second.

use serde_json::Value;

use super::nodes::Nodes;
use super::payroll::line;
use crate::harness::{Api, Keys, Reply, act, charge, company, encoded, items, ndjson, until, within_seconds};

const CHARGES: &str = "/accounting/api/charges";
const ROUNDS: u64 = 4;

fn filtered() -> String {
    format!(
        "/payroll/api/companies?{}",
        encoded(&[("filter", "companyCode eq 7"), ("OrderBy", "companyName")])
    )
}

fn lines(round: u64) -> Vec<Value> {
    vec![charge("c", "x", round), line(7, &format!("Ronda {round}"), "", "")]
}

/// What a page shows of a round.
fn shows(reply: &Reply, round: u64) -> bool {
    assert_eq!(reply.status, 200, "{reply:?}");
    let told = reply.json();
    let record = if told.is_array() { &told[0] } else { &told };
    record["amount"] == round || record["companyName"] == format!("Ronda {round}")
}

/// Every page is hot when something changes elsewhere, is asked for all the time, and shows it within a second.
fn changes_come_through(read: impl Fn(&str) -> Reply, change: impl Fn(&[Value]) -> u64) {
    let (record, filtered) = (format!("{CHARGES}/x"), filtered());
    for path in [CHARGES, &record, &filtered] {
        let mut etag = String::new();
        for round in 0..ROUNDS {
            let head = change(&lines(round));
            within_seconds(1, path, || shows(&read(path), round));
            let reply = read(path);
            assert_ne!(reply.header("etag"), etag);
            reply.header("etag").clone_into(&mut etag);
            let position = reply.header("x-sequence-version");
            assert!(path == record || position.parse::<u64>().unwrap() >= head, "{reply:?}");
            until("the page to be hot", || (read(path).body == reply.body).then_some(()));
        }
    }
    change(&[act("charges", "c", "x", "delete")]);
    within_seconds(1, "the record to be gone", || read(&record).status == 404);
    within_seconds(1, "the list to be empty", || items(&read(CHARGES)).is_empty());
    change(&lines(9));
    within_seconds(1, "the record to be back", || read(&record).status == 200);
    within_seconds(1, "the list to be full", || items(&read(CHARGES)).len() == 1);
    change(&[act("companies", "", "c", "delete")]);
    within_seconds(1, "the company to be gone", || {
        [CHARGES, &record, "/accounting/api/companies/c"].iter().all(|path| read(path).status == 404)
    });
}

#[test]
fn a_hot_page_shows_what_another_node_took() {
    let nodes = Nodes::start();
    let api = Api::on(&nodes.nodes[0], &Keys::new(&nodes.nodes[0], &[]));
    api.door.send_lines(&[company("c")]);
    changes_come_through(|path| nodes.at_second(&api, path), |lines| api.door.send_lines(lines).head());
}

#[test]
fn a_hot_page_shows_what_another_process_wrote_into_the_file() {
    let api = Api::new();
    api.door.send_lines(&[company("c")]);
    let apply = |lines: &[Value]| {
        let arguments = ["changes", "apply", "-", "--tenant", &api.door.tenant, "--json"];
        let done = api.office.serve.site.program(&arguments).input(ndjson(lines)).run().json();
        assert_eq!(done["rejected"], 0, "{done}");
        done["lastSequenceVersion"].as_str().unwrap().parse().unwrap()
    };
    changes_come_through(|path| api.get_in("c", path).send(), apply);
}
