//! Bytes that are not valid text: NUL, invalid UTF-8 and invalid escapes, in every place that takes text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::credentials;
use crate::harness::{
    Database, EmbeddedServer, HttpRequest, Installation, PASSWORD, SignInFixture, Tokens, attack_server,
    encode_form, oauth_error, send_raw_bytes,
};

/// Percent-encoded, for a query or a form.
const INVALID_TEXTS: [&str; 9] =
    ["%00", "a%00b", "%FF", "a%FFb", "%C0%80", "%ED%A0%80", "%F4%90%80%80", "%", "%ZZ%u0000"];

fn check_everywhere(fixture: &SignInFixture<'_>) {
    check_pages(fixture);
    check_endpoints(fixture);
    fixture.server.assert_healthy();
}

/// Pages handle them without a server error or a sign-in.
fn check_pages(fixture: &SignInFixture<'_>) {
    let browser = fixture.browser();
    let names = [
        "client_id",
        "redirect_uri",
        "scope",
        "state",
        "nonce",
        "login_hint",
        "ui_locales",
        "prompt",
        "acr_values",
        "id_token_hint",
        "code_challenge",
        "max_age",
        "response_type",
        "response_mode",
        "lang",
        "junk",
    ];
    for invalid in INVALID_TEXTS {
        for name in names {
            let path = format!("{}&{name}={invalid}", fixture.authorization_request().without(name).path());
            let page = browser.follow_redirects(browser.get(&path));
            assert!(page.status < 500, "{name}={invalid}: {page:?}");
        }
        let form =
            browser.follow_redirects(browser.get(&fixture.authorization_request().path())).form("post");
        let ticket = encode_form(&[("ticket", &form.fields[0].1)]);
        let credentials = encode_form(&[("username", &fixture.email), ("password", PASSWORD)]);
        for body in [
            format!("{ticket}&username={invalid}&password=x"),
            format!(
                "{ticket}&username={}{invalid}&password={}",
                fixture.email,
                encode_form(&[("", PASSWORD)]).trim_start_matches('=')
            ),
            format!("ticket={invalid}&{credentials}"),
            format!("{ticket}{invalid}&{credentials}"),
        ] {
            let request = HttpRequest::post(&format!("{}{}", fixture.server.public_url, form.action));
            let page = browser
                .send(request.header("content-type", "application/x-www-form-urlencoded").body(body.clone()));
            assert_eq!((page.status, page.location()), (400, ""), "{body}: {page:?}");
        }
    }
    let signed_in_browser = fixture.signed_in_browser();
    for invalid in INVALID_TEXTS {
        for path in [
            "permissions?tenant=x&withdrawn=",
            "logout?ticket=",
            "tenant?ticket=",
            "login?ticket=",
            "login?lang=",
        ] {
            let page = signed_in_browser.get(&format!("/auth/core/{path}{invalid}"));
            assert!(page.status < 500, "{path}{invalid}: {page:?}");
        }
        for name in ["client_id", "post_logout_redirect_uri", "state", "id_token_hint", "ui_locales"] {
            let page = signed_in_browser.follow_redirects(
                signed_in_browser.get(&format!("/auth/core/connect/endsession?{name}={invalid}")),
            );
            assert!(page.status < 500, "{name}={invalid}: {page:?}");
        }
    }
}

/// Endpoints handle them without a server error, and the code stays unused.
fn check_endpoints(fixture: &SignInFixture<'_>) {
    let code = fixture.code(&fixture.authorization_request());
    let post = |path: &str, body: String| {
        fixture.request(path).header("content-type", "application/x-www-form-urlencoded").body(body).send()
    };
    let own = encode_form(&credentials(&fixture.app));
    for invalid in INVALID_TEXTS {
        for body in [
            format!("client_id={invalid}&client_secret=x"),
            format!("client_id={}&client_secret={invalid}", fixture.app.id),
            format!("{own}&grant_type={invalid}"),
            format!("{own}&grant_type=authorization_code&code={invalid}"),
            format!("{own}&grant_type=authorization_code&code={code}&redirect_uri=x&{invalid}=%00"),
            format!("{own}&grant_type=refresh_token&refresh_token={invalid}"),
            format!("{own}&{invalid}"),
        ] {
            let response = post("connect/token", body.clone());
            assert!([400, 401].contains(&response.status), "{body}: {response:?}");
            assert!(response.json()["error"].is_string(), "{body}: {response:?}");
        }
        for path in ["connect/introspect", "connect/revocation"] {
            let response = post(path, format!("{own}&token={invalid}"));
            assert!(response.status < 500, "{path} {invalid}: {response:?}");
        }
        for text in [format!("{invalid}:x"), format!("{}{invalid}:x", fixture.app.id), format!("x:{invalid}")]
        {
            let response = fixture.post_form_with_basic(
                "connect/token",
                &format!("Basic {}", STANDARD.encode(&text)),
                &[],
            );
            assert_eq!(oauth_error(&response, 401), "invalid_client", "{text}");
        }
    }
    let raw =
        [&b"client_id=\0&client_secret=\0"[..], b"\xff\xfe\x00=\xc3\x28&client_id=\xff", b"\0", b"=&=&&&=\0"];
    for body in raw {
        let request =
            fixture.request("connect/token").header("content-type", "application/x-www-form-urlencoded");
        let response = request.body(body.to_vec()).send();
        assert!([400, 401].contains(&response.status), "{response:?}");
    }
    let response = fixture.post_form_with_basic(
        "connect/token",
        &format!("Basic {}", STANDARD.encode(b"a\0b:c\0d")),
        &[],
    );
    assert_eq!(oauth_error(&response, 401), "invalid_client");
    assert_eq!(fixture.exchange(&code).status, 200, "the code is still valid");
}

#[test]
fn nul_and_invalid_text_cause_no_server_error() {
    check_everywhere(&SignInFixture::on(attack_server(), 2, &[]));
}

#[test]
fn nul_and_invalid_text_cause_no_server_error_on_postgresql() {
    let database = Database::create();
    let server = EmbeddedServer::start(
        Installation::with_store(&database.url()),
        &["identity.address_failures_max=100000"],
    );
    check_everywhere(&SignInFixture::on(&server, 2, &[]));
}

#[test]
fn invalid_bytes_in_the_request_head_are_refused() {
    let fixture = SignInFixture::on(attack_server(), 1, &[]);
    let path = "/auth/core/connect/authorize";
    for head in [
        &b"GET /auth/core/\0 HTTP/1.1\r\nhost: x\r\n\r\n"[..],
        b"GET /auth/core/\xff HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /auth/core/login?ticket=\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /auth/core/login HTTP/1.1\r\nhost: x\r\ncookie: aldaba-session=\xff\r\n\r\n",
        b"GET /auth/core/login HTTP/1.1\r\nhost: x\r\ncookie: a\0b\r\n\r\n",
        b"GET /auth/core/login HTTP/1.1\r\nhost: x\r\naccept-language: \xff\xff\r\n\r\n",
        b"GET /auth/core/connect/userinfo HTTP/1.1\r\nhost: x\r\nauthorization: Bearer \xff\r\n\r\n",
        b"GET /auth/core/login HTTP/1.1\r\nhost: x\r\nx-request-id: \xff\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
    ] {
        let status = send_raw_bytes(fixture.server, head);
        assert!(status.is_none_or(|status| status < 500), "{}: {status:?}", String::from_utf8_lossy(head));
    }
    let both = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n"
    );
    let status = send_raw_bytes(fixture.server, both.as_bytes());
    assert!(status.is_none_or(|status| status < 500), "{status:?}");
    Tokens::from_response(&fixture.exchange(&fixture.code(&fixture.authorization_request())));
    fixture.server.assert_healthy();
}
