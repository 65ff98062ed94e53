//! Properties of all pages: a strict content security policy, and the language.

use crate::harness::{
    AuthorizationRequest, Browser, Page, SignInFixture, register_app, shared_fixture, shared_server,
};

const OUT_OF_BAND: &str = "urn:ietf:wg:oauth:2.0:oob";

/// Every page as this browser sees it, and whether its form leads to the client in the end.
fn all(
    fixture: &SignInFixture<'_>,
    fresh: impl Fn() -> Browser,
    request: &AuthorizationRequest,
) -> Vec<(&'static str, Page, bool)> {
    let (own_origin, client_origin) = (false, true);
    let browser = fresh();
    let ingest = browser.start_authorization(request);
    let empty = browser.submit(&ingest.form("post"), &[]);
    let tenants = fixture.submit_credentials(&browser, &ingest);
    let mut unchosen = tenants.form("post");
    unchosen.fields.retain(|(name, _)| name != "tenant");
    let nothing = browser.submit(&unchosen, &[]);
    let consent = browser.start_authorization(&request.clone().with("prompt", "consent"));
    let choose = [("tenant", fixture.tenants[0].as_str()), ("decision", "allow")];
    let aside = browser.start_authorization(&request.clone().with("redirect_uri", OUT_OF_BAND));
    let code = browser.submit(&aside.form("post"), &choose);
    let permissions = browser.get("/auth/core/permissions");
    let unknown = browser.get(&request.clone().with("client_id", "nobody").path());
    let unregistered = browser.get(&request.clone().with("redirect_uri", "https://evil.example/").path());
    let missing = browser.get("/auth/core/nothing/here");
    let garbage = browser.get("/auth/core/tenant?ticket=garbage");
    let sign_out = browser.get("/auth/core/logout");
    let signed_out = browser.submit(&sign_out.form("post"), &[]);
    vec![
        ("sign-in", ingest, client_origin),
        ("sign-in without a name", empty, client_origin),
        ("tenants", tenants, client_origin),
        ("tenants, none chosen", nothing, client_origin),
        ("consent", consent, client_origin),
        ("tenants, out of band", aside, own_origin),
        ("code", code, own_origin),
        ("permissions", permissions, own_origin),
        ("unknown client", unknown, own_origin),
        ("unregistered address", unregistered, own_origin),
        ("not found", missing, own_origin),
        ("unreadable ticket", garbage, own_origin),
        ("sign-out", sign_out, own_origin),
        ("signed out", signed_out, own_origin),
    ]
}

fn fixture() -> SignInFixture<'static> {
    let fixture = SignInFixture::with_tenants(2);
    let app = register_app(shared_server(), &["--redirect-uri", OUT_OF_BAND]);
    SignInFixture { app, ..fixture }
}

fn lang(page: &Page) -> String {
    let tag = page.text().split("<html lang=\"").nth(1).unwrap_or_else(|| panic!("{page:?}"));
    tag.split('"').next().unwrap().to_owned()
}

#[test]
fn every_page_has_the_security_headers() {
    let fixture = fixture();
    let request = fixture.authorization_request();
    let modern = || fixture.browser().with_header("sec-fetch-mode", "navigate");
    let pages = all(&fixture, modern, &request).into_iter().map(|(name, page, _)| (name, page, false));
    for (name, page, is_redirected) in pages.chain(all(&fixture, || fixture.browser(), &request)) {
        // A browser without fetch metadata gets a redirect after the form, so its policy must allow it.
        let beside = if is_redirected { " https: http:" } else { "" };
        // The script of pages with a password or with times is a file of the same origin.
        let has_script = name.starts_with("sign-in") || name == "permissions";
        let script = if has_script { "script-src 'self'; " } else { "" };
        let policy = format!(
            "default-src 'none'; style-src 'self'; img-src 'self'; {script}form-action 'self'{beside}; \
             base-uri 'none'; frame-ancestors 'none'"
        );
        assert_eq!(page.header("content-security-policy"), policy, "{name}");
        for (header, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(page.header(header), value, "{name}: {header}");
        }
        let scripts = page.text().matches("<script").count()
            - page.text().matches("<script src=\"/auth/core/look/page.").count();
        assert_eq!((scripts, page.text().contains("<script")), (0, has_script), "{name}");
        assert!(page.text().starts_with("<!DOCTYPE html>"), "{name}");
    }
}

#[test]
fn pages_are_spanish_by_default() {
    let fixture = fixture();
    for (name, page, _) in all(&fixture, || fixture.browser(), &fixture.authorization_request()) {
        assert_eq!(lang(&page), "es", "{name}");
    }
}

#[test]
fn pages_use_the_browsers_language() {
    let fixture = fixture();
    let english = || fixture.browser().with_header("accept-language", "fr;q=0.9, en-GB;q=0.8, es;q=0.5");
    for (name, page, _) in all(&fixture, english, &fixture.authorization_request()) {
        assert_eq!(lang(&page), "en", "{name}");
    }
}

#[test]
fn ui_locales_sets_the_language() {
    let fixture = fixture();
    let request = fixture.authorization_request().with("ui_locales", "fr en es");
    let spanish = || fixture.browser().with_header("accept-language", "es");
    let of_the_request = |name: &str| {
        !["permissions", "not found", "unreadable ticket", "sign-out", "signed out"].contains(&name)
    };
    let pages = all(&fixture, spanish, &request);
    let silent: Vec<&str> = pages
        .iter()
        .filter(|(name, page, _)| of_the_request(name) && lang(page) != "en")
        .map(|(name, ..)| *name)
        .collect();
    assert_eq!(silent, Vec::<&str>::new(), "these pages ignore ui_locales");
}

#[test]
fn ui_locales_sets_the_language_of_the_logout_pages() {
    let fixture = SignInFixture::new();
    let browser = fixture.signed_in_browser();
    let ended = browser.follow_redirects(browser.get("/auth/core/connect/endsession?ui_locales=en"));
    assert_eq!(lang(&ended), "en");
    let finished = browser.submit(&ended.form("post"), &[]);
    assert_eq!(lang(&finished), "en", "also on the page after it");
    let nobody = shared_fixture().browser().get("/auth/core/connect/endsession?ui_locales=en");
    assert_eq!(lang(&nobody), "en", "also without a session");
}

/// The link to the same page in the other language.
fn language_link(page: &Page) -> Option<String> {
    let link = page.text().split("<a class=\"language-switch\" href=\"").nth(1)?;
    Some(link.split('"').next().unwrap().replace("&amp;", "&"))
}

#[test]
fn language_can_be_switched_and_is_remembered() {
    let fixture = fixture();
    let browser = fixture.browser();
    let spanish = browser.start_authorization(&fixture.authorization_request());
    let english = browser.get(&language_link(&spanish).unwrap());
    assert_eq!((lang(&spanish).as_str(), lang(&english).as_str()), ("es", "en"));
    assert_eq!(lang(&browser.get(&language_link(&english).unwrap())), "es", "and back");
    let empty = browser.submit(&english.form("post"), &[]);
    assert_eq!(lang(&empty), "en", "the language stays after a wrong password");
    let tenants = fixture.submit_credentials(&browser, &empty);
    assert_eq!(lang(&tenants), "en", "and on the next page");
    assert_eq!(lang(&browser.get(&language_link(&tenants).unwrap())), "es");
    for path in ["/auth/core/permissions", "/auth/core/logout"] {
        let page = browser.get(path);
        assert_eq!(lang(&page), "es");
        assert_eq!(lang(&browser.get(&language_link(&page).unwrap())), "en", "{path}");
    }
}

#[test]
fn tenant_search_keeps_the_language() {
    let fixture = SignInFixture::with_tenants(9);
    let browser = fixture.browser().with_header("accept-language", "en");
    let tenants = fixture.tenant_page(&browser, &fixture.authorization_request());
    let spanish = browser.get(&language_link(&tenants).unwrap());
    assert_eq!(lang(&spanish), "es");
    let found = browser.submit(&spanish.form("get"), &[("q", "a")]);
    assert_eq!(lang(&found), "es", "the selected tenant stays selected");
}

#[test]
fn assets_exist_and_are_cacheable() {
    let page = shared_fixture().browser().start_authorization(&shared_fixture().authorization_request());
    let links: Vec<&str> = page
        .text()
        .split("<link")
        .skip(1)
        .map(|link| link.split("href=\"").nth(1).unwrap().split('"').next().unwrap())
        .collect();
    assert_eq!(links.len(), 2);
    for (link, kind) in links.iter().zip(["text/css", "image/svg+xml"]) {
        let asset = shared_fixture().browser().get(link);
        assert!(asset.status == 200 && asset.header("content-type").starts_with(kind), "{link}");
        assert!(asset.header("cache-control").contains("immutable"), "{link}");
    }
}

#[test]
fn names_are_escaped() {
    let fixture = shared_fixture().with_app(register_app(shared_server(), &[]));
    let page = fixture
        .browser()
        .start_authorization(&fixture.authorization_request().with("login_hint", "\"><b>x</b>"));
    assert!(!page.text().contains("<b>x</b>"), "{}", page.text());
}
