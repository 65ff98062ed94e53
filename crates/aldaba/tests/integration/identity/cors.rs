//! CORS: the pages of a browser application may call the token, userinfo and revocation endpoints, and nobody else's may.

use crate::harness::{
    CHALLENGE, HttpRequest, HttpResponse, SignInFixture, TestApp, Tokens, VERIFIER, encode_form,
    shared_fixture, shared_server, shared_signed_in_browser,
};

const ENDPOINTS: [&str; 3] = ["connect/token", "connect/userinfo", "connect/revocation"];

/// A browser application at an origin of its own.
fn application(origin: &str) -> SignInFixture<'static> {
    let uri = format!("{origin}/callback");
    let add = ["client", "add", "Panel", "--kind", "browser", "--redirect-uri", &uri, "--json"];
    let created = shared_server().installation.program(&add).run().json();
    let id = created["client_id"].as_str().unwrap().to_owned();
    shared_fixture().with_app(TestApp { id, secret: String::new() })
}

fn tokens(fixture: &SignInFixture<'_>, origin: &str) -> Tokens {
    let uri = format!("{origin}/callback");
    let request = fixture.authorization_request().with("redirect_uri", &uri);
    let request = request.with("code_challenge", CHALLENGE).with("code_challenge_method", "S256");
    let code = fixture.code_in_browser(&shared_signed_in_browser(), &request);
    let proof = [("redirect_uri", uri.as_str()), ("code_verifier", VERIFIER)];
    Tokens::from_response(&fixture.exchange_with(&code, &proof))
}

fn preflight(endpoint: &str, origin: &str) -> HttpResponse {
    let url = format!("{}/auth/core/{endpoint}", shared_server().public_url);
    HttpRequest::new("OPTIONS".parse().unwrap(), &url)
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization")
        .send()
}

fn post(fixture: &SignInFixture<'_>, endpoint: &str, origin: &str, fields: &[(&str, &str)]) -> HttpResponse {
    fixture
        .request(endpoint)
        .header("origin", origin)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(encode_form(fields))
        .send()
}

fn userinfo(token: &str, origin: &str) -> HttpResponse {
    HttpRequest::get(&format!("{}/auth/core/connect/userinfo", shared_server().public_url))
        .header("origin", origin)
        .header("authorization", &format!("Bearer {token}"))
        .send()
}

/// The origin that may read the response; empty: none.
#[track_caller]
fn allowed(response: &HttpResponse) -> &str {
    assert!(response.header("vary").to_lowercase().contains("origin"), "{response:?}");
    assert_eq!(response.header("access-control-allow-credentials"), "", "no cookies");
    response.header("access-control-allow-origin")
}

#[test]
fn preflight_is_answered_for_the_origins_of_browser_applications() {
    let origin = "https://preflight.example";
    let fixture = application(origin);
    for endpoint in ENDPOINTS {
        let response = preflight(endpoint, origin);
        assert_eq!((response.status, allowed(&response)), (204, origin), "{endpoint}");
        assert_eq!(response.header("access-control-allow-methods"), "GET, POST");
        assert_eq!(response.header("access-control-allow-headers"), "authorization, content-type");
        assert_eq!(response.header("access-control-max-age"), "600");
        for other in
            ["https://evil.example", "http://preflight.example", "https://preflight.example:8443", "null"]
        {
            let response = preflight(endpoint, other);
            assert_eq!((response.status, allowed(&response)), (204, ""), "{endpoint} {other}");
            assert_eq!(response.header("access-control-allow-methods"), "", "{endpoint} {other}");
        }
    }
    assert_eq!(allowed(&preflight(ENDPOINTS[0], "http://localhost:8765")), "", "of a web application");
    assert_eq!(preflight("connect/introspect", origin).header("access-control-allow-origin"), "");
    fixture.command(&["client", "disable", &fixture.app.id]);
    assert_eq!(allowed(&preflight(ENDPOINTS[0], origin)), "", "the client is disabled");
    fixture.command(&["client", "enable", &fixture.app.id]);
    assert_eq!(allowed(&preflight(ENDPOINTS[0], origin)), origin);
    let other = "https://moved.example";
    fixture.command(&["client", "redirect", &fixture.app.id, &format!("{other}/callback")]);
    fixture.command(&["client", "unredirect", &fixture.app.id, &format!("{origin}/callback")]);
    let found = [origin, other].map(|origin| allowed(&preflight(ENDPOINTS[0], origin)).to_owned());
    assert_eq!(found, ["", other]);
}

#[test]
fn responses_can_be_read_by_the_clients_own_origin_alone() {
    let (origin, other) = ("https://one.example", "https://two.example");
    let (fixture, _other) = (application(origin), application(other));
    let tokens = tokens(&fixture, origin);
    let id = ("client_id", fixture.app.id.as_str());
    let refresh = |origin: &str, token: &str| {
        post(
            &fixture,
            "connect/token",
            origin,
            &[id, ("grant_type", "refresh_token"), ("refresh_token", token)],
        )
    };
    let response = refresh(origin, tokens.refresh());
    assert_eq!((response.status, allowed(&response)), (200, origin));
    let next = Tokens::from_response(&response);
    let response = refresh(other, next.refresh());
    assert_eq!((response.status, allowed(&response)), (200, ""), "of another browser application");
    let next = Tokens::from_response(&response);
    for (from, expected) in [(origin, origin), (other, ""), ("https://evil.example", "")] {
        let response = userinfo(next.access(), from);
        assert_eq!((response.status, allowed(&response)), (200, expected), "{from}");
        let response = post(&fixture, "connect/userinfo", from, &[("access_token", next.access())]);
        assert_eq!((response.status, allowed(&response)), (200, expected), "{from}");
    }
    let revoke = |from: &str| post(&fixture, "connect/revocation", from, &[id, ("token", next.refresh())]);
    let response = revoke(other);
    assert_eq!((response.status, allowed(&response)), (200, ""));
    let response = revoke(origin);
    assert_eq!((response.status, allowed(&response)), (200, origin));
    let without = shared_fixture().userinfo("x");
    assert_eq!(allowed(&without), "", "no browser");
}

#[test]
fn errors_can_be_read_too() {
    let (origin, other) = ("https://errors.example", "https://other-errors.example");
    let (fixture, _other) = (application(origin), application(other));
    let id = ("client_id", fixture.app.id.as_str());
    let grant = ("grant_type", "refresh_token");
    let unknown_token = [id, grant, ("refresh_token", "unknown")];
    for (fields, expected) in [
        (&unknown_token[..], ""),
        (&[id, grant, ("client_secret", "x")], ""),
        // Errors of requests that identify no client: every browser application may read them.
        (&[("client_id", "nobody"), grant], other),
        (&[grant], other),
    ] {
        let response = post(&fixture, "connect/token", origin, fields);
        assert!(response.status >= 400 && allowed(&response) == origin, "{fields:?}: {response:?}");
        assert_eq!(allowed(&post(&fixture, "connect/token", other, fields)), expected, "{fields:?}");
        assert_eq!(
            allowed(&post(&fixture, "connect/token", "https://evil.example", fields)),
            "",
            "{fields:?}"
        );
    }
    let response = userinfo("nonsense", origin);
    assert_eq!((response.status, allowed(&response)), (401, origin));
    assert!(response.header("access-control-expose-headers").contains("www-authenticate"), "{response:?}");
    assert_eq!(allowed(&userinfo("nonsense", "https://evil.example")), "");
    let twice = fixture.request("connect/token").header("origin", origin).and_header("origin", other).send();
    assert_eq!(allowed(&twice), "", "two origins are none");
}

#[test]
fn client_of_another_kind_is_never_readable() {
    let origin = "https://kinds.example";
    let _browser = application(origin);
    let web = shared_fixture();
    let tokens = web.tokens();
    let fields = [
        ("client_id", web.app.id.as_str()),
        ("client_secret", web.app.secret.as_str()),
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh()),
    ];
    for origin in [origin, "http://localhost:8765"] {
        assert_eq!(allowed(&userinfo(tokens.access(), origin)), "");
    }
    let response = post(web, "connect/token", origin, &fields);
    assert_eq!((response.status, allowed(&response)), (200, ""));
    let basic = web
        .request("connect/revocation")
        .header("origin", origin)
        .header("authorization", &web.app.basic())
        .header("content-type", "application/x-www-form-urlencoded")
        .body(encode_form(&[("token", tokens.access())]))
        .send();
    assert_eq!((basic.status, allowed(&basic)), (200, ""), "the client is not named in the body");
}
