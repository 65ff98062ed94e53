//! Less common steps of a sign-in, and the fixture that tests share if they change nothing in it.

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;
use web::Stopwatch;

use super::{
    AuthorizationRequest, Browser, CALLBACK, Form, HttpRequest, HttpResponse, Page, Server, SignInFixture,
    TestApp, encode_form, wait_for,
};

pub(crate) const SESSION: &str = "aldaba-session";

/// A fixture whose user, client and tenant no test changes.
pub(crate) fn shared_fixture() -> &'static SignInFixture<'static> {
    static SHARED: OnceLock<SignInFixture<'static>> = OnceLock::new();
    SHARED.get_or_init(SignInFixture::new)
}

/// A browser in which the shared fixture's user is signed in.
#[track_caller]
pub(crate) fn shared_signed_in_browser() -> Browser {
    static SESSION_ID: OnceLock<String> = OnceLock::new();
    let id = SESSION_ID.get_or_init(|| shared_fixture().signed_in_browser().cookie(SESSION).unwrap());
    let browser = shared_fixture().browser();
    browser.set_cookie(SESSION, id);
    browser
}

/// Waits for a duration, for rules about time alone.
pub(crate) fn wait_for_duration(span: Duration) {
    let watch = Stopwatch::start();
    wait_for("time to pass", || (watch.elapsed() > span).then_some(()));
}

/// Waits for the condition, and fails if that took longer than this many seconds.
#[track_caller]
pub(crate) fn assert_within_seconds(seconds: u64, what: &str, mut condition: impl FnMut() -> bool) {
    let watch = Stopwatch::start();
    let elapsed = wait_for(what, || condition().then(|| watch.elapsed()));
    assert!(elapsed < Duration::from_secs(seconds), "{what}: took {elapsed:?}");
}

impl SignInFixture<'_> {
    /// A browser in which the user has signed in.
    #[track_caller]
    pub(crate) fn signed_in_browser(&self) -> Browser {
        let browser = self.browser();
        let page = self.authorize(&browser, &self.authorization_request());
        assert!(page.params().contains_key("code"), "{page:?}");
        browser
    }

    /// An authorization code, in a browser that may be signed in already.
    #[track_caller]
    pub(crate) fn code_in_browser(&self, browser: &Browser, request: &AuthorizationRequest) -> String {
        let page = self.authorize(browser, request);
        page.params().remove("code").unwrap_or_else(|| panic!("no code: {page:?}"))
    }

    /// The page on which a user with several tenants chooses one.
    #[track_caller]
    pub(crate) fn tenant_page(&self, browser: &Browser, request: &AuthorizationRequest) -> Page {
        let page = self.submit_credentials(browser, &browser.start_authorization(request));
        assert!(page.status == 200 && page.has_field("tenant"), "{page:?}");
        page
    }

    /// Submits this password on the sign-in page.
    #[track_caller]
    pub(crate) fn try_password(&self, browser: &Browser, form: &Form, password: &str) -> Page {
        browser.submit(form, &[("username", &self.email), ("password", password)])
    }

    /// Posts a form with HTTP Basic authentication.
    #[track_caller]
    pub(crate) fn post_form_with_basic(
        &self,
        path: &str,
        basic: &str,
        fields: &[(&str, &str)],
    ) -> HttpResponse {
        self.request(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("authorization", basic)
            .body(encode_form(fields))
            .send()
    }

    /// Exchanges a code with extra or replaced fields. An empty value removes a field.
    #[track_caller]
    pub(crate) fn exchange_with(&self, code: &str, fields: &[(&str, &str)]) -> HttpResponse {
        let mut all = vec![("grant_type", "authorization_code"), ("code", code)];
        if !fields.iter().any(|(name, _)| *name == "redirect_uri") {
            all.push(("redirect_uri", CALLBACK));
        }
        all.extend(fields.iter().filter(|(_, value)| !value.is_empty()));
        self.token_request(&all)
    }

    /// The same fixture with another client.
    #[track_caller]
    pub(crate) fn with_app(&self, app: TestApp) -> SignInFixture<'_> {
        SignInFixture { server: self.server, tenants: self.tenants.clone(), email: self.email.clone(), app }
    }

    #[track_caller]
    pub(crate) fn revoke(&self, token: &str) -> HttpResponse {
        let credentials = [("client_id", self.app.id.as_str()), ("client_secret", self.app.secret.as_str())];
        self.post_form("connect/revocation", &[credentials[0], credentials[1], ("token", token)])
    }

    /// Finds one entry of `aldaba KIND list` by a member's value.
    #[track_caller]
    pub(crate) fn find_listed(&self, kind: &str, member: &str, value: &str) -> Value {
        let all = self.server.installation.program(&[kind, "list", "--json"]).run().json();
        let all = all.as_array().unwrap();
        all.iter().find(|entry| entry[member] == value).unwrap_or_else(|| panic!("no {value}")).clone()
    }
}

impl Browser {
    /// Opens the authorization request and follows redirects, to the sign-in page or further.
    #[track_caller]
    pub(crate) fn start_authorization(&self, request: &AuthorizationRequest) -> Page {
        self.follow_redirects(self.get(&request.path()))
    }
}

/// A GET to an endpoint of the identity provider.
pub(crate) fn get(server: &Server, path: &str) -> HttpRequest {
    HttpRequest::get(&format!("{}/auth/core/{path}", server.public_url))
}

/// The member names of an object, sorted.
pub(crate) fn members(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}
