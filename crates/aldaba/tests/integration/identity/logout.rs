//! RP-initiated logout: started by the user or by a client.

use crate::harness::{
    Browser, Page, SESSION, SignInFixture, new_user, register_app, shared_fixture, shared_server,
};

const AFTER: &str = "https://app.example/bye?x=1";

fn fixture() -> SignInFixture<'static> {
    SignInFixture::with_client(&["--post-logout-uri", AFTER])
}

fn end_session(browser: &Browser, fields: &[(&str, &str)]) -> Page {
    browser.get(&format!("/auth/core/connect/endsession?{}", crate::harness::encode_form(fields)))
}

fn is_signed_in(fixture: &SignInFixture<'_>, browser: &Browser) -> bool {
    let page = browser.get(&fixture.authorization_request().with("prompt", "none").path());
    page.params().contains_key("code")
}

#[track_caller]
fn expect_confirmation_page(fixture: &SignInFixture<'_>, browser: &Browser, page: &Page) -> Page {
    assert!(page.location().starts_with("/auth/core/logout?"), "{page:?}");
    let question = browser.get(page.location());
    assert!(question.status == 200 && question.text().contains(&fixture.email), "{question:?}");
    assert!(is_signed_in(fixture, browser), "the user is still signed in");
    question
}

#[test]
fn logout_asks_for_confirmation() {
    let fixture = fixture();
    let browser = fixture.signed_in_browser();
    let session = browser.cookie(SESSION).unwrap();
    let question = browser.get("/auth/core/logout");
    assert!(is_signed_in(&fixture, &browser), "opening the page does not sign out");
    let finished = browser.submit(&question.form("post"), &[]);
    assert_eq!((finished.status, browser.cookie(SESSION)), (200, None), "{finished:?}");
    browser.set_cookie(SESSION, &session);
    assert!(!is_signed_in(&fixture, &browser), "the session has ended, also for another browser with its id");
    let records = fixture.audit(&format!("kind=signed_out&user={}", fixture.email));
    assert_eq!(records.len(), 1);
    assert_eq!(browser.get("/auth/core/logout").status, 200, "the page also works without a session");
}

#[test]
fn id_token_hint_of_the_user_needs_no_confirmation() {
    let fixture = fixture();
    let browser = fixture.browser();
    let id_token =
        fixture.authorize(&browser, &fixture.authorization_request()).params().remove("id_token").unwrap();
    let state = "ñ & % + =";
    let fields =
        [("id_token_hint", id_token.as_str()), ("post_logout_redirect_uri", AFTER), ("state", state)];
    let page = end_session(&browser, &fields);
    assert!(page.location().starts_with(&format!("{AFTER}&state=")), "{page:?}");
    assert_eq!((page.params()["state"].as_str(), browser.cookie(SESSION)), (state, None));
    let page = end_session(&browser, &fields);
    assert!(page.location().starts_with(AFTER), "a second logout changes nothing: {page:?}");
}

#[test]
fn logout_without_id_token_hint_asks_for_confirmation() {
    let fixture = fixture();
    let browser = fixture.signed_in_browser();
    let fields =
        [("client_id", fixture.app.id.as_str()), ("post_logout_redirect_uri", AFTER), ("state", "s")];
    let question = expect_confirmation_page(&fixture, &browser, &end_session(&browser, &fields));
    assert!(question.text().contains("Panel de ventas"), "the page names the client");
    let finished = browser.submit(&question.form("post"), &[]);
    assert_eq!((finished.location(), browser.cookie(SESSION)), (&*format!("{AFTER}&state=s"), None));
}

#[test]
fn id_token_hint_of_another_user_asks_for_confirmation() {
    let fixture = fixture();
    let id_token = fixture.tokens().id().to_owned();
    let other = SignInFixture { email: new_user(shared_server(), &[&fixture.tenants[0]]), ..fixture };
    let browser = other.signed_in_browser();
    expect_confirmation_page(&other, &browser, &end_session(&browser, &[("id_token_hint", &id_token)]));
}

/// As omniauth does it: the address alone, from which the client cannot be told.
#[test]
fn logout_without_hint_and_client_ends_on_a_page_of_the_provider() {
    let fixture = fixture();
    let browser = fixture.signed_in_browser();
    let fields = [("post_logout_redirect_uri", AFTER), ("state", "s")];
    let question = expect_confirmation_page(&fixture, &browser, &end_session(&browser, &fields));
    let finished = browser.submit(&question.form("post"), &[]);
    assert_eq!((finished.status, finished.location(), browser.cookie(SESSION)), (200, "", None));
}

#[test]
fn confirmation_page_can_be_cancelled() {
    let fixture = fixture();
    let browser = fixture.signed_in_browser();
    let question = browser.get("/auth/core/logout");
    let link = question.text().split("<a class=\"button secondary\" href=\"").nth(1).unwrap();
    let page = browser.get(link.split('"').next().unwrap());
    assert!(page.status == 200 && page.text().contains(&fixture.email), "{page:?}");
    assert!(is_signed_in(&fixture, &browser));
}

#[test]
fn form_of_a_browser_is_answered_with_a_page_that_goes_on_to_the_client() {
    let fixture = fixture();
    let browser = fixture.browser().with_header("sec-fetch-mode", "navigate");
    fixture.authorize(&browser, &fixture.authorization_request());
    let fields = [("client_id", fixture.app.id.as_str()), ("post_logout_redirect_uri", AFTER)];
    let question = expect_confirmation_page(&fixture, &browser, &end_session(&browser, &fields));
    let finished = browser.submit(&question.form("post"), &[]);
    assert_eq!((finished.status, finished.location(), browser.cookie(SESSION)), (200, "", None));
    let refresh = format!("<meta http-equiv=\"refresh\" content=\"0; url={AFTER}\">");
    assert!(finished.text().contains(&refresh), "{}", finished.text());
}

#[test]
fn post_logout_redirect_uri_must_match_a_registered_one_exactly() {
    let fixture = fixture();
    let id_token = fixture.tokens().id().to_owned();
    let other = register_app(shared_server(), &["--post-logout-uri", "https://other.example/bye"]);
    for uri in [
        "https://app.example/bye",
        "https://app.example/bye?x=1&y=2",
        "https://evil.example/",
        crate::harness::CALLBACK,
        "https://other.example/bye",
        "javascript:alert(1)",
    ] {
        let browser = fixture.signed_in_browser();
        let fields = [("id_token_hint", id_token.as_str()), ("post_logout_redirect_uri", uri)];
        let question = expect_confirmation_page(&fixture, &browser, &end_session(&browser, &fields));
        let finished = browser.submit(&question.form("post"), &[]);
        assert_eq!((finished.status, finished.location()), (200, ""), "{uri}");
        assert!(!is_signed_in(&fixture, &browser), "{uri}");
    }
    let id = fixture.app.id.as_str();
    let after = ("post_logout_redirect_uri", AFTER);
    for fields in [
        &[("id_token_hint", id_token.as_str()), ("client_id", other.id.as_str()), after][..],
        &[("client_id", "nobody"), after],
        &[("client_id", other.id.as_str()), after],
        &[("client_id", id), ("client_id", id), after],
        &[("id_token_hint", "x.y.z"), after],
    ] {
        let browser = fixture.signed_in_browser();
        let question = expect_confirmation_page(&fixture, &browser, &end_session(&browser, fields));
        let finished = browser.submit(&question.form("post"), &[]);
        assert_eq!((finished.status, finished.location()), (200, ""), "{fields:?}");
        assert!(!is_signed_in(&fixture, &browser), "{fields:?}");
    }
}

#[test]
fn logout_request_can_be_posted_as_a_form() {
    let fixture = fixture();
    let browser = fixture.signed_in_browser();
    let id_token = fixture.tokens().id().to_owned();
    let fields = [("id_token_hint", id_token.as_str()), ("post_logout_redirect_uri", AFTER)];
    let page = browser.follow_redirects(browser.post("/auth/core/connect/endsession", &fields));
    assert_eq!((page.location(), browser.cookie(SESSION)), (AFTER, None));
}

#[test]
fn logout_ends_only_the_session_of_this_browser() {
    let fixture = SignInFixture::new();
    let [one, other] = [fixture.signed_in_browser(), fixture.signed_in_browser()];
    one.submit(&one.get("/auth/core/logout").form("post"), &[]);
    assert!(!is_signed_in(&fixture, &one) && is_signed_in(&fixture, &other));
}

#[test]
fn disabled_client_gets_no_redirect_after_a_logout() {
    let fixture = fixture();
    let browser = fixture.signed_in_browser();
    let id_token = fixture.tokens().id().to_owned();
    fixture.command(&["client", "disable", &fixture.app.id]);
    let fields = [("id_token_hint", id_token.as_str()), ("post_logout_redirect_uri", AFTER)];
    let question = browser.follow_redirects(end_session(&browser, &fields));
    let page = browser.submit(&question.form("post"), &[]);
    assert_eq!((page.status, page.location(), browser.cookie(SESSION)), (200, "", None));
    assert_eq!(shared_fixture().browser().get("/auth/core/connect/endsession").status, 200);
}
