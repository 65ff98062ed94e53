//! Being signed in: the cookie, its end, and what a request asks of it.

use std::time::Duration;

use crate::harness::{
    Browser, Office, PASSWORD, Page, SESSION, Serve, Site, Tokens, at_lobby, claims, let_pass, lobby,
    new_user, shared,
};

/// The lines that set cookies, by name.
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

/// What sets cookies on the way: the request, and the sign-in.
fn cookies_of(office: &Office<'_>, browser: &Browser) -> Vec<(String, String)> {
    let first = browser.get(&office.ask().path());
    let door = browser.settle(browser.get(first.location()));
    let entered = office.try_password(browser, &door.form("post"), PASSWORD);
    assert_eq!(entered.status, 302, "{entered:?}");
    let mut all: Vec<(String, String)> = [first, entered].iter().flat_map(set_cookies).collect();
    all.dedup();
    all
}

#[test]
fn cookies_are_kept_from_scripts_and_from_other_sites() {
    let cookies = cookies_of(lobby(), &lobby().browser());
    let expected =
        [("aldaba-browser", "Path=/; HttpOnly; SameSite=Lax"), (SESSION, "Path=/; HttpOnly; SameSite=Lax")];
    assert_eq!(cookies, expected.map(|(name, line)| (name.to_owned(), line.to_owned())));
}

#[test]
fn on_https_cookies_are_bound_to_the_host() {
    let serve = Serve::start(Site::new(), &["--set", "server.auth_url=https://id.example.com"]);
    let office = Office::on(&serve, 1, &[]);
    let browser = office.browser();
    let line = "Path=/; HttpOnly; SameSite=Lax; Secure".to_owned();
    let expected =
        ["__Host-aldaba-browser", "__Host-aldaba-session"].map(|name| (name.to_owned(), line.clone()));
    assert_eq!(cookies_of(&office, &browser), expected);
    let page = browser.get(&office.ask().path());
    assert_eq!(page.params()["iss"], "https://id.example.com/auth/core");
    assert_eq!(page.header("strict-transport-security"), "max-age=31536000; includeSubDomains");
    browser.set_cookie(SESSION, &browser.cookie("__Host-aldaba-session").unwrap());
    browser.set_cookie("__Host-aldaba-session", "");
    assert!(asks_to_sign_in(&browser.get(&office.ask().path())), "the plain name counts for nothing");
    assert_eq!(at_lobby().get(&lobby().ask().path()).header("strict-transport-security"), "");
}

#[test]
fn each_sign_in_begins_a_new_session_and_ends_the_old_one() {
    let office = Office::new();
    let browser = office.browser();
    browser.set_cookie(SESSION, "chosen-by-somebody-else");
    office.arrive(&browser, &office.ask());
    let first = browser.cookie(SESSION).unwrap();
    assert!(first != "chosen-by-somebody-else" && first.len() >= 43, "{first}");
    office.arrive(&browser, &office.ask().with("prompt", "login"));
    let second = browser.cookie(SESSION).unwrap();
    assert_ne!(first, second);
    browser.set_cookie(SESSION, &first);
    assert!(asks_to_sign_in(&browser.get(&office.ask().path())), "the old id is worth nothing");
    browser.set_cookie(SESSION, &second);
    assert!(browser.get(&office.ask().path()).params().contains_key("code"));
}

#[test]
fn who_is_signed_in_is_not_asked_again() {
    let page = at_lobby().get(&lobby().ask().path());
    assert!(page.params().contains_key("code"), "{page:?}");
    for made_up in ["", "x", "nobody's", &"x".repeat(200)] {
        let browser = lobby().browser();
        browser.set_cookie(SESSION, made_up);
        assert!(asks_to_sign_in(&browser.get(&lobby().ask().path())), "{made_up}");
    }
}

#[test]
fn a_session_lasts_as_long_as_configured() {
    let serve = Serve::start(Site::new(), &["--set", "identity.session_ttl=1s"]);
    let office = Office::on(&serve, 1, &[]);
    let browser = office.signed_in();
    let_pass(Duration::from_millis(1050));
    assert!(asks_to_sign_in(&browser.get(&office.ask().path())));
    let silent = browser.get(&office.ask().with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "login_required");
}

#[test]
fn prompt_none_never_shows_a_page() {
    let office = lobby();
    let ask = office.ask().with("prompt", "none");
    let page = office.browser().get(&ask.path());
    assert_eq!((page.status, page.params()["error"].as_str()), (302, "login_required"));
    assert_eq!(set_cookies(&page), []);
    assert!(at_lobby().get(&ask.path()).params().contains_key("code"));
    let old = ask.with("max_age", "0");
    assert_eq!(at_lobby().get(&old.path()).params()["error"], "login_required");
}

#[test]
fn prompt_login_and_select_account_ask_again() {
    let office = Office::new();
    let browser = office.signed_in();
    for prompt in ["login", "select_account", "login consent"] {
        let ask = office.ask().with("prompt", prompt);
        assert!(asks_to_sign_in(&browser.get(&ask.path())), "{prompt}");
        assert!(office.arrive(&browser, &ask).params().contains_key("code"), "once is enough: {prompt}");
    }
}

#[test]
fn going_back_to_the_tenant_page_is_no_way_around_the_password() {
    let office = Office::with_tenants(2);
    let browser = office.signed_in();
    let door = browser.get(&office.ask().with("prompt", "login").path());
    assert!(asks_to_sign_in(&door));
    let page = browser.get(&door.location().replace("/login?", "/tenant?"));
    assert!(asks_to_sign_in(&page), "{page:?}");
}

#[test]
fn max_age_asks_again_when_the_sign_in_is_older() {
    let office = Office::new();
    let browser = office.signed_in();
    assert!(browser.get(&office.ask().with("max_age", "100").path()).params().contains_key("code"));
    assert!(asks_to_sign_in(&browser.get(&office.ask().with("max_age", "0").path())));
    let_pass(Duration::from_millis(1050));
    let page = browser.get(&office.ask().with("max_age", "1").path());
    assert!(asks_to_sign_in(&page), "more than a second has passed: {page:?}");
    let page = office.arrive(&browser, &office.ask().with("max_age", "0"));
    assert!(page.params().contains_key("code"), "a sign-in made for it is young enough: {page:?}");
}

#[test]
fn login_hint_fills_in_the_name() {
    let office = lobby();
    let hint = "ana+ñ@example.com \"<x>";
    let page = office.browser().ask(&office.ask().with("login_hint", hint));
    let form = page.form("post");
    assert!(form.fields.contains(&("username".into(), hint.into())), "{form:?}");
}

#[test]
fn id_token_hint_names_whose_session_it_must_be() {
    let office = Office::new();
    let tokens = office.tokens();
    let other = Office { email: new_user(shared(), &[&office.tenants[0]]), ..office };
    let browser = other.signed_in();
    let ask = other.ask().with("id_token_hint", tokens.id());
    assert!(asks_to_sign_in(&browser.get(&ask.path())), "somebody else is signed in");
    let silent = browser.get(&ask.clone().with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "login_required");
    let own = Tokens::of(&other.exchange(&other.code_in(&browser, &other.ask())));
    assert_ne!(claims(own.id())["sub"], claims(tokens.id())["sub"]);
    let ask = other.ask().with("id_token_hint", own.id()).with("prompt", "none");
    assert!(browser.get(&ask.path()).params().contains_key("code"));
}

#[test]
fn a_ticket_is_good_in_its_own_browser_alone() {
    let office = lobby();
    let form = office.browser().ask(&office.ask()).form("post");
    let another = office.browser();
    another.ask(&office.ask());
    for other in [another, office.browser()] {
        let page = office.try_password(&other, &form, PASSWORD);
        assert_eq!((page.status, page.has_field("password")), (400, true), "{page:?}");
        assert_eq!(other.cookie(SESSION), None);
        let again = other.settle(office.try_password(&other, &page.form("post"), PASSWORD));
        assert!(again.params().contains_key("code"), "and begins anew there: {again:?}");
    }
}
