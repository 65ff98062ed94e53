//! Client authentication with `client_secret_post` and `client_secret_basic`, and PKCE.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::harness::{
    AuthorizationRequest, CALLBACK, CHALLENGE, HttpResponse, SignInFixture, TestApp, Tokens, VERIFIER,
    claims, oauth_error, register_app, sha256, shared_fixture, shared_server, shared_signed_in_browser,
};

fn fresh_code(fixture: &SignInFixture<'_>) -> String {
    fixture.code_in_browser(&shared_signed_in_browser(), &fixture.authorization_request())
}

fn with_basic(fixture: &SignInFixture<'_>, basic: &str, more: &[(&str, &str)]) -> HttpResponse {
    let code = fresh_code(fixture);
    let mut fields =
        vec![("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", CALLBACK)];
    fields.extend_from_slice(more);
    fixture.post_form_with_basic("connect/token", basic, &fields)
}

#[test]
fn secret_is_accepted_in_the_body_and_as_basic() {
    let fixture = shared_fixture();
    assert_eq!(fixture.exchange(&fresh_code(fixture)).status, 200);
    assert_eq!(with_basic(fixture, &fixture.app.basic(), &[]).status, 200);
    let id = fixture.app.id.as_str();
    assert_eq!(with_basic(fixture, &fixture.app.basic(), &[("client_id", id)]).status, 200);
    let lower = fixture.app.basic().replace("Basic", "basic");
    assert_eq!(with_basic(fixture, &lower, &[]).status, 200, "the scheme is case-insensitive");
}

#[test]
fn basic_credentials_are_form_encoded() {
    let fixture = shared_fixture();
    let escaped = |text: &str| text.replace('-', "%2D").replace('_', "%5f").replace('a', "%61");
    let pair = format!("{}:{}", escaped(&fixture.app.id), escaped(&fixture.app.secret));
    assert_eq!(with_basic(fixture, &format!("Basic {}", STANDARD.encode(pair)), &[]).status, 200);
}

#[test]
fn two_authentication_methods_are_refused() {
    let fixture = shared_fixture();
    let secret = ("client_secret", fixture.app.secret.as_str());
    let response = with_basic(fixture, &fixture.app.basic(), &[("client_id", &fixture.app.id), secret]);
    assert_eq!(oauth_error(&response, 400), "invalid_request");
    let response = with_basic(fixture, &fixture.app.basic(), &[secret]);
    assert_eq!(oauth_error(&response, 400), "invalid_request");
    let response = with_basic(fixture, &fixture.app.basic(), &[("client_id", "another")]);
    assert_eq!(oauth_error(&response, 400), "invalid_request", "two client ids are refused");
}

#[test]
fn missing_or_wrong_secret_is_refused() {
    let fixture = shared_fixture();
    let grant = ("grant_type", "authorization_code");
    let id = ("client_id", fixture.app.id.as_str());
    let wrong = ("client_secret", "wrong");
    let almost = &fixture.app.secret[1..];
    for fields in [
        vec![grant],
        vec![grant, id],
        vec![grant, id, wrong],
        vec![grant, id, ("client_secret", almost)],
        vec![grant, id, ("client_secret", "")],
        vec![grant, ("client_id", "nobody"), ("client_secret", &fixture.app.secret)],
        vec![grant, ("client_secret", &fixture.app.secret)],
    ] {
        let response = fixture.post_form("connect/token", &fields);
        assert_eq!(oauth_error(&response, 401), "invalid_client", "{fields:?}");
        assert_eq!(response.header("www-authenticate"), "", "no Basic challenge without Basic: {fields:?}");
    }
}

#[test]
fn failed_basic_gets_a_basic_challenge() {
    let fixture = shared_fixture();
    let wrong = TestApp { secret: "wrong".into(), ..fixture.app.clone() };
    let nobody = TestApp { id: "nobody".into(), ..fixture.app.clone() };
    let broken = ["Basic %%%".to_owned(), "Basic".into(), format!("Basic {}", STANDARD.encode("no colon"))];
    for basic in [wrong.basic(), nobody.basic()].into_iter().chain(broken) {
        let response = with_basic(fixture, &basic, &[]);
        assert_eq!(oauth_error(&response, 401), "invalid_client", "{basic}");
        assert!(response.header("www-authenticate").starts_with("Basic realm="), "{response:?}");
    }
}

#[test]
fn every_client_endpoint_requires_authentication() {
    let fixture = shared_fixture();
    for path in ["connect/token", "connect/revocation", "connect/introspect"] {
        let response = fixture.post_form(path, &[("token", "x"), ("client_id", &fixture.app.id)]);
        assert_eq!(oauth_error(&response, 401), "invalid_client", "{path}");
        let response = fixture.post_form_with_basic(path, "Basic bm9ib2R5OnNlY3JldA==", &[("token", "x")]);
        assert_eq!(oauth_error(&response, 401), "invalid_client", "{path}");
        assert!(response.header("www-authenticate").starts_with("Basic"), "{path}");
    }
}

#[test]
fn old_secret_is_valid_during_the_overlap() {
    let fixture = shared_fixture().with_app(register_app(shared_server(), &[]));
    let rotate = |overlap: &str| -> SignInFixture<'_> {
        let arguments = ["client", "rotate", &fixture.app.id, "--overlap", overlap, "--json"];
        let created = shared_server().installation.program(&arguments).run().json();
        let secret = created["client_secret"].as_str().unwrap().to_owned();
        fixture.with_app(TestApp { secret, ..fixture.app.clone() })
    };
    let second = rotate("1h");
    assert_ne!(fixture.app.secret, second.app.secret);
    for fixture in [&fixture, &second] {
        assert_eq!(fixture.exchange(&fresh_code(fixture)).status, 200, "both secrets are valid");
    }
    let third = rotate("0s");
    assert_eq!(third.exchange(&fresh_code(&third)).status, 200);
    assert_eq!(oauth_error(&second.exchange(&fresh_code(&second)), 401), "invalid_client");
}

fn challenged(fixture: &SignInFixture<'_>) -> AuthorizationRequest {
    fixture.authorization_request().with("code_challenge", CHALLENGE).with("code_challenge_method", "S256")
}

#[test]
fn code_challenge_is_enforced() {
    let fixture = shared_fixture();
    assert_eq!(sha256(VERIFIER), CHALLENGE);
    let code = || fixture.code_in_browser(&shared_signed_in_browser(), &challenged(fixture));
    assert_eq!(fixture.exchange_with(&code(), &[("code_verifier", VERIFIER)]).status, 200);
    for wrong in ["", CHALLENGE, &VERIFIER[..42], &VERIFIER.to_lowercase(), &"x".repeat(43)] {
        let code = code();
        let response = fixture.exchange_with(&code, &[("code_verifier", wrong)]);
        assert_eq!(oauth_error(&response, 400), "invalid_grant", "{wrong}");
        let late = fixture.exchange_with(&code, &[("code_verifier", VERIFIER)]);
        assert_eq!(oauth_error(&late, 400), "invalid_grant", "the code is used up");
    }
}

#[test]
fn verifier_without_a_challenge_is_refused() {
    let fixture = shared_fixture();
    let response = fixture.exchange_with(&fresh_code(fixture), &[("code_verifier", VERIFIER)]);
    assert_eq!(oauth_error(&response, 400), "invalid_grant");
}

#[test]
fn client_that_requires_pkce_cannot_omit_it() {
    let fixture = shared_fixture().with_app(register_app(shared_server(), &["--pkce", "required"]));
    let page = shared_signed_in_browser().get(&fixture.authorization_request().path());
    assert_eq!(page.params()["error"], "invalid_request");
    let code = fixture.code_in_browser(&shared_signed_in_browser(), &challenged(&fixture));
    assert_eq!(fixture.exchange_with(&code, &[("code_verifier", VERIFIER)]).status, 200);
    let code = fixture.code_in_browser(&shared_signed_in_browser(), &challenged(&fixture));
    assert_eq!(oauth_error(&fixture.exchange(&code), 400), "invalid_grant");
}

#[test]
fn client_with_ignored_pkce_may_send_any_verifier() {
    let fixture = shared_fixture().with_app(register_app(shared_server(), &["--pkce", "ignore"]));
    let plain = fixture
        .authorization_request()
        .with("code_challenge", "short")
        .with("code_challenge_method", "plain");
    for request in [challenged(&fixture), plain, fixture.authorization_request()] {
        assert_eq!(
            fixture.exchange(&fixture.code_in_browser(&shared_signed_in_browser(), &request)).status,
            200
        );
        let code = fixture.code_in_browser(&shared_signed_in_browser(), &request);
        assert_eq!(fixture.exchange_with(&code, &[("code_verifier", "wrong")]).status, 200);
    }
}

#[test]
fn pkce_mode_of_a_client_can_be_changed() {
    let fixture = shared_fixture().with_app(register_app(shared_server(), &[]));
    assert!(
        shared_signed_in_browser().get(&fixture.authorization_request().path()).params().contains_key("code")
    );
    fixture.command(&["client", "set", &fixture.app.id, "--pkce", "required"]);
    assert_eq!(
        shared_signed_in_browser().get(&fixture.authorization_request().path()).params()["error"],
        "invalid_request"
    );
}

#[test]
fn products_of_a_client_decide_which_scopes_it_may_request() {
    let fixture = shared_fixture().with_app(register_app(shared_server(), &["--product", "payroll"]));
    let ask = |scope: &str| {
        shared_signed_in_browser().get(&fixture.authorization_request().with("scope", scope).path())
    };
    for refused in
        ["SVC.ES.NEWPOL.ACC.API", "SVC.ES.NEWPOL.COR.API", "SVC.ES.NEWPOL.MNG.API", "SVC.ES.Webhooks"]
    {
        let params = ask(&format!("openid SVC.ES.EquipoContex {refused}")).params();
        assert_eq!(params["error"], "invalid_scope", "{params:?}");
        assert!(params["error_description"].contains(refused), "{params:?}");
        assert_eq!(params["state"], "af0ifjsldkj");
    }
    let open = "openid profile email offline_access IDInfo SVC.ES.EquipoContex";
    let tokens = Tokens::from_response(&fixture.exchange(&ask(&format!("{open} unknown")).params()["code"]));
    assert_eq!(tokens.0["scope"], open, "an unknown scope is passed over");
}

#[test]
fn refresh_drops_scopes_of_a_product_that_the_client_has_lost() {
    let fixture = SignInFixture::new();
    let set = |product: &str| fixture.command(&["client", "set", &fixture.app.id, "--product", product]);
    let tokens = fixture.tokens();
    let code = fixture.code(&fixture.authorization_request());
    set("invoicing");
    let narrowed = "openid offline_access SVC.ES.Webhooks";
    let exchanged = Tokens::from_response(&fixture.exchange(&code));
    assert_eq!(exchanged.0["scope"], narrowed, "a code from before the change");
    let refused = fixture.token_request(&[
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh()),
        ("scope", "openid SVC.ES.NEWPOL.ACC.API"),
    ]);
    assert_eq!(oauth_error(&refused, 400), "invalid_scope");
    assert!(refused.json()["error_description"].as_str().unwrap().contains("SVC.ES.NEWPOL.ACC.API"));
    let tokens = Tokens::from_response(&fixture.refresh(tokens.refresh()));
    assert_eq!(tokens.0["scope"], narrowed);
    assert_eq!(claims(tokens.access())["scope"].as_array().unwrap().len(), 3);
    set("accounting");
    let tokens = Tokens::from_response(&fixture.refresh(tokens.refresh()));
    assert_eq!(tokens.0.get("scope"), None, "the grant kept all its scopes");
    assert_eq!(claims(tokens.access())["scope"].as_array().unwrap().len(), 4);

    let webhooks = fixture.authorization_request().with("scope", "SVC.ES.Webhooks offline_access");
    let (code, tokens) = (fixture.code(&webhooks), fixture.tokens_for(&webhooks));
    set("payroll");
    assert_eq!(oauth_error(&fixture.exchange(&code), 400), "invalid_grant");
    assert_eq!(oauth_error(&fixture.refresh(tokens.refresh()), 400), "invalid_scope");
    set("invoicing");
    assert_eq!(
        fixture.refresh(tokens.refresh()).status,
        200,
        "the refused request did not consume the token"
    );
}
