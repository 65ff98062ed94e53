//! The overview, the first steps and the signing keys.

use domain::OperatorRole;
use hyper::Method;
use serde_json::{Value, json};
use testserver::TestServer;

use super::fixture::Operator;
use crate::harness::{
    ApiFixture, Database, EmbeddedServer, HttpRequest, Installation, OperatorApi, Receiver, ServeProcess,
    SubscriptionKeys, company, customer, wait_for,
};

const CUSTOMERS: &str = "/accounting/api/customers";

fn area<'a>(overview: &'a Value, name: &str) -> &'a Value {
    let areas = overview["traffic"]["areas"].as_array().unwrap();
    areas.iter().find(|one| one["area"] == name).unwrap_or_else(|| panic!("{overview}"))
}

fn steps(answer: &Value) -> Vec<(&str, bool)> {
    let steps = answer["steps"].as_array().unwrap();
    steps.iter().map(|step| (step["kind"].as_str().unwrap(), step["isDone"] == true)).collect()
}

#[test]
fn overview_says_that_all_is_well_and_shows_node_and_store() {
    let server = TestServer::start();
    let operator = Operator::sign_in(&server, OperatorRole::Viewer);
    let overview = operator.json("");
    assert_eq!(overview["problems"], json!([]), "{overview}");
    let [node] = &overview["nodes"].as_array().unwrap()[..] else { panic!("{overview}") };
    assert_eq!(node["shards"], 256);
    assert!(node["version"].as_str().is_some_and(|version| !version.is_empty()), "{node}");
    assert_eq!(overview["store"]["kind"], "sqlite");
    assert!(overview["store"]["sizeBytes"].as_u64().unwrap() > 0, "{overview}");
    let page = operator.get_in("es", "");
    assert!(page.contains("Todo va bien.") && page.contains("Primeros pasos"), "{page}");
    assert!(operator.get_in("en", "").contains("Everything works."));
    let answer = server.operator_get("/operator/v1/nodes").json();
    assert_eq!(answer["nodes"][0]["id"], node["id"], "the API says the same");
}

#[test]
fn figures_of_real_calls_show_up() {
    let server = TestServer::start();
    let operator = Operator::sign_in(&server, OperatorRole::Viewer);
    for _ in 0..3 {
        assert_eq!(server.get("/accounting/api/companies").status, 401);
    }
    for span in ["hour", "day", "week"] {
        let page = format!("?span={span}");
        let overview = wait_for("the calls to be counted", || {
            let overview = operator.json(&page);
            let is_counted = area(&overview, "accounting")["total"]["refused"] == 3
                && overview["traffic"]["signIns"]["total"]["succeeded"] == 1;
            is_counted.then_some(overview)
        });
        let accounting = area(&overview, "accounting");
        assert!(accounting["p99Micros"].as_u64() >= accounting["p50Micros"].as_u64(), "{accounting}");
        let points = accounting["points"].as_array().unwrap();
        let counted: u64 = points.iter().map(|point| point["refused"].as_u64().unwrap()).sum();
        assert_eq!(counted, 3, "{accounting}");
        assert_eq!(area(&overview, "payroll")["total"]["refused"], 0);
        let answer = server.operator_get(&format!("/operator/v1/overview?span={span}")).json();
        assert_eq!(area(&answer, "accounting")["total"], accounting["total"], "the API says the same");
    }
    let page = operator.get_in("en", "?span=week&area=accounting");
    assert!(page.contains("<svg class=\"chart\"") && page.contains("Last week"), "{page}");
    let csv = operator.get("?format=csv");
    let csv = csv.text().to_owned();
    assert!(csv.starts_with("series,start,succeeded,refused,limited,failed"), "{csv}");
    assert!(csv.contains("\naccounting,") && csv.contains("\nsign_ins,"), "{csv}");
    assert_eq!(server.operator_get("/operator/v1/overview?span=year").status, 400);
}

#[test]
fn failing_webhook_is_named() {
    let settings = [
        "gateway.rate_per_minute=0",
        "egress.loopback=true",
        "delivery.host_check=off",
        "delivery.schedule=1s",
        "delivery.window=10m",
    ];
    let server = EmbeddedServer::start(Installation::new(), &settings);
    let api = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
    let ingest = server.ingest_client(&api.sign_in.tenants[0]);
    ingest.send_lines(&[company("c")]);
    let receiver = Receiver::open();
    let body = json!({
        "thirdPartyApplicationName": "Panel", "url": receiver.url("/hook"), "secret": "s3cret",
        "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
    });
    let subscribe = api.request(Method::POST, &format!("{CUSTOMERS}/webhooks/subscribe"));
    let subscribed = subscribe.header("content-type", "application/json").body(body.to_string()).send();
    let id = subscribed.json()["webhookId"].as_str().unwrap().to_owned();
    wait_for("the webhook to be active", || {
        (api.read(&format!("{CUSTOMERS}/webhooks/{id}")).json()["isActive"] == true).then_some(())
    });
    receiver.respond_with(|_| Some((500, "")));
    ingest.send_lines(&[customer("c", "k", "Ana")]);
    let overview = wait_for("the failing webhook to be named", || {
        let overview = OperatorApi(&server).get("/overview").json();
        let is_counted = overview["webhooks"]["failing"] == 1 && overview["webhooks"]["eventsBehind"] == 1;
        (is_counted && overview["failingWebhooks"] != json!([])).then_some(overview)
    });
    let failing = &overview["failingWebhooks"][0];
    assert_eq!((&failing["id"], &failing["name"]), (&json!(id), &json!("Panel")), "{overview}");
    assert_eq!(failing["tenant"], api.sign_in.tenants[0]);
    assert_eq!(overview["problems"][0]["kind"], "webhooksFail", "{overview}");
    assert!(overview["webhooks"]["oldestUndeliveredAt"].is_string(), "{overview}");
    receiver.respond_with(|_| Some((200, "")));
    wait_for("all to be well again", || {
        let overview = OperatorApi(&server).get("/overview").json();
        (overview["problems"] == json!([]) && overview["failingWebhooks"] == json!([])).then_some(())
    });
}

#[test]
fn three_nodes_show_one_truth() {
    let database = Database::create();
    let installations = [(); 3].map(|()| Installation::with_store(&database.url()));
    for other in &installations[1..] {
        other.copy_master_key_from(&installations[0]);
    }
    let settings = ["delivery.timeout=1s", "delivery.share_after=1s"];
    let nodes = installations.map(|installation| ServeProcess::start(installation, &settings));
    let ids = |answer: &Value| -> Vec<String> {
        let nodes = answer["nodes"].as_array().unwrap();
        nodes.iter().map(|node| node["id"].as_str().unwrap().to_owned()).collect()
    };
    let shards = |answer: &Value| -> Vec<u64> {
        let nodes = answer["nodes"].as_array().unwrap();
        nodes.iter().map(|node| node["shards"].as_u64().unwrap()).collect()
    };
    wait_for("all nodes to see the same nodes, which share the webhooks", || {
        let seen = nodes.each_ref().map(|node| OperatorApi(node).get("/nodes").json());
        let is_one_truth = seen.iter().all(|one| {
            let nodes = one["nodes"].as_array().unwrap();
            let is_described =
                nodes.iter().all(|node| node["version"] != "" && node["startedAt"].is_string());
            ids(one) == ids(&seen[0])
                && ids(one).len() == 3
                && shards(one) == shards(&seen[0])
                && is_described
        });
        let held = shards(&seen[0]);
        (is_one_truth && held.iter().sum::<u64>() == 256 && !held.contains(&0)).then_some(())
    });
    // Each node answers one call.
    for node in &nodes {
        let refused = HttpRequest::get(&format!("{}/payroll/api/companies", node.public_url));
        assert_eq!(refused.send().status, 401);
    }
    wait_for("all nodes to count the calls of all", || {
        let seen = nodes.each_ref().map(|node| OperatorApi(node).get("/overview?span=day").json());
        let is_one_truth = seen.iter().all(|one| {
            area(one, "payroll")["total"]["refused"] == 3
                && one["traffic"] == seen[0]["traffic"]
                && one["webhooks"] == seen[0]["webhooks"]
                && one["problems"] == json!([])
                && one["store"]["kind"] == "postgresql"
        });
        is_one_truth.then_some(())
    });
    let [first, second, third] = nodes;
    third.stop();
    wait_for("the others to notice that a node has stopped", || {
        let seen = [&first, &second].map(|node| OperatorApi(node).get("/nodes").json());
        seen.iter().all(|one| shards(one).len() == 2 && shards(one).iter().sum::<u64>() == 256).then_some(())
    });
}

#[test]
fn signing_keys_are_rotated_once_at_a_time() {
    let server = TestServer::start();
    let operator = Operator::sign_in(&server, OperatorRole::Admin);
    let keys = || operator.json("signing-keys")["signingKeys"].as_array().unwrap().clone();
    let states = || keys().iter().map(|key| key["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(states(), ["signing"]);
    let added = operator.submit("signing-keys", &[("do", "rotate")]);
    assert_eq!((added.status, added.location()), (303, "/console/signing-keys?done=signing_key_added"));
    assert_eq!(states(), ["next", "signing"], "newest first");
    let answer = server.operator_get("/operator/v1/signing-keys").json();
    assert_eq!(answer["signingKeys"][1]["kid"], keys()[0]["kid"], "the API says the same");
    let refused = operator.submit("signing-keys?lang=es", &[("do", "rotate")]);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("Espera hasta entonces o sustituye"), "{}", refused.text());

    let replace = |confirm: &str| operator.submit("signing-keys", &[("do", "replace"), ("confirm", confirm)]);
    let signing = keys()[1]["kid"].as_str().unwrap().to_owned();
    assert_eq!(replace("").status, 400);
    assert_eq!(replace("whatever").status, 400);
    assert_eq!(states(), ["next", "signing"]);
    let replaced = replace(&signing[..8]);
    assert_eq!(replaced.location(), "/console/signing-keys?done=signing_keys_replaced", "{replaced:?}");
    assert_eq!(states(), ["signing", "past", "past"]);
    let audit = server.operator_get("/operator/v1/audit?kind=signing_key_rotated").json();
    let actors: Vec<&str> =
        audit["records"].as_array().unwrap().iter().map(|record| record["actor"].as_str().unwrap()).collect();
    let me = format!("operator:{}", operator.id);
    assert_eq!(actors, [me.as_str(), me.as_str(), "service"]);
}

#[test]
fn only_admins_rotate_signing_keys() {
    let server = TestServer::start();
    for role in [OperatorRole::Viewer, OperatorRole::Support] {
        let operator = Operator::sign_in(&server, role);
        let page = operator.get("signing-keys");
        assert_eq!(page.status, 200);
        assert!(!page.text().contains("name=\"do\""), "{role:?} sees no form: {}", page.text());
    }
}

#[test]
fn first_steps_are_ticked_as_they_are_done() {
    let server = TestServer::start();
    let operator = Operator::sign_in(&server, OperatorRole::Admin);
    let all = ["publicAddress", "tls", "mail", "backup", "tenant", "client"];
    assert_eq!(steps(&operator.json("setup")), all.map(|kind| (kind, false)));
    server.operator_post("tenants", &json!({"name": "Acme"}));
    let client = json!({"name": "Panel", "redirectUris": ["https://app.example.com/callback"]});
    server.operator_post("clients", &client);
    let done = |kind| matches!(kind, "tenant" | "client");
    assert_eq!(steps(&operator.json("setup")), all.map(|kind| (kind, done(kind))));
    let answer = server.operator_get("/operator/v1/setup").json();
    assert_eq!(steps(&answer), all.map(|kind| (kind, done(kind))), "the API says the same");
    let page = operator.get_in("es", "setup");
    assert!(page.contains("aldaba store backup") && page.contains("Primera organización"), "{page}");
    server.operator_post("backups", &json!({}));
    let done = |kind| matches!(kind, "backup" | "tenant" | "client");
    wait_for("the backup to be completed", || {
        (steps(&operator.json("setup")) == all.map(|kind| (kind, done(kind)))).then_some(())
    });
    wait_for("the overview to count the steps that are left", || {
        (operator.json("")["openSetupSteps"] == 3).then_some(())
    });
}
