//! Attacks with requests of another shape: the same parameter twice, other methods, other types, credentials in
//! other places.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hyper::Method;

use super::{credentials, office};
use crate::harness::{CALLBACK, Call, Office, Reply, Tokens, encoded, new_app, oauth_error};

const FORM: &str = "application/x-www-form-urlencoded";

fn exchange<'a>(office: &'a Office<'_>, code: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut fields = credentials(&office.app).to_vec();
    fields.extend([("grant_type", "authorization_code"), ("code", code), ("redirect_uri", CALLBACK)]);
    fields
}

#[test]
fn parameter_pollution_a_request_says_everything_once() {
    let office = office(1, &[]);
    let browser = office.signed_in();
    let full = office.ask().with("prompt", "none").with("login_hint", "a").with("max_age", "600");
    let full = full.with("ui_locales", "es").with("acr_values", "x").with("response_mode", "query");
    assert!(browser.get(&full.path()).has_code());
    for (name, value) in full.fields() {
        for second in [value, "other", ""] {
            let page = browser.get(&full.clone().and(name, second).path());
            assert!(!page.has_code(), "{name}: {page:?}");
            if ["client_id", "redirect_uri"].contains(&name) {
                page.is_refusal();
                continue;
            }
            assert_eq!(page.params()["error"], "invalid_request", "{name}");
            assert_eq!(page.params().contains_key("state"), name != "state", "{name}: {page:?}");
        }
    }
    office.serve.is_well();
}

#[test]
fn parameter_pollution_neither_at_the_token_endpoint_nor_beside_it() {
    let office = office(1, &[]);
    let code = office.code(&office.ask());
    let mut all = exchange(&office, &code);
    all.extend([("scope", "openid"), ("code_verifier", "x"), ("junk", "x")]);
    for (name, value) in &all {
        for second in [value, "other", ""] {
            let mut doubled = all.clone();
            doubled.push((name, second));
            let reply = office.form_call("connect/token", &doubled);
            assert_eq!(oauth_error(&reply, 400), "invalid_request", "{name}");
        }
    }
    let tokens = Tokens::of(&office.exchange(&code));
    let [id, secret] = credentials(&office.app);
    for path in ["connect/introspect", "connect/revocation"] {
        for (name, value) in [id, secret, ("token", tokens.access()), ("token_type_hint", "access_token")] {
            let fields =
                [id, secret, ("token", tokens.access()), ("token_type_hint", "access_token"), (name, value)];
            assert_eq!(
                oauth_error(&office.form_call(path, &fields), 400),
                "invalid_request",
                "{path} {name}"
            );
        }
    }
    assert_eq!(office.userinfo(tokens.access()).status, 200, "nothing was revoked");
    let refresh =
        [("grant_type", "refresh_token"), ("refresh_token", tokens.refresh()), ("refresh_token", "x")];
    assert_eq!(oauth_error(&office.token_call(&refresh), 400), "invalid_request");
    Tokens::of(&office.refresh(tokens.refresh()));
    office.serve.is_well();
}

fn at(office: &Office<'_>, method: Method, path: &str) -> Reply {
    Call::new(method, &format!("{}/auth/core/{path}", office.serve.public_url)).send()
}

#[test]
fn method_confusion_an_address_takes_its_methods_and_no_others() {
    let office = office(1, &[]);
    let code = office.code(&office.ask());
    let query = encoded(&exchange(&office, &code));
    for path in ["connect/token", "connect/introspect", "connect/revocation"] {
        for method in [Method::GET, Method::HEAD, Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE] {
            let reply = at(&office, method.clone(), &format!("{path}?{query}"));
            assert_eq!((reply.status, reply.header("allow")), (405, "POST"), "{method} {path}");
        }
    }
    for path in ["connect/authorize", "connect/userinfo", "connect/endsession", "login", "tenant", "logout"] {
        for method in [Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE] {
            assert_eq!(at(&office, method.clone(), path).status, 405, "{method} {path}");
        }
    }
    let odd = Method::from_bytes(b"X-METHOD").unwrap();
    assert_eq!(at(&office, odd, "connect/token").status, 405);
    for override_header in ["x-http-method-override", "x-method-override", "x-http-method"] {
        let url = format!("{}/auth/core/connect/token?{query}", office.serve.public_url);
        assert_eq!(Call::get(&url).header(override_header, "POST").send().status, 405, "{override_header}");
    }
    Tokens::of(&office.exchange(&code));
    let head = at(&office, Method::HEAD, "login");
    assert_eq!((head.status, head.body.len()), (200, 0));
    office.serve.is_well();
}

#[test]
fn type_confusion_a_form_is_a_form() {
    let office = office(1, &[]);
    let code = office.code(&office.ask());
    let form = encoded(&exchange(&office, &code));
    let json = serde_json::json!({
        "client_id": office.app.id, "client_secret": office.app.secret,
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
        let reply = office.call("connect/token").header("content-type", kind).body(body.to_owned()).send();
        assert!([400, 415].contains(&reply.status), "{kind}: {reply:?}");
        assert_eq!(reply.json()["error"], "invalid_request", "{kind}");
    }
    let wrapped = office.call("connect/token").header("content-type", FORM).body(json).send();
    assert_eq!(oauth_error(&wrapped, 401), "invalid_client", "JSON under the name of a form says nothing");
    for path in ["login", "tenant", "permissions", "logout"] {
        let reply = office.call(path).header("content-type", "application/json").body("{}").send();
        assert_eq!(reply.status, 415, "{path}");
    }
    let fine = office
        .call("connect/token")
        .header("content-type", "Application/X-WWW-Form-Urlencoded; charset=utf-8");
    Tokens::of(&fine.body(form).send());
    office.serve.is_well();
}

#[test]
fn a_secret_in_the_address_does_not_count() {
    let office = office(1, &[]);
    let code = office.code(&office.ask());
    let [id, secret] = credentials(&office.app);
    let rest = [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", CALLBACK)];
    let in_query = |query: &[(&str, &str)], body: &[(&str, &str)]| {
        let path = format!("connect/token?{}", encoded(query));
        office.form_call(&path, body)
    };
    let with_id: Vec<_> = rest.into_iter().chain([id]).collect();
    assert_eq!(oauth_error(&in_query(&[secret], &with_id), 401), "invalid_client");
    assert_eq!(oauth_error(&in_query(&[id, secret], &rest), 401), "invalid_client");
    let everything = exchange(&office, &code);
    assert_eq!(oauth_error(&in_query(&everything, &[]), 401), "invalid_client");
    assert_eq!(oauth_error(&in_query(&rest, &[id, secret]), 400), "invalid_request", "neither do the others");
    Tokens::of(&office.exchange(&code));
    office.serve.is_well();
}

#[test]
fn basic_credentials_are_read_one_way() {
    let office = office(1, &[]);
    let tokens = office.tokens();
    let (id, secret) = (office.app.id.as_str(), office.app.secret.as_str());
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
        let reply = office.basic_call("connect/introspect", &wrong, &token);
        assert_eq!(oauth_error(&reply, 401), "invalid_client", "{wrong}");
        assert!(reply.header("www-authenticate").starts_with("Basic "), "{wrong}: {reply:?}");
    }
    let escaped: String =
        joined.bytes().map(|byte| if byte == b':' { ":".into() } else { format!("%{byte:02X}") }).collect();
    for right in
        [basic(joined.as_bytes()), format!("bAsIc {}", STANDARD.encode(&joined)), basic(escaped.as_bytes())]
    {
        assert_eq!(office.basic_call("connect/introspect", &right, &token).json()["active"], true, "{right}");
    }
    office.serve.is_well();
}

#[test]
fn two_ways_at_once_are_none() {
    let office = office(1, &[]);
    let tokens = office.tokens();
    let basic = office.app.basic();
    let [id, secret] = credentials(&office.app);
    for fields in
        [vec![secret], vec![id, secret], vec![("client_id", "another")], vec![id, ("client_secret", "x")]]
    {
        let mut fields = fields;
        fields.push(("token", tokens.access()));
        let reply = office.basic_call("connect/revocation", &basic, &fields);
        assert_eq!(oauth_error(&reply, 400), "invalid_request", "{fields:?}");
    }
    assert_eq!(office.userinfo(tokens.access()).status, 200);
    assert_eq!(
        office.basic_call("connect/revocation", &basic, &[id, ("token", tokens.access())]).status,
        200
    );
    assert_eq!(office.userinfo(tokens.access()).status, 401);
    office.serve.is_well();
}

#[test]
fn an_unknown_application_and_a_wrong_secret_look_the_same() {
    let office = office(1, &[]);
    let disabled = office.with_app(new_app(office.serve, &[]));
    office.command(&["client", "disable", &disabled.app.id]);
    let with = |id: &str, secret: &str| {
        let reply = office.form_call("connect/token", &[("client_id", id), ("client_secret", secret)]);
        assert_eq!(oauth_error(&reply, 401), "invalid_client");
        reply.text().to_owned()
    };
    let wrong = with(&office.app.id, "wrong");
    assert_eq!(with("nobody", "wrong"), wrong);
    assert_eq!(with(&disabled.app.id, "wrong"), wrong);
    assert_eq!(with(&disabled.app.id, &disabled.app.secret), wrong);
    office.serve.is_well();
}
