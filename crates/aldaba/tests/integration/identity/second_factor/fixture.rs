//! A server with a user and a client, and a person with an authenticator app.

use std::sync::Arc;
use std::time::Duration;

use domain::Clock as _;
use domain::totp::{STEP_SECONDS, TimeStep, TotpSecret};
use serde_json::Value;
use testserver::{
    CALLBACK, PASSWORD, Request, TestClient, TestClock, TestServer, TestServerBuilder, TestTenant, TestUser,
};

use crate::harness::{Browser, Form, Page, claims, decode_form, encode_form};

pub(super) const SESSION: &str = "aldaba-session";
pub(super) const FACTORS: &str = "/auth/core/account/second-factors";
pub(super) const TOTP: &str = "/auth/core/account/second-factors/totp";

pub(super) struct Fixture {
    pub(super) server: TestServer,
    pub(super) clock: Arc<TestClock>,
    pub(super) tenant: TestTenant,
    pub(super) user: TestUser,
    pub(super) client: TestClient,
}

impl Fixture {
    pub(super) fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub(super) fn with(configure: impl FnOnce(TestServerBuilder) -> TestServerBuilder) -> Self {
        let clock = Arc::new(TestClock::default());
        let server = configure(TestServer::builder().clock(clock.clone())).start();
        let tenant = server.add_tenant("Asesoría Norte");
        let (user, client) = (server.add_user(&[&tenant]), server.add_client("Panel"));
        Self { server, clock, tenant, user, client }
    }

    /// The same people and applications on another server with the same store.
    pub(super) fn restarted(self, configure: impl FnOnce(TestServerBuilder) -> TestServerBuilder) -> Self {
        let Self { server, clock, tenant, user, client } = self;
        server.stop();
        let server = configure(TestServer::builder().clock(clock.clone())).start();
        Self { server, clock, tenant, user, client }
    }

    pub(super) fn browser(&self) -> Browser {
        Browser::new(self.server.base_url())
    }

    /// Where passkeys work: they are bound to host names.
    pub(super) fn named_origin(&self) -> String {
        self.server.base_url().replace("127.0.0.1", "localhost")
    }

    pub(super) fn request(&self, extra: &[(&str, &str)]) -> String {
        let mut fields = vec![
            ("client_id", self.client.id.as_str()),
            ("response_type", "code"),
            ("redirect_uri", CALLBACK),
            ("scope", "openid offline_access email"),
            ("state", "s"),
        ];
        fields.extend_from_slice(extra);
        format!("/auth/core/connect/authorize?{}", encode_form(&fields))
    }

    /// Enters the password on the sign-in page; what follows is not followed.
    pub(super) fn enter_password(&self, browser: &Browser, page: &Page) -> Page {
        self.enter(browser, page, PASSWORD)
    }

    pub(super) fn enter(&self, browser: &Browser, page: &Page, password: &str) -> Page {
        let fields = [("username", self.user.email.as_str()), ("password", password)];
        browser.submit(&page.form("post"), &fields)
    }

    /// A browser that has signed in with the password.
    pub(super) fn signed_in(&self) -> Browser {
        let browser = self.browser();
        let entered = self.enter_password(&browser, &browser.get("/auth/core/login"));
        assert_eq!(entered.status, 302, "{entered:?}");
        browser
    }

    /// A browser at the page of the second step, after the password, with the request that waits.
    pub(super) fn at_second_step(&self, extra: &[(&str, &str)]) -> (Browser, Page) {
        let browser = self.browser();
        let login = browser.follow_redirects(browser.get(&self.request(extra)));
        let entered = self.enter_password(&browser, &login);
        assert!(entered.location().starts_with("/auth/core/second-factor?ticket="), "{entered:?}");
        assert_eq!(browser.cookie(SESSION), None, "no session before the second factor");
        let page = browser.follow_redirects(entered);
        assert_eq!(page.status, 200, "{page:?}");
        (browser, page)
    }

    pub(super) fn code(&self, app: &TotpSecret) -> String {
        app.code(TimeStep::at(self.clock.now())).as_str().to_owned()
    }

    /// The next code of every app.
    pub(super) fn next_step(&self) {
        self.clock.advance(Duration::from_secs(STEP_SECONDS.unsigned_abs()));
    }

    /// The claims of the access token and of the id_token that the callback's code gives, and the refresh token.
    pub(super) fn tokens(&self, callback: &Page) -> (Value, Value, String) {
        let code = callback.params().remove("code").unwrap_or_else(|| panic!("no code: {callback:?}"));
        self.token_request(&[
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", CALLBACK),
        ])
    }

    pub(super) fn token_request(&self, fields: &[(&str, &str)]) -> (Value, Value, String) {
        let mut all = vec![("client_id", self.client.id.as_str()), ("client_secret", &self.client.secret)];
        all.extend_from_slice(fields);
        let response = Request::post(&format!("{}/auth/core/connect/token", self.server.base_url()))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(encode_form(&all))
            .send()
            .expect_status(200)
            .json();
        let text = |name: &str| response[name].as_str().unwrap().to_owned();
        (claims(&text("access_token")), claims(&text("id_token")), text("refresh_token"))
    }

    /// The kinds of the user's audit entries, the newest first.
    pub(super) fn audit(&self) -> Vec<Value> {
        let path = format!("/operator/v1/audit?user={}&pageSize=1000", self.user.id);
        self.server.operator_get(&path).expect_status(200).json()["records"].as_array().unwrap().clone()
    }

    pub(super) fn audit_count(&self, kind: &str) -> u64 {
        let of_kind = |record: &&Value| record["kind"] == kind;
        self.audit().iter().filter(of_kind).map(|record| record["count"].as_u64().unwrap_or(1)).sum()
    }
}

/// The form of the second step for a method.
pub(super) fn form_for(page: &Page, method: &str) -> Form {
    let is_of = |form: &Form| form.fields.contains(&("method".into(), method.into()));
    page.forms().into_iter().find(is_of).unwrap_or_else(|| panic!("no form for {method}: {}", page.text()))
}

/// The form of the list of factors whose button does something.
pub(super) fn form_that(page: &Page, what: &str) -> Form {
    let text = page.text();
    let index = text
        .split("<form")
        .skip(1)
        .position(|piece| piece.split("</form>").next().unwrap().contains(&format!("value=\"{what}\"")));
    let index = index.unwrap_or_else(|| panic!("no form that does {what}: {text}"));
    page.forms().swap_remove(index)
}

/// The secret that the page for a new app shows.
pub(super) fn shown_secret(page: &Page) -> TotpSecret {
    let text = page.text();
    let (_, rest) = text.split_once("<code class=\"secret\">").unwrap_or_else(|| panic!("no secret: {text}"));
    TotpSecret::parse(rest.split('<').next().unwrap()).unwrap()
}

pub(super) fn shown_recovery_codes(page: &Page) -> Vec<String> {
    let text = page.text();
    let (_, list) = text.split_once("class=\"recovery-codes\"").unwrap_or_else(|| panic!("no codes: {text}"));
    let list = list.split("</ul>").next().unwrap();
    list.split("<code>").skip(1).map(|code| code.split('<').next().unwrap().to_owned()).collect()
}

impl Fixture {
    /// Adds an app in this browser; returns its secret and the recovery codes.
    pub(super) fn enrol(&self, browser: &Browser) -> (TotpSecret, Vec<String>) {
        let page = browser.follow_redirects(browser.get(TOTP));
        let app = shown_secret(&page);
        let done = browser.submit(&page.form("post"), &[("code", &self.code(&app)), ("name", "Móvil")]);
        assert_eq!(done.status, 200, "{done:?}");
        self.next_step();
        (app, shown_recovery_codes(&done))
    }

    /// A user with an app, and its recovery codes.
    pub(super) fn enrolled() -> (Self, TotpSecret, Vec<String>) {
        let fixture = Self::new();
        let (app, codes) = fixture.enrol(&fixture.signed_in());
        (fixture, app, codes)
    }

    /// Goes from the page of the second step to the callback.
    pub(super) fn give_code(&self, browser: &Browser, page: &Page, app: &TotpSecret) -> Page {
        browser.follow_redirects(browser.submit(&form_for(page, "totp"), &[("code", &self.code(app))]))
    }
}

/// The parameters that a callback has.
pub(super) fn error_of(page: &Page) -> String {
    let (_, query) = page.location().split_once('?').unwrap_or_else(|| panic!("no redirect: {page:?}"));
    decode_form(query).remove("error").unwrap_or_else(|| panic!("no error: {page:?}"))
}
