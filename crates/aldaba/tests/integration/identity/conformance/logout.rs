//! RP-Initiated Logout OP profile.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{AFTER, STATE, flow, new_candidate, refused, request};
use crate::harness::{Browser, ISSUER, Page, SignInFixture, decode_jwt, encode_form, get, shared_server};

/// A signed-in user and the id_token of the sign-in.
struct SignedInUser {
    fixture: SignInFixture<'static>,
    browser: Browser,
    id_token: String,
}

impl SignedInUser {
    fn new() -> Self {
        let fixture = new_candidate();
        let browser = fixture.browser();
        let (tokens, _) = flow(&fixture, &browser, &request(&fixture));
        Self { id_token: tokens.id().to_owned(), fixture, browser }
    }

    /// Opens the end_session_endpoint and confirms if asked.
    fn log_out(&self, fields: &[(&str, &str)]) -> Page {
        let path = format!("/auth/core/connect/endsession?{}", encode_form(fields));
        let page = self.browser.follow_redirects(self.browser.get(&path));
        let asks = page.status == 200 && page.text().contains("<form");
        if asks { self.browser.submit(&page.form("post"), &[]) } else { page }
    }

    /// The user is asked before anything ends.
    #[track_caller]
    fn expect_question(&self, fields: &[(&str, &str)]) {
        let path = format!("/auth/core/connect/endsession?{}", encode_form(fields));
        let page = self.browser.follow_redirects(self.browser.get(&path));
        assert!(page.status == 200 && page.text().contains("<form"), "{page:?}");
    }

    /// The suite's last step: a request with `prompt=none` must fail.
    #[track_caller]
    fn expect_signed_out(&self) {
        let silent = request(&self.fixture).with("prompt", "none");
        refused(&self.browser.get(&silent.path()), "login_required");
    }

    #[track_caller]
    fn expect_logged_out_page(&self, fields: &[(&str, &str)]) {
        let page = self.log_out(fields);
        assert_eq!((page.status, page.location()), (200, ""), "{page:?}");
        assert!(page.text().contains("Sesión cerrada"), "{}", page.text());
        self.expect_signed_out();
    }
}

#[test]
fn oidcc_rp_initiated_logout_discovery_endpoint_verification() {
    let document = get(shared_server(), ".well-known/openid-configuration").send().json();
    assert_eq!(document["end_session_endpoint"], format!("{ISSUER}/connect/endsession"));
}

#[test]
fn oidcc_rp_initiated_logout() {
    let user = SignedInUser::new();
    let fields =
        [("id_token_hint", user.id_token.as_str()), ("post_logout_redirect_uri", AFTER), ("state", STATE)];
    let page = user.log_out(&fields);
    assert_eq!(page.location(), format!("{AFTER}?{}", encode_form(&[("state", STATE)])));
    user.expect_signed_out();
}

#[test]
fn oidcc_rp_initiated_logout_bad_post_logout_redirect_uri() {
    let user = SignedInUser::new();
    let uri = ("post_logout_redirect_uri", "https://app.example/another");
    let fields = [("id_token_hint", user.id_token.as_str()), uri, ("state", STATE)];
    user.expect_question(&fields);
    user.expect_logged_out_page(&fields);
}

#[test]
fn oidcc_rp_initiated_logout_query_added_to_post_logout_redirect_uri() {
    let user = SignedInUser::new();
    let uri = format!("{AFTER}?foo=bar");
    let fields = [("id_token_hint", user.id_token.as_str()), ("post_logout_redirect_uri", &uri)];
    user.expect_question(&fields);
    user.expect_logged_out_page(&fields);
}

#[test]
fn oidcc_rp_initiated_logout_modified_id_token_hint() {
    let user = SignedInUser::new();
    let claims = user.id_token.split('.').nth(1).unwrap();
    let none = format!("{}.{claims}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#));
    user.expect_logged_out_page(&[
        ("id_token_hint", &none),
        ("post_logout_redirect_uri", AFTER),
        ("state", STATE),
    ]);
}

#[test]
fn oidcc_rp_initiated_logout_bad_id_token_hint() {
    let user = SignedInUser::new();
    // Signed with another key, under the kid of the provider's key.
    let (message, _) = user.id_token.rsplit_once('.').unwrap();
    let foreign = format!("{message}.{}", URL_SAFE_NO_PAD.encode([7; 256]));
    assert!(decode_jwt(&foreign).0["kid"].is_string());
    user.expect_logged_out_page(&[
        ("id_token_hint", &foreign),
        ("post_logout_redirect_uri", AFTER),
        ("state", STATE),
    ]);
}

#[test]
fn oidcc_rp_initiated_logout_no_id_token_hint() {
    let user = SignedInUser::new();
    user.expect_logged_out_page(&[("post_logout_redirect_uri", AFTER), ("state", STATE)]);
}

#[test]
fn oidcc_rp_initiated_logout_no_params() {
    SignedInUser::new().expect_logged_out_page(&[]);
}

#[test]
fn oidcc_rp_initiated_logout_no_post_logout_redirect_uri() {
    let user = SignedInUser::new();
    user.expect_logged_out_page(&[("id_token_hint", &user.id_token), ("state", STATE)]);
}

#[test]
fn oidcc_rp_initiated_logout_no_state() {
    let user = SignedInUser::new();
    let page = user.log_out(&[("id_token_hint", &user.id_token), ("post_logout_redirect_uri", AFTER)]);
    assert_eq!(page.location(), AFTER);
    user.expect_signed_out();
}

#[test]
fn oidcc_rp_initiated_logout_only_state() {
    SignedInUser::new().expect_logged_out_page(&[("state", STATE)]);
}
