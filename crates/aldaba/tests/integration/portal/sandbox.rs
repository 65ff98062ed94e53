//! The sandbox's page: it is made with one click, gives tokens that open it, and goes back to its beginning. The checklist
//! walks through it.

use hyper::Method;
use serde_json::{Value, json};
use testserver::{Request, TestServer};

use super::fixture::Developer;
use crate::harness::{HttpRequest, Page, wait_for};

pub(super) const RECEIVER: &str = "sandbox/receiver";
const ACTIONS: [(&str, &str); 7] = [
    ("sandbox", "create"),
    ("sandbox", "reveal"),
    ("sandbox", "token"),
    ("sandbox", "reset"),
    (RECEIVER, "make"),
    (RECEIVER, "subscribe"),
    (RECEIVER, "mode"),
];

/// A developer whose team has a client and a subscription with all products.
pub(super) struct Fixture {
    pub(super) server: TestServer,
    pub(super) developer: Developer,
    pub(super) client: String,
    pub(super) key: String,
}

impl Fixture {
    #[track_caller]
    pub(super) fn new(settings: &[(&str, &str)]) -> Self {
        let builder = settings.iter().fold(TestServer::builder(), |one, (key, value)| one.set(key, value));
        let server = builder.start();
        let developer = Developer::sign_in(&server, "diego");
        let client = add_client(&server, &developer.team);
        let products = ["accounting", "payroll", "invoicing"];
        let body = json!({"name": "Clave", "products": products, "team": developer.team});
        let key = server.operator_post("subscriptions", &body)["primaryKey"].as_str().unwrap().to_owned();
        Self { server, developer, client, key }
    }

    /// The same with a sandbox.
    #[track_caller]
    pub(super) fn with_sandbox(settings: &[(&str, &str)]) -> Self {
        let fixture = Self::new(settings);
        let made = fixture.act("sandbox", &[("do", "create")]);
        assert!(made.status == 303 && made.location().ends_with("sandbox?done=sandbox_made"), "{made:?}");
        fixture
    }

    /// Submits a form to a page of the team.
    #[track_caller]
    pub(super) fn act(&self, page: &str, fields: &[(&str, &str)]) -> Page {
        act(&self.developer, &self.developer.path(page), fields)
    }

    #[track_caller]
    pub(super) fn json(&self, page: &str) -> Value {
        let separator = if page.contains('?') { '&' } else { '?' };
        let found = self.developer.get(&format!("{page}{separator}format=json"));
        assert_eq!(found.status, 200, "{page}: {found:?}");
        found.json()
    }

    #[track_caller]
    fn token(&self, scopes: &str) -> Value {
        let fields = [("do", "token"), ("client", self.client.as_str()), ("scope", scopes)];
        let issued = self.act("sandbox?format=json", &fields);
        assert_eq!(issued.status, 200, "{issued:?}");
        issued.json()["token"].clone()
    }

    fn read(&self, path: &str, token: &Value) -> testserver::Response {
        let url = format!("{}{path}", self.server.base_url());
        let request = Request::get(&url).header("ocp-apim-subscription-key", &self.key);
        request.bearer(token["accessToken"].as_str().unwrap()).send()
    }
}

/// A client of a team.
#[track_caller]
pub(super) fn add_client(server: &TestServer, team: &str) -> String {
    let client = server.add_client("Panel de ventas");
    let url = format!("{}/operator/v1/clients/{}", server.operator_url(), client.id);
    let change = Request::new(Method::PATCH, &url).bearer(server.operator_token());
    change.json(&json!({ "team": team })).send().expect_status(200);
    client.id
}

/// Submits a form with the developer's own token.
#[track_caller]
pub(super) fn act(developer: &Developer, path: &str, fields: &[(&str, &str)]) -> Page {
    let form = developer.get("signature").form("post");
    let (name, token) = form.fields.iter().find(|(name, _)| name == "token").unwrap();
    developer.browser.post(path, &[&[(name.as_str(), token.as_str())], fields].concat())
}

#[test]
fn sandbox_is_made_with_one_click_and_says_how_to_use_it() {
    let fixture = Fixture::new(&[]);
    let developer = &fixture.developer;
    for page in ["sandbox", RECEIVER] {
        let empty = developer.get(page);
        assert!(empty.text().contains("todavía no tiene entorno de pruebas"), "{empty:?}");
        assert_eq!(empty.text().matches("name=\"do\"").count(), 1, "one button: {}", empty.text());
    }
    assert_eq!(fixture.json("sandbox")["state"], "none");
    assert_eq!(fixture.act("sandbox", &[("do", "reveal")]).status, 404);
    assert_eq!(fixture.act("sandbox", &[("do", "reset")]).status, 404);
    let form = developer.get(RECEIVER).form("post");
    let made = developer.browser.submit(&form, &[("do", "create")]);
    assert!(made.location().ends_with("/sandbox?done=sandbox_made"), "{made:?}");
    let shown = fixture.json("sandbox");
    let (tenant, email) = (&shown["sandbox"]["tenant"], &shown["sandbox"]["email"]);
    let companies = shown["companies"].as_array().unwrap().clone();
    assert!(shown["state"] == "ready" && companies.len() == 2, "{shown}");
    for (lang, words) in [
        (
            "es",
            [
                "Listo",
                "Empresas",
                "Obtener un token",
                "Restablecer el entorno de pruebas",
                "Ver los webhooks del entorno",
            ],
        ),
        ("en", ["Ready", "Companies", "Get a token", "Reset the sandbox", "See the sandbox&#39;s webhooks"]),
    ] {
        let page = developer.get_in(lang, "sandbox").replace("&#x27;", "&#39;").replace('\'', "&#39;");
        for word in words {
            assert!(page.contains(word), "{lang}: {word}: {page}");
        }
        for value in [tenant, email, &companies[0]["correlationId"]] {
            assert!(page.contains(value.as_str().unwrap()), "{lang}: {value}: {page}");
        }
        assert!(page.contains(&fixture.client) && page.contains("Panel de ventas"), "{page}");
    }
    let csv = developer.get("sandbox?format=csv");
    assert_eq!(csv.text().lines().count(), 3, "{csv:?}");
    // The password is masked until it is asked for.
    assert_eq!(shown["password"], Value::Null);
    let revealed = fixture.act("sandbox?format=json", &[("do", "reveal")]).json();
    let password = revealed["password"].as_str().unwrap();
    assert!(!developer.get("sandbox").text().contains(password));
    assert!(fixture.act("sandbox", &[("do", "reveal")]).text().contains(password));
    // Making it again changes nothing.
    fixture.act("sandbox", &[("do", "create")]);
    assert_eq!(fixture.json("sandbox"), shown);
    assert_eq!(fixture.act("sandbox", &[("do", "nothing")]).status, 400);
}

#[test]
fn token_in_one_click_opens_the_sandbox() {
    let fixture = Fixture::with_sandbox(&[]);
    let page = fixture.act("sandbox?lang=en", &[("do", "token"), ("client", &fixture.client)]);
    assert_eq!(page.status, 200, "{page:?}");
    let key_page = fixture.developer.path("subscriptions/");
    for words in [
        "secret-once",
        "/accounting/api/customers",
        "SVC.ES.NEWPOL.ACC.API",
        "What the token says",
        &key_page,
    ] {
        assert!(page.text().contains(words), "{words}: {page:?}");
    }
    assert!(!fixture.developer.get("sandbox").text().contains("secret-once"), "it is shown once");
    let token = fixture.token("");
    let companies = fixture.read("/accounting/api/companies", &token).expect_status(200).json();
    assert!(companies.as_array().unwrap().len() >= 2, "{companies}");
    fixture.read("/payroll/api/companies", &token).expect_status(200);
    let tenant = fixture.json("sandbox")["sandbox"]["tenant"].clone();
    assert!(token["claims"].to_string().contains(tenant.as_str().unwrap()), "{token}");
    // The command to copy works as it is, but for the key.
    let curl = token["curl"].as_str().unwrap();
    assert!(curl.contains(token["accessToken"].as_str().unwrap()));
    let between = |start: &str, end| curl.split_once(start).and_then(|(_, rest)| rest.split(end).next());
    let request = Request::get(between("curl ", ' ').unwrap())
        .header("ocp-apim-subscription-key", &fixture.key)
        .header("context", between("'context: ", '\'').unwrap());
    request.bearer(between("Bearer ", '\'').unwrap()).send().expect_status(200);
    // With fewer scopes less is open.
    let payroll = fixture.token("SVC.ES.EquipoContex");
    assert_eq!(payroll["scopes"], json!(["SVC.ES.EquipoContex"]));
    fixture.read("/payroll/api/companies", &payroll).expect_status(200);
    fixture.read("/accounting/api/companies", &payroll).expect_status(403);
    let wrong = |scope: &str| {
        let fields = [("do", "token"), ("client", fixture.client.as_str()), ("scope", scope)];
        fixture.act("sandbox", &fields).status
    };
    assert_eq!((wrong("none"), wrong(&"x".repeat(1001))), (400, 400));
}

#[test]
fn page_says_what_is_missing_and_where_to_ask_for_it() {
    let server = TestServer::start();
    let developer = Developer::sign_in(&server, "diego");
    act(&developer, &developer.path("sandbox"), &[("do", "create")]);
    for (lang, no_client, no_key) in [
        ("es", "Falta una aplicación", "Falta una clave"),
        ("en", "An application is missing", "A key is missing"),
    ] {
        for page in ["sandbox", RECEIVER] {
            let page = developer.get_in(lang, page);
            let link = format!("href=\"{}\"", developer.path("applications"));
            assert!(page.contains(no_client) && page.contains(&link), "{page}");
            assert!(!page.contains("value=\"token\""), "{page}");
        }
        assert!(!developer.get_in(lang, "sandbox").contains(no_key));
    }
    let client = add_client(&server, &developer.team);
    for (lang, no_key) in [("es", "Falta una clave"), ("en", "A key is missing")] {
        let page = developer.get_in(lang, "sandbox");
        let link = format!("href=\"{}\"", developer.path("subscriptions"));
        assert!(page.contains(no_key) && page.contains(&link) && page.contains("value=\"token\""), "{page}");
    }
    // A token it gets, but no webhook: nothing would be delivered.
    let receiver = developer.path(RECEIVER);
    let fields = [("do", "subscribe"), ("client", client.as_str()), ("resource", "accounting.customers")];
    let refused = act(&developer, &receiver, &fields);
    assert!(refused.status == 400 && refused.text().contains("subscription"), "{refused:?}");
}

#[test]
fn nothing_happens_without_the_form_token_or_for_another_team() {
    let fixture = Fixture::with_sandbox(&[]);
    let other = Developer::sign_in(&fixture.server, "ana");
    let foreign = add_client(&fixture.server, &other.team);
    act(&other, &other.path("sandbox"), &[("do", "create")]);
    let before = (fixture.json("sandbox"), fixture.json(RECEIVER));
    let (event, resource) = (("event", "customers.created"), ("resource", "accounting.customers"));
    for (page, action) in ACTIONS {
        let fields = [("do", action), event, resource, ("mode", "fail"), ("client", fixture.client.as_str())];
        let path = fixture.developer.path(page);
        let refused = fixture.developer.browser.post(&path, &fields);
        assert_eq!(refused.status, 400, "{page} {action}: {refused:?}");
        // Neither the team of somebody else, nor its client.
        assert_eq!(act(&other, &path, &fields).status, 404, "{page} {action}");
        let body = json!({"do": action, "event": event.1, "resource": resource.1, "mode": "fail"});
        let request = HttpRequest::post(&format!("{}{path}", fixture.server.base_url()));
        let request = request.header("content-type", "application/json").header("accept", "application/json");
        let refused = fixture.developer.browser.send(request.body(body.to_string()));
        assert_eq!((refused.status, &refused.json()["error"]), (400, &json!("form_expired")), "{action}");
    }
    for (page, action) in [("sandbox", "token"), (RECEIVER, "subscribe")] {
        let fields = [("do", action), resource, ("client", foreign.as_str())];
        assert_eq!(fixture.act(page, &fields).status, 404, "{action}");
    }
    assert_eq!((fixture.json("sandbox"), fixture.json(RECEIVER)), before);
}

#[test]
fn closed_sandboxes_are_said_to_be_closed_and_the_rest_works() {
    let fixture = Fixture::new(&[("portal.sandbox", "false")]);
    let developer = &fixture.developer;
    for page in ["sandbox", RECEIVER, "sandbox/received/1"] {
        assert_eq!(fixture.json(page)["state"], "closed", "{page}");
        assert!(developer.get_in("es", page).contains("Aquí no hay entornos de pruebas"), "{page}");
        assert!(developer.get_in("en", page).contains("There are no sandboxes here"), "{page}");
    }
    let link = format!("href=\"{}\"", developer.path("sandbox"));
    for page in ["", "applications", "events", "events/Invoicing.Bank.Deleted", "reference", "webhooks"] {
        let shown = developer.get_in("es", page);
        assert!(!shown.contains(&link) && !shown.contains(RECEIVER), "{page}: {shown}");
    }
    for (page, action) in ACTIONS {
        let fields = [
            ("do", action),
            ("event", "customers.created"),
            ("resource", "accounting.customers"),
            ("mode", "fail"),
            ("client", fixture.client.as_str()),
        ];
        let refused = fixture.act(page, &fields);
        assert_eq!(refused.status, 400, "{page} {action}: {refused:?}");
        assert!(refused.text().contains("desactivado"), "{page} {action}: {refused:?}");
    }
}

#[test]
fn reset_names_what_it_destroys_and_begins_again() {
    let fixture = Fixture::with_sandbox(&[]);
    let before = fixture.json("sandbox");
    let token = fixture.token("");
    let fields =
        [("do", "subscribe"), ("client", fixture.client.as_str()), ("resource", "accounting.customers")];
    assert_eq!(fixture.act(RECEIVER, &fields).status, 200);
    wait_for("the handshake", || (!fixture.json(RECEIVER)["received"].as_array()?.is_empty()).then_some(()));
    for (lang, words) in [("es", "Se destruyen sus registros"), ("en", "This destroys its records")] {
        assert!(fixture.developer.get_in(lang, "sandbox").contains(words));
    }
    let done = fixture.act("sandbox", &[("do", "reset")]);
    assert!(done.location().ends_with("?done=sandbox_reset"), "{done:?}");
    let after = fixture.json("sandbox");
    assert!(
        after["state"] == "ready" && after["sandbox"]["tenant"] != before["sandbox"]["tenant"],
        "{after}"
    );
    assert_eq!(after["sandbox"]["receiverUrl"], before["sandbox"]["receiverUrl"]);
    let receiver = fixture.json(RECEIVER);
    assert_eq!((&receiver["received"], &receiver["webhooks"]), (&json!([]), &json!([])));
    fixture.read("/accounting/api/companies", &token).expect_status(401);
    fixture.read("/accounting/api/companies", &fixture.token("")).expect_status(200);
}

#[test]
fn checklist_is_walked_in_the_sandbox() {
    let server = TestServer::builder().set("portal.approval.accounting", "automatic").start();
    let developer = Developer::sign_in(&server, "diego");
    let progress = |step: &str| {
        let home = developer.get("?format=json").json();
        (home["progress"][step] == true).then_some(())
    };
    // The form of an open step, by its action.
    let click = |page: &str, action: &str| {
        let home = developer.get("");
        let path = developer.path(page);
        let marker = format!("name=\"do\" value=\"{action}\"");
        assert!(home.text().contains(&marker), "{action}: {}", home.text());
        let form = home.forms().into_iter().find(|form| form.action == path);
        let form = form.unwrap_or_else(|| panic!("no form for {page}: {}", home.text()));
        developer.browser.submit(&form, &[("do", action)])
    };
    assert_eq!(click("subscriptions", "ask").status, 303);
    progress("hasKey").expect("a key");
    assert_eq!(click("applications", "ask").status, 303);
    progress("hasClient").expect("a client");
    assert_eq!(click("sandbox", "create").status, 303);
    let page = click("sandbox", "token");
    progress("hasSignedIn").expect("a sign-in");
    let (_, rest) = page.text().split_once("id=\"access-token\">").unwrap();
    let token = rest.split('<').next().unwrap();
    let subscription = developer.get("subscriptions?format=json").json()["subscriptions"][0]["id"].clone();
    let keys = format!("subscriptions/{}?format=json", subscription.as_str().unwrap());
    let shown = act(&developer, &developer.path(&keys), &[("do", "reveal"), ("slot", "primary")]).json();
    let key = shown["shownKey"]["key"].as_str().unwrap_or_else(|| panic!("{shown}"));
    let url = format!("{}/accounting/api/companies", server.base_url());
    Request::get(&url).header("ocp-apim-subscription-key", key).bearer(token).send().expect_status(200);
    wait_for("the call", || progress("hasCalled"));
    assert_eq!(click(RECEIVER, "subscribe").status, 200);
    wait_for("the contract", || progress("hasWebhook"));
    let made = click(RECEIVER, "make");
    assert!(made.status == 303 && made.location().contains("?made="), "{made:?}");
    wait_for("the delivery", || progress("hasDelivery"));
    assert!(developer.get_in("en", "").contains("The integration is up and running."));
}
