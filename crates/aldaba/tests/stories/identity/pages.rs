//! What every page has in common: a strict policy, and the reader's language.

use crate::harness::{Ask, Browser, Office, Page, lobby, new_app, shared};

const OUT_OF_BAND: &str = "urn:ietf:wg:oauth:2.0:oob";

/// Every page there is, as this browser sees it, and the origin that its forms may lead to beside our own.
fn all(
    office: &Office<'_>,
    fresh: impl Fn() -> Browser,
    ask: &Ask,
) -> Vec<(&'static str, Page, &'static str)> {
    let (here, there) = ("", " http://localhost:8765");
    let browser = fresh();
    let door = browser.ask(ask);
    let empty = browser.submit(&door.form("post"), &[]);
    let tenants = office.enter(&browser, &door);
    let nothing = browser.submit(&tenants.form("post"), &[]);
    let consent = browser.ask(&ask.clone().with("prompt", "consent"));
    let choose = [("tenant", office.tenants[0].as_str()), ("decision", "allow")];
    let aside = browser.ask(&ask.clone().with("redirect_uri", OUT_OF_BAND));
    let code = browser.submit(&aside.form("post"), &choose);
    let permissions = browser.get("/auth/core/permissions");
    let unknown = browser.get(&ask.clone().with("client_id", "nobody").path());
    let unregistered = browser.get(&ask.clone().with("redirect_uri", "https://evil.example/").path());
    let missing = browser.get("/auth/core/nothing/here");
    let garbage = browser.get("/auth/core/tenant?ticket=garbage");
    let sign_out = browser.get("/auth/core/logout");
    let signed_out = browser.submit(&sign_out.form("post"), &[]);
    vec![
        ("sign-in", door, there),
        ("sign-in without a name", empty, there),
        ("tenants", tenants, there),
        ("tenants, none chosen", nothing, there),
        ("consent", consent, there),
        ("tenants, out of band", aside, here),
        ("code", code, here),
        ("permissions", permissions, here),
        ("unknown client", unknown, here),
        ("unregistered address", unregistered, here),
        ("not found", missing, here),
        ("unreadable ticket", garbage, here),
        ("sign-out", sign_out, here),
        ("signed out", signed_out, here),
    ]
}

fn office() -> Office<'static> {
    let office = Office::with_tenants(2);
    let app = new_app(shared(), &["--redirect-uri", OUT_OF_BAND]);
    Office { app, ..office }
}

fn lang(page: &Page) -> String {
    let tag = page.text().split("<html lang=\"").nth(1).unwrap_or_else(|| panic!("{page:?}"));
    tag.split('"').next().unwrap().to_owned()
}

#[test]
fn every_page_is_policed() {
    let office = office();
    for (name, page, beside) in all(&office, || office.browser(), &office.ask()) {
        let policy = format!(
            "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'{beside}; base-uri 'none'; \
             frame-ancestors 'none'"
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
        assert!(!page.text().contains("<script"), "{name}");
        assert!(page.text().starts_with("<!DOCTYPE html>"), "{name}");
    }
}

#[test]
fn pages_speak_spanish_unless_asked_otherwise() {
    let office = office();
    for (name, page, _) in all(&office, || office.browser(), &office.ask()) {
        assert_eq!(lang(&page), "es", "{name}");
    }
}

#[test]
fn pages_speak_the_browsers_language() {
    let office = office();
    let english = || office.browser().with_header("accept-language", "fr;q=0.9, en-GB;q=0.8, es;q=0.5");
    for (name, page, _) in all(&office, english, &office.ask()) {
        assert_eq!(lang(&page), "en", "{name}");
    }
}

#[test]
fn the_application_may_say_which_language() {
    let office = office();
    let ask = office.ask().with("ui_locales", "fr en es");
    let spanish = || office.browser().with_header("accept-language", "es");
    let of_the_request = |name: &str| {
        !["permissions", "not found", "unreadable ticket", "sign-out", "signed out"].contains(&name)
    };
    let pages = all(&office, spanish, &ask);
    let silent: Vec<&str> = pages
        .iter()
        .filter(|(name, page, _)| of_the_request(name) && lang(page) != "en")
        .map(|(name, ..)| *name)
        .collect();
    assert_eq!(silent, Vec::<&str>::new(), "these pages do not listen to ui_locales");
}

#[test]
fn sign_out_listens_to_the_application_too() {
    let office = Office::new();
    let browser = office.signed_in();
    let ended = browser.settle(browser.get("/auth/core/connect/endsession?ui_locales=en"));
    assert_eq!(lang(&ended), "en");
    let done = browser.submit(&ended.form("post"), &[]);
    assert_eq!(lang(&done), "en", "and on the page after it");
    let nobody = lobby().browser().get("/auth/core/connect/endsession?ui_locales=en");
    assert_eq!(lang(&nobody), "en", "also where nobody is signed in");
}

/// The address of the same page in the other language.
fn switch(page: &Page) -> Option<String> {
    let link = page.text().split("<a class=\"switch\" href=\"").nth(1)?;
    Some(link.split('"').next().unwrap().replace("&amp;", "&"))
}

#[test]
fn the_language_can_be_switched_and_stays() {
    let office = office();
    let browser = office.browser();
    let spanish = browser.ask(&office.ask());
    let english = browser.get(&switch(&spanish).unwrap());
    assert_eq!((lang(&spanish).as_str(), lang(&english).as_str()), ("es", "en"));
    assert_eq!(lang(&browser.get(&switch(&english).unwrap())), "es", "and back");
    let empty = browser.submit(&english.form("post"), &[]);
    assert_eq!(lang(&empty), "en", "it stays through a mistake");
    let tenants = office.enter(&browser, &empty);
    assert_eq!(lang(&tenants), "en", "and on the next page");
    assert_eq!(lang(&browser.get(&switch(&tenants).unwrap())), "es");
    for path in ["/auth/core/permissions", "/auth/core/logout"] {
        let page = browser.get(path);
        assert_eq!(lang(&page), "es");
        assert_eq!(lang(&browser.get(&switch(&page).unwrap())), "en", "{path}");
    }
}

#[test]
fn a_search_keeps_the_language() {
    let office = Office::with_tenants(9);
    let browser = office.browser().with_header("accept-language", "en");
    let tenants = office.tenant_page(&browser, &office.ask());
    let spanish = browser.get(&switch(&tenants).unwrap());
    assert_eq!(lang(&spanish), "es");
    let found = browser.submit(&spanish.form("get"), &[("q", "a")]);
    assert_eq!(lang(&found), "es", "what was picked stays picked");
}

#[test]
fn styles_and_icon_are_there_and_may_be_kept() {
    let page = lobby().browser().ask(&lobby().ask());
    let links: Vec<&str> = page
        .text()
        .split("<link")
        .skip(1)
        .map(|link| link.split("href=\"").nth(1).unwrap().split('"').next().unwrap())
        .collect();
    assert_eq!(links.len(), 2);
    for (link, kind) in links.iter().zip(["text/css", "image/svg+xml"]) {
        let asset = lobby().browser().get(link);
        assert!(asset.status == 200 && asset.header("content-type").starts_with(kind), "{link}");
        assert!(asset.header("cache-control").contains("immutable"), "{link}");
    }
}

#[test]
fn names_are_shown_as_text() {
    let office = lobby().with_app(new_app(shared(), &[]));
    let page = office.browser().ask(&office.ask().with("login_hint", "\"><b>x</b>"));
    assert!(!page.text().contains("<b>x</b>"), "{}", page.text());
}
