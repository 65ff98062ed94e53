//! Sandboxes over real HTTP: apart from the operator's customers, with a receiver that nothing else reaches.

use std::sync::OnceLock;

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{
    ALL_SCOPES, ApiFixture, Browser, CALLBACK, EmbeddedServer, HttpRequest, HttpResponse, Installation,
    OperatorApi, Page, Server, SignInFixture, SubscriptionKeys, TestApp, Tokens, oauth_error, register_app,
    wait_for,
};

const PORTAL: &str = "http://localhost:8080/portal/sandbox/callback";
const CUSTOMERS: &str = "/accounting/api/customers";

fn server() -> &'static Server {
    static SERVER: OnceLock<EmbeddedServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        // Loopback receivers are not allowed: what arrives at the built-in receiver was not dialled.
        let set = ["gateway.rate_per_minute=0", "delivery.timeout=1s", "portal.sandbox_webhooks=3"];
        EmbeddedServer::start_shared(&set)
    })
}

fn operator() -> OperatorApi<'static> {
    OperatorApi(server())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

#[track_caller]
fn post(path: &str, body: &Value) -> Value {
    let response = operator().post(path, body);
    assert!(response.status < 300, "{path}: {response:?}");
    response.json()
}

/// A team with a client, a subscription and a sandbox.
struct Sandbox {
    team: String,
    app: TestApp,
    subscription: String,
    key: String,
    shown: Value,
}

impl Sandbox {
    fn new() -> Self {
        let team = text(&operator().create("/teams", &json!({"name": "Panel"}))["id"]);
        let app = register_app(server(), &[]);
        let joined = operator().patch(&format!("/clients/{}", app.id), &json!({"team": team}));
        assert_eq!(joined.status, 200, "{joined:?}");
        let products = ["accounting", "payroll", "invoicing"];
        let body = json!({"name": "Clave", "products": products, "team": team});
        let made = operator().create("/subscriptions", &body);
        let (subscription, key) = (text(&made["subscription"]["id"]), text(&made["primaryKey"]));
        let shown = post(&format!("/teams/{team}/sandbox"), &json!({}));
        Self { team, app, subscription, key, shown }
    }

    fn path(&self, rest: &str) -> String {
        format!("/teams/{}/sandbox{rest}", self.team)
    }

    fn tenant(&self) -> String {
        text(&self.shown["tenant"])
    }

    fn receiver_url(&self) -> String {
        format!("http://127.0.0.1:8080/portal/receiver/{}", text(&self.shown["receiver"]))
    }

    /// The sandbox's user signs in to a client, in a new browser.
    fn authorize(&self, app: &TestApp, redirect_uri: &str) -> Page {
        let browser = Browser::new(&server().public_url);
        let request = fixture(app).authorization_request().with("redirect_uri", redirect_uri);
        let request = request.with("scope", ALL_SCOPES);
        let page = browser.follow_redirects(browser.get(&request.path()));
        let (email, password) = (text(&self.shown["email"]), text(&self.shown["password"]));
        let fields = [("username", email.as_str()), ("password", password.as_str())];
        browser.follow_redirects(browser.submit(&page.form("post"), &fields))
    }

    fn token(&self) -> String {
        let page = self.authorize(&self.app, CALLBACK);
        let code = page.params().remove("code").unwrap_or_else(|| panic!("{page:?}"));
        Tokens::from_response(&fixture(&self.app).exchange(&code)).access().to_owned()
    }

    fn received(&self) -> Vec<Value> {
        let listed = operator().get(&self.path("/received")).json();
        listed["requests"].as_array().unwrap().clone()
    }
}

/// The code flow of a client; its user is nobody.
fn fixture(app: &TestApp) -> SignInFixture<'static> {
    SignInFixture { server: server(), tenants: Vec::new(), email: String::new(), app: app.clone() }
}

fn call(method: Method, path: &str, key: &str, token: &str, body: Option<&Value>) -> HttpResponse {
    let request = HttpRequest::new(method, &format!("{}{path}", server().public_url))
        .header("ocp-apim-subscription-key", key)
        .header("authorization", &format!("Bearer {token}"))
        .header("context", "none");
    match body {
        Some(body) => request.header("content-type", "application/json").body(body.to_string()).send(),
        None => request.send(),
    }
}

fn get(path: &str, key: &str, token: &str) -> HttpResponse {
    call(Method::GET, path, key, token, None)
}

fn real() -> ApiFixture<'static> {
    static KEYS: OnceLock<SubscriptionKeys> = OnceLock::new();
    ApiFixture::on(server(), KEYS.get_or_init(|| SubscriptionKeys::new(server(), &[])))
}

#[test]
fn sandbox_opens_with_its_teams_credentials_alone_and_they_keep_to_their_side() {
    let (own, other, real) = (Sandbox::new(), Sandbox::new(), real());
    let token = own.token();
    let companies = get("/accounting/api/companies", &own.key, &token);
    assert_eq!(companies.status, 200, "{companies:?}");
    assert!(companies.json().as_array().unwrap().len() >= 2, "the sample companies");
    for path in ["/payroll/api/companies", "/invoicing/api/changes"] {
        assert_eq!(get(path, &own.key, &token).status, 200, "{path}");
    }
    // Keys of other teams and of the operator do not open the sandbox.
    for key in [&other.key, &real.key] {
        let refused = get("/accounting/api/companies", key, &token);
        assert!(refused.problem(401).contains("invalid subscription key"), "{refused:?}");
    }
    // A key for sandboxes alone opens the sandbox, and no real tenant.
    let path = format!("/subscriptions/{}", own.subscription);
    assert_eq!(operator().patch(&path, &json!({"sandbox": true})).status, 200);
    assert_eq!(get("/accounting/api/companies", &own.key, &token).status, 200);
    let of_real = format!("/clients/{}", real.sign_in.app.id);
    assert_eq!(operator().patch(&of_real, &json!({"team": own.team})).status, 200);
    let refused = get("/accounting/api/companies", &own.key, &real.token);
    assert!(refused.problem(401).contains("invalid subscription key"), "{refused:?}");
    // Nobody joins a sandbox, and its user joins nothing.
    let (user, tenant) = (text(&own.shown["email"]), own.tenant());
    for path in [
        format!("/users/{user}/tenants/{}", real.sign_in.tenants[0]),
        format!("/users/{}/tenants/{tenant}", real.sign_in.email),
        format!("/users/{user}/tenants/{}", other.tenant()),
    ] {
        let refused = operator().put(&path);
        assert_eq!((refused.status, &refused.json()["errors"][0]["code"]), (409, &json!("sandbox_apart")));
    }
    let invitation = json!({"realm": "users", "email": "x@example.com", "tenants": [tenant]});
    assert_eq!(operator().post("/invitations", &invitation).status, 409);
    assert_eq!(operator().get(&format!("/tenants/{tenant}")).json()["sandboxOf"], own.team.as_str());
}

#[test]
fn sandbox_user_signs_in_to_clients_of_the_team_alone() {
    let (own, other) = (Sandbox::new(), Sandbox::new());
    for redirect_uri in [CALLBACK, PORTAL] {
        let page = own.authorize(&own.app, redirect_uri);
        assert!(page.location().starts_with(redirect_uri) && page.params().contains_key("code"), "{page:?}");
        let refused = own.authorize(&other.app, redirect_uri);
        let params = refused.params();
        assert_eq!((params["error"].as_str(), params.get("code")), ("access_denied", None));
    }
    let free = register_app(server(), &[]);
    assert_eq!(own.authorize(&free, CALLBACK).params()["error"], "access_denied");
    let refused = Browser::new(&server().public_url)
        .get(&fixture(&free).authorization_request().with("redirect_uri", PORTAL).path());
    assert_eq!((refused.status, refused.location()), (400, ""), "a client without a team has not got it");
    // PKCE and consent stay as the client has them.
    let path = format!("/clients/{}", own.app.id);
    assert_eq!(operator().patch(&path, &json!({"pkce": "required"})).status, 200);
    let request = fixture(&own.app).authorization_request().with("redirect_uri", PORTAL);
    let refused = Browser::new(&server().public_url).get(&request.path());
    assert_eq!(refused.params()["error"], "invalid_request", "{refused:?}");
    assert_eq!(operator().patch(&path, &json!({"pkce": "if-sent", "consent": true})).status, 200);
    let page = own.authorize(&own.app, PORTAL);
    assert!(page.status == 200 && page.has_field("decision"), "{page:?}");
    // The client leaves the team: its code is worth nothing.
    assert_eq!(operator().patch(&path, &json!({"consent": false})).status, 200);
    let code = own.authorize(&own.app, CALLBACK).params()["code"].clone();
    assert_eq!(operator().patch(&path, &json!({"team": null})).status, 200);
    assert_eq!(oauth_error(&fixture(&own.app).exchange(&code), 400), "invalid_grant");
}

#[test]
fn sign_in_of_a_real_user_never_ends_at_the_portal_with_a_code() {
    let real = real();
    let team = text(&operator().create("/teams", &json!({"name": "Panel"}))["id"]);
    let path = format!("/clients/{}", real.sign_in.app.id);
    let request = real.sign_in.authorization_request().with("redirect_uri", PORTAL);
    let refused = real.sign_in.browser().get(&request.path());
    assert_eq!((refused.status, refused.location()), (400, ""), "no client without a team has it");
    // Neither as the team's own address nor as a registered one.
    for change in [json!({"team": team}), json!({"redirectUris": [CALLBACK, PORTAL]}), json!({"team": null})]
    {
        assert_eq!(operator().patch(&path, &change).status, 200, "{change}");
        let page = real.sign_in.authorize(&real.sign_in.browser(), &request);
        let params = page.params();
        let found = (params["error"].as_str(), params.get("code"), params.get("id_token"));
        assert_eq!(found, ("access_denied", None, None), "{change}");
    }
    assert!(real.sign_in.code(&real.sign_in.authorization_request()).len() > 20, "its own address works");
}

fn subscription(url: &str, events: &[&str]) -> Value {
    json!({"thirdPartyApplicationName": "Panel", "url": url, "secret": "s3cret", "eventTypes": events})
}

#[test]
fn built_in_receiver_answers_verifies_and_keeps_what_came() {
    let own = Sandbox::new();
    let token = own.token();
    let events = ["Svc.ACC.Customers.CustomerCreated", "Svc.ACC.Customers.CustomerUpdated"];
    let subscribe = format!("{CUSTOMERS}/webhooks/subscribe");
    let body = subscription(&own.receiver_url(), &events);
    let made = call(Method::POST, &subscribe, &own.key, &token, Some(&body));
    assert_eq!(made.status, 200, "{made:?}");
    let webhook = text(&made.json()["webhookId"]);
    wait_for("the handshake", || {
        own.received().iter().any(|one| one["event"] == "Acknowledge").then_some(())
    });
    let made = post(&own.path("/events"), &json!({"event": "customers.created"}));
    assert_eq!(made["events"], json!([events[0]]));
    let is_event = |one: &Value| one["event"] == "CustomerCreated";
    let came = wait_for("the event", || own.received().into_iter().find(|one| is_event(one)));
    assert_eq!(
        (&came["status"], &came["problem"], &came["webhook"]),
        (&json!(200), &json!(""), &json!(webhook))
    );
    let names = ["x-event-signature", "webhook-signature"];
    assert_eq!(came["verified"].as_array().unwrap().len(), names.len(), "{came}");
    let sent: Value = serde_json::from_str(came["body"].as_str().unwrap()).unwrap();
    assert!(sent.to_string().contains(&text(&made["correlationId"])), "{sent}");
    // The invoicing family's echo, which has no signature.
    let echo = json!({
        "applicationName": "Panel", "uri": own.receiver_url(), "secret": "s3cret", "entity": "Bank", "action": "Created",
        "isPaused": false, "description": "x",
    });
    let made = call(Method::POST, "/invoicing/api/webhooks", &own.key, &token, Some(&echo));
    assert_eq!(made.status, 200, "{made:?}");
    wait_for("the echo", || own.received().iter().any(|one| one["event"] == "echo").then_some(()));
    post(&own.path("/events"), &json!({"event": "Bank.Created"}));
    let is_verified = |one: &Value| one["event"] == "Bank" && one["problem"] == "" && one["status"] == 200;
    wait_for("the entity", || own.received().iter().any(is_verified).then_some(()));
    for (mode, status) in [("fail", json!(500)), ("refuse", json!(410)), ("hang", Value::Null)] {
        let changed = operator().patch(&own.path(""), &json!({"receiverMode": mode}));
        assert_eq!(changed.json()["receiverMode"], mode, "{changed:?}");
        post(&own.path("/events"), &json!({"event": "customers.created"}));
        wait_for(mode, || own.received().iter().any(|one| one["status"] == status).then_some(()));
    }
    // Sandboxes are not in the operator's figures.
    let stats = operator().get("/stats").json();
    assert_eq!((&stats["webhooks"]["active"], &stats["lastDay"]["delivered"]), (&json!(0), &json!(0)));
    let reset = post(&own.path("/reset"), &json!({}));
    assert_ne!(reset["tenant"], own.shown["tenant"]);
    assert_eq!(own.received(), Vec::<Value>::new());
    let refused = get("/accounting/api/companies", &own.key, &token);
    assert_eq!(refused.status, 401, "the token went with the tenant: {refused:?}");
}

#[test]
fn built_in_receiver_is_for_webhooks_of_its_sandbox_alone() {
    let (own, other, real) = (Sandbox::new(), Sandbox::new(), real());
    let subscribe = format!("{CUSTOMERS}/webhooks/subscribe");
    let event = ["Svc.ACC.Customers.CustomerCreated"];
    let refuse = |key: &str, token: &str, url: &str| {
        let response = call(Method::POST, &subscribe, key, token, Some(&subscription(url, &event)));
        (response.status, text(&response.json()["errors"][0]["code"]))
    };
    let reserved = (400, "reserved_address".to_owned());
    assert_eq!(refuse(&real.key, &real.token, &own.receiver_url()), reserved);
    let token = own.token();
    assert_eq!(refuse(&own.key, &token, &other.receiver_url()), reserved);
    let unknown = "http://127.0.0.1:8080/portal/receiver/none";
    assert_eq!(refuse(&own.key, &token, unknown), reserved);
    // No egress rule is relaxed for the sandbox.
    let refused = refuse(&own.key, &token, "https://127.0.0.1/hook");
    assert_eq!(refused, (400, "refused_address".to_owned()));
    // It has a limit of its own.
    for number in 0..4 {
        let body = subscription(&format!("{}?n={number}", own.receiver_url()), &event);
        let made = call(Method::POST, &subscribe, &own.key, &token, Some(&body));
        assert_eq!(made.status == 200, number < 3, "{made:?}");
    }
    assert_eq!(other.received(), Vec::<Value>::new());
}

#[test]
fn closed_sandboxes_open_nothing() {
    let closed = EmbeddedServer::start(Installation::new(), &["portal.sandbox=false"]);
    let api = OperatorApi(&closed);
    let team = text(&api.create("/teams", &json!({"name": "Panel"}))["id"]);
    for rest in ["", "/reset"] {
        let refused = api.request(Method::POST, &format!("/teams/{team}/sandbox{rest}")).send();
        assert_eq!((refused.status, &refused.json()["errors"][0]["code"]), (409, &json!("sandbox_closed")));
    }
}
