//! Cached pages show the changes of another node or of another process within a second.

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

/// Whether a response shows the data of this round.
fn shows(response: &HttpResponse, round: u64) -> bool {
    assert_eq!(response.status, 200, "{response:?}");
    let body_json = response.json();
    let record = if body_json.is_array() { &body_json[0] } else { &body_json };
    record["amount"] == round || record["companyName"] == format!("Ronda {round}")
}

/// Every page is cached when the data changes elsewhere, and shows the change within a second.
fn assert_changes_appear(read: impl Fn(&str) -> HttpResponse, change: impl Fn(&[Value]) -> u64) {
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
            wait_for("the page to be cached", || (read(path).body == response.body).then_some(()));
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
fn a_cached_page_shows_changes_of_another_node() {
    let nodes = Nodes::start();
    let api = ApiFixture::on(&nodes.nodes[0], &SubscriptionKeys::new(&nodes.nodes[0], &[]));
    api.ingest.send_lines(&[company("c")]);
    assert_changes_appear(|path| nodes.at_second(&api, path), |lines| api.ingest.send_lines(lines).head());
}

#[test]
fn a_cached_page_shows_changes_written_by_another_process() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c")]);
    let apply = |lines: &[Value]| {
        let arguments = ["changes", "apply", "-", "--tenant", &api.ingest.tenant, "--json"];
        let summary = api.sign_in.server.installation.program(&arguments).input(ndjson(lines)).run().json();
        assert_eq!(summary["rejected"], 0, "{summary}");
        summary["lastSequenceVersion"].as_str().unwrap().parse().unwrap()
    };
    assert_changes_appear(|path| api.get_for_company("c", path).send(), apply);
}
