//! Signing out: asked for by a person or by an application, and then truly over.

use crate::harness::{
    Browser, Page, SESSION, SignInFixture, claims, new_user, register_app, shared_fixture, shared_server,
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
fn asks_first(fixture: &SignInFixture<'_>, browser: &Browser, page: &Page) -> Page {
    assert!(page.location().starts_with("/auth/core/logout?"), "{page:?}");
    let question = browser.get(page.location());
    assert!(question.status == 200 && question.text().contains(&fixture.email), "{question:?}");
    assert!(is_signed_in(fixture, browser), "nothing has happened yet");
    question
}

#[test]
fn a_person_is_asked_and_then_signed_out() {
    let fixture = fixture();
    let browser = fixture.signed_in_browser();
    let session = browser.cookie(SESSION).unwrap();
    let question = browser.get("/auth/core/logout");
    assert!(is_signed_in(&fixture, &browser), "looking at the page does nothing");
    let done = browser.submit(&question.form("post"), &[]);
    assert_eq!((done.status, browser.cookie(SESSION)), (200, None), "{done:?}");
    browser.set_cookie(SESSION, &session);
    assert!(!is_signed_in(&fixture, &browser), "the session is over, whoever still has its id");
    let records = fixture.audit(&format!("kind=signed_out&user={}", fixture.email));
    assert_eq!(records.len(), 1);
    assert_eq!(browser.get("/auth/core/logout").status, 200, "who is not signed in may ask, too");
}

#[test]
fn an_id_token_of_the_user_is_enough() {
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
    assert!(page.location().starts_with(AFTER), "again changes nothing: {page:?}");
}

#[test]
fn without_one_the_user_is_asked() {
    let fixture = fixture();
    let browser = fixture.signed_in_browser();
    let fields =
        [("client_id", fixture.app.id.as_str()), ("post_logout_redirect_uri", AFTER), ("state", "s")];
    let question = asks_first(&fixture, &browser, &end_session(&browser, &fields));
    assert!(question.text().contains("Panel de ventas"), "who asks is named");
    let done = browser.submit(&question.form("post"), &[]);
    assert_eq!((done.location(), browser.cookie(SESSION)), (&*format!("{AFTER}&state=s"), None));
}

#[test]
fn an_id_token_of_another_user_is_not_enough() {
    let fixture = fixture();
    let id_token = fixture.tokens().id().to_owned();
    let other = SignInFixture { email: new_user(shared_server(), &[&fixture.tenants[0]]), ..fixture };
    let browser = other.signed_in_browser();
    asks_first(&other, &browser, &end_session(&browser, &[("id_token_hint", &id_token)]));
}

#[test]
fn addresses_are_registered_for_it_to_the_letter() {
    let fixture = fixture();
    let browser = fixture.signed_in_browser();
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
        let fields = [("id_token_hint", id_token.as_str()), ("post_logout_redirect_uri", uri)];
        let page = end_session(&browser, &fields);
        assert_eq!((page.status, page.location()), (400, ""), "{uri}");
    }
    let fields = [("id_token_hint", id_token.as_str()), ("client_id", other.id.as_str())];
    assert_eq!(end_session(&browser, &fields).status, 400, "of {}", claims(&id_token));
    let nobody = [("client_id", "nobody"), ("post_logout_redirect_uri", AFTER)];
    assert_eq!(end_session(&browser, &nobody).status, 400);
    assert!(is_signed_in(&fixture, &browser), "a request that is wrong ends nothing");
}

#[test]
fn a_form_is_as_good_as_a_query() {
    let fixture = fixture();
    let browser = fixture.signed_in_browser();
    let id_token = fixture.tokens().id().to_owned();
    let fields = [("id_token_hint", id_token.as_str()), ("post_logout_redirect_uri", AFTER)];
    let page = browser.follow_redirects(browser.post("/auth/core/connect/endsession", &fields));
    assert_eq!((page.location(), browser.cookie(SESSION)), (AFTER, None));
}

#[test]
fn other_browsers_stay_signed_in() {
    let fixture = SignInFixture::new();
    let [one, other] = [fixture.signed_in_browser(), fixture.signed_in_browser()];
    one.submit(&one.get("/auth/core/logout").form("post"), &[]);
    assert!(!is_signed_in(&fixture, &one) && is_signed_in(&fixture, &other));
}

#[test]
fn a_disabled_application_cannot_ask() {
    let fixture = fixture();
    let browser = fixture.signed_in_browser();
    let id_token = fixture.tokens().id().to_owned();
    fixture.command(&["client", "disable", &fixture.app.id]);
    let fields = [("id_token_hint", id_token.as_str()), ("post_logout_redirect_uri", AFTER)];
    let page = end_session(&browser, &fields);
    assert_eq!((page.status, page.location()), (400, ""));
    assert_eq!(shared_fixture().browser().get("/auth/core/connect/endsession").status, 200);
}
