//! Passkeys of users, developers and operators: each realm has its relying party, and its passkeys are nothing in another.

use domain::Realm;
use serde_json::{Value, json};
use testserver::TestServer;

use super::realm_pages::{PASSWORD, RealmPages};
use crate::harness::{Authenticator, Browser, Page};

/// The relying parties: hosts of `server.auth_url`, `server.base_url` and `operator.url`.
pub(super) const HOSTS: [&str; 3] = ["id.example.com", "api.example.com", "console.example.com"];

pub(super) fn server() -> TestServer {
    TestServer::builder()
        .set("server.auth_url", "https://id.example.com")
        .set("server.base_url", "https://api.example.com")
        .set("operator.url", "https://console.example.com")
        .start()
}

/// A person of a realm with an authenticator.
struct Person<'a> {
    pages: RealmPages<'a>,
    host: &'static str,
    authenticator: Authenticator,
}

impl<'a> Person<'a> {
    fn of_each_realm(server: &'a TestServer) -> Vec<Self> {
        let people = Realm::ALL.into_iter().zip(HOSTS).zip(1..);
        people
            .map(|((realm, host), number)| Self {
                pages: RealmPages::new(server, realm).at_host(host),
                host,
                authenticator: Authenticator::new(number),
            })
            .collect()
    }

    fn origin(&self) -> String {
        format!("https://{}", self.host)
    }

    fn creation_page(&self, browser: &Browser) -> Page {
        browser.get(&self.pages.path("account/second-factors/passkey"))
    }

    /// Adds the passkey in a browser that has signed in with the password.
    #[track_caller]
    fn enrol(&self) {
        let browser = self.pages.signed_in();
        let (form, options) = self.creation_page(&browser).passkey_form().unwrap();
        let response = self.authenticator.create(&options, &self.origin());
        let done = browser.submit(&form, &[("passkey", &response), ("name", "Llave")]);
        assert_eq!(done.status, 200, "{:?}: {done:?}", self.pages.realm);
    }

    /// What the sign-in page gives for a response to its options; true if it signs in.
    #[track_caller]
    fn signs_in_with(&self, respond: impl FnOnce(&Value) -> String) -> bool {
        let browser = self.pages.browser();
        let (form, options) = browser.get(&self.pages.path("login")).passkey_form().unwrap();
        assert_eq!(options["rpId"], self.host);
        assert_eq!(options["allowCredentials"], json!([]), "the passkey says who signs in");
        let page = browser.submit(&form, &[("passkey", &respond(&options))]);
        let is_signed_in = self.pages.is_signed_in(&browser);
        assert_eq!(page.status, if is_signed_in { 302 } else { 400 }, "{page:?}");
        is_signed_in
    }
}

#[test]
fn passkey_of_each_realm_signs_in_at_its_own_host_alone() {
    let server = server();
    let people = Person::of_each_realm(&server);
    for person in &people {
        person.enrol();
        let Person { authenticator, host, pages } = person;
        assert!(person.signs_in_with(|options| authenticator.get(options, &person.origin())));
        for other in HOSTS.iter().filter(|other| *other != host) {
            let origin = format!("https://{other}");
            assert!(!person.signs_in_with(|options| authenticator.get(options, &origin)), "origin {other}");
            let elsewhere = |options: &Value| {
                let mut options = options.clone();
                options["rpId"] = json!(other);
                authenticator.get(&options, &person.origin())
            };
            assert!(!person.signs_in_with(elsewhere), "relying party {other}");
        }
        // After the password it is the second factor.
        let browser = pages.browser();
        let login = browser.get(&pages.path("login")).form("post");
        let step = browser.submit(&login, &[("username", &pages.email), ("password", PASSWORD)]);
        let step = browser.follow_redirects(step);
        assert!(!pages.is_signed_in(&browser));
        let (form, options) = step.passkey_form().unwrap();
        assert_eq!(options["allowCredentials"].as_array().unwrap().len(), 1);
        browser.submit(&form, &[("passkey", &authenticator.get(&options, &person.origin()))]);
        assert!(pages.is_signed_in(&browser), "{:?}", pages.realm);
    }
}

#[test]
fn passkey_of_one_realm_is_nothing_in_another() {
    let server = server();
    let people = Person::of_each_realm(&server);
    for person in &people {
        person.enrol();
    }
    for person in &people {
        for stranger in people.iter().filter(|other| other.host != person.host) {
            let realms = (person.pages.realm, stranger.pages.realm);
            let respond = |options: &Value| stranger.authenticator.get(options, &person.origin());
            assert!(!person.signs_in_with(respond), "{realms:?}");
            // Nor as the second factor of somebody whose password is known.
            let browser = person.pages.browser();
            let login = browser.get(&person.pages.path("login")).form("post");
            let fields = [("username", person.pages.email.as_str()), ("password", PASSWORD)];
            let step = browser.follow_redirects(browser.submit(&login, &fields));
            let (form, options) = step.passkey_form().unwrap();
            let refused = browser.submit(&form, &[("passkey", &respond(&options))]);
            assert_eq!(refused.status, 400, "{realms:?}: {refused:?}");
            assert!(!person.pages.is_signed_in(&browser), "{realms:?}");
        }
        let own = |options: &Value| person.authenticator.get(options, &person.origin());
        assert!(person.signs_in_with(own), "{:?}", person.pages.realm);
    }
}

#[test]
fn new_passkey_is_for_the_host_of_its_realm() {
    let server = server();
    for person in Person::of_each_realm(&server) {
        let browser = person.pages.signed_in();
        let (form, options) = person.creation_page(&browser).passkey_form().unwrap();
        assert_eq!(options["rp"]["id"], person.host);
        assert_eq!(options["user"]["name"], person.pages.email);
        let mut refused = Vec::new();
        for other in HOSTS.iter().filter(|other| **other != person.host) {
            refused.push(person.authenticator.create(&options, &format!("https://{other}")));
            let mut elsewhere = options.clone();
            elsewhere["rp"]["id"] = json!(other);
            refused.push(person.authenticator.create(&elsewhere, &person.origin()));
        }
        for response in refused {
            let page = browser.submit(&form, &[("passkey", &response), ("name", "Llave")]);
            assert_eq!(page.status, 400, "{:?}: {page:?}", person.pages.realm);
        }
        let list = browser.get(&person.pages.path("account/second-factors"));
        assert!(!list.text().contains("Llave"), "{}", list.text());
    }
}
