//! Native applications (RFC 8252): loopback addresses with any port, and private-use schemes.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::harness::{
    AuthorizationRequest, CHALLENGE, SignInFixture, TestApp, Tokens, VERIFIER, oauth_error, shared_fixture,
    shared_server, shared_signed_in_browser,
};

const SCHEME: &str = "com.example.sales-panel:/callback";

fn native(uris: &[&str]) -> SignInFixture<'static> {
    let mut arguments = vec!["client", "add", "App", "--kind", "native", "--json"];
    arguments.extend(uris.iter().flat_map(|uri| ["--redirect-uri", *uri]));
    let created = shared_server().installation.program(&arguments).run().json();
    assert_eq!(created.get("client_secret"), None);
    let id = created["client_id"].as_str().unwrap().to_owned();
    shared_fixture().with_app(TestApp { id, secret: String::new() })
}

fn request(fixture: &SignInFixture<'_>, uri: &str) -> AuthorizationRequest {
    let request = fixture.authorization_request().with("redirect_uri", uri);
    request.with("code_challenge", CHALLENGE).with("code_challenge_method", "S256")
}

#[test]
fn application_on_a_desktop_listens_on_a_port_of_its_own() {
    let fixture = native(&["http://127.0.0.1/callback"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = format!("http://{}/callback", listener.local_addr().unwrap());
    let application = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let mut received = [0; 4096];
        let read = connection.read(&mut received).unwrap();
        connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok").unwrap();
        String::from_utf8(received[..read].to_vec()).unwrap()
    });
    let browser = fixture.browser();
    let page = fixture.authorize(&browser, &request(&fixture, &uri));
    assert!(page.location().starts_with(&format!("{uri}?code=")), "{page:?}");
    assert_eq!(browser.get(page.location()).status, 200);
    let received = application.join().unwrap();
    let query = received.split_once('?').unwrap().1.split_once(' ').unwrap().0;
    let params = crate::harness::decode_form(query);
    assert_eq!(params["state"], "af0ifjsldkj");
    let proof = [("redirect_uri", uri.as_str()), ("code_verifier", VERIFIER)];
    let tokens = Tokens::from_response(&fixture.exchange_with(&params["code"], &proof));
    assert_eq!(fixture.userinfo(tokens.access()).status, 200);
    assert_eq!(fixture.refresh(tokens.refresh()).status, 200);
}

#[test]
fn only_the_port_of_a_loopback_address_is_free() {
    let fixture =
        native(&["http://127.0.0.1/callback", "http://[::1]:1/callback", "http://localhost:8765/cb"]);
    let status = |uri: &str| shared_signed_in_browser().get(&request(&fixture, uri).path()).status;
    for uri in ["http://127.0.0.1:51004/callback", "http://127.0.0.1/callback", "http://[::1]:51004/callback"]
    {
        assert_eq!(status(uri), 302, "{uri}");
    }
    for uri in [
        "http://127.0.0.1:51004/other",
        "http://127.0.0.1:51004/callback?x=1",
        "http://127.0.0.1:0/callback",
        "http://127.0.0.1:80@evil.example/callback",
        "http://127.0.0.2:51004/callback",
        "https://127.0.0.1:51004/callback",
        "http://localhost:8766/cb",
        "http://localhost:51004/callback",
    ] {
        assert_eq!(status(uri), 400, "{uri}");
    }
    let uri = "http://127.0.0.1:51004/callback";
    let code = fixture.code_in_browser(&shared_signed_in_browser(), &request(&fixture, uri));
    let other = [("redirect_uri", "http://127.0.0.1:51005/callback"), ("code_verifier", VERIFIER)];
    let response = fixture.exchange_with(&code, &other);
    assert_eq!(oauth_error(&response, 400), "invalid_grant", "the exchange names the same address");
}

#[test]
fn application_on_a_phone_is_opened_by_its_scheme() {
    let fixture = native(&[SCHEME]);
    // As a browser does it, with a form: a redirect, because a phone opens no application for a page that goes on by itself.
    let browser = fixture.browser().with_header("sec-fetch-mode", "navigate");
    let page = browser.start_authorization(&request(&fixture, SCHEME));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("form-action 'self' com.example.sales-panel:;"), "{policy}");
    let page = fixture.submit_credentials(&browser, &page);
    assert!(page.status == 200 && page.has_field("tenant"), "the user is asked: {page:?}");
    let allow = [("tenant", fixture.tenants[0].as_str()), ("decision", "allow")];
    let page = browser.submit(&page.form("post"), &allow);
    assert_eq!(page.status, 302, "{page:?}");
    assert!(page.location().starts_with(&format!("{SCHEME}?code=")), "{page:?}");
    let proof = [("redirect_uri", SCHEME), ("code_verifier", VERIFIER)];
    let tokens = Tokens::from_response(&fixture.exchange_with(&page.params()["code"], &proof));
    assert_eq!(fixture.userinfo(tokens.access()).status, 200);

    let refused = request(&fixture, SCHEME).with("prompt", "none").with("scope", "address");
    let page = browser.get(&refused.path());
    assert!(page.location().starts_with(&format!("{SCHEME}?error=invalid_scope")), "{page:?}");
    let form_post = request(&fixture, SCHEME).with("response_mode", "form_post");
    let page = browser.get(&form_post.path());
    assert!(page.location().starts_with(&format!("{SCHEME}?error=invalid_request")), "{page:?}");
    assert_eq!(browser.get(&request(&fixture, "com.example.sales-panel:/other").path()).status, 400);
}

#[test]
fn form_post_works_for_loopback() {
    let fixture = native(&["http://127.0.0.1/callback"]);
    let uri = "http://127.0.0.1:51004/callback";
    let form_post = request(&fixture, uri).with("response_mode", "form_post");
    let page = fixture.authorize(&shared_signed_in_browser(), &form_post);
    assert_eq!((page.status, page.form("post").action.as_str()), (200, uri), "{page:?}");
}

#[test]
fn user_is_asked_each_time_because_any_program_may_listen() {
    let fixture = native(&["http://127.0.0.1/callback", "https://app.example/callback"]);
    let browser = fixture.browser();
    for port in [51004, 51005] {
        let request = request(&fixture, &format!("http://127.0.0.1:{port}/callback"));
        let page = fixture.authorize(&browser, &request);
        assert!(page.params().contains_key("code"), "{page:?}");
        let silent = browser.get(&request.with("prompt", "none").path());
        assert_eq!(silent.params()["error"], "consent_required");
    }
    let https = browser.get(&request(&fixture, "https://app.example/callback").path());
    assert!(https.params().contains_key("code"), "{https:?}");
}

#[test]
fn other_kinds_have_neither() {
    for kind in ["web", "browser"] {
        for uri in ["http://127.0.0.1:8765/cb", "http://[::1]/cb", SCHEME] {
            let add = ["client", "add", "App", "--kind", kind, "--redirect-uri", uri];
            shared_server().installation.program(&add).run().expect_failure(2, "https");
        }
    }
    let bad = [
        "javascript:alert(1)",
        "data:text/html,x",
        "custom:/cb",
        "com.example.app:cb",
        "http://127.0.0.2/cb",
    ];
    for uri in bad {
        let add = ["client", "add", "App", "--kind", "native", "--redirect-uri", uri];
        shared_server().installation.program(&add).run().expect_failure(2, "https");
    }
}
