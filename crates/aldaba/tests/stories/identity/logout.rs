//! Signing out: asked for by a person or by an application, and then truly over.

use crate::harness::{Browser, Office, Page, SESSION, claims, lobby, new_app, new_user, shared};

const AFTER: &str = "https://app.example/bye?x=1";

fn office() -> Office<'static> {
    Office::with_client(&["--post-logout-uri", AFTER])
}

fn end_session(browser: &Browser, fields: &[(&str, &str)]) -> Page {
    browser.get(&format!("/auth/core/connect/endsession?{}", crate::harness::encoded(fields)))
}

fn is_signed_in(office: &Office<'_>, browser: &Browser) -> bool {
    let page = browser.get(&office.ask().with("prompt", "none").path());
    page.params().contains_key("code")
}

#[track_caller]
fn asks_first(office: &Office<'_>, browser: &Browser, page: &Page) -> Page {
    assert!(page.location().starts_with("/auth/core/logout?"), "{page:?}");
    let question = browser.get(page.location());
    assert!(question.status == 200 && question.text().contains(&office.email), "{question:?}");
    assert!(is_signed_in(office, browser), "nothing has happened yet");
    question
}

#[test]
fn a_person_is_asked_and_then_signed_out() {
    let office = office();
    let browser = office.signed_in();
    let session = browser.cookie(SESSION).unwrap();
    let question = browser.get("/auth/core/logout");
    assert!(is_signed_in(&office, &browser), "looking at the page does nothing");
    let done = browser.submit(&question.form("post"), &[]);
    assert_eq!((done.status, browser.cookie(SESSION)), (200, None), "{done:?}");
    browser.set_cookie(SESSION, &session);
    assert!(!is_signed_in(&office, &browser), "the session is over, whoever still has its id");
    let records = office.audit(&format!("kind=signed_out&user={}", office.email));
    assert_eq!(records.len(), 1);
    assert_eq!(browser.get("/auth/core/logout").status, 200, "who is not signed in may ask, too");
}

#[test]
fn an_id_token_of_the_user_is_enough() {
    let office = office();
    let browser = office.browser();
    let id_token = office.arrive(&browser, &office.ask()).params().remove("id_token").unwrap();
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
    let office = office();
    let browser = office.signed_in();
    let fields = [("client_id", office.app.id.as_str()), ("post_logout_redirect_uri", AFTER), ("state", "s")];
    let question = asks_first(&office, &browser, &end_session(&browser, &fields));
    assert!(question.text().contains("Panel de ventas"), "who asks is named");
    let done = browser.submit(&question.form("post"), &[]);
    assert_eq!((done.location(), browser.cookie(SESSION)), (&*format!("{AFTER}&state=s"), None));
}

#[test]
fn an_id_token_of_another_user_is_not_enough() {
    let office = office();
    let id_token = office.tokens().id().to_owned();
    let other = Office { email: new_user(shared(), &[&office.tenants[0]]), ..office };
    let browser = other.signed_in();
    asks_first(&other, &browser, &end_session(&browser, &[("id_token_hint", &id_token)]));
}

#[test]
fn addresses_are_registered_for_it_to_the_letter() {
    let office = office();
    let browser = office.signed_in();
    let id_token = office.tokens().id().to_owned();
    let other = new_app(shared(), &["--post-logout-uri", "https://other.example/bye"]);
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
    assert!(is_signed_in(&office, &browser), "a request that is wrong ends nothing");
}

#[test]
fn a_form_is_as_good_as_a_query() {
    let office = office();
    let browser = office.signed_in();
    let id_token = office.tokens().id().to_owned();
    let fields = [("id_token_hint", id_token.as_str()), ("post_logout_redirect_uri", AFTER)];
    let page = browser.settle(browser.post("/auth/core/connect/endsession", &fields));
    assert_eq!((page.location(), browser.cookie(SESSION)), (AFTER, None));
}

#[test]
fn other_browsers_stay_signed_in() {
    let office = Office::new();
    let [one, other] = [office.signed_in(), office.signed_in()];
    one.submit(&one.get("/auth/core/logout").form("post"), &[]);
    assert!(!is_signed_in(&office, &one) && is_signed_in(&office, &other));
}

#[test]
fn a_disabled_application_cannot_ask() {
    let office = office();
    let browser = office.signed_in();
    let id_token = office.tokens().id().to_owned();
    office.command(&["client", "disable", &office.app.id]);
    let fields = [("id_token_hint", id_token.as_str()), ("post_logout_redirect_uri", AFTER)];
    let page = end_session(&browser, &fields);
    assert_eq!((page.status, page.location()), (400, ""));
    assert_eq!(lobby().browser().get("/auth/core/connect/endsession").status, 200);
}
