//! The profile RP-Initiated Logout OP.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{AFTER, STATE, flow, new_candidate, refused, request};
use crate::harness::{Browser, ISSUER, Office, Page, encoded, get, opened, shared};

/// Somebody who has signed in at the provider, with the id_token that came of it.
struct Visitor {
    office: Office<'static>,
    browser: Browser,
    id_token: String,
}

impl Visitor {
    fn new() -> Self {
        let office = new_candidate();
        let browser = office.browser();
        let (tokens, _) = flow(&office, &browser, &request(&office));
        Self { id_token: tokens.id().to_owned(), office, browser }
    }

    /// Goes to the end_session_endpoint and says yes where the provider asks.
    fn leave(&self, fields: &[(&str, &str)]) -> Page {
        let path = format!("/auth/core/connect/endsession?{}", encoded(fields));
        let page = self.browser.settle(self.browser.get(&path));
        let asks = page.status == 200 && page.text().contains("<form");
        if asks { self.browser.submit(&page.form("post"), &[]) } else { page }
    }

    /// The suite's last step: a silent request must fail.
    #[track_caller]
    fn is_signed_out(&self) {
        let silent = request(&self.office).with("prompt", "none");
        refused(&self.browser.get(&silent.path()), "login_required");
    }

    #[track_caller]
    fn sees_an_error(&self, fields: &[(&str, &str)]) {
        let page = self.leave(fields);
        assert_eq!((page.status, page.location()), (400, ""), "{page:?}");
    }

    #[track_caller]
    fn sees_that_it_is_done(&self, fields: &[(&str, &str)]) {
        let page = self.leave(fields);
        assert_eq!((page.status, page.location()), (200, ""), "{page:?}");
        assert!(page.text().contains("Sesión cerrada"), "{}", page.text());
        self.is_signed_out();
    }
}

#[test]
fn oidcc_rp_initiated_logout_discovery_endpoint_verification() {
    let document = get(shared(), ".well-known/openid-configuration").send().json();
    assert_eq!(document["end_session_endpoint"], format!("{ISSUER}/connect/endsession"));
}

#[test]
fn oidcc_rp_initiated_logout() {
    let visitor = Visitor::new();
    let fields =
        [("id_token_hint", visitor.id_token.as_str()), ("post_logout_redirect_uri", AFTER), ("state", STATE)];
    let page = visitor.leave(&fields);
    assert_eq!(page.location(), format!("{AFTER}?{}", encoded(&[("state", STATE)])));
    visitor.is_signed_out();
}

#[test]
fn oidcc_rp_initiated_logout_bad_post_logout_redirect_uri() {
    let visitor = Visitor::new();
    let uri = ("post_logout_redirect_uri", "https://app.example/another");
    visitor.sees_an_error(&[("id_token_hint", &visitor.id_token), uri, ("state", STATE)]);
}

#[test]
fn oidcc_rp_initiated_logout_query_added_to_post_logout_redirect_uri() {
    let visitor = Visitor::new();
    let uri = format!("{AFTER}?foo=bar");
    let fields = [("id_token_hint", visitor.id_token.as_str()), ("post_logout_redirect_uri", &uri)];
    visitor.sees_an_error(&fields);
}

#[test]
fn oidcc_rp_initiated_logout_modified_id_token_hint() {
    let visitor = Visitor::new();
    let claims = visitor.id_token.split('.').nth(1).unwrap();
    let none = format!("{}.{claims}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#));
    visitor.sees_an_error(&[("id_token_hint", &none), ("post_logout_redirect_uri", AFTER), ("state", STATE)]);
}

#[test]
fn oidcc_rp_initiated_logout_bad_id_token_hint() {
    let visitor = Visitor::new();
    // Signed by somebody else, under the name of the provider's key.
    let (message, _) = visitor.id_token.rsplit_once('.').unwrap();
    let foreign = format!("{message}.{}", URL_SAFE_NO_PAD.encode([7; 256]));
    assert!(opened(&foreign).0["kid"].is_string());
    visitor.sees_an_error(&[
        ("id_token_hint", &foreign),
        ("post_logout_redirect_uri", AFTER),
        ("state", STATE),
    ]);
}

#[test]
fn oidcc_rp_initiated_logout_no_id_token_hint() {
    let visitor = Visitor::new();
    visitor.sees_an_error(&[("post_logout_redirect_uri", AFTER), ("state", STATE)]);
}

#[test]
fn oidcc_rp_initiated_logout_no_params() {
    Visitor::new().sees_that_it_is_done(&[]);
}

#[test]
fn oidcc_rp_initiated_logout_no_post_logout_redirect_uri() {
    let visitor = Visitor::new();
    visitor.sees_that_it_is_done(&[("id_token_hint", &visitor.id_token), ("state", STATE)]);
}

#[test]
fn oidcc_rp_initiated_logout_no_state() {
    let visitor = Visitor::new();
    let page = visitor.leave(&[("id_token_hint", &visitor.id_token), ("post_logout_redirect_uri", AFTER)]);
    assert_eq!(page.location(), AFTER);
    visitor.is_signed_out();
}

#[test]
fn oidcc_rp_initiated_logout_only_state() {
    Visitor::new().sees_that_it_is_done(&[("state", STATE)]);
}
