//! How an application shows who it is: its secret in the body or as Basic, and PKCE.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::harness::{
    App, Ask, CALLBACK, Office, Reply, at_lobby, lobby, new_app, oauth_error, sha256, shared,
};

/// RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

fn fresh_code(office: &Office<'_>) -> String {
    office.code_in(&at_lobby(), &office.ask())
}

fn with_basic(office: &Office<'_>, basic: &str, more: &[(&str, &str)]) -> Reply {
    let code = fresh_code(office);
    let mut fields =
        vec![("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", CALLBACK)];
    fields.extend_from_slice(more);
    office.basic_call("connect/token", basic, &fields)
}

#[test]
fn a_secret_may_come_in_the_body_or_as_basic() {
    let office = lobby();
    assert_eq!(office.exchange(&fresh_code(office)).status, 200);
    assert_eq!(with_basic(office, &office.app.basic(), &[]).status, 200);
    let id = office.app.id.as_str();
    assert_eq!(with_basic(office, &office.app.basic(), &[("client_id", id)]).status, 200);
    let lower = office.app.basic().replace("Basic", "basic");
    assert_eq!(with_basic(office, &lower, &[]).status, 200, "schemes have no case");
}

#[test]
fn basic_credentials_are_form_encoded() {
    let office = lobby();
    let escaped = |text: &str| text.replace('-', "%2D").replace('_', "%5f").replace('a', "%61");
    let pair = format!("{}:{}", escaped(&office.app.id), escaped(&office.app.secret));
    assert_eq!(with_basic(office, &format!("Basic {}", STANDARD.encode(pair)), &[]).status, 200);
}

#[test]
fn both_at_once_is_too_much() {
    let office = lobby();
    let secret = ("client_secret", office.app.secret.as_str());
    let reply = with_basic(office, &office.app.basic(), &[("client_id", &office.app.id), secret]);
    assert_eq!(oauth_error(&reply, 400), "invalid_request");
    let reply = with_basic(office, &office.app.basic(), &[secret]);
    assert_eq!(oauth_error(&reply, 400), "invalid_request");
    let reply = with_basic(office, &office.app.basic(), &[("client_id", "another")]);
    assert_eq!(oauth_error(&reply, 400), "invalid_request", "two names are one too many");
}

#[test]
fn who_shows_nothing_or_a_wrong_secret_is_nobody() {
    let office = lobby();
    let grant = ("grant_type", "authorization_code");
    let id = ("client_id", office.app.id.as_str());
    let wrong = ("client_secret", "wrong");
    let almost = &office.app.secret[1..];
    for fields in [
        vec![grant],
        vec![grant, id],
        vec![grant, id, wrong],
        vec![grant, id, ("client_secret", almost)],
        vec![grant, id, ("client_secret", "")],
        vec![grant, ("client_id", "nobody"), ("client_secret", &office.app.secret)],
        vec![grant, ("client_secret", &office.app.secret)],
    ] {
        let reply = office.form_call("connect/token", &fields);
        assert_eq!(oauth_error(&reply, 401), "invalid_client", "{fields:?}");
        assert_eq!(reply.header("www-authenticate"), "", "Basic was not used: {fields:?}");
    }
}

#[test]
fn basic_is_answered_by_basic() {
    let office = lobby();
    let wrong = App { secret: "wrong".into(), ..office.app.clone() };
    let nobody = App { id: "nobody".into(), ..office.app.clone() };
    let broken = ["Basic %%%".to_owned(), "Basic".into(), format!("Basic {}", STANDARD.encode("no colon"))];
    for basic in [wrong.basic(), nobody.basic()].into_iter().chain(broken) {
        let reply = with_basic(office, &basic, &[]);
        assert_eq!(oauth_error(&reply, 401), "invalid_client", "{basic}");
        assert!(reply.header("www-authenticate").starts_with("Basic realm="), "{reply:?}");
    }
}

#[test]
fn each_endpoint_for_clients_asks_who_calls() {
    let office = lobby();
    for path in ["connect/token", "connect/revocation", "connect/introspect"] {
        let reply = office.form_call(path, &[("token", "x"), ("client_id", &office.app.id)]);
        assert_eq!(oauth_error(&reply, 401), "invalid_client", "{path}");
        let reply = office.basic_call(path, "Basic bm9ib2R5OnNlY3JldA==", &[("token", "x")]);
        assert_eq!(oauth_error(&reply, 401), "invalid_client", "{path}");
        assert!(reply.header("www-authenticate").starts_with("Basic"), "{path}");
    }
}

#[test]
fn an_old_secret_is_good_for_as_long_as_the_overlap() {
    let office = lobby().with_app(new_app(shared(), &[]));
    let rotate = |overlap: &str| -> Office<'_> {
        let arguments = ["client", "rotate", &office.app.id, "--overlap", overlap, "--json"];
        let made = shared().site.program(&arguments).run().json();
        let secret = made["client_secret"].as_str().unwrap().to_owned();
        office.with_app(App { secret, ..office.app.clone() })
    };
    let second = rotate("1h");
    assert_ne!(office.app.secret, second.app.secret);
    for office in [&office, &second] {
        assert_eq!(office.exchange(&fresh_code(office)).status, 200, "both are good");
    }
    let third = rotate("0s");
    assert_eq!(third.exchange(&fresh_code(&third)).status, 200);
    assert_eq!(oauth_error(&second.exchange(&fresh_code(&second)), 401), "invalid_client");
}

fn challenged(office: &Office<'_>) -> Ask {
    office.ask().with("code_challenge", CHALLENGE).with("code_challenge_method", "S256")
}

#[test]
fn a_challenge_that_was_sent_is_enforced() {
    let office = lobby();
    assert_eq!(sha256(VERIFIER), CHALLENGE);
    let code = || office.code_in(&at_lobby(), &challenged(office));
    assert_eq!(office.exchange_with(&code(), &[("code_verifier", VERIFIER)]).status, 200);
    for wrong in ["", CHALLENGE, &VERIFIER[..42], &VERIFIER.to_lowercase(), &"x".repeat(43)] {
        let code = code();
        let reply = office.exchange_with(&code, &[("code_verifier", wrong)]);
        assert_eq!(oauth_error(&reply, 400), "invalid_grant", "{wrong}");
        let late = office.exchange_with(&code, &[("code_verifier", VERIFIER)]);
        assert_eq!(oauth_error(&late, 400), "invalid_grant", "the code is burnt");
    }
}

#[test]
fn a_verifier_without_a_challenge_is_suspicious() {
    let office = lobby();
    let reply = office.exchange_with(&fresh_code(office), &[("code_verifier", VERIFIER)]);
    assert_eq!(oauth_error(&reply, 400), "invalid_grant");
}

#[test]
fn a_client_that_must_use_pkce_cannot_go_without() {
    let office = lobby().with_app(new_app(shared(), &["--pkce", "required"]));
    let page = at_lobby().get(&office.ask().path());
    assert_eq!(page.params()["error"], "invalid_request");
    let code = office.code_in(&at_lobby(), &challenged(&office));
    assert_eq!(office.exchange_with(&code, &[("code_verifier", VERIFIER)]).status, 200);
    let code = office.code_in(&at_lobby(), &challenged(&office));
    assert_eq!(oauth_error(&office.exchange(&code), 400), "invalid_grant");
}

#[test]
fn a_client_whose_pkce_is_ignored_may_send_anything() {
    let office = lobby().with_app(new_app(shared(), &["--pkce", "ignore"]));
    let plain = office.ask().with("code_challenge", "short").with("code_challenge_method", "plain");
    for ask in [challenged(&office), plain, office.ask()] {
        assert_eq!(office.exchange(&office.code_in(&at_lobby(), &ask)).status, 200);
        let code = office.code_in(&at_lobby(), &ask);
        assert_eq!(office.exchange_with(&code, &[("code_verifier", "wrong")]).status, 200);
    }
}

#[test]
fn how_a_client_uses_pkce_can_be_changed() {
    let office = lobby().with_app(new_app(shared(), &[]));
    assert!(at_lobby().get(&office.ask().path()).params().contains_key("code"));
    office.command(&["client", "set", &office.app.id, "--pkce", "required"]);
    assert_eq!(at_lobby().get(&office.ask().path()).params()["error"], "invalid_request");
}
