//! What people and applications do at an office beside the straight way, and the lobby: an office for all
//! who change nothing.

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;
use web::Stopwatch;

use super::{
    AuthorizationRequest, Browser, CALLBACK, Form, HttpRequest, HttpResponse, Page, ServeProcess,
    SignInFixture, TestApp, encode_form, wait_for,
};

pub(crate) const SESSION: &str = "aldaba-session";

/// An office whose user, application and tenant nobody changes.
pub(crate) fn shared_fixture() -> &'static SignInFixture<'static> {
    static LOBBY: OnceLock<SignInFixture<'static>> = OnceLock::new();
    LOBBY.get_or_init(SignInFixture::new)
}

/// A browser in which the lobby's user is signed in.
#[track_caller]
pub(crate) fn shared_signed_in_browser() -> Browser {
    static SESSION_ID: OnceLock<String> = OnceLock::new();
    let id = SESSION_ID.get_or_init(|| shared_fixture().signed_in_browser().cookie(SESSION).unwrap());
    let browser = shared_fixture().browser();
    browser.set_cookie(SESSION, id);
    browser
}

/// Lets so much time pass, for rules that are about time alone.
pub(crate) fn wait_for_duration(span: Duration) {
    let watch = Stopwatch::start();
    wait_for("time to pass", || (watch.elapsed() > span).then_some(()));
}

/// Looks again until it is so, and then it must not have taken longer than a bound.
#[track_caller]
pub(crate) fn assert_within_seconds(seconds: u64, what: &str, mut is_so: impl FnMut() -> bool) {
    let watch = Stopwatch::start();
    let spent = wait_for(what, || is_so().then(|| watch.elapsed()));
    assert!(spent < Duration::from_secs(seconds), "{what}: only after {spent:?}");
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

    /// Tokens for a request of somebody who is signed in already.
    #[track_caller]
    pub(crate) fn code_in_browser(&self, browser: &Browser, request: &AuthorizationRequest) -> String {
        let page = self.authorize(browser, request);
        page.params().remove("code").unwrap_or_else(|| panic!("no code: {page:?}"))
    }

    /// The page with the tenants, for a user who has several.
    #[track_caller]
    pub(crate) fn tenant_page(&self, browser: &Browser, request: &AuthorizationRequest) -> Page {
        let page = self.submit_credentials(browser, &browser.start_authorization(request));
        assert!(page.status == 200 && page.has_field("tenant"), "{page:?}");
        page
    }

    /// Types this password into the sign-in page.
    #[track_caller]
    pub(crate) fn try_password(&self, browser: &Browser, form: &Form, password: &str) -> Page {
        browser.submit(form, &[("username", &self.email), ("password", password)])
    }

    /// Posts a form as an application that shows its credentials as Basic.
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

    /// Exchanges a code with some fields more, or others than usual.
    #[track_caller]
    pub(crate) fn exchange_with(&self, code: &str, fields: &[(&str, &str)]) -> HttpResponse {
        let mut all = vec![("grant_type", "authorization_code"), ("code", code)];
        if !fields.iter().any(|(name, _)| *name == "redirect_uri") {
            all.push(("redirect_uri", CALLBACK));
        }
        all.extend(fields.iter().filter(|(_, value)| !value.is_empty()));
        self.token_request(&all)
    }

    /// Another application of the same developers.
    #[track_caller]
    pub(crate) fn with_app(&self, app: TestApp) -> SignInFixture<'_> {
        SignInFixture { server: self.server, tenants: self.tenants.clone(), email: self.email.clone(), app }
    }

    #[track_caller]
    pub(crate) fn revoke(&self, token: &str) -> HttpResponse {
        let credentials = [("client_id", self.app.id.as_str()), ("client_secret", self.app.secret.as_str())];
        self.post_form("connect/revocation", &[credentials[0], credentials[1], ("token", token)])
    }

    /// What an operator's list says of one thing.
    #[track_caller]
    pub(crate) fn find_listed(&self, what: &str, member: &str, value: &str) -> Value {
        let all = self.server.installation.program(&[what, "list", "--json"]).run().json();
        let all = all.as_array().unwrap();
        all.iter().find(|one| one[member] == value).unwrap_or_else(|| panic!("no {value}")).clone()
    }
}

impl Browser {
    /// Goes where a request leads: to the sign-in page, or wherever it ends.
    #[track_caller]
    pub(crate) fn start_authorization(&self, request: &AuthorizationRequest) -> Page {
        self.follow_redirects(self.get(&request.path()))
    }
}

/// A GET to one of the identity provider's addresses.
pub(crate) fn get(server: &ServeProcess, path: &str) -> HttpRequest {
    HttpRequest::get(&format!("{}/auth/core/{path}", server.public_url))
}

/// The names of an object's members, sorted.
pub(crate) fn members(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}
