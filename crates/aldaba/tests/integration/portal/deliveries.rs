//! The pages of deliveries: what was sent, why it failed, sending it again, and nothing once access has ended.

use std::sync::OnceLock;
use std::sync::mpsc;
use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};
use web::Stopwatch;

use super::fixture::Developer;
use crate::harness::{
    ApiFixture, EmbeddedServer, OperatorApi, Page, RawConnection, Receiver, Server, SubscriptionKeys,
    company, customer, wait_for,
};

const CREATED: &str = "Svc.ACC.Customers.CustomerCreated";
const UPDATED: &str = "Svc.ACC.Customers.CustomerUpdated";

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
        let keys = SubscriptionKeys {
            id: text(&made["subscription"]["id"]),
            primary: text(&made["primary_key"]),
            secondary: text(&made["secondary_key"]),
        };
        let api = ApiFixture::on(server(), &keys);
        let client = format!("/clients/{}", api.sign_in.app.id);
        assert_eq!(OperatorApi(server()).patch(&client, &json!({"team": team})).status, 200);
        assert_eq!(api.ingest.send_lines(&[company("c")]).accepted, 1);
        let receiver = Receiver::open();
        let body = json!({
            "thirdPartyApplicationName": "Panel", "url": receiver.url("/hook"), "secret": "s3cret",
            "eventTypes": [CREATED, UPDATED],
        });
        let created = api
            .request(Method::POST, "/accounting/api/customers/webhooks/subscribe")
            .header("content-type", "application/json")
            .body(body.to_string())
            .send();
        assert_eq!(created.status, 200, "{created:?}");
        let webhook = text(&created.json()["webhookId"]);
        let operator = OperatorApi(server());
        wait_for("the contract", || {
            (operator.get(&format!("/webhooks/{webhook}")).json()["status"] == "active").then_some(())
        });
        Self { developer, api, receiver, webhook }
    }

    fn put(&self, id: &str, name: &str) {
        assert_eq!(self.api.ingest.send_lines(&[customer("c", id, name)]).accepted, 1);
    }

    fn page(&self) -> String {
        format!("webhooks/{}/deliveries", self.webhook)
    }

    /// The deliveries that a query finds.
    fn found(&self, query: &str) -> Vec<Value> {
        let page = self.developer.get(&format!("{}?format=json&{query}", self.page())).json();
        page["deliveries"].as_array().unwrap_or_else(|| panic!("{page}")).clone()
    }

    /// Waits until a record's delivery has this status; returns its number.
    #[track_caller]
    fn wait_for_delivery(&self, record: &str, status: &str) -> u64 {
        wait_for("the delivery", || {
            let found = self.found(&format!("record={record}&status={status}"));
            found.first().and_then(|one| one["sequence"].as_u64())
        })
    }

    #[track_caller]
    fn replay(&self, path: &str) -> Page {
        let form = self.developer.get("signature").form("post");
        let (name, token) = form.fields.iter().find(|(name, _)| name == "token").unwrap();
        self.developer.browser.post(path, &[(name.as_str(), token.as_str()), ("do", "replay")])
    }
}

#[test]
fn list_is_filtered_by_status_event_record_and_time() {
    let fixture = Fixture::new("dlfilters");
    assert!(fixture.developer.get_in("es", &fixture.page()).contains("Todavía no se ha enviado nada"));
    fixture.put("1", "Bar Manolo");
    fixture.wait_for_delivery("1", "delivered");
    fixture.put("1", "Bar Manolo e Hijos");
    wait_for("both", || (fixture.found("").len() == 2).then_some(()));
    fixture.receiver.respond_with(|_| Some((500, "")));
    fixture.put("2", "Bar Pepe");
    fixture.wait_for_delivery("2", "waiting");
    for (query, count) in [
        ("", 3),
        ("status=delivered", 2),
        ("status=waiting", 1),
        ("status=failed", 0),
        (&format!("event={CREATED}"), 2),
        (&format!("event={UPDATED}"), 1),
        ("record=1", 2),
        ("record=3", 0),
        ("since=2020-01-01T00:00", 3),
        ("until=2020-01-01T00:00", 0),
        (&format!("event={CREATED}&record=1&status=delivered"), 1),
    ] {
        assert_eq!(fixture.found(query).len(), count, "{query}");
    }
    for wrong in ["status=lost", "event=Svc.ACC.None", "since=yesterday", "before=1"] {
        assert_eq!(fixture.developer.get(&format!("{}?{wrong}", fixture.page())).status, 400, "{wrong}");
    }
    let csv = fixture.developer.get(&format!("{}?format=csv&record=1", fixture.page()));
    assert!(csv.text().lines().count() == 3 && csv.text().contains(UPDATED), "{csv:?}");
    for (lang, words) in
        [("es", ["En espera", "500", "Próximo intento"]), ("en", ["Waiting", "500", "Next attempt"])]
    {
        let page = fixture.developer.get_in(lang, &fixture.page());
        for word in words.iter().chain(&["data-live=", CREATED]) {
            assert!(page.contains(word), "{lang}: {word}: {page}");
        }
        let none = fixture.developer.get_in(lang, &format!("{}?record=none", fixture.page()));
        assert!(none.contains("class=\"empty\""), "{none}");
    }
}

#[test]
fn one_delivery_shows_attempts_body_and_diagnosis_and_is_sent_again() {
    let fixture = Fixture::new("dlone");
    fixture.receiver.respond_with(|request| Some((if request.is_acknowledge() { 200 } else { 401 }, "")));
    fixture.put("1", "Bar d'Or");
    let failing = fixture.wait_for_delivery("1", "waiting");
    let page = format!("{}/{failing}", fixture.page());
    for (lang, words) in [
        ("es", ["El receptor pide autenticación", "Del lado del receptor", "Reenviar", "Primer byte"]),
        (
            "en",
            ["The receiver asks for authentication", "On the receiver's side", "Send again", "First byte"],
        ),
    ] {
        let text = fixture.developer.get_in(lang, &page);
        let common = [CREATED, "svc-webhook-signature: sha256=&lt;signature&gt;", "curl -X POST"];
        for word in words.iter().chain(&common) {
            assert!(text.contains(word), "{lang}: {word}: {text}");
        }
        assert!(!text.contains("s3cret"), "{text}");
    }
    fixture.receiver.respond_with(|_| Some((200, "")));
    fixture.wait_for_delivery("1", "delivered");
    let shown = fixture.developer.get(&format!("{page}?format=json")).json();
    let attempts = shown["attempts"].as_array().unwrap();
    let last = attempts.last().unwrap();
    assert_eq!((&attempts[0]["status"], &attempts[0]["diagnosis"]), (&json!(401), &json!("unauthorized")));
    assert_eq!((&last["status"], &last["succeeded"]), (&json!(200), &json!(true)));
    let sent = fixture.receiver.changes();
    assert_eq!(shown["body"], sent[0].body);
    let raw = fixture.developer.get_in("en", &format!("{page}?body=raw"));
    assert!(raw.contains("body=raw"), "{raw}");
    let before = sent.len();
    let done = fixture.replay(&fixture.developer.path(&page));
    assert!(done.status == 303 && done.location().ends_with("?done=replay_started"), "{done:?}");
    assert_eq!(fixture.receiver.wait_for(before + 1)[before].body, sent[0].body);
    wait_for("the replay", || {
        let shown = fixture.developer.get(&format!("{page}?format=json")).json();
        let last = shown["attempts"].as_array()?.last()?.clone();
        (last["occasion"] == "replay" && last["succeeded"] == true).then_some(())
    });
    let csv = fixture.developer.get(&format!("{page}?format=csv"));
    assert!(csv.text().contains("first_byte_ms") && csv.text().contains("replay"), "{csv:?}");
    for missing in ["999999999", "x"] {
        assert_eq!(fixture.developer.get(&format!("{}/{missing}", fixture.page())).status, 404, "{missing}");
    }
}

#[test]
fn deliveries_of_another_team_do_not_exist() {
    let (own, other) = (Fixture::new("dlown"), Fixture::new("dlother"));
    own.put("1", "Bar Manolo");
    let sequence = own.wait_for_delivery("1", "delivered");
    let before = own.receiver.changes().len();
    for page in [own.page(), format!("{}/{sequence}", own.page())] {
        assert_eq!(own.developer.get(&page).status, 200, "{page}");
        assert_eq!(other.developer.get(&page).status, 404, "{page}");
        assert_eq!(other.developer.browser.get(&own.developer.path(&page)).status, 404, "{page}");
    }
    for path in [own.developer.path(""), other.developer.path("")] {
        let replay = other.replay(&format!("{path}{}/{sequence}", own.page()));
        assert_eq!(replay.status, 404, "{replay:?}");
    }
    assert_eq!(own.receiver.changes().len(), before);
}

#[test]
fn nothing_of_a_delivery_is_shown_once_access_has_ended() {
    let fixture = Fixture::new("dlended");
    fixture.put("record-1", "Bar Manolo");
    let sequence = fixture.wait_for_delivery("record-1", "delivered");
    let browser = fixture.api.sign_in.signed_in_browser();
    let form = browser.get("/auth/core/permissions").form("post");
    browser.follow_redirects(browser.submit(&form, &[]));
    let one = format!("{}/{sequence}", fixture.page());
    for (lang, words) in [("es", "La persona ha retirado el acceso"), ("en", "has withdrawn the application")]
    {
        for page in [fixture.page(), one.clone()] {
            let text = fixture.developer.get_in(lang, &page);
            assert!(text.contains(words), "{lang}: {text}");
            for hidden in ["record-1", "Bar Manolo", CREATED, "OutgoingId"] {
                assert!(!text.contains(hidden), "{hidden}: {text}");
            }
            let json = fixture.developer.get(&format!("{page}?format=json")).json();
            assert_eq!(json, json!({"webhookId": fixture.webhook, "suspension": "access_withdrawn"}));
        }
    }
    let csv = fixture.developer.get(&format!("{}?format=csv", fixture.page()));
    assert!(!csv.text().contains("record-1"), "{csv:?}");
    let before = fixture.receiver.changes().len();
    assert_eq!(fixture.replay(&fixture.developer.path(&one)).status, 400);
    assert_eq!(fixture.receiver.changes().len(), before);
}

#[test]
fn live_list_tells_its_version_and_every_other_one() {
    let fixture = Fixture::new("dllive");
    let path = fixture.developer.path(&fixture.page());
    let version = |page: &Page| {
        let (_, rest) = page.text().split_once("data-version=\"").unwrap_or_else(|| panic!("{page:?}"));
        rest.split_once('"').unwrap().0.to_owned()
    };
    let shown = version(&fixture.developer.get(&fixture.page()));
    let cookies = fixture.developer.browser.cookie_header();
    let head = format!("GET {path}?format=events HTTP/1.1\r\ncookie: {cookies}\r\n");
    let open = || RawConnection::open(&server().public_url, &head);
    let mut stream = open();
    // Also what happened between the page and its stream is told.
    assert!(stream.read_until(&format!("event: version\ndata: {shown}\n")));
    fixture.put("record-1", "Bar Manolo");
    fixture.wait_for_delivery("record-1", "delivered");
    let now = version(&fixture.developer.get(&fixture.page()));
    assert_ne!(now, shown);
    let told = format!("event: version\ndata: {now}\n");
    assert!(stream.read_until(&told));
    assert!(open().read_until(&told), "a stream that opens later tells it at once");
}

/// Every version that the live list tells of.
fn follow(fixture: &Fixture) -> mpsc::Receiver<()> {
    let path = fixture.developer.path(&fixture.page());
    let cookies = fixture.developer.browser.cookie_header();
    let head = format!("GET {path}?format=events HTTP/1.1\r\ncookie: {cookies}\r\n");
    let mut stream = RawConnection::open(&server().public_url, &head);
    let (changed, changes) = mpsc::channel();
    std::thread::spawn(move || while stream.read_until("event: version") && changed.send(()).is_ok() {});
    changes
}

/// From before the change is sent to the page that shows its delivery, by the machine's clock.
#[test]
fn live_list_shows_a_delivery_within_300_milliseconds() {
    let fixture = Fixture::new("dlfast");
    let changes = follow(&fixture);
    let mut count = 0;
    wait_for("the stream's first look at the page", || {
        count += 1;
        fixture.put(&count.to_string(), "Bar Manolo");
        fixture.wait_for_delivery(&count.to_string(), "delivered");
        changes.try_recv().ok()
    });
    let mut shown_after = || {
        count += 1;
        let (record, watch) = (format!("record-{count}"), Stopwatch::start());
        fixture.put(&record, "Bar Manolo");
        loop {
            let _ = changes.recv_timeout(Duration::from_secs(1));
            if fixture.developer.get(&format!("{}?format=json", fixture.page())).text().contains(&record) {
                return watch.elapsed();
            }
        }
    };
    // Other tests make the machine slow for a while: half of the deliveries must be in time, in one of a few series.
    wait_for("a series in time", || {
        let mut times = [(); 9].map(|()| shown_after());
        times.sort_unstable();
        println!("{times:?}");
        (times[4] < Duration::from_millis(300)).then_some(())
    });
}
