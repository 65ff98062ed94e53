//! Webhooks and deliveries of all tenants: found by host, owner and state, explained, acted upon one by one and together.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use domain::event::EventKind;
use domain::{AccountId, ClientId, Guid, OperatorRole, Resource, Secret, TenantId};
use hyper::Method;
use serde_json::{Value, json};
use store::{AuditContext, NewWebhook, SubscribeOutcome, WebhookOwner};
use testserver::{TestClock, TestServer, TestTenant};

use super::fixture::{Operator, PASSWORD};
use crate::harness::{
    ApiFixture, Browser, EmbeddedServer, OperatorApi, Page, Receiver, Server, SubscriptionKeys, company,
    customer, wait_for,
};

/// Subscribes without a user's authorization: the webhook is suspended, and nothing is ever sent.
#[track_caller]
pub(super) fn add_webhook(
    server: &TestServer,
    number: u8,
    tenant: &TestTenant,
    client: &str,
    url: &str,
) -> String {
    let new = NewWebhook {
        id: Guid::from_bytes([number; 16]),
        owner: WebhookOwner { tenant: TenantId::new(tenant.id.as_str()), client: ClientId::new(client) },
        user: AccountId::new("maria"),
        resource: Resource::customers(),
        kinds: [EventKind::Created].into_iter().collect(),
        name: format!("Panel {number} <b>"),
        description: String::new(),
        url: url.into(),
        secret: Secret::new("s3cret"),
        host_mismatch: String::new(),
        enabled: true,
    };
    let store = server.store().clone();
    let made = server.block_on(async { store.subscribe(new, 100, &AuditContext::default()).await }).unwrap();
    let SubscribeOutcome::Created(webhook) = made else { panic!("{made:?}") };
    webhook.id.to_string()
}

fn ids(page: &Value) -> Vec<String> {
    let rows = page["webhooks"].as_array().unwrap().iter();
    rows.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// Three webhooks of two tenants and two clients, at two hosts.
struct Three {
    server: TestServer,
    north: TestTenant,
    client: String,
    webhooks: [String; 3],
}

impl Three {
    fn start(server: TestServer) -> Self {
        let (north, south) = (server.add_tenant("Asesoría Norte"), server.add_tenant("Asesoría Sur"));
        let (client, other) = (server.add_client("Panel").id, server.add_client("Otra").id);
        let webhooks = [
            add_webhook(&server, 1, &north, &client, "https://Hooks.example:8443/a"),
            add_webhook(&server, 2, &south, &client, "https://hooks.example/b"),
            add_webhook(&server, 3, &north, &other, "https://other.example/hooks.example"),
        ];
        Self { server, north, client, webhooks }
    }
}

#[test]
fn webhooks_are_found_by_host_owner_and_state() {
    let three = Three::start(TestServer::start());
    let operator = Operator::sign_in(&three.server, OperatorRole::Viewer);
    let [first, second, third] = &three.webhooks;
    let all = [first.clone(), second.clone(), third.clone()];
    assert_eq!(ids(&operator.json("webhooks")), all);
    for (query, expected) in [
        ("host=hooks.example".to_owned(), &all[..2]),
        ("host=https%3A%2F%2FHOOKS.example%2Fx".to_owned(), &all[..2]),
        ("host=example".to_owned(), &[]),
        (format!("tenant={}", three.north.id), &[first.clone(), third.clone()][..]),
        (format!("client={}&host=hooks.example&tenant={}", three.client, three.north.id), &all[..1]),
        ("team=none".to_owned(), &[]),
        ("state=active".to_owned(), &[]),
        ("state=failing".to_owned(), &[]),
        ("family=accounting&resource=customers".to_owned(), &all[..]),
        ("family=invoicing".to_owned(), &[]),
    ] {
        assert_eq!(ids(&operator.json(&format!("webhooks?{query}"))), expected, "{query}");
    }
    // The list shows the state that the engine has found.
    wait_for("the engine", || (ids(&operator.json("webhooks?state=suspended")) == all).then_some(()));
    for wrong in ["state=asleep", "family=x", "resource=x", "after=x"] {
        assert_eq!(operator.get(&format!("webhooks?{wrong}")).status, 400, "{wrong}");
    }
    for (lang, words) in [
        ("es", ["Suspendido", "Nadie de la organización ha autorizado la aplicación", "Pendientes"]),
        ("en", ["Suspended", "No user of the tenant has authorized the application", "Behind"]),
    ] {
        let list = operator.get_in(lang, "webhooks");
        let shown = ["Asesoría Norte", "Panel 1 &lt;b&gt;", "hooks.example", "Otra"];
        for word in words.iter().chain(&shown) {
            assert!(list.contains(word), "{lang}: {word}: {list}");
        }
        assert!(!list.contains("s3cret") && !list.contains("webhooks/bulk"), "a viewer only looks: {list}");
    }
    let csv = operator.get("webhooks?format=csv&host=hooks.example").text().to_owned();
    assert!(
        csv.lines().count() == 3 && csv.contains("Asesoría Sur") && csv.contains("not_authorized"),
        "{csv}"
    );
    // The same condition in the operator's API.
    let found = three.server.operator_get("/operator/v1/webhooks?host=HOOKS.example").json();
    assert_eq!(ids(&found), all[..2]);
}

#[test]
fn page_of_a_suspended_webhook_says_why_and_a_viewer_only_looks() {
    let three = Three::start(TestServer::start());
    let page = format!("webhooks/{}", three.webhooks[0]);
    let viewer = Operator::sign_in(&three.server, OperatorRole::Viewer);
    let causes = &viewer.json(&page)["causes"];
    assert_eq!((&causes[0]["cause"], &causes[0]["reason"]), (&json!("suspended"), &json!("not_authorized")));
    for (lang, words) in [
        ("es", ["¿Por qué va retrasado?", "Qué hacer", "Tu rol es de solo lectura"]),
        ("en", ["Why is this one behind?", "What to do", "Your role is read-only"]),
    ] {
        let shown = viewer.get_in(lang, &page);
        for word in words {
            assert!(shown.contains(word), "{lang}: {word}: {shown}");
        }
        assert!(!shown.contains("name=\"do\"") && !shown.contains("s3cret"), "{shown}");
    }
    assert_eq!(viewer.get("webhooks/0b5e0a51-6a5c-4d0e-9d0f-6f6f4c6f7a11").status, 404);
    assert_eq!(viewer.get("webhooks/nothing/deliveries").status, 404);
}

#[test]
fn bulk_action_touches_exactly_what_was_looked_at() {
    let three = Three::start(TestServer::start());
    let operator = Operator::sign_in(&three.server, OperatorRole::Support);
    let bulk = "webhooks/bulk?host=hooks.example&action=disable";
    let preview = operator.json(bulk);
    assert_eq!(ids(&preview), three.webhooks[..2]);
    for (lang, words) in [("es", ["Pausar", "Cambia"]), ("en", ["Pause", "Will change"])] {
        let page = operator.get_in(lang, bulk);
        assert!(page.contains("Asesoría Norte") && words.iter().all(|word| page.contains(word)), "{page}");
    }
    let digest = preview["digest"].as_str().unwrap().to_owned();

    // Another webhook at the host: the set is not the one that was looked at.
    let sixth = add_webhook(&three.server, 6, &three.north, &three.client, "https://hooks.example/c");
    let refused = operator.submit(bulk, &[("do", "disable"), ("digest", &digest)]);
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.text().contains("have changed since you looked"), "{refused:?}");
    assert!(refused.text().contains(&sixth), "the new set is shown: {refused:?}");
    let status =
        |id: &str| three.server.operator_get(&format!("/operator/v1/webhooks/{id}")).json()["status"].clone();
    assert_eq!(status(&three.webhooks[0]), "suspended", "nothing was done");

    let done = operator.submit(bulk, &[("do", "disable")]);
    assert_eq!(done.status, 200, "{done:?}");
    assert!(done.text().contains("Pause: done for 3 of 3 webhooks."), "{done:?}");
    for id in [&three.webhooks[0], &three.webhooks[1], &sixth] {
        assert_eq!(status(id), "disabled");
    }
    assert_eq!(status(&three.webhooks[2]), "suspended", "it is at another host");
    let audit = three.server.operator_get("/operator/v1/audit?kind=webhook_changed&pageSize=100").json();
    let entries = audit["records"].as_array().unwrap();
    let by = |id: &String| entries.iter().filter(|one| one.to_string().contains(id.as_str())).count();
    assert_eq!([&three.webhooks[0], &three.webhooks[1], &sixth].map(by), [1; 3], "{audit}");
    assert!(entries.iter().all(|one| one.to_string().contains(&operator.id)), "who acted: {audit}");

    // Each webhook has a result of its own.
    let replay = "webhooks/bulk?host=hooks.example&action=replay";
    let done = operator.submit(replay, &[("do", "replay"), ("from", "2026-11-15T08:30")]);
    assert!(done.status == 200 && done.text().contains("Replay a period: done for no webhook."), "{done:?}");
    let enable = "webhooks/bulk?state=disabled&action=enable";
    let done = operator.submit(enable, &[("do", "enable")]);
    assert!(done.status == 200 && done.text().contains("Enable: done for 3 of 3 webhooks."), "{done:?}");
    assert_eq!(ids(&operator.json("webhooks/bulk?state=disabled")), Vec::<String>::new());
    assert!(
        operator.get_in("es", "webhooks/bulk?state=disabled").contains("Ningún webhook cumple el filtro")
    );
}

#[test]
fn bulk_action_of_the_api_is_refused_when_the_set_has_changed() {
    let three = Three::start(TestServer::start());
    let select = || three.server.operator_get("/operator/v1/webhooks/bulk?host=hooks.example").json();
    let digest = select()["digest"].clone();
    assert_eq!((ids(&select()), digest.as_str().unwrap().len()), (three.webhooks[..2].to_vec(), 64));
    let post = |body: &Value| {
        let url =
            format!("{}/operator/v1/webhooks/bulk/disable?host=hooks.example", three.server.operator_url());
        testserver::Request::post(&url).bearer(three.server.operator_token()).json(body).send()
    };
    let done = post(&json!({"digest": digest})).expect_status(200).json();
    assert!(done["results"].as_array().unwrap().iter().all(|one| one["done"] == true), "{done}");
    let refused = post(&json!({"digest": digest})).expect_status(409).json();
    assert_eq!(refused["errors"][0]["code"], "selection_changed", "their state is another now: {refused}");
    post(&json!({"digest": "x"})).expect_status(400);
    post(&json!({})).expect_status(400);
}

#[test]
fn dangerous_actions_ask_for_a_fresh_sign_in_and_deletion_for_the_id() {
    let clock = Arc::new(TestClock::default());
    let three = Three::start(TestServer::builder().clock(clock.clone()).start());
    let operator = Operator::sign_in(&three.server, OperatorRole::Support);
    operator.get_in("en", "webhooks");
    let id = &three.webhooks[0];
    let page = format!("webhooks/{id}");
    let bulk = "webhooks/bulk?host=other.example&action=disable".to_owned();
    for (page, fields) in [
        (&page, vec![("do", "pause")]),
        (&page, vec![("do", "delete"), ("confirm", id.as_str())]),
        (&bulk, vec![("do", "disable")]),
    ] {
        clock.advance(Duration::from_secs(60 * 60));
        let asked = operator.submit(page, &fields);
        assert!(asked.status == 302 || asked.status == 303, "{fields:?}: {asked:?}");
        assert!(!asked.location().contains("done="), "{fields:?}: {asked:?}");
        if *page != bulk {
            assert_ne!(operator.json(page)["webhook"]["status"], "deleted");
        }
        let sign_in = operator.browser.follow_redirects(asked);
        let email = format!("{}@operators.example", operator.id);
        operator.browser.submit(&sign_in.form("post"), &[("username", &email), ("password", PASSWORD)]);
        if fields.contains(&("do", "delete")) {
            let refused = operator.submit(page, &[("do", "delete"), ("confirm", "another")]);
            assert!(refused.status == 400 && refused.text().contains("type the id"), "{refused:?}");
        }
        let done = operator.submit(page, &fields);
        assert!(done.status == 303 || done.status == 200, "{fields:?}: {done:?}");
    }
    assert_eq!(operator.json(&page)["webhook"]["status"], "deleted");
    assert_eq!(operator.json(&page)["causes"][0]["cause"], "ended");
    assert_eq!(operator.json(&format!("webhooks/{}", three.webhooks[2]))["webhook"]["status"], "disabled");
}

fn server() -> &'static Server {
    static SERVER: OnceLock<EmbeddedServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        let settings = [
            "gateway.rate_per_minute=0",
            "egress.loopback=true",
            "delivery.host_check=off",
            "delivery.schedule=200ms,500ms,1s,1s,1s,2s,2s,2s,2s,2s,2s,2s",
        ];
        EmbeddedServer::start_shared(&settings)
    })
}

/// An operator of a server that is a process.
#[track_caller]
fn invited_operator(name: &str, role: &str) -> Operator {
    let email = format!("{name}@operators.example");
    let new = json!({"realm": "operators", "email": email, "lang": "en", "role": role});
    let invited = OperatorApi(server()).create("/invitations", &new);
    let link = invited["link"].as_str().unwrap();
    let browser = Browser::new(&server().operator_url);
    let page = browser.follow_redirects(browser.get(&link[link.find("/console").unwrap()..]));
    let filled =
        [("given_name", "Olga"), ("lang", "en"), ("new_password", PASSWORD), ("repeated_password", PASSWORD)];
    let accepted = browser.submit(&page.form("post"), &filled);
    assert_eq!(accepted.status, 302, "{accepted:?}");
    Operator { browser, id: name.to_owned() }
}

/// An application with an active webhook for customers, and an operator.
struct Active {
    operator: Operator,
    api: ApiFixture<'static>,
    receiver: Receiver,
    webhook: String,
}

impl Active {
    #[track_caller]
    fn new(name: &str) -> Self {
        static KEYS: OnceLock<SubscriptionKeys> = OnceLock::new();
        let operator = invited_operator(name, "support");
        let api = ApiFixture::on(server(), KEYS.get_or_init(|| SubscriptionKeys::new(server(), &[])));
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
        let active = Self { operator, api, receiver, webhook };
        active.wait_for_status("active");
        active
    }

    fn page(&self) -> String {
        format!("webhooks/{}", self.webhook)
    }

    fn json(&self) -> Value {
        self.operator.json(&self.page())
    }

    #[track_caller]
    fn wait_for_status(&self, status: &str) {
        wait_for("the webhook's status", || (self.json()["webhook"]["status"] == status).then_some(()));
    }

    fn has_cause(&self, cause: &str) -> bool {
        self.json()["causes"].as_array().unwrap().iter().any(|one| one["cause"] == cause)
    }

    /// Creates a customer; the number of its event in the log.
    fn customer(&self, id: &str) -> u64 {
        let answer = self.api.ingest.send_lines(&[customer("c", id, "Bar Manolo")]);
        assert_eq!(answer.accepted, 1);
        answer.head()
    }

    /// Submits a form and expects this result.
    #[track_caller]
    fn done(&self, page: &str, fields: &[(&str, &str)], code: &str) {
        let done: Page = self.operator.submit(page, fields);
        assert!(done.status == 303 && done.location().ends_with(&format!("done={code}")), "{done:?}");
        let shown = self.operator.browser.get(done.location());
        assert!(shown.status == 200 && shown.text().contains("notice success"), "{shown:?}");
    }
}

#[test]
fn failing_webhook_is_explained_until_it_works_again() {
    let active = Active::new("explained");
    let listed =
        |query: &str| ids(&active.operator.json(&format!("webhooks?{query}"))).contains(&active.webhook);
    assert!(active.has_cause("nothingWrong"), "{}", active.json());
    let by_host = format!("state=active&host={}", active.receiver.host());
    assert!(!listed("state=failing") && listed(&by_host));
    active.receiver.respond_with(|_| Some((503, "")));
    active.customer("1");
    wait_for("the failure", || active.has_cause("lanesParked").then_some(()));
    assert!(listed("state=failing"));
    for (lang, words) in [
        ("es", ["Hay registros que esperan un reintento", "El próximo intento es el", "quien lo lleva"]),
        ("en", ["Records are waiting for a retry", "The next attempt is at", "tell its owner"]),
    ] {
        let page = active.operator.get_in(lang, &active.page());
        for word in words {
            assert!(page.contains(word), "{lang}: {word}: {page}");
        }
    }
    active.receiver.respond_with(|_| Some((200, "")));
    wait_for("the delivery", || active.has_cause("nothingWrong").then_some(()));
    assert!(!listed("state=failing"));
    let csv = active.operator.get(&format!("{}?format=csv&span=week", active.page()));
    assert_eq!(csv.text().lines().count(), 1 + 7 * 24);
}

#[test]
fn forms_test_replay_pause_enable_and_delete() {
    let active = Active::new("forms");
    let page = active.page();
    let sequence = active.customer("1");
    active.receiver.wait_for(1);
    active.done(&page, &[("do", "test")], "webhook_test_sent");
    wait_for("the test event", || (active.json()["replays"][0]["isDone"] == true).then_some(()));
    active.done(
        &page,
        &[("do", "replay"), ("from", "2020-01-01T00:00"), ("to", "")],
        "webhook_replay_started",
    );
    wait_for("the replay", || (active.json()["replays"][0]["delivered"] == 1).then_some(()));
    let refused = active.operator.submit(&page, &[("do", "replay"), ("from", "2030-01-01T00:00")]);
    assert!(refused.status == 400 && refused.text().contains("still in the log"), "{refused:?}");
    let delivery = format!("{page}/deliveries/{sequence}");
    active.done(&delivery, &[("do", "replay")], "webhook_delivery_replayed");
    active.done(&page, &[("do", "pause")], "webhook_paused");
    active.wait_for_status("disabled");
    assert!(active.has_cause("paused"));
    active.done(&page, &[("do", "enable")], "webhook_enabled");
    active.wait_for_status("active");
    active.done(&page, &[("do", "delete"), ("confirm", &active.webhook)], "webhook_deleted");
    active.wait_for_status("deleted");
    let page = active.operator.get(&page);
    assert!(!page.text().contains("name=\"do\""), "nothing can be done any more: {page:?}");
}

#[test]
fn operators_see_deliveries_whatever_access_the_application_has() {
    let active = Active::new("deliveries");
    let sequence = active.customer("kept");
    let list = format!("{}/deliveries", active.page());
    let delivery = format!("{list}/{sequence}");
    wait_for("the delivery", || (active.operator.json(&delivery)["status"] == "delivered").then_some(()));
    assert_eq!(active.operator.json(&format!("{list}?record=kept"))["deliveries"][0]["sequence"], sequence);
    assert_eq!(active.operator.json(&format!("{list}?record=none"))["deliveries"], json!([]));
    assert_eq!(active.operator.get(&format!("{list}?status=asleep")).status, 400);
    let client = format!("/clients/{}", active.api.sign_in.app.id);
    assert_eq!(OperatorApi(server()).patch(&client, &json!({"standing": "disabled"})).status, 200);
    active.wait_for_status("suspended");
    for (lang, words) in [("es", "La aplicación está desactivada"), ("en", "The application is disabled")] {
        assert!(active.operator.get_in(lang, &active.page()).contains(words));
        let page = active.operator.get_in(lang, &delivery);
        assert!(page.contains("id=\"body-text\""), "{lang}: the body is shown: {page}");
    }
    let refused = active.operator.submit(&delivery, &[("do", "replay")]);
    assert!(refused.status == 400 && refused.text().contains("suspended"), "{refused:?}");
    let csv = active.operator.get(&format!("{list}?format=csv"));
    assert_eq!(csv.text().lines().count(), 2, "{csv:?}");
    assert_eq!(active.operator.get(&format!("{list}/999999")).status, 404);
}
