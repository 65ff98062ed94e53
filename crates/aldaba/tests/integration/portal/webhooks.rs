//! The pages of webhooks: they show the team's own, do what their forms say, and show nothing of a tenant whose access has
//! ended.

use std::sync::OnceLock;

use hyper::Method;
use serde_json::{Value, json};

use super::fixture::Developer;
use crate::harness::{
    ApiFixture, EmbeddedServer, OperatorApi, Page, Receiver, Server, SubscriptionKeys, company, customer,
    wait_for,
};

fn server() -> &'static Server {
    static SERVER: OnceLock<EmbeddedServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        let settings = [
            "gateway.rate_per_minute=0",
            "egress.loopback=true",
            "delivery.host_check=off",
            "delivery.schedule=200ms",
        ];
        EmbeddedServer::start_shared(&settings)
    })
}

/// A developer whose team has an application with an active webhook for customers.
struct Fixture {
    developer: Developer,
    api: ApiFixture<'static>,
    receiver: Receiver,
    webhook: String,
}

impl Fixture {
    #[track_caller]
    fn new(team: &str) -> Self {
        let developer = Developer::sign_in_to(server(), team);
        let made =
            server().installation.program(&["key", "add", "Panel", "--team", team, "--json"]).run().json();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (id, primary) = (text(&made["subscription"]["id"]), text(&made["primary_key"]));
        let keys = SubscriptionKeys { id, primary, secondary: text(&made["secondary_key"]) };
        let api = ApiFixture::on(server(), &keys);
        let client = format!("/clients/{}", api.sign_in.app.id);
        assert_eq!(OperatorApi(server()).patch(&client, &json!({"team": team})).status, 200);
        assert_eq!(api.ingest.send_lines(&[company("c")]).accepted, 1);
        let receiver = Receiver::open();
        let body = json!({
            "thirdPartyApplicationName": "Panel <b>", "url": receiver.url("/first"), "secret": "s3cret",
            "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
        });
        let created = api
            .request(Method::POST, "/accounting/api/customers/webhooks/subscribe")
            .header("content-type", "application/json")
            .body(body.to_string())
            .send();
        assert_eq!(created.status, 200, "{created:?}");
        let webhook = text(&created.json()["webhookId"]);
        let fixture = Self { developer, api, receiver, webhook };
        fixture.wait_for_status("active");
        fixture
    }

    fn page(&self) -> String {
        format!("webhooks/{}", self.webhook)
    }

    fn json(&self) -> Value {
        self.developer.get(&format!("{}?format=json", self.page())).json()
    }

    #[track_caller]
    fn wait_for_status(&self, status: &str) {
        wait_for("the webhook's status", || (self.json()["webhook"]["status"] == status).then_some(()));
    }

    /// Submits a form of the webhook's page.
    #[track_caller]
    fn act(&self, fields: &[(&str, &str)]) -> Page {
        let form = self.developer.get("signature").form("post");
        let (name, token) = form.fields.iter().find(|(name, _)| name == "token").unwrap();
        let fields = [&[(name.as_str(), token.as_str())], fields].concat();
        self.developer.browser.post(&self.developer.path(&self.page()), &fields)
    }

    /// Submits a form and expects this result.
    #[track_caller]
    fn done(&self, fields: &[(&str, &str)], code: &str) {
        let page = self.act(fields);
        assert!(page.status == 303 && page.location().ends_with(&format!("?done={code}")), "{page:?}");
        let shown = self.developer.browser.get(page.location());
        assert!(shown.status == 200 && shown.text().contains("notice success"), "{shown:?}");
    }
}

#[test]
fn pages_show_a_webhook_in_both_languages() {
    let fixture = Fixture::new("pages");
    assert_eq!(fixture.api.ingest.send_lines(&[customer("c", "1", "Bar Manolo")]).accepted, 1);
    wait_for("the figures", || (fixture.json()["figures"]["total"]["delivered"] == 1).then_some(()));
    let url = fixture.receiver.url("/first");
    for (lang, words) in [
        ("es", ["Activo", "Entregas correctas", "100\u{a0}%", "Reenviar un periodo", "Eliminar el webhook"]),
        ("en", ["Active", "Success rate", "100%", "Replay a period", "Delete the webhook"]),
    ] {
        let list = fixture.developer.get_in(lang, "webhooks");
        let link = format!("href=\"{}\"", fixture.developer.path(&fixture.page()));
        assert!(list.contains(&link) && list.contains(&url) && list.contains(words[0]), "{list}");
        let page = fixture.developer.get_in(lang, &fixture.page());
        for word in
            words.iter().chain(&["Svc.ACC.Customers.CustomerCreated", "Panel &lt;b&gt;", "/deliveries\""])
        {
            assert!(page.contains(word), "{lang}: {word}: {page}");
        }
        assert!(!page.contains("s3cret"), "{page}");
    }
    for (query, is_found) in [
        ("state=active", true),
        ("state=deleted", false),
        ("failing=true", false),
        ("url=FIRST", true),
        ("url=second", false),
        ("tenant=none", false),
        (&format!("client={}", fixture.api.sign_in.app.id), true),
    ] {
        let found = fixture.developer.get(&format!("webhooks?format=json&{query}")).json();
        assert_eq!(found["webhooks"].as_array().unwrap().len(), usize::from(is_found), "{query}");
    }
    let csv = fixture.developer.get("webhooks?format=csv");
    assert!(csv.text().lines().count() == 2 && csv.text().contains(&url), "{csv:?}");
    let hours = fixture.developer.get(&format!("{}?format=csv&span=week", fixture.page()));
    assert_eq!(hours.text().lines().count(), 1 + 7 * 24);
}

#[test]
fn list_without_webhooks_teaches_how_to_subscribe() {
    let developer = Developer::sign_in_to(server(), "empty");
    for lang in ["es", "en"] {
        let page = developer.get_in(lang, "webhooks");
        assert!(page.contains("/accounting/api/customers/webhooks/subscribe"), "{page}");
    }
}

#[test]
fn forms_change_test_replay_and_delete_a_webhook() {
    let fixture = Fixture::new("actions");
    fixture.done(&[("do", "test")], "webhook_test_sent");
    wait_for("the test event", || (fixture.json()["replays"][0]["delivered"] == 1).then_some(()));
    assert_eq!(fixture.api.ingest.send_lines(&[customer("c", "1", "Bar Manolo")]).accepted, 1);
    fixture.receiver.wait_for(1);
    fixture.done(&[("do", "replay"), ("from", "2020-01-01T00:00"), ("to", "")], "webhook_replay_started");
    wait_for("the replay", || {
        let replay = fixture.json()["replays"][0].clone();
        (replay["kind"] == "events" && replay["isDone"] == true && replay["percentDone"] == 100).then_some(())
    });
    for wrong in [("from", ""), ("from", "yesterday"), ("from", "2099-01-01T00:00")] {
        assert_eq!(fixture.act(&[("do", "replay"), wrong]).status, 400, "{wrong:?}");
    }
    fixture.done(&[("do", "pause")], "webhook_paused");
    assert_eq!(fixture.json()["webhook"]["status"], "disabled");
    assert_eq!(fixture.act(&[("do", "test")]).status, 400);
    fixture.done(&[("do", "enable")], "webhook_enabled");
    fixture.wait_for_status("active");
    let second = fixture.receiver.url("/second");
    fixture.done(&[("do", "change_url"), ("url", &second)], "webhook_url_changed");
    assert_eq!(fixture.json()["webhook"]["url"], second);
    assert_eq!(fixture.act(&[("do", "change_url"), ("url", "no url")]).status, 400);

    let rotated = fixture.act(&[("do", "rotate"), ("secret", "chosen by us"), ("overlap", "hour")]);
    assert!(rotated.status == 200 && rotated.text().contains("chosen by us"), "{rotated:?}");
    let made = fixture.act(&[("do", "rotate")]);
    assert!(made.text().contains("secret-once"), "{made:?}");
    let page = fixture.developer.get(&fixture.page());
    assert!(!page.text().contains("secret-once") && !page.text().contains("chosen by us"), "{page:?}");
    assert!(fixture.json()["previousSecretUntil"].is_string());

    assert_eq!(fixture.act(&[("do", "nothing")]).status, 400);
    fixture.done(&[("do", "delete")], "webhook_deleted");
    assert_eq!(fixture.json()["webhook"]["status"], "deleted");
    assert_eq!(fixture.act(&[("do", "enable")]).status, 400);
}

#[test]
fn webhook_of_another_team_does_not_exist() {
    let (own, other) = (Fixture::new("own"), Developer::sign_in_to(server(), "other"));
    // Neither under the other's team, nor under a team that the developer does not belong to.
    assert_eq!(other.get(&own.page()).status, 404);
    assert_eq!(other.browser.get(&own.developer.path(&own.page())).status, 404);
    let form = other.get("signature").form("post");
    for action in ["pause", "enable", "change_url", "rotate", "test", "replay", "delete"] {
        let fields: Vec<(&str, &str)> = form
            .fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .chain([("do", action), ("from", "2020-01-01T00:00"), ("url", "https://example.com/")])
            .collect();
        assert_eq!(other.browser.post(&other.path(&own.page()), &fields).status, 404, "{action}");
        assert_eq!(other.browser.post(&own.developer.path(&own.page()), &fields).status, 404, "{action}");
    }
    assert_eq!(own.json()["webhook"]["status"], "active");
    assert!(other.get("webhooks?format=json").json()["webhooks"].as_array().unwrap().is_empty());
    // Of both teams, the webhook is only below its own.
    let join = ["team", "join", "own", "other@developers.example"];
    server().installation.program(&join).run().code(0);
    assert_eq!(other.browser.get(&own.developer.path(&own.page())).status, 200);
    assert_eq!(other.get(&own.page()).status, 404);
}

#[test]
fn nothing_of_the_tenant_is_shown_after_withdrawal() {
    let fixture = Fixture::new("withdrawn");
    fixture.done(&[("do", "test")], "webhook_test_sent");
    assert!(fixture.json()["replays"].is_array());
    let browser = fixture.api.sign_in.signed_in_browser();
    let form = browser.get("/auth/core/permissions").form("post");
    browser.follow_redirects(browser.submit(&form, &[]));
    assert_eq!(fixture.api.ingest.send_lines(&[customer("c", "1", "Bar Manolo")]).accepted, 1);
    let shown = fixture.json();
    assert_eq!(
        (&shown["hidden"], &shown["webhook"]["status"], &shown["webhook"]["suspension"]),
        (&json!("access_withdrawn"), &json!("suspended"), &json!("access_withdrawn"))
    );
    for member in ["figures", "replays"] {
        assert_eq!(shown[member], Value::Null, "{shown}");
    }
    let listed = fixture.developer.get("webhooks?format=json").json()["webhooks"][0].clone();
    for row in [&shown["webhook"], &listed] {
        assert_eq!((&row["eventsBehind"], &row["nextAttempt"]), (&Value::Null, &Value::Null), "{row}");
    }
    for (lang, why) in [("es", "ha retirado el acceso"), ("en", "has withdrawn the application")] {
        let page = fixture.developer.get_in(lang, &fixture.page());
        assert!(page.contains(why) && !page.contains("/deliveries\""), "{page}");
        assert!(fixture.developer.get_in(lang, "webhooks").contains(why));
    }
    assert_eq!(fixture.act(&[("do", "test")]).status, 400);
    assert_eq!(fixture.developer.get(&format!("{}?format=csv", fixture.page())).status, 404);
}

/// A webhook that was paused before access ended: what happens in the tenant is hidden all the same.
#[test]
fn paused_webhook_without_access_is_shown_as_suspended() {
    let fixture = Fixture::new("paused");
    fixture.done(&[("do", "pause")], "webhook_paused");
    let tenant = &fixture.api.sign_in.tenants[0];
    let visible = fixture.developer.get("webhooks?format=json").json()["webhooks"][0].clone();
    assert!(visible["tenantName"].is_string() && visible["eventsBehind"].is_number(), "{visible}");
    let browser = fixture.api.sign_in.signed_in_browser();
    let form = browser.get("/auth/core/permissions").form("post");
    browser.follow_redirects(browser.submit(&form, &[]));
    let row = fixture.developer.get("webhooks?format=json").json()["webhooks"][0].clone();
    for member in ["tenantName", "eventsBehind", "nextAttempt", "failingSince"] {
        assert_eq!(row[member], Value::Null, "{row}");
    }
    assert_eq!((&row["status"], &row["suspension"]), (&json!("disabled"), &json!("access_withdrawn")));
    assert_eq!(row["tenant"], json!(tenant));
    for (lang, state, also) in
        [("es", "Suspendido", "Además está pausado"), ("en", "Suspended", "It is paused, too")]
    {
        let list = fixture.developer.get_in(lang, "webhooks");
        assert!(list.contains(&format!("<span class=\"state bad\">{state}</span>")), "{list}");
        assert!(fixture.developer.get_in(lang, &fixture.page()).contains(also));
    }
}
