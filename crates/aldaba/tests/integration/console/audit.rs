//! The audit, who read what, and the search: pages over real HTTP, and the operator's API behind them.

use std::sync::OnceLock;

use domain::{Area, ClientId, OperatorRole, TenantId, Ticks};
use hyper::Method;
use serde_json::{Value, json};
use store::{ReadCount, ReadTarget};
use testserver::TestServer;

use super::fixture::Operator;
use crate::harness::{
    ApiFixture, EmbeddedServer, OperatorApi, Receiver, Server, SubscriptionKeys, company, customer, wait_for,
};

const DAY: &str = "2026-11-15";

fn add_tenant(server: &TestServer, id: &str) {
    server.operator_post("tenants", &json!({"name": format!("Asesoría {id}"), "id": id}));
}

fn kinds(page: &Value) -> Vec<&str> {
    page["records"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect()
}

#[test]
fn audit_is_read_in_words_with_what_changed_and_links() {
    let server = TestServer::start();
    add_tenant(&server, "t1");
    let operator = Operator::sign_in(&server, OperatorRole::Viewer);
    let url = format!("{}/operator/v1/tenants/t1", server.operator_url());
    let changed = testserver::Request::new(Method::PATCH, &url).bearer(server.operator_token());
    assert_eq!(changed.json(&json!({"standing": "disabled"})).send().status, 200);
    for (lang, words) in [
        ("es", ["Organización cambiada", "Organización añadida"]),
        ("en", ["Tenant changed", "Tenant added"]),
    ] {
        let page = operator.get_in(lang, "audit?tenant=t1");
        let [changed, added] = words.map(|words| page.rfind(&format!(">{words}<")).unwrap());
        assert!(changed < added, "newest first: {page}");
        assert!(page.contains("href=\"/console/tenants/t1\""), "{page}");
        assert!(
            page.contains("active") && page.contains("→") && page.contains("<b><bdi>disabled</bdi></b>"),
            "{page}"
        );
    }
    let all = operator.json("audit");
    assert_eq!(kinds(&all)[..2], ["tenant_changed", "operator_signed_in"]);
    let signed_in = operator.json("audit?kind=operator_signed_in");
    assert_eq!(kinds(&signed_in), ["operator_signed_in"]);
    assert_eq!(signed_in["records"][0]["actorEmail"], json!("console-viewer@operators.example"));
    let page = operator.get_in("en", "audit?kind=operator_signed_in");
    assert!(page.contains(&format!("href=\"/console/operators/{}\"", operator.id)), "{page}");
}

#[test]
fn audit_is_filtered_by_everything_that_an_entry_names() {
    let server = TestServer::start();
    for id in ["t1", "t2"] {
        add_tenant(&server, id);
    }
    let team = server.operator_post("teams", &json!({"name": "Panel", "id": "panel"}));
    assert_eq!(team["id"], "panel");
    let operator = Operator::sign_in(&server, OperatorRole::Viewer);
    let found = |query: &str| {
        let page = operator.json(&format!("audit?{query}"));
        kinds(&page).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found("tenant=t2"), ["tenant_added"]);
    assert_eq!(found("actor=operator&kind=tenant_added"), ["tenant_added", "tenant_added"]);
    assert_eq!(found("target=team:panel"), ["team_added"]);
    assert_eq!(found("target=tenant:t1"), ["tenant_added"]);
    let of_team = operator.json("audit?target=team:panel");
    let record = &of_team["records"][0];
    let (request, at) = (record["requestId"].as_str().unwrap(), record["at"].as_str().unwrap());
    assert_eq!(found(&format!("request={request}")), ["team_added"]);
    assert_eq!(found(&format!("target=team:panel&since={at}")), ["team_added"]);
    assert_eq!(found(&format!("target=team:panel&until={at}")), [""; 0], "the end does not count");
    assert_eq!(found("tenant=nobody"), [""; 0]);
    for wrong in ["actor=nobody", "since=yesterday", "kind=x", "before=x"] {
        let page = operator.get_in("en", &format!("audit?{wrong}"));
        assert!(page.contains("A filter is not valid"), "{wrong}: {page}");
    }
    // The same filters in the API.
    let api = |query: &str| server.operator_get(&format!("/operator/v1/audit?{query}"));
    assert_eq!(kinds(&api(&format!("requestId={request}")).json()), ["team_added"]);
    assert_eq!(kinds(&api("object=team:panel").json()), ["team_added"]);
    assert_eq!(kinds(&api(&format!("object=team:panel&until={at}")).json()), [""; 0]);
    assert_eq!(api("until=yesterday").status, 400);
}

#[test]
fn audit_is_paged_and_downloaded() {
    let server = TestServer::start();
    for number in 0..60 {
        add_tenant(&server, &format!("t{number}"));
    }
    let operator = Operator::sign_in(&server, OperatorRole::Viewer);
    let first = operator.json("audit?kind=tenant_added");
    assert_eq!(first["records"].as_array().unwrap().len(), 50);
    let next = first["next"].as_str().unwrap();
    let second = operator.json(&format!("audit?kind=tenant_added&before={next}"));
    assert_eq!((second["records"].as_array().unwrap().len(), &second["next"]), (10, &json!(null)));
    assert_eq!(second["records"][9]["tenant"], json!("t0"));
    operator.get_in("en", "audit");
    let csv = operator.get("audit?kind=tenant_added&format=csv").text().to_owned();
    assert_eq!(csv.lines().count(), 61, "{csv}");
    assert!(
        csv.starts_with("time,kind,words,actor,") && csv.contains(",tenant_added,Tenant added,operator,")
    );
}

/// Adds reads of a tenant on one day.
fn add_reads(server: &TestServer, tenant: &str, rows: &[(&str, &str, Option<&str>, i64, u64)]) {
    let day = Ticks::parse_iso(DAY).unwrap().day();
    let count = |(client, resource, company, hour, reads): &(&str, &str, Option<&str>, i64, u64)| ReadCount {
        tenant: TenantId::new(tenant),
        client: ClientId::new(*client),
        target: ReadTarget::find(Area::Accounting, resource).unwrap(),
        company: company.map(Into::into),
        hour: day * 24 + hour,
        reads: *reads,
    };
    let counts: Vec<ReadCount> = rows.iter().map(count).collect();
    let store = server.store().clone();
    server.block_on(async { store.add_reads(&counts).await }).unwrap();
}

#[test]
fn who_read_what_is_shown_for_a_chosen_tenant() {
    let server = TestServer::start();
    add_tenant(&server, "t1");
    add_tenant(&server, "t2");
    let client =
        json!({"name": "Panel de ventas", "id": "app", "redirectUris": ["https://app.example/callback"]});
    server.operator_post("clients", &client);
    let rows = [
        ("app", "journals", Some("c 1"), 8, 3),
        ("app", "journals", Some("c 1"), 9, 1),
        ("old", "companies", None, 8, 2),
    ];
    add_reads(&server, "t1", &rows);
    let operator = Operator::sign_in(&server, OperatorRole::Viewer);
    let choice = operator.get_in("es", "reads");
    assert!(
        choice.contains("Elige una organización") && choice.contains("/console/reads?tenant=t1"),
        "{choice}"
    );
    let page = operator.get_in("es", "reads?tenant=t1");
    for part in [
        "Panel de ventas",
        "/console/clients/app",
        "accounting/journals",
        "/console/tenants/t1/records/accounting/companies/c%201",
        "08:00 3, 09:00 1",
        "De la organización",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(operator.get_in("en", "reads?tenant=t2").contains("Nobody has read anything yet"));
    assert!(operator.get_in("en", "reads?tenant=nobody").contains("There is no such tenant"));
    let count =
        |query: &str| operator.json(&format!("reads?tenant=t1&{query}"))["reads"].as_array().unwrap().len();
    assert_eq!((count(""), count("client=app"), count("resource=accounting/companies")), (2, 1, 1));
    assert_eq!(
        (count("company=c+1"), count(&format!("since={DAY}&until={DAY}")), count("since=2026-11-16")),
        (1, 2, 0)
    );
    let csv = operator.get("reads?tenant=t1&client=app&format=csv").text().to_owned();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines,
        [
            "day,hour,client,client_name,area,resource,company,reads",
            "2026-11-15,8,app,Panel de ventas,accounting,journals,c 1,3",
            "2026-11-15,9,app,Panel de ventas,accounting,journals,c 1,1",
        ]
    );
}

#[test]
fn reads_are_paged_in_the_api_and_gone_with_their_tenant() {
    let server = TestServer::start();
    add_tenant(&server, "t1");
    let companies: Vec<String> = (0..5).map(|number| format!("ñ {number}.x")).collect();
    let rows: Vec<_> = companies.iter().map(|id| ("app", "journals", Some(id.as_str()), 8, 1)).collect();
    add_reads(&server, "t1", &rows);
    let get = |query: &str| server.operator_get(&format!("/operator/v1/tenants/t1/reads?{query}"));
    let (mut seen, mut before) = (Vec::new(), String::new());
    loop {
        let page = get(&format!("pageSize=2{before}")).json();
        seen.extend(
            page["reads"].as_array().unwrap().iter().map(|one| one["company"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["next"].as_str() else { break };
        before = format!("&before={}", form_urlencoded::byte_serialize(next.as_bytes()).collect::<String>());
    }
    seen.reverse();
    assert_eq!(seen, companies);
    let one = get("pageSize=1&resource=accounting/journals").json()["reads"][0].clone();
    assert_eq!(
        (&one["day"], &one["client"], &one["area"], &one["resource"], &one["reads"], &one["hours"][8]),
        (&json!(DAY), &json!("app"), &json!("accounting"), &json!("journals"), &json!(1), &json!(1))
    );
    assert_eq!(one["hours"].as_array().unwrap().len(), 24);
    for wrong in ["resource=journals", "since=x", "before=x", "pageSize=0", "tenant=t1"] {
        assert_eq!(get(wrong).status, 400, "{wrong}");
    }
    let url = format!("{}/operator/v1/tenants/t1?confirm=t1", server.operator_url());
    assert_eq!(
        testserver::Request::new(Method::DELETE, &url).bearer(server.operator_token()).send().status,
        204
    );
    assert_eq!(get("").status, 404);
    add_tenant(&server, "t1");
    assert_eq!(get("").json()["reads"], json!([]));
}

#[test]
fn search_leads_to_everything_with_an_id() {
    let server = TestServer::start();
    add_tenant(&server, "t1");
    server.operator_post("teams", &json!({"name": "Panel", "id": "panel"}));
    let client =
        json!({"name": "Panel de ventas", "id": "app", "redirectUris": ["https://app.example/callback"]});
    server.operator_post("clients", &client);
    let subscription = server.add_subscription("Ventas").id;
    server.operator_post("tenants/t1/changes", &json!([company("c1"), customer("c1", "k1", "Ana")]));
    let operator = Operator::sign_in(&server, OperatorRole::Viewer);
    for (text, href) in [
        ("t1", "/console/tenants/t1".to_owned()),
        ("panel", "/console/teams/panel".to_owned()),
        ("app", "/console/clients/app".to_owned()),
        (&*subscription, format!("/console/subscriptions/{subscription}")),
        (&*operator.id, format!("/console/operators/{}", operator.id)),
        ("console-viewer@operators.example", format!("/console/operators/{}", operator.id)),
        ("c1", "/console/tenants/t1/records/accounting/companies/c1".to_owned()),
        ("k1", "/console/tenants/t1/records/accounting/customers/k1?company=c1".to_owned()),
    ] {
        let page = operator.get_in("en", &format!("search?q={text}"));
        assert!(page.contains("This is what you are looking for"), "{text}: {page}");
        assert!(page.contains(&format!("href=\"{href}\"")), "{text}: {page}");
    }
    let request =
        operator.json("audit?target=team:panel")["records"][0]["requestId"].as_str().unwrap().to_owned();
    let page = operator.get_in("es", &format!("search?q={request}"));
    assert!(
        page.contains(&format!("/console/audit?request={request}")) && page.contains("Equipo añadido"),
        "{page}"
    );
    // One id, two things.
    server.operator_post("teams", &json!({"name": "Otro", "id": "t1"}));
    let both = operator.get_in("en", "search?q=t1");
    assert!(both.contains("/console/tenants/t1") && both.contains("/console/teams/t1"), "{both}");
    assert!(!both.contains("This is what you are looking for"));
    assert!(operator.get_in("en", "search?q=T1").contains("Nothing was found"));
    assert!(operator.get_in("en", "search").contains("Type a complete id"));
    assert!(
        operator.get_in("en", &format!("search?q={}", "a".repeat(300))).contains("The search is too long")
    );
    let api = |query: &str| server.operator_get(&format!("/operator/v1/search{query}"));
    assert_eq!(api("?q=%20app%20").json()["hits"][0]["kind"], "client");
    for wrong in ["", "?q=", "?q=%20", "?q=a%00"] {
        assert_eq!(api(wrong).status, 400, "{wrong}");
    }
}

fn serving() -> &'static Server {
    static SERVER: OnceLock<EmbeddedServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        let settings = ["gateway.rate_per_minute=0", "egress.loopback=true", "delivery.host_check=off"];
        EmbeddedServer::start_shared(&settings)
    })
}

/// The reads of a tenant that are written, as `resource company reads`.
fn written_reads(tenant: &str) -> Vec<String> {
    let page = OperatorApi(serving()).get(&format!("/tenants/{tenant}/reads")).json();
    let line = |one: &Value| {
        let company = one["company"].as_str().unwrap_or("-");
        format!("{} {company} {}", one["resource"].as_str().unwrap(), one["reads"])
    };
    let mut lines: Vec<String> = page["reads"].as_array().unwrap().iter().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn gateway_counts_what_was_read_by_whom_and_nothing_else() {
    let keys = SubscriptionKeys::new(serving(), &[]);
    let api = ApiFixture::on(serving(), &keys);
    let tenant = api.sign_in.tenants[0].clone();
    let id = "0b6a7a2e-5f0a-4a57-9d5a-0c2f6f1f7b1a";
    assert_eq!(api.ingest.send_lines(&[company(id), customer(id, "k1", "Ana")]).accepted, 2);
    let list = api.read_for_company(id, "/accounting/api/customers");
    api.read_for_company(&id.to_uppercase(), "/accounting/api/customers/k1");
    let etag = list.header("etag").to_owned();
    let again = api.get_for_company(id, "/accounting/api/customers").header("if-none-match", &etag).send();
    assert_eq!(again.status, 304);
    api.read_for_company(id, "/accounting/api/customers/changes");
    api.read("/accounting/api/companies");
    api.read(&format!("/accounting/api/companies/{id}"));
    api.read("/invoicing/api/changes");
    for (path, status) in
        [("/accounting/api/customers/nobody", 404), ("/accounting/api/customers?pageSize=0", 400)]
    {
        assert_eq!(api.get_for_company(id, path).send().status, status);
    }
    let expected = [
        "changes - 1".to_owned(),
        "companies - 1".into(),
        format!("companies {id} 1"),
        format!("customers {id} 4"),
    ];
    let written = wait_for("the reads to be written", || {
        let written = written_reads(&tenant);
        (written.len() == expected.len() && written[3].ends_with(" 4")).then_some(written)
    });
    assert_eq!(written, expected);
    let page =
        OperatorApi(serving()).get(&format!("/tenants/{tenant}/reads?resource=accounting/customers")).json();
    assert_eq!(page["reads"][0]["client"], json!(api.sign_in.app.id));
    let hours: u64 =
        page["reads"][0]["hours"].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).sum();
    assert_eq!(hours, 4);
    // A call that left a trace is found by its request.
    let request = api.get("/accounting/api/companies").header("x-request-id", "who-read-what-1");
    assert_eq!(request.send().status, 200);
    let hit = wait_for("the call to be logged", || {
        let found = OperatorApi(serving()).get("/search?q=who-read-what-1").json();
        found["hits"].as_array().unwrap().first().cloned()
    });
    assert_eq!(
        (&hit["kind"], &hit["subscription"], &hit["status"]),
        (&json!("call"), &json!(keys.id), &json!(200))
    );
}

#[test]
fn delivery_is_found_by_its_outgoing_id() {
    let api = ApiFixture::on(serving(), &SubscriptionKeys::new(serving(), &[]));
    assert_eq!(api.ingest.send_lines(&[company("c")]).accepted, 1);
    let receiver = Receiver::open();
    let body = json!({
        "thirdPartyApplicationName": "Panel", "url": receiver.url("/hook"), "secret": "s3cret",
        "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
    });
    let created = api
        .request(Method::POST, "/accounting/api/customers/webhooks/subscribe")
        .header("content-type", "application/json")
        .body(body.to_string())
        .send();
    assert_eq!(created.status, 200, "{created:?}");
    let webhook = created.json()["webhookId"].as_str().unwrap().to_owned();
    let operator = OperatorApi(serving());
    wait_for("the contract", || {
        (operator.get(&format!("/webhooks/{webhook}")).json()["status"] == "active").then_some(())
    });
    assert_eq!(api.ingest.send_lines(&[customer("c", "k1", "Ana")]).accepted, 1);
    let delivery = wait_for("the delivery", || {
        let page = operator.get(&format!("/webhooks/{webhook}/deliveries")).json();
        page["deliveries"].as_array().unwrap().first().cloned()
    });
    let id = delivery["outgoingId"].as_str().unwrap();
    let found = operator.get(&format!("/search?q={id}")).json();
    let hit = &found["hits"][0];
    assert_eq!(
        (&hit["kind"], &hit["webhook"], &hit["sequence"]),
        (&json!("delivery"), &json!(webhook), &delivery["sequenceVersion"]),
        "{found} {delivery}"
    );
    assert_eq!(operator.get(&format!("/search?q={webhook}")).json()["hits"][0]["kind"], "webhook");
    // The same id with another bit is none of this webhook.
    let other = format!("{}{}", &id[..35], if id.ends_with('0') { '1' } else { '0' });
    assert_eq!(operator.get(&format!("/search?q={other}")).json()["hits"], json!([]));
}
