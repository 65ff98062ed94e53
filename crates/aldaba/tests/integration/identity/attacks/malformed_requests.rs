//! Malformed requests: repeated parameters, other methods, other content types, credentials in other places.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hyper::Method;

use super::{attack_fixture, credentials};
use crate::harness::{
    CALLBACK, HttpRequest, HttpResponse, SignInFixture, Tokens, encode_form, oauth_error, register_app,
};

const FORM: &str = "application/x-www-form-urlencoded";

fn exchange<'a>(fixture: &'a SignInFixture<'_>, code: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut fields = credentials(&fixture.app).to_vec();
    fields.extend([("grant_type", "authorization_code"), ("code", code), ("redirect_uri", CALLBACK)]);
    fields
}

#[test]
fn repeated_authorization_parameters_are_refused() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.signed_in_browser();
    let full =
        fixture.authorization_request().with("prompt", "none").with("login_hint", "a").with("max_age", "600");
    let full = full.with("ui_locales", "es").with("acr_values", "x").with("response_mode", "query");
    assert!(browser.get(&full.path()).has_code());
    for (name, value) in full.fields() {
        for second in [value, "other", ""] {
            let page = browser.get(&full.clone().and(name, second).path());
            assert!(!page.has_code(), "{name}: {page:?}");
            if ["client_id", "redirect_uri"].contains(&name) {
                page.assert_error_page();
                continue;
            }
            assert_eq!(page.params()["error"], "invalid_request", "{name}");
            assert_eq!(page.params().contains_key("state"), name != "state", "{name}: {page:?}");
        }
    }
    fixture.server.assert_healthy();
}

#[test]
fn repeated_parameters_are_refused_at_the_client_endpoints() {
    let fixture = attack_fixture(1, &[]);
    let code = fixture.code(&fixture.authorization_request());
    let mut all = exchange(&fixture, &code);
    all.extend([("scope", "openid"), ("code_verifier", "x"), ("junk", "x")]);
    for (name, value) in &all {
        for second in [value, "other", ""] {
            let mut doubled = all.clone();
            doubled.push((name, second));
            let response = fixture.post_form("connect/token", &doubled);
            assert_eq!(oauth_error(&response, 400), "invalid_request", "{name}");
        }
    }
    let tokens = Tokens::from_response(&fixture.exchange(&code));
    let [id, secret] = credentials(&fixture.app);
    for path in ["connect/introspect", "connect/revocation"] {
        for (name, value) in [id, secret, ("token", tokens.access()), ("token_type_hint", "access_token")] {
            let fields =
                [id, secret, ("token", tokens.access()), ("token_type_hint", "access_token"), (name, value)];
            assert_eq!(
                oauth_error(&fixture.post_form(path, &fields), 400),
                "invalid_request",
                "{path} {name}"
            );
        }
    }
    assert_eq!(fixture.userinfo(tokens.access()).status, 200, "nothing was revoked");
    let refresh =
        [("grant_type", "refresh_token"), ("refresh_token", tokens.refresh()), ("refresh_token", "x")];
    assert_eq!(oauth_error(&fixture.token_request(&refresh), 400), "invalid_request");
    Tokens::from_response(&fixture.refresh(tokens.refresh()));
    fixture.server.assert_healthy();
}

fn at(fixture: &SignInFixture<'_>, method: Method, path: &str) -> HttpResponse {
    HttpRequest::new(method, &format!("{}/auth/core/{path}", fixture.server.public_url)).send()
}

#[test]
fn other_methods_are_refused() {
    let fixture = attack_fixture(1, &[]);
    let code = fixture.code(&fixture.authorization_request());
    let query = encode_form(&exchange(&fixture, &code));
    // Browser applications may ask before they send (CORS).
    for (path, allowed) in [
        ("connect/token", "OPTIONS,POST"),
        ("connect/introspect", "POST"),
        ("connect/revocation", "OPTIONS,POST"),
    ] {
        for method in [Method::GET, Method::HEAD, Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE] {
            let response = at(&fixture, method.clone(), &format!("{path}?{query}"));
            let mut allow: Vec<&str> = response.header("allow").split(',').collect();
            allow.sort_unstable();
            assert_eq!((response.status, allow.join(",")), (405, allowed.into()), "{method} {path}");
        }
    }
    for path in ["connect/authorize", "connect/userinfo", "connect/endsession", "login", "tenant", "logout"] {
        for method in [Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE] {
            assert_eq!(at(&fixture, method.clone(), path).status, 405, "{method} {path}");
        }
    }
    let odd = Method::from_bytes(b"X-METHOD").unwrap();
    assert_eq!(at(&fixture, odd, "connect/token").status, 405);
    for override_header in ["x-http-method-override", "x-method-override", "x-http-method"] {
        let url = format!("{}/auth/core/connect/token?{query}", fixture.server.public_url);
        assert_eq!(
            HttpRequest::get(&url).header(override_header, "POST").send().status,
            405,
            "{override_header}"
        );
    }
    Tokens::from_response(&fixture.exchange(&code));
    let head = at(&fixture, Method::HEAD, "login");
    assert_eq!((head.status, head.body.len()), (200, 0));
    fixture.server.assert_healthy();
}

#[test]
fn other_content_types_are_refused() {
    let fixture = attack_fixture(1, &[]);
    let code = fixture.code(&fixture.authorization_request());
    let form = encode_form(&exchange(&fixture, &code));
    let json = serde_json::json!({
        "client_id": fixture.app.id, "client_secret": fixture.app.secret,
        "grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK,
    });
    let json = json.to_string();
    for (kind, body) in [
        ("application/json", json.as_str()),
        ("application/json", &form),
        ("text/plain", &form),
        ("multipart/form-data; boundary=x", &form),
        ("application/x-www-form-urlencodedx", &form),
        ("text/html; application/x-www-form-urlencoded", &form),
        ("application/xml", &form),
        ("", &form),
    ] {
        let response =
            fixture.request("connect/token").header("content-type", kind).body(body.to_owned()).send();
        assert!([400, 415].contains(&response.status), "{kind}: {response:?}");
        assert_eq!(response.json()["error"], "invalid_request", "{kind}");
    }
    let wrapped = fixture.request("connect/token").header("content-type", FORM).body(json).send();
    assert_eq!(
        oauth_error(&wrapped, 401),
        "invalid_client",
        "a JSON body with the content type of a form has no fields"
    );
    for path in ["login", "tenant", "permissions", "logout"] {
        let response = fixture.request(path).header("content-type", "application/json").body("{}").send();
        assert_eq!(response.status, 415, "{path}");
    }
    let fine = fixture
        .request("connect/token")
        .header("content-type", "Application/X-WWW-Form-Urlencoded; charset=utf-8");
    Tokens::from_response(&fine.body(form).send());
    fixture.server.assert_healthy();
}

#[test]
fn client_secret_in_the_query_is_ignored() {
    let fixture = attack_fixture(1, &[]);
    let code = fixture.code(&fixture.authorization_request());
    let [id, secret] = credentials(&fixture.app);
    let rest = [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", CALLBACK)];
    let in_query = |query: &[(&str, &str)], body: &[(&str, &str)]| {
        let path = format!("connect/token?{}", encode_form(query));
        fixture.post_form(&path, body)
    };
    let with_id: Vec<_> = rest.into_iter().chain([id]).collect();
    assert_eq!(oauth_error(&in_query(&[secret], &with_id), 401), "invalid_client");
    assert_eq!(oauth_error(&in_query(&[id, secret], &rest), 401), "invalid_client");
    let everything = exchange(&fixture, &code);
    assert_eq!(oauth_error(&in_query(&everything, &[]), 401), "invalid_client");
    assert_eq!(
        oauth_error(&in_query(&rest, &[id, secret]), 400),
        "invalid_request",
        "and not at the other endpoints"
    );
    Tokens::from_response(&fixture.exchange(&code));
    fixture.server.assert_healthy();
}

#[test]
fn malformed_basic_credentials_are_refused() {
    let fixture = attack_fixture(1, &[]);
    let tokens = fixture.tokens();
    let (id, secret) = (fixture.app.id.as_str(), fixture.app.secret.as_str());
    let token = [("token", tokens.access())];
    let basic = |text: &[u8]| format!("Basic {}", STANDARD.encode(text));
    let joined = format!("{id}:{secret}");
    for wrong in [
        "Basic".to_owned(),
        "Basic ".to_owned(),
        "Basic :".to_owned(),
        "Basic not-base64!".to_owned(),
        format!("Basic {joined}"),
        format!("Bearer {}", STANDARD.encode(&joined)),
        format!("Basic {} x", STANDARD.encode(&joined)),
        format!("Basic={}", STANDARD.encode(&joined)),
        basic(id.as_bytes()),
        basic(format!("{id}:").as_bytes()),
        basic(format!(":{secret}").as_bytes()),
        basic(b":"),
        basic(b""),
        basic(format!("{secret}:{id}").as_bytes()),
        basic(format!("{id}:{secret}:").as_bytes()),
        basic(format!("{id}:{secret} ").as_bytes()),
        basic(format!("{id}:{secret}\0").as_bytes()),
        basic(format!("{id}\0:{secret}").as_bytes()),
        basic(format!("{id}%00:{secret}").as_bytes()),
        basic(format!("{}:{secret}", id.to_uppercase()).as_bytes()),
        basic(&[id.as_bytes(), b":", &[0xff, 0xfe]].concat()),
        basic(&[&[0xef, 0xbb, 0xbf], joined.as_bytes()].concat()),
        basic(format!("{id}:%").as_bytes()),
        basic(format!("{id}&client_id=x:{secret}").as_bytes()),
        basic("x".repeat(10_000).as_bytes()),
        format!("Basic {}", URL_SAFE_NO_PAD.encode(format!("{id}:\u{fb}\u{ff}\u{3ff}"))),
    ] {
        let response = fixture.post_form_with_basic("connect/introspect", &wrong, &token);
        assert_eq!(oauth_error(&response, 401), "invalid_client", "{wrong}");
        assert!(response.header("www-authenticate").starts_with("Basic "), "{wrong}: {response:?}");
    }
    let escaped: String =
        joined.bytes().map(|byte| if byte == b':' { ":".into() } else { format!("%{byte:02X}") }).collect();
    for right in
        [basic(joined.as_bytes()), format!("bAsIc {}", STANDARD.encode(&joined)), basic(escaped.as_bytes())]
    {
        assert_eq!(
            fixture.post_form_with_basic("connect/introspect", &right, &token).json()["active"],
            true,
            "{right}"
        );
    }
    fixture.server.assert_healthy();
}

#[test]
fn two_client_authentication_methods_are_refused() {
    let fixture = attack_fixture(1, &[]);
    let tokens = fixture.tokens();
    let basic = fixture.app.basic();
    let [id, secret] = credentials(&fixture.app);
    for fields in
        [vec![secret], vec![id, secret], vec![("client_id", "another")], vec![id, ("client_secret", "x")]]
    {
        let mut fields = fields;
        fields.push(("token", tokens.access()));
        let response = fixture.post_form_with_basic("connect/revocation", &basic, &fields);
        assert_eq!(oauth_error(&response, 400), "invalid_request", "{fields:?}");
    }
    assert_eq!(fixture.userinfo(tokens.access()).status, 200);
    assert_eq!(
        fixture.post_form_with_basic("connect/revocation", &basic, &[id, ("token", tokens.access())]).status,
        200
    );
    assert_eq!(fixture.userinfo(tokens.access()).status, 401);
    fixture.server.assert_healthy();
}

#[test]
fn unknown_client_and_wrong_secret_get_the_same_response() {
    let fixture = attack_fixture(1, &[]);
    let disabled = fixture.with_app(register_app(fixture.server, &[]));
    fixture.command(&["client", "disable", &disabled.app.id]);
    let with = |id: &str, secret: &str| {
        let response = fixture.post_form("connect/token", &[("client_id", id), ("client_secret", secret)]);
        assert_eq!(oauth_error(&response, 401), "invalid_client");
        response.text().to_owned()
    };
    let wrong = with(&fixture.app.id, "wrong");
    assert_eq!(with("nobody", "wrong"), wrong);
    assert_eq!(with(&disabled.app.id, "wrong"), wrong);
    assert_eq!(with(&disabled.app.id, &disabled.app.secret), wrong);
    fixture.server.assert_healthy();
}
