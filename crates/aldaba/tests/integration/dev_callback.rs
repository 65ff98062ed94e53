//! dev answers a redirect URI at which no application listens, and never stands in an application's way.

use std::net::{TcpListener, TcpStream};

use serde_json::Value;

use crate::harness::{Browser, Dev, HttpRequest, HttpResponse, Program, free_ports, wait_for};

const HTML: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

struct CallbackFixture {
    dev: Dev,
    port: u16,
}

impl CallbackFixture {
    fn new() -> Self {
        Self::with(&[])
    }

    /// A dev whose redirect URI has a port of its own: tests run beside each other, and dev opens it late and again.
    fn with(arguments: &[&str]) -> Self {
        let port = free_ports(1);
        let uri = format!("http://localhost:{port}/callback");
        let dev = Dev::start(&[&["--redirect-uri", uri.as_str()][..], arguments].concat());
        Self { dev, port }
    }

    fn redirect_uri(&self) -> String {
        format!("http://localhost:{}/callback", self.port)
    }

    fn browser(&self) -> Browser {
        Browser::new(self.dev.text("auth_url"))
            .with_header("accept", HTML)
            .with_header("accept-language", "en")
    }

    /// Where dev's own link leads.
    fn authorize_url(&self) -> String {
        let begun = HttpRequest::get(&format!("{}sign-in", self.dev.text("receiver_url"))).send();
        assert_eq!(begun.status, 303);
        begun.header("location").to_owned()
    }

    /// Signs María in and returns the address that the browser is sent to.
    fn sign_in(&self, browser: &Browser, authorize: &str) -> String {
        let page = browser.follow_redirects(browser.get(authorize));
        let user = &self.dev.ready["users"][0];
        let fields = ["email", "password"].map(|name| user[name].as_str().unwrap());
        let page = browser.submit(&page.form("post"), &[("username", fields[0]), ("password", fields[1])]);
        browser.follow_redirects(page).location().to_owned()
    }

    fn is_open(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }

    /// Opens an address of the callback and returns the page that follows.
    fn open(&self, url: &str) -> HttpResponse {
        let sent = HttpRequest::get(url).header("accept", HTML).send();
        self.shown(&sent)
    }

    fn shown(&self, sent: &HttpResponse) -> HttpResponse {
        assert_eq!(sent.status, 303, "{sent:?}");
        let page = sent.header("location");
        assert!(page.starts_with(self.dev.text("receiver_url")), "{page}");
        let page = HttpRequest::get(page).header("accept", HTML).header("accept-language", "en").send();
        let policy = page.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        page
    }
}

#[track_caller]
fn expect_all(page: &HttpResponse, parts: &[&str]) {
    let text = page.text();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}

/// The text of an element that people copy.
fn copied(page: &HttpResponse, id: &str) -> String {
    let (_, rest) = page.text().split_once(&format!("id=\"{id}\">")).unwrap_or_else(|| panic!("no {id}"));
    let text = rest.split("</code>").next().unwrap();
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[test]
fn first_sign_in_ends_on_a_page_with_tokens_and_the_next_command() {
    let fixture = CallbackFixture::new();
    assert!(!fixture.is_open(), "dev listens there only when a browser is about to come");
    let browser = fixture.browser();
    let callback = fixture.sign_in(&browser, &fixture.authorize_url());
    assert!(callback.starts_with(&fixture.redirect_uri()), "{callback}");
    let sent = HttpRequest::get(&callback).header("accept", HTML).send();
    let page = fixture.shown(&sent);
    expect_all(
        &page,
        &["The sign-in worked", "Matches the request", "Panel de ventas", "access_token", "id_token"],
    );
    expect_all(&page, &["Whom it is for: the APIs", "maria@example.com", fixture.dev.tenants()[0]]);
    wait_for("the port to be free again", || (!fixture.is_open()).then_some(()));

    // The command works as it is copied.
    let command = copied(&page, "read");
    let run = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    let rows: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert!(rows.as_array().is_some_and(|rows| rows.len() == 3), "{command}: {rows}");
    assert!(run.stdout.ends_with(b"\n"));

    // The page can be read again, in Spanish too; the code cannot be used again.
    let again = format!("{}?lang=es", sent.header("location"));
    let spanish = HttpRequest::get(&again).header("accept", HTML).send();
    expect_all(
        &spanish,
        &["<html lang=\"es\"", "El inicio de sesión ha funcionado", "Para quién es: las API"],
    );
    let unknown = format!("{}sign-in/nothing", fixture.dev.text("receiver_url"));
    let unknown = HttpRequest::get(&unknown).header("accept", HTML).header("accept-language", "en").send();
    assert_eq!(unknown.status, 404);
    expect_all(&unknown, &["dev does not remember this sign-in"]);
    assert_eq!(fixture.dev.stop().stderr, "", "with --json dev writes nothing to standard error");
}

#[test]
fn codes_that_dev_cannot_exchange_stay_unused() {
    let fixture = CallbackFixture::new();
    let browser = fixture.browser();
    // With the challenge of RFC 7636's example.
    let challenge = "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
    let authorize = format!("{}{challenge}", fixture.authorize_url());
    let callback = fixture.sign_in(&browser, &authorize);
    let page = fixture.open(&callback);
    expect_all(&page, &["The request had a PKCE challenge"]);
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    let command =
        copied(&page, "token-request").replace("code_verifier=…", &format!("code_verifier={verifier}"));
    let run = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    let tokens: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert!(tokens["access_token"].is_string(), "{command}: {tokens}");

    // A request of another program: dev knows neither its state nor its nonce. The user is signed in already.
    let own = authorize.replace(challenge, "");
    let state = own.split("state=").nth(1).unwrap().split('&').next().unwrap();
    let callback = browser.get(&own.replace(state, "mine")).location().to_owned();
    let page = fixture.open(&callback);
    expect_all(
        &page,
        &[
            "Another program sent it",
            "Compare it with the one that your application sent",
            "The sign-in worked",
        ],
    );

    // An error, posted as a form.
    let refused = browser.get(&format!("{own}&prompt=none&max_age=0"));
    let (address, query) = refused.location().split_once('?').unwrap();
    let posted = HttpRequest::post(address).header("content-type", "application/x-www-form-urlencoded");
    let page = fixture.shown(&posted.body(query.to_owned()).send());
    expect_all(&page, &["The service gave no code", "login_required", "Why there is no code"]);
}

#[test]
fn foreign_and_malformed_callbacks_are_answered_without_harm() {
    let fixture = CallbackFixture::with(&["--empty"]);
    let browser = fixture.browser();
    let callback = fixture.sign_in(&browser, &fixture.authorize_url());
    let at = |query: &str| format!("{}{query}", fixture.redirect_uri());
    assert_eq!(HttpRequest::get(&at("")).send().status, 404, "nothing came");
    assert_eq!(HttpRequest::get(&at("?x=1")).send().status, 404);
    assert_eq!(HttpRequest::get(&at("?code=")).send().status, 303);
    wait_for("the port to be free again", || (!fixture.is_open()).then_some(()));

    // One browser at a time is expected: a second sign-in opens the port again.
    let own = browser.get(&fixture.authorize_url()).location().to_owned();
    let iss = own.split("iss=").nth(1).unwrap();
    let foreign = own.replace(iss, "http%3A%2F%2F127.0.0.1%3A9%2Fauth%2Fcore");
    let page = fixture.open(&foreign);
    expect_all(
        &page,
        &["The code was issued by another service", "http://127.0.0.1:9/auth/core/connect/token"],
    );
    browser.get(&fixture.authorize_url());
    let page = fixture.open(&at("?code=%3Cx-y%3E&state=%3Cx-z%3E"));
    expect_all(&page, &["dev does not know this code", "&lt;x-y&gt;", "&lt;x-z&gt;"]);
    assert!(!page.text().contains("<x-"), "{}", page.text());
    assert!(callback.contains("code="), "{callback}");
}

#[test]
fn applications_keep_their_ports() {
    let fixture = CallbackFixture::with(&["--empty"]);
    // An application that listens gets the browser, and dev does not listen beside it.
    let application = TcpListener::bind(("127.0.0.1", fixture.port)).unwrap();
    let browser = fixture.browser();
    let callback = fixture.sign_in(&browser, &fixture.authorize_url());
    assert!(callback.starts_with(&fixture.redirect_uri()), "{callback}");
    drop(application);
    assert!(!fixture.is_open());
    // A program without a browser opens nothing, so that an application can start afterwards.
    let program = Browser::new(fixture.dev.text("auth_url"));
    fixture.sign_in(&program, &fixture.authorize_url());
    assert!(!fixture.is_open());

    // Two devs with the same redirect URI start, and neither says a word about it.
    let second = Dev::start(&["--empty", "--redirect-uri", &fixture.redirect_uri()]);
    assert_eq!(second.stop().stderr, "");
}

#[test]
fn page_of_dev_says_who_answers_the_redirect_uri() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = format!("http://localhost:{}/cb", taken.local_addr().unwrap().port());
    let page = |uri: &str| {
        let process =
            Program::new(&["dev", "--listen", "127.0.0.1:0", "--empty", "--redirect-uri", uri]).start();
        let page =
            wait_for("the page", || Some(process.stdout()).filter(|page| page.contains("Stop with Ctrl-C.")));
        assert_eq!(process.stop().code, Some(0));
        page
    };
    let said = page(&uri);
    assert!(said.contains(&format!("a program already listens at {uri}")), "{said}");
    drop(taken);
    let said = page(&uri);
    assert!(said.contains(&format!("dev answers {uri} itself")), "{said}");
    assert!(page("https://app.example/cb").contains(" http://localhost:8765/callback"), "the default stays");
}
