//! The gateway on two nodes over PostgreSQL: both nodes authorize alike, and reads return the same as on SQLite.

use super::payroll::{codes, fill};
use crate::harness::{
    ALL_SCOPES, ApiFixture, Database, HttpRequest, HttpResponse, Installation, ServeProcess,
    SubscriptionKeys, assert_within_seconds, change_line, charge, column, company, context, customer,
    encode_form, texts,
};

const COMPANIES: &str = "/accounting/api/companies";

pub(super) struct Nodes {
    pub(super) nodes: [ServeProcess; 2],
    pub(super) database: Database,
}

impl Nodes {
    pub(super) fn start() -> Self {
        Self::with_rate(0)
    }

    pub(super) fn with_rate(per_minute: u32) -> Self {
        let database = Database::create();
        let first = Installation::with_store(&database.url());
        let second = Installation::with_store(&database.url());
        second.copy_master_key_from(&first);
        let rate = format!("gateway.rate_per_minute={per_minute}");
        let nodes = [first, second].map(|installation| ServeProcess::start(installation, &[&rate]));
        Self { nodes, database }
    }

    /// Sends the same request to the second node.
    pub(super) fn at_second(&self, api: &ApiFixture<'_>, path: &str) -> HttpResponse {
        HttpRequest::get(&format!("{}{path}", self.nodes[1].public_url))
            .header("ocp-apim-subscription-key", &api.key)
            .header("authorization", &format!("Bearer {}", api.token))
            .header("context", &context("c"))
            .send()
    }
}

#[test]
fn both_nodes_accept_and_refuse_the_same_credentials() {
    let nodes = Nodes::start();
    let keys = SubscriptionKeys::new(&nodes.nodes[0], &[]);
    let mut api = ApiFixture::on(&nodes.nodes[0], &keys);
    api.ingest.send_lines(&[company("c"), customer("c", "u", "Bar")]);
    for path in [COMPANIES, "/accounting/api/customers", "/accounting/api/customers/u"] {
        let (one, other) = (api.read_for_company("c", path), nodes.at_second(&api, path));
        assert_eq!((other.status, &other.body), (200, &one.body), "{path}");
        assert_eq!(other.header("etag"), one.header("etag"), "both nodes give the same etag");
    }
    let tokens = api.tokens(ALL_SCOPES);
    tokens.access().clone_into(&mut api.token);
    assert_eq!(nodes.at_second(&api, COMPANIES).status, 200);
    assert_eq!(api.sign_in.revoke(tokens.refresh()).status, 200);
    api.get(COMPANIES).send().problem(401);
    assert_within_seconds(5, "the other node to refuse the token", || {
        nodes.at_second(&api, COMPANIES).status == 401
    });
    api.tokens(ALL_SCOPES).access().clone_into(&mut api.token);
    assert_eq!(nodes.at_second(&api, COMPANIES).status, 200);
    nodes.nodes[0].installation.program(&["key", "suspend", &keys.id]).run().code(0);
    assert_within_seconds(3, "both nodes to refuse the key", || {
        api.get(COMPANIES).send().status == 401 && nodes.at_second(&api, COMPANIES).status == 401
    });
}

#[test]
fn filter_and_order_give_the_same_result_on_both_databases() {
    let nodes = Nodes::start();
    let api = ApiFixture::on(&nodes.nodes[0], &SubscriptionKeys::new(&nodes.nodes[0], &[]));
    fill(&api);
    for (filter, order) in [
        ("companyCode ge 0", ""),
        ("companyCode gt 30 or companyCode lt 5", "companyCode desc"),
        ("companyCode le 9223372036854775807", "companyName"),
        ("companyName gt 'a'", "companyName desc"),
        ("companyName le 'Bar O''Higgins'", "lastUpdate desc"),
        ("companyName ge 'Z'", "identifierNumber desc"),
        ("contains(companyName,'%') or contains(companyName,'_')", "companyCode"),
        ("contains(companyName,'\\')", "companyCode"),
        ("startswith(companyName,'Bar')", "companyCode"),
        ("not contains(companyName,'Ñ')", "identifierNumber,companyCode desc"),
        ("endswith(companyName,'''Higgins')", "companyName"),
        ("lastUpdate ge 2026-01-10T08:30:00.001Z", "lastUpdate"),
        ("lastUpdate lt 2026-01-10 or lastUpdate eq '2026-01-10'", "lastUpdate desc,companyCode"),
        ("not (identifierNumber eq '' or identifierNumber eq 'A2')", "identifierNumber"),
    ] {
        let mut parameters = vec![("filter", filter)];
        if !order.is_empty() {
            parameters.push(("OrderBy", order));
        }
        let response = api.read(&format!("/payroll/api/companies?{}", encode_form(&parameters)));
        assert_eq!(column(&response, "companyCode"), codes(&parameters), "{filter} / {order}");
    }
}

#[test]
fn pages_and_feeds_are_complete_on_postgresql() {
    let nodes = Nodes::start();
    let api = ApiFixture::on(&nodes.nodes[0], &SubscriptionKeys::new(&nodes.nodes[0], &[]));
    let mut lines = vec![company("c")];
    lines.extend((1..=50).map(|number| charge("c", &number.to_string(), number)));
    lines.extend(
        (1..=50).filter(|n| n % 5 == 0).map(|n| change_line("charges", "c", &n.to_string(), "delete")),
    );
    assert_eq!(api.ingest.send_lines(&lines).rejected, 0);
    let left: Vec<String> = (1..=50).filter(|n| n % 5 != 0).map(|n: u64| n.to_string()).collect();
    let path = "/accounting/api/charges";
    assert_eq!(texts(&api.read_all_pages("c", &format!("{path}?pageSize=7"), 10), "correlationId"), left);
    let changes = api.read_all_pages("c", &format!("{path}/changes?pageSize=7"), 20);
    let numbers: Vec<String> = (2..=61).map(|number| number.to_string()).collect();
    assert_eq!(texts(&changes, "sequenceVersion"), numbers);
    let list = api.read_for_company("c", path);
    assert_eq!(list.header("x-sequence-version"), "61");
    assert!(list.header("x-pagination").contains("\"totalCount\":40,"), "{list:?}");
}
