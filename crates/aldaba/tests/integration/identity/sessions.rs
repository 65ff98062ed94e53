//! Sessions: the cookie, its lifetime, and the `prompt`, `max_age` and hint parameters.

use std::time::Duration;

use crate::harness::{
    BEHIND_PROXY, Browser, EmbeddedServer, Installation, PASSWORD, Page, SESSION, SignInFixture, Tokens,
    claims, new_user, shared_fixture, shared_server, shared_signed_in_browser, wait_for_duration,
};

/// The `Set-Cookie` headers by cookie name.
fn set_cookies(page: &Page) -> Vec<(String, String)> {
    let lines = page.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap());
    lines
        .map(|line| {
            let (name, rest) = line.split_once('=').unwrap();
            let attributes = rest.split_once(';').map_or("", |(_, attributes)| attributes.trim());
            (name.to_owned(), attributes.to_owned())
        })
        .collect()
}

fn asks_to_sign_in(page: &Page) -> bool {
    page.location().starts_with("/auth/core/login?") && page.status == 302
}

/// The cookies set by the authorization request and by the sign-in.
fn cookies_of(fixture: &SignInFixture<'_>, browser: &Browser) -> Vec<(String, String)> {
    let first = browser.get(&fixture.authorization_request().path());
    let ingest = browser.follow_redirects(browser.get(first.location()));
    let entered = fixture.try_password(browser, &ingest.form("post"), PASSWORD);
    assert_eq!(entered.status, 302, "{entered:?}");
    let mut all: Vec<(String, String)> = [first, entered].iter().flat_map(set_cookies).collect();
    all.dedup();
    all
}

#[test]
fn cookies_are_http_only_and_same_site() {
    let cookies = cookies_of(shared_fixture(), &shared_fixture().browser());
    let expected = [
        ("aldaba-browser", "Path=/; HttpOnly; SameSite=Lax"),
        ("aldaba-known-browser", "Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000"),
        (SESSION, "Path=/; HttpOnly; SameSite=Lax"),
    ];
    assert_eq!(cookies, expected.map(|(name, line)| (name.to_owned(), line.to_owned())));
}

#[test]
fn cookies_have_the_host_prefix_on_https() {
    let server =
        EmbeddedServer::start(Installation::new(), &["server.auth_url=https://id.example.com", BEHIND_PROXY]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let browser = fixture.browser();
    let line = "Path=/; HttpOnly; SameSite=Lax; Secure";
    let expected = [
        ("__Host-aldaba-browser", line.to_owned()),
        ("__Host-aldaba-known-browser", format!("{line}; Max-Age=31536000")),
        ("__Host-aldaba-session", line.to_owned()),
    ];
    assert_eq!(cookies_of(&fixture, &browser), expected.map(|(name, line)| (name.to_owned(), line)));
    let page = browser.get(&fixture.authorization_request().path());
    assert_eq!(page.params()["iss"], "https://id.example.com/auth/core");
    assert_eq!(page.header("strict-transport-security"), "max-age=31536000; includeSubDomains");
    browser.set_cookie(SESSION, &browser.cookie("__Host-aldaba-session").unwrap());
    browser.set_cookie("__Host-aldaba-session", "");
    assert!(
        asks_to_sign_in(&browser.get(&fixture.authorization_request().path())),
        "the cookie without the prefix is ignored"
    );
    assert_eq!(
        shared_signed_in_browser()
            .get(&shared_fixture().authorization_request().path())
            .header("strict-transport-security"),
        ""
    );
}

#[test]
fn each_sign_in_replaces_the_session() {
    let fixture = SignInFixture::new();
    let browser = fixture.browser();
    browser.set_cookie(SESSION, "chosen-by-somebody-else");
    fixture.authorize(&browser, &fixture.authorization_request());
    let first = browser.cookie(SESSION).unwrap();
    assert!(first != "chosen-by-somebody-else" && first.len() >= 43, "{first}");
    fixture.authorize(&browser, &fixture.authorization_request().with("prompt", "login"));
    let second = browser.cookie(SESSION).unwrap();
    assert_ne!(first, second);
    browser.set_cookie(SESSION, &first);
    assert!(
        asks_to_sign_in(&browser.get(&fixture.authorization_request().path())),
        "the old session id is refused"
    );
    browser.set_cookie(SESSION, &second);
    assert!(browser.get(&fixture.authorization_request().path()).params().contains_key("code"));
}

#[test]
fn signed_in_user_is_not_asked_again() {
    let page = shared_signed_in_browser().get(&shared_fixture().authorization_request().path());
    assert!(page.params().contains_key("code"), "{page:?}");
    for made_up in ["", "x", "nobody's", &"x".repeat(200)] {
        let browser = shared_fixture().browser();
        browser.set_cookie(SESSION, made_up);
        assert!(asks_to_sign_in(&browser.get(&shared_fixture().authorization_request().path())), "{made_up}");
    }
}

#[test]
fn session_expires_after_the_configured_time() {
    let server = EmbeddedServer::start(Installation::new(), &["identity.session_ttl=1s"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let browser = fixture.signed_in_browser();
    wait_for_duration(Duration::from_millis(1050));
    assert!(asks_to_sign_in(&browser.get(&fixture.authorization_request().path())));
    let silent = browser.get(&fixture.authorization_request().with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "login_required");
}

#[test]
fn prompt_none_shows_no_page() {
    let fixture = shared_fixture();
    let request = fixture.authorization_request().with("prompt", "none");
    let page = fixture.browser().get(&request.path());
    assert_eq!((page.status, page.params()["error"].as_str()), (302, "login_required"));
    assert_eq!(set_cookies(&page), []);
    assert!(shared_signed_in_browser().get(&request.path()).params().contains_key("code"));
    let old = request.with("max_age", "0");
    assert_eq!(shared_signed_in_browser().get(&old.path()).params()["error"], "login_required");
}

#[test]
fn prompt_login_and_select_account_ask_again() {
    let fixture = SignInFixture::new();
    let browser = fixture.signed_in_browser();
    for prompt in ["login", "select_account", "login consent"] {
        let request = fixture.authorization_request().with("prompt", prompt);
        assert!(asks_to_sign_in(&browser.get(&request.path())), "{prompt}");
        assert!(
            fixture.authorize(&browser, &request).params().contains_key("code"),
            "one sign-in is enough: {prompt}"
        );
    }
}

#[test]
fn tenant_page_cannot_bypass_a_required_sign_in() {
    let fixture = SignInFixture::with_tenants(2);
    let browser = fixture.signed_in_browser();
    let ingest = browser.get(&fixture.authorization_request().with("prompt", "login").path());
    assert!(asks_to_sign_in(&ingest));
    let page = browser.get(&ingest.location().replace("/login?", "/tenant?"));
    assert!(asks_to_sign_in(&page), "{page:?}");
}

#[test]
fn max_age_requires_a_recent_sign_in() {
    let fixture = SignInFixture::new();
    let browser = fixture.signed_in_browser();
    assert!(
        browser
            .get(&fixture.authorization_request().with("max_age", "100").path())
            .params()
            .contains_key("code")
    );
    assert!(asks_to_sign_in(&browser.get(&fixture.authorization_request().with("max_age", "0").path())));
    wait_for_duration(Duration::from_millis(1050));
    let page = browser.get(&fixture.authorization_request().with("max_age", "1").path());
    assert!(asks_to_sign_in(&page), "more than a second has passed: {page:?}");
    let page = fixture.authorize(&browser, &fixture.authorization_request().with("max_age", "0"));
    assert!(page.params().contains_key("code"), "a new sign-in is recent enough: {page:?}");
}

#[test]
fn login_hint_prefills_the_username() {
    let fixture = shared_fixture();
    let hint = "ana+ñ@example.com \"<x>";
    let page =
        fixture.browser().start_authorization(&fixture.authorization_request().with("login_hint", hint));
    let form = page.form("post");
    assert!(form.fields.contains(&("username".into(), hint.into())), "{form:?}");
}

#[test]
fn id_token_hint_requires_a_session_of_that_user() {
    let fixture = SignInFixture::new();
    let tokens = fixture.tokens();
    let other = SignInFixture { email: new_user(shared_server(), &[&fixture.tenants[0]]), ..fixture };
    let browser = other.signed_in_browser();
    let request = other.authorization_request().with("id_token_hint", tokens.id());
    assert!(asks_to_sign_in(&browser.get(&request.path())), "another user is signed in");
    let silent = browser.get(&request.clone().with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "login_required");
    let own = Tokens::from_response(
        &other.exchange(&other.code_in_browser(&browser, &other.authorization_request())),
    );
    assert_ne!(claims(own.id())["sub"], claims(tokens.id())["sub"]);
    let request = other.authorization_request().with("id_token_hint", own.id()).with("prompt", "none");
    assert!(browser.get(&request.path()).params().contains_key("code"));
}

#[test]
fn ticket_is_bound_to_its_browser() {
    let fixture = shared_fixture();
    let form = fixture.browser().start_authorization(&fixture.authorization_request()).form("post");
    let another = fixture.browser();
    another.start_authorization(&fixture.authorization_request());
    for other in [another, fixture.browser()] {
        let page = fixture.try_password(&other, &form, PASSWORD);
        assert_eq!((page.status, page.has_field("password")), (400, true), "{page:?}");
        assert_eq!(other.cookie(SESSION), None);
        let again = other.follow_redirects(fixture.try_password(&other, &page.form("post"), PASSWORD));
        assert!(again.params().contains_key("code"), "the other browser starts over: {again:?}");
    }
}
