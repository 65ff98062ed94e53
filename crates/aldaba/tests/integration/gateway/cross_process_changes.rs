//! Hot pages and changes that were made elsewhere, at another node or by another process: seen within a second.

use serde_json::Value;

use super::nodes::Nodes;
use super::payroll::line;
use crate::harness::{
    ApiFixture, HttpResponse, SubscriptionKeys, assert_within_seconds, change_line, charge, company,
    encode_form, items, ndjson, wait_for,
};

const CHARGES: &str = "/accounting/api/charges";
const ROUNDS: u64 = 4;

fn filtered() -> String {
    format!(
        "/payroll/api/companies?{}",
        encode_form(&[("filter", "companyCode eq 7"), ("OrderBy", "companyName")])
    )
}

fn lines(round: u64) -> Vec<Value> {
    vec![charge("c", "x", round), line(7, &format!("Ronda {round}"), "", "")]
}

/// What a page shows of a round.
fn shows(response: &HttpResponse, round: u64) -> bool {
    assert_eq!(response.status, 200, "{response:?}");
    let told = response.json();
    let record = if told.is_array() { &told[0] } else { &told };
    record["amount"] == round || record["companyName"] == format!("Ronda {round}")
}

/// Every page is hot when something changes elsewhere, is asked for all the time, and shows it within a second.
fn changes_come_through(read: impl Fn(&str) -> HttpResponse, change: impl Fn(&[Value]) -> u64) {
    let (record, filtered) = (format!("{CHARGES}/x"), filtered());
    for path in [CHARGES, &record, &filtered] {
        let mut etag = String::new();
        for round in 0..ROUNDS {
            let head = change(&lines(round));
            assert_within_seconds(1, path, || shows(&read(path), round));
            let response = read(path);
            assert_ne!(response.header("etag"), etag);
            response.header("etag").clone_into(&mut etag);
            let position = response.header("x-sequence-version");
            assert!(path == record || position.parse::<u64>().unwrap() >= head, "{response:?}");
            wait_for("the page to be hot", || (read(path).body == response.body).then_some(()));
        }
    }
    change(&[change_line("charges", "c", "x", "delete")]);
    assert_within_seconds(1, "the record to be gone", || read(&record).status == 404);
    assert_within_seconds(1, "the list to be empty", || items(&read(CHARGES)).is_empty());
    change(&lines(9));
    assert_within_seconds(1, "the record to be back", || read(&record).status == 200);
    assert_within_seconds(1, "the list to be full", || items(&read(CHARGES)).len() == 1);
    change(&[change_line("companies", "", "c", "delete")]);
    assert_within_seconds(1, "the company to be gone", || {
        [CHARGES, &record, "/accounting/api/companies/c"].iter().all(|path| read(path).status == 404)
    });
}

#[test]
fn a_hot_page_shows_what_another_node_took() {
    let nodes = Nodes::start();
    let api = ApiFixture::on(&nodes.nodes[0], &SubscriptionKeys::new(&nodes.nodes[0], &[]));
    api.ingest.send_lines(&[company("c")]);
    changes_come_through(|path| nodes.at_second(&api, path), |lines| api.ingest.send_lines(lines).head());
}

#[test]
fn a_hot_page_shows_what_another_process_wrote_into_the_file() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c")]);
    let apply = |lines: &[Value]| {
        let arguments = ["changes", "apply", "-", "--tenant", &api.ingest.tenant, "--json"];
        let done = api.sign_in.server.installation.program(&arguments).input(ndjson(lines)).run().json();
        assert_eq!(done["rejected"], 0, "{done}");
        done["lastSequenceVersion"].as_str().unwrap().parse().unwrap()
    };
    changes_come_through(|path| api.get_for_company("c", path).send(), apply);
}
