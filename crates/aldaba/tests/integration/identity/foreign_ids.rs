//! The pages of accounts with the ids of others: sessions, second factors and what applications were allowed. Each form that
//! takes an id gets the answer that an id of nobody gets, and nothing of the other person's changes.

use domain::Realm;
use testserver::{CALLBACK, PASSWORD, TestServer, TestUser};

use super::realm_pages::RealmPages;
use super::realm_passkeys::{HOSTS, server};
use crate::harness::{
    Authenticator, Browser, Form, HttpRequest, Page, embedded_code, embedded_tokens, encode_form, is_guid,
    post_as_client,
};

const NOBODYS: &str = "3c1f6a52-9a0e-4f3b-8d47-5b1f0a9c7e21";
const FACTORS: &str = "account/second-factors";
const PERMISSIONS: &str = "/auth/core/permissions";

/// Every route that takes a form, and where the ids of others are tried in it.
const ROUTES: [(&str, &str); 20] = [
    ("/account", "sessions_and_second_factors_of_others_are_answered_as_those_of_nobody"),
    ("/account/second-factors", "sessions_and_second_factors_of_others_are_answered_as_those_of_nobody"),
    ("/account/second-factors/passkey", "takes no id: it makes a passkey"),
    ("/account/second-factors/totp", "takes no id: it makes an app"),
    ("/connect/authorize", "attacks::redirects"),
    ("/connect/endsession", "attacks::cross_site"),
    ("/connect/introspect", "foreign_ids of the public API"),
    ("/connect/revocation", "foreign_ids of the public API"),
    ("/connect/token", "foreign_ids of the public API"),
    ("/connect/userinfo", "foreign_ids of the public API"),
    ("/forgot", "takes no id: account_links::attacks compares known and unknown addresses"),
    ("/invitation", "account_links::attacks"),
    ("/login", "takes no id: attacks::password_guessing compares known and unknown addresses"),
    ("/login/passkey", "realm_passkeys"),
    ("/logout", "takes no id: it ends the own session"),
    ("/permissions", "authorizations_of_others_are_answered_as_those_of_nobody"),
    ("/register", "account_links::attacks"),
    ("/reset", "account_links::attacks"),
    ("/second-factor", "second_factor::attacks"),
    ("/tenant", "attacks::tenant_selection"),
];

#[test]
fn every_route_that_takes_a_form_has_a_row() {
    for route in identity::post_routes() {
        let is_listed = ROUTES.iter().any(|(listed, _)| *listed == route);
        assert!(is_listed, "{route} has no row: say which ids it takes, and where those of others are tried");
    }
}

/// A text without the tickets in it, which are new on every page.
fn without_tickets(text: &str) -> String {
    let mut text = text.to_owned();
    for start in ["ticket=", "name=\"ticket\" value=\""] {
        let mut pieces = text.split(start);
        let mut kept = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            kept.push_str(start);
            kept.push_str(piece.find(['"', '&', '<']).map_or("", |end| &piece[end..]));
        }
        text = kept;
    }
    text
}

/// What of an answer tells something, without what is new in every answer.
fn comparable(page: &Page, id: &str) -> (u16, String, String) {
    let request = page.headers.get("x-request-id").and_then(|id| id.to_str().ok()).unwrap_or("none");
    let told = |text: &str| without_tickets(text).replace(request, "<request>").replace(id, "<id>");
    (page.status, told(page.location()), told(page.text()))
}

/// The form of a page that has this field.
#[track_caller]
fn form_with(page: &Page, field: &str) -> Form {
    let has_field = |form: &Form| form.fields.iter().any(|(name, _)| name == field);
    page.forms()
        .into_iter()
        .find(has_field)
        .unwrap_or_else(|| panic!("no form with {field}: {}", page.text()))
}

/// The first id that a page has in a field of this name.
#[track_caller]
fn id_in(page: &Page, field: &str) -> String {
    let fields = page.forms().into_iter().flat_map(|form| form.fields);
    let mut ids = fields.filter(|(name, value)| name == field && is_guid(value));
    ids.next().unwrap_or_else(|| panic!("no {field} with an id: {}", page.text())).1
}

/// Somebody with a passkey and two sessions.
struct Person<'a> {
    pages: RealmPages<'a>,
    host: &'static str,
    authenticator: Authenticator,
    browser: Browser,
    other_browser: Browser,
}

impl<'a> Person<'a> {
    fn new(server: &'a TestServer, realm: Realm, host: &'static str, name: &str, number: u8) -> Self {
        let pages = RealmPages::named(server, realm, name).at_host(host);
        let authenticator = Authenticator::new(number);
        let browser = pages.signed_in();
        let origin = format!("https://{host}");
        // First, because a new factor ends the other sessions.
        let page = browser.get(&pages.path("account/second-factors/passkey"));
        let (form, options) = page.passkey_form().unwrap();
        let made = authenticator.create(&options, &origin);
        let done = browser.submit(&form, &[("passkey", &made), ("name", "Llave")]);
        assert_eq!(done.status, 200, "{realm:?}: {done:?}");
        let other_browser = pages.browser();
        let person = Self { pages, host, authenticator, browser, other_browser };
        person.sign_in(&person.other_browser);
        person
    }

    /// Signs in with the passkey.
    #[track_caller]
    fn sign_in(&self, browser: &Browser) {
        let (form, options) = browser.get(&self.pages.path("login")).passkey_form().unwrap();
        let origin = format!("https://{}", self.host);
        browser.submit(&form, &[("passkey", &self.authenticator.get(&options, &origin))]);
        assert!(self.pages.is_signed_in(browser), "{:?}", self.pages.realm);
    }

    fn factors(&self) -> Page {
        self.browser.get(&self.pages.path(FACTORS))
    }

    /// Sends the form of a page with an id of somebody's, and with one of nobody's; both answers are the same.
    #[track_caller]
    fn compare(&self, page: &Page, field: &str, id: &str, filled: &[(&str, &str)]) -> u16 {
        let form = form_with(page, field);
        let send = |id: &str| {
            let answer = self.browser.submit(&form, &[&[(field, id)], filled].concat());
            comparable(&answer, id)
        };
        let (theirs, nobodys) = (send(id), send(NOBODYS));
        assert_eq!(theirs, nobodys, "{:?} {field} {filled:?}", self.pages.realm);
        assert!(theirs.0 < 500, "{:?} {field} {filled:?}: {theirs:?}", self.pages.realm);
        theirs.0
    }
}

#[test]
fn sessions_and_second_factors_of_others_are_answered_as_those_of_nobody() {
    let server = server();
    for ((realm, host), number) in Realm::ALL.into_iter().zip(HOSTS).zip(1_u8..) {
        let victim = Person::new(&server, realm, host, "victim", number);
        let attacker = Person::new(&server, realm, host, "attacker", number + 100);
        let session = id_in(&victim.pages.account(&victim.browser), "session");
        let factor = id_in(&victim.factors(), "factor");

        let own = attacker.pages.account(&attacker.browser);
        assert_eq!(attacker.compare(&own, "session", &session, &[("do", "end")]), 302);
        let renamed = [("do", "rename"), ("name", "Robada")];
        attacker.compare(&attacker.factors(), "factor", &factor, &renamed);
        assert_eq!(attacker.compare(&attacker.factors(), "factor", &factor, &[("do", "remove")]), 400);

        for person in [&victim, &attacker] {
            for browser in [&person.browser, &person.other_browser] {
                assert!(person.pages.is_signed_in(browser), "{realm:?}: a session has ended");
            }
            let factors = person.factors();
            let is_unchanged = factors.text().contains("Llave") && !factors.text().contains("Robada");
            assert!(is_unchanged, "{realm:?}: {}", factors.text());
            person.sign_in(&person.pages.browser());
        }
        // The same forms do what they say to what is the attacker's own.
        let own_session = id_in(&own, "session");
        let form = form_with(&own, "session");
        attacker.browser.submit(&form, &[("session", &own_session), ("do", "end")]);
        assert!(!attacker.pages.is_signed_in(&attacker.other_browser), "{realm:?}");
        let factors = attacker.factors();
        let own_factor = id_in(&factors, "factor");
        attacker.browser.submit(
            &form_with(&factors, "factor"),
            &[&[("factor", own_factor.as_str())], &renamed[..]].concat(),
        );
        assert!(attacker.factors().text().contains("Robada"), "{realm:?}");
    }
}

/// A user's browser that has signed in with the password.
#[track_caller]
fn signed_in(server: &TestServer, user: &TestUser) -> Browser {
    let browser = Browser::new(server.base_url());
    let form = browser.get("/auth/core/login").form("post");
    let entered = browser.submit(&form, &[("username", &user.email), ("password", PASSWORD)]);
    assert_eq!(entered.status, 302, "{entered:?}");
    browser
}

#[test]
fn authorizations_of_others_are_answered_as_those_of_nobody() {
    let server = TestServer::start();
    let (tenant, elsewhere) = (server.add_tenant("Norte"), server.add_tenant("Sur"));
    let (client, other_client) = (server.add_client("Panel"), server.add_client("Otra"));
    let victim = server.add_user(&[&tenant]);
    let tokens = embedded_tokens(server.base_url(), &client, &victim);
    let victims_browser = signed_in(&server, &victim);
    let victims_page = victims_browser.get(PERMISSIONS);
    let access = form_with(&victims_page, "access").fields;
    let access = access.into_iter().find(|(name, _)| name == "access").unwrap().1;
    let nobodys = encode_form(&[("tenant", NOBODYS), ("client", NOBODYS)]);
    let is_victims_token_active = || {
        let userinfo = HttpRequest::get(&format!("{}/auth/core/connect/userinfo", server.base_url()));
        let token = tokens["access_token"].as_str().unwrap();
        userinfo.header("authorization", &format!("Bearer {token}")).send().status == 200
    };
    assert!(is_victims_token_active());
    // A colleague, and somebody of another tenant.
    let askers = [&tenant, &elsewhere].map(|tenant| {
        let asker = server.add_user(&[tenant]);
        embedded_tokens(server.base_url(), &other_client, &asker);
        signed_in(&server, &asker)
    });
    let notice = |client: &str, tenant: &str| {
        format!("{PERMISSIONS}?{}", encode_form(&[("withdrawn", client), ("tenant", tenant)]))
    };
    let compare_notices = |browser: &Browser| {
        let show = |client: &str, tenant: &str| {
            let page = browser.get(&notice(client, tenant));
            let (status, _, text) = comparable(&page, client);
            (status, text.replace(tenant, "<tenant>"))
        };
        let (theirs, nobodys) = (show(&client.id, &tenant.id), show(NOBODYS, &tenant.id));
        assert_eq!(theirs, nobodys);
        assert_eq!(theirs.0, 200);
    };
    let scopes: [&[(&str, &str)]; 2] = [&[], &[("for", "tenant")]];
    for browser in &askers {
        for of_tenant in scopes {
            let form = form_with(&browser.get(PERMISSIONS), "access");
            let send = |key: &str| {
                let answer = browser.submit(&form, &[&[("access", key)], of_tenant].concat());
                comparable(&answer, key)
            };
            let (theirs, unknown) = (send(&access), send(&nobodys));
            assert_eq!(theirs, unknown, "{of_tenant:?}");
            assert_eq!(theirs.0, 302, "{of_tenant:?}: {theirs:?}");
        }
        compare_notices(browser);
    }
    assert!(is_victims_token_active(), "another user ended the access");
    assert!(victims_browser.get(PERMISSIONS).has_field("access"), "the page no longer lists the access");
    // A code is given as before: nothing of the authorization has changed.
    let code = embedded_code(server.base_url(), &client, &victim);
    let fields = [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", CALLBACK)];
    let given = post_as_client(server.base_url(), &client, "/auth/core/connect/token", &fields);
    assert_eq!(given.status, 200, "{given:?}");

    // The victim's own form ends it, and nobody else is told.
    let form = form_with(&victims_browser.get(PERMISSIONS), "access");
    let ended = victims_browser.submit(&form, &[("access", &access)]);
    assert!(ended.location().contains("withdrawn="), "{ended:?}");
    assert!(!is_victims_token_active());
    askers.iter().for_each(compare_notices);
}
