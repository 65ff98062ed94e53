//! The sign-in tester: a real authorization of the sandbox's user, from the form to the tokens, over HTTP with cookies.

use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};
use testserver::{PASSWORD, Request, TestClock, TestServer};

use super::fixture::Developer;
use crate::harness::{Browser, Page, decode_form, encode_form};

const COOKIE: &str = "aldaba-developer-sandbox-sign-in";
const CALLBACK: &str = "/portal/sandbox/callback";

/// A developer with an application.
struct Tester<'a> {
    server: &'a TestServer,
    developer: Developer,
    client: String,
}

impl<'a> Tester<'a> {
    #[track_caller]
    fn new(server: &'a TestServer, name: &str) -> Self {
        let developer = Developer::sign_in(server, name);
        let client = server.add_client("Panel de ventas").id;
        let tester = Self { server, developer, client };
        tester.change_client(&json!({"team": name, "consent": true, "pkce": "required"}));
        tester
    }

    #[track_caller]
    fn change_client(&self, change: &Value) {
        let url = format!("{}/operator/v1/clients/{}", self.server.operator_url(), self.client);
        let request = Request::new(Method::PATCH, &url).bearer(self.server.operator_token());
        request.json(change).send().expect_status(200);
    }

    fn page(&self) -> String {
        format!("applications/{}/sign-in", self.client)
    }

    #[track_caller]
    fn shown(&self) -> Value {
        self.developer.get(&format!("{}?format=json", self.page())).json()
    }

    /// Submits a button of the page.
    #[track_caller]
    fn act(&self, fields: &[(&str, &str)]) -> Page {
        self.developer.submit(&self.page(), fields)
    }

    /// Begins a sign-in with the fields that the form has at first.
    #[track_caller]
    fn begin(&self, more: &[(&str, &str)]) -> Value {
        self.act(&[("do", "stop")]);
        let begun = self.act(&[&[("do", "begin")], more].concat());
        assert_eq!(begun.status, 303, "{begun:?}");
        assert_eq!(begun.location(), self.developer.path(&self.page()));
        let shown = self.shown();
        assert_eq!(shown["stage"], "ready", "{shown}");
        shown
    }

    /// Signs a user in at the authorization request; returns the path and query of the redirect to the portal.
    #[track_caller]
    fn authorize(browser: &Browser, url: &str, email: &str, password: &str) -> String {
        let page = browser.follow_redirects(browser.get(path_of(url)));
        let fields = [("username", email), ("password", password)];
        let page = browser.follow_redirects(browser.submit(&page.form("post"), &fields));
        let page = match page.status {
            200 => browser.submit(&page.form("post"), &[("decision", "allow")]),
            _ => page,
        };
        let callback = path_of(page.location()).to_owned();
        assert!(callback.starts_with(CALLBACK), "{page:?}");
        callback
    }

    /// The sandbox's user walks through the sign-in that was begun; returns the callback.
    #[track_caller]
    fn walk(&self, begun: &Value) -> String {
        let text = |pointer: &str| begun.pointer(pointer).unwrap().as_str().unwrap();
        let (url, browser) = (text("/authorizeUrl"), &self.developer.browser);
        Self::authorize(browser, url, text("/user/email"), text("/user/password"))
    }

    /// The number of authorizations of the application.
    #[track_caller]
    fn grants(&self) -> usize {
        let path = format!("/operator/v1/audit?kind=granted&client={}", self.client);
        let entries = self.server.operator_get(&path).json();
        entries["records"].as_array().unwrap_or_else(|| panic!("{entries}")).len()
    }
}

fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    &rest[rest.find('/').unwrap()..]
}

#[test]
fn sandbox_user_signs_in_for_real_and_every_step_is_explained() {
    let server = TestServer::start();
    let tester = Tester::new(&server, "diego");
    let application = tester.developer.get_in("en", &format!("applications/{}", tester.client));
    assert!(application.contains(&format!("href=\"{}\"", tester.developer.path(&tester.page()))));
    let begun = tester.begin(&[]);
    assert_eq!(begun["request"].as_array().unwrap().len(), 10, "{begun}");
    let ready = tester.developer.get_in("es", &tester.page());
    assert!(ready.contains(begun["user"]["password"].as_str().unwrap()), "{ready}");
    let callback = tester.walk(&begun);
    let back = tester.developer.browser.get(&callback);
    assert_eq!((back.status, back.location()), (303, tester.developer.path(&tester.page()).as_str()));
    let returned = tester.shown();
    assert_eq!(returned["stage"], "returned", "{returned}");
    assert_eq!(tester.grants(), 0, "reading the page exchanges nothing");
    let done = tester.act(&[("do", "exchange")]);
    assert_eq!(done.status, 200, "{done:?}");
    for word in
        ["svc.es.clientid", "access_token", "at_hash", "code_verifier", "refresh_token", "/connect/userinfo"]
    {
        assert!(done.text().contains(word), "{word}: {}", done.text());
    }
    // Every name of the tables has its meaning: no last cell is empty.
    assert!(!done.text().contains("<div></div></td></tr>"), "{}", done.text());
    assert!(done.text().contains("Coincide con la petición") && !done.text().contains("No coincide"));
    assert_eq!(tester.grants(), 1);
    // It is over: neither a reload of the page nor a second exchange finds it.
    assert_eq!(tester.developer.browser.cookie(COOKIE), None);
    assert_eq!(tester.shown()["stage"], "form");
    assert_eq!(tester.act(&[("do", "exchange")]).status, 409);
}

#[test]
fn token_of_the_tester_opens_the_sandbox_and_the_page_is_json_too() {
    let server = TestServer::start();
    let tester = Tester::new(&server, "diego");
    let body = json!({"name": "Clave", "products": ["accounting"], "team": "diego"});
    let key = server.operator_post("subscriptions", &body)["primaryKey"].as_str().unwrap().to_owned();
    tester.developer.browser.get(&tester.walk(&tester.begin(&[])));
    let form = tester.developer.get(&tester.page()).form("post");
    let form = crate::harness::Form {
        action: tester.developer.path(&format!("{}?format=json", tester.page())),
        ..form
    };
    let done = tester.developer.browser.submit(&form, &[("do", "exchange")]).json();
    assert_eq!((&done["stage"], &done["failure"]), (&json!("done"), &Value::Null), "{done}");
    assert_eq!(done["idClaims"]["nonce"], value(&done["request"], "nonce"));
    assert_eq!(done["accessClaims"]["client_id"], tester.client.as_str());
    assert!(!done["tokenRequest"].to_string().contains("secret"), "{done}");
    let token = done["tokenResponse"]["access_token"].as_str().unwrap();
    let request = Request::get(&format!("{}/accounting/api/companies", server.base_url())).bearer(token);
    let companies = request.header("ocp-apim-subscription-key", &key).send();
    companies.expect_status(200);
}

fn value(pairs: &Value, name: &str) -> Value {
    let found = pairs.as_array().unwrap().iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("{name} in {pairs}"))["value"].clone()
}

#[test]
fn error_of_each_step_is_explained() {
    let server = TestServer::start();
    let tester = Tester::new(&server, "diego");
    tester.change_client(&json!({"products": ["accounting"]}));
    let browser = &tester.developer.browser;
    let begin_and_get = |fields: &[(&str, &str)]| {
        let begun = tester.begin(fields);
        let page = browser.get(path_of(begun["authorizeUrl"].as_str().unwrap()));
        browser.get(path_of(page.location()));
        let shown = tester.shown();
        assert_eq!(
            (&shown["stage"], &shown["failure"]["step"]),
            (&json!("failed"), &json!("callback")),
            "{shown}"
        );
        (
            shown["failure"]["error"].as_str().unwrap().to_owned(),
            tester.developer.get_in("en", &tester.page()),
        )
    };
    let (error, page) = begin_and_get(&[("scope", "SVC.ES.EquipoContex")]);
    assert!(error == "invalid_scope" && page.contains("Start over with the scopes"), "{error}: {page}");
    let (error, page) = begin_and_get(&[("prompt", "none")]);
    assert!(error == "login_required" && page.contains("nobody was signed in"), "{error}: {page}");
    // The user says no.
    let begun = tester.begin(&[("prompt", "login consent")]);
    let page = browser.follow_redirects(browser.get(path_of(begun["authorizeUrl"].as_str().unwrap())));
    let user = |name: &str| begun["user"][name].as_str().unwrap().to_owned();
    let (email, password) = (user("email"), user("password"));
    let fields = [("username", email.as_str()), ("password", password.as_str())];
    let page = browser.follow_redirects(browser.submit(&page.form("post"), &fields));
    let refused = browser.submit(&page.form("post"), &[("decision", "deny")]);
    browser.get(path_of(refused.location()));
    assert_eq!(tester.shown()["failure"]["error"], "access_denied");
    let again = tester.act(&[("do", "stop")]);
    assert_eq!((again.status, tester.shown()["stage"].clone()), (303, json!("form")));
}

#[test]
fn code_that_has_expired_is_explained() {
    let clock = Arc::new(TestClock::default());
    let server = TestServer::builder().clock(clock.clone()).start();
    let tester = Tester::new(&server, "diego");
    tester.developer.browser.get(&tester.walk(&tester.begin(&[])));
    clock.advance(Duration::from_secs(6 * 60));
    let refused = tester.act(&[("do", "exchange")]);
    assert!(refused.status == 200 && refused.text().contains("invalid_grant"), "{refused:?}");
    assert_eq!(tester.grants(), 0);
    // A sign-in that nobody ends is forgotten.
    tester.begin(&[]);
    clock.advance(Duration::from_secs(31 * 60));
    assert_eq!(tester.shown()["stage"], "form");
}

#[test]
fn callback_in_another_session_is_refused_and_leaves_the_code_unused() {
    let server = TestServer::start();
    let (tester, other) = (Tester::new(&server, "diego"), Tester::new(&server, "ana"));
    let callback = tester.walk(&tester.begin(&[]));
    // Another developer, also with a sign-in under way, and with the stolen cookie.
    other.begin(&[]);
    let own_cookie = other.developer.browser.cookie(COOKIE).unwrap();
    let stolen_cookie = tester.developer.browser.cookie(COOKIE).unwrap();
    for cookie in [own_cookie, stolen_cookie, "x".repeat(500)] {
        other.developer.browser.set_cookie(COOKIE, &cookie);
        let refused = other.developer.browser.get(&callback);
        assert_eq!((refused.status, refused.location()), (400, ""), "{refused:?}");
        assert_eq!(other.act(&[("do", "exchange")]).status, 409);
    }
    // The same developer in a new session: the way to the sign-in page does not carry the code.
    let stranger = Browser::new(server.base_url());
    stranger.set_cookie(COOKIE, &tester.developer.browser.cookie(COOKIE).unwrap());
    let led = stranger.get(&callback);
    assert!(led.status == 302 && led.location().contains("/portal/login?ticket="), "{led:?}");
    let login = stranger.get(led.location());
    let fields = [("username", "diego@developers.example"), ("password", "cuatro palabras sin sentido")];
    let back = stranger.submit(&login.form("post"), &fields);
    assert_eq!(back.location(), CALLBACK);
    assert_eq!(stranger.get(back.location()).status, 400);
    // A state that is not of this sign-in does not end it.
    let (_, query) = callback.split_once('?').unwrap();
    let mut params = decode_form(query);
    params.insert("state".into(), "another".into());
    let params: Vec<(&str, &str)> =
        params.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let forged = format!("{CALLBACK}?{}", encode_form(&params));
    assert_eq!(tester.developer.browser.get(&forged).status, 400);
    assert_eq!(tester.shown()["stage"], "ready");
    // Nobody has used the code up.
    tester.developer.browser.get(&callback);
    assert!(tester.act(&[("do", "exchange")]).text().contains("at_hash"));
    assert_eq!(tester.grants(), 1);
}

#[test]
fn real_user_never_comes_back_to_the_portal_with_a_code() {
    let server = TestServer::start();
    let tester = Tester::new(&server, "diego");
    let user = server.add_user(&[&server.add_tenant("Peñalver")]);
    let begun = tester.begin(&[]);
    let url = begun["authorizeUrl"].as_str().unwrap();
    let callback = Tester::authorize(&tester.developer.browser, url, &user.email, PASSWORD);
    let params = decode_form(callback.split_once('?').unwrap().1);
    assert_eq!((params["error"].as_str(), params.get("code")), ("access_denied", None));
    tester.developer.browser.get(&callback);
    let shown = tester.shown();
    assert_eq!((&shown["stage"], &shown["failure"]["error"]), (&json!("failed"), &json!("access_denied")));
    assert_eq!(tester.grants(), 0);
}

#[test]
fn tester_of_another_teams_application_is_not_found() {
    let server = TestServer::start();
    let (tester, other) = (Tester::new(&server, "diego"), Tester::new(&server, "ana"));
    let free = server.add_client("De nadie").id;
    let form = tester.developer.get(&tester.page()).form("post");
    for client in [other.client.as_str(), &free, "x"] {
        let path = tester.developer.path(&format!("applications/{client}/sign-in"));
        assert_eq!(tester.developer.browser.get(&path).status, 404, "{client}");
        for action in ["begin", "exchange", "stop"] {
            let form = crate::harness::Form { action: path.clone(), ..form.clone() };
            let refused = tester.developer.browser.submit(&form, &[("do", action)]);
            assert_eq!(refused.status, 404, "{client} {action}: {refused:?}");
        }
    }
    // A sign-in of one application is not shown at another one of the team.
    tester.begin(&[]);
    let second = server.add_client("Segunda").id;
    Tester {
        server: &server,
        developer: Developer { browser: Browser::new(""), team: "diego".into() },
        client: second.clone(),
    }
    .change_client(&json!({"team": "diego"}));
    let shown = tester.developer.get(&format!("applications/{second}/sign-in?format=json")).json();
    assert_eq!(shown["stage"], "form", "{shown}");
}

#[test]
fn tester_is_closed_with_the_sandboxes() {
    let server = TestServer::builder().set("portal.sandbox", "false").start();
    let tester = Tester::new(&server, "diego");
    let page = tester.developer.get(&format!("{}?lang=en", tester.page()));
    assert!(page.status == 200 && page.text().contains("The sandbox is switched off"), "{page:?}");
    assert!(!page.has_field("scope"), "{page:?}");
    let token = tester.developer.get("team").form("post").fields;
    let token = &token.iter().find(|(name, _)| name == "token").unwrap().1;
    let path = tester.developer.path(&tester.page());
    let refused =
        tester.developer.browser.post(&path, &[("token", token), ("do", "begin"), ("scope", "openid")]);
    assert_eq!(refused.status, 400, "{refused:?}");
    assert_eq!(tester.developer.browser.get(&format!("{CALLBACK}?code=x&state=y")).status, 404);
}

#[test]
fn disabled_application_cannot_be_tested() {
    let server = TestServer::start();
    let tester = Tester::new(&server, "diego");
    tester.change_client(&json!({"standing": "disabled"}));
    let page = tester.developer.get_in("en", &tester.page());
    assert!(page.contains("The application is disabled") && !page.contains("name=\"scope\""), "{page}");
}
