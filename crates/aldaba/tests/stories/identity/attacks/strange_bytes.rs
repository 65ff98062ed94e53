//! Attacks with bytes that are no text: NUL, broken UTF-8, broken escapes, in every place that takes text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::credentials;
use crate::harness::{
    Call, Database, Office, PASSWORD, Serve, Site, Tokens, encoded, oauth_error, status_of, target,
};

/// Escaped, so that they can stand in a query or a form.
const STRANGE: [&str; 9] =
    ["%00", "a%00b", "%FF", "a%FFb", "%C0%80", "%ED%A0%80", "%F4%90%80%80", "%", "%ZZ%u0000"];

fn everywhere(office: &Office<'_>) {
    at_the_pages(office);
    at_the_endpoints(office);
    office.serve.is_well();
}

/// No page breaks over them, and nobody gets in by them.
fn at_the_pages(office: &Office<'_>) {
    let browser = office.browser();
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
    for strange in STRANGE {
        for name in names {
            let path = format!("{}&{name}={strange}", office.ask().without(name).path());
            let page = browser.settle(browser.get(&path));
            assert!(page.status < 500, "{name}={strange}: {page:?}");
        }
        let form = browser.settle(browser.get(&office.ask().path())).form("post");
        let ticket = encoded(&[("ticket", &form.fields[0].1)]);
        let ours = encoded(&[("username", &office.email), ("password", PASSWORD)]);
        for body in [
            format!("{ticket}&username={strange}&password=x"),
            format!(
                "{ticket}&username={}{strange}&password={}",
                office.email,
                encoded(&[("", PASSWORD)]).trim_start_matches('=')
            ),
            format!("ticket={strange}&{ours}"),
            format!("{ticket}{strange}&{ours}"),
        ] {
            let call = Call::post(&format!("{}{}", office.serve.public_url, form.action));
            let page = browser
                .send(call.header("content-type", "application/x-www-form-urlencoded").body(body.clone()));
            assert_eq!((page.status, page.location()), (400, ""), "{body}: {page:?}");
        }
    }
    let signed_in = office.signed_in();
    for strange in STRANGE {
        for path in [
            "permissions?tenant=x&withdrawn=",
            "logout?ticket=",
            "tenant?ticket=",
            "login?ticket=",
            "login?lang=",
        ] {
            let page = signed_in.get(&format!("/auth/core/{path}{strange}"));
            assert!(page.status < 500, "{path}{strange}: {page:?}");
        }
        for name in ["client_id", "post_logout_redirect_uri", "state", "id_token_hint", "ui_locales"] {
            let page =
                signed_in.settle(signed_in.get(&format!("/auth/core/connect/endsession?{name}={strange}")));
            assert!(page.status < 500, "{name}={strange}: {page:?}");
        }
    }
}

/// No endpoint breaks over them, and no token is used up by them.
fn at_the_endpoints(office: &Office<'_>) {
    let code = office.code(&office.ask());
    let post = |path: &str, body: String| {
        office.call(path).header("content-type", "application/x-www-form-urlencoded").body(body).send()
    };
    let own = encoded(&credentials(&office.app));
    for strange in STRANGE {
        for body in [
            format!("client_id={strange}&client_secret=x"),
            format!("client_id={}&client_secret={strange}", office.app.id),
            format!("{own}&grant_type={strange}"),
            format!("{own}&grant_type=authorization_code&code={strange}"),
            format!("{own}&grant_type=authorization_code&code={code}&redirect_uri=x&{strange}=%00"),
            format!("{own}&grant_type=refresh_token&refresh_token={strange}"),
            format!("{own}&{strange}"),
        ] {
            let reply = post("connect/token", body.clone());
            assert!([400, 401].contains(&reply.status), "{body}: {reply:?}");
            assert!(reply.json()["error"].is_string(), "{body}: {reply:?}");
        }
        for path in ["connect/introspect", "connect/revocation"] {
            let reply = post(path, format!("{own}&token={strange}"));
            assert!(reply.status < 500, "{path} {strange}: {reply:?}");
        }
        for text in [format!("{strange}:x"), format!("{}{strange}:x", office.app.id), format!("x:{strange}")]
        {
            let reply = office.basic_call("connect/token", &format!("Basic {}", STANDARD.encode(&text)), &[]);
            assert_eq!(oauth_error(&reply, 401), "invalid_client", "{text}");
        }
    }
    let raw =
        [&b"client_id=\0&client_secret=\0"[..], b"\xff\xfe\x00=\xc3\x28&client_id=\xff", b"\0", b"=&=&&&=\0"];
    for body in raw {
        let call = office.call("connect/token").header("content-type", "application/x-www-form-urlencoded");
        let reply = call.body(body.to_vec()).send();
        assert!([400, 401].contains(&reply.status), "{reply:?}");
    }
    let reply = office.basic_call("connect/token", &format!("Basic {}", STANDARD.encode(b"a\0b:c\0d")), &[]);
    assert_eq!(oauth_error(&reply, 401), "invalid_client");
    assert_eq!(office.exchange(&code).status, 200, "the code is still good");
}

#[test]
fn nul_and_broken_text_break_nothing() {
    everywhere(&Office::on(target(), 2, &[]));
}

#[test]
fn nul_and_broken_text_break_nothing_over_postgresql_either() {
    let database = Database::create();
    let serve = Serve::start(Site::over(&database.url()), &["--set", "identity.address_failures_max=100000"]);
    everywhere(&Office::on(&serve, 2, &[]));
}

#[test]
fn bytes_that_no_request_has_are_refused() {
    let office = Office::on(target(), 1, &[]);
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
        let status = status_of(office.serve, head);
        assert!(status.is_none_or(|status| status < 500), "{}: {status:?}", String::from_utf8_lossy(head));
    }
    let both = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n"
    );
    let status = status_of(office.serve, both.as_bytes());
    assert!(status.is_none_or(|status| status < 500), "{status:?}");
    Tokens::of(&office.exchange(&office.code(&office.ask())));
    office.serve.is_well();
}
