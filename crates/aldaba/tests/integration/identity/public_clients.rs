//! Public clients (kinds `browser` and `native`): no secret, PKCE, and the client id alone at the token endpoint.

use serde_json::json;

use crate::harness::{
    AuthorizationRequest, CALLBACK, CHALLENGE, HttpRequest, SignInFixture, TestApp, Tokens, VERIFIER, claims,
    oauth_error, register_app, shared_fixture, shared_server, shared_signed_in_browser,
};

const KINDS: [&str; 2] = ["browser", "native"];

fn of_kind(kind: &str) -> SignInFixture<'static> {
    let app = register_app(shared_server(), &["--kind", kind]);
    assert_eq!(app.secret, "", "a public client gets no secret");
    shared_fixture().with_app(app)
}

fn challenged(fixture: &SignInFixture<'_>) -> AuthorizationRequest {
    fixture.authorization_request().with("code_challenge", CHALLENGE).with("code_challenge_method", "S256")
}

fn fresh_code(fixture: &SignInFixture<'_>) -> String {
    fixture.code_in_browser(&shared_signed_in_browser(), &challenged(fixture))
}

fn exchanged(fixture: &SignInFixture<'_>) -> Tokens {
    let fields = [("code_verifier", VERIFIER)];
    Tokens::from_response(&fixture.exchange_with(&fresh_code(fixture), &fields))
}

#[test]
fn public_client_gets_refreshes_and_revokes_tokens_without_a_secret() {
    for kind in KINDS {
        let fixture = of_kind(kind);
        let tokens = exchanged(&fixture);
        assert_eq!(claims(tokens.access())["client_id"], fixture.app.id.as_str());
        let next = Tokens::from_response(&fixture.refresh(tokens.refresh()));
        assert_ne!(next.refresh(), tokens.refresh(), "refresh tokens are rotated");
        assert_eq!(fixture.userinfo(next.access()).status, 200);
        assert_eq!(fixture.revoke(next.refresh()).status, 200);
        assert_eq!(fixture.userinfo(next.access()).status, 401);
        assert_eq!(oauth_error(&fixture.refresh(next.refresh()), 400), "invalid_grant");
    }
}

#[test]
fn public_client_cannot_do_without_pkce() {
    for kind in KINDS {
        let fixture = of_kind(kind);
        let page = shared_signed_in_browser().get(&fixture.authorization_request().path());
        assert_eq!(page.params()["error"], "invalid_request", "{kind}");
        let code = fresh_code(&fixture);
        assert_eq!(oauth_error(&fixture.exchange(&code), 400), "invalid_grant", "{kind}");
        for mode in ["if-sent", "ignore"] {
            let program = |arguments: &[&str]| fixture.server.installation.program(arguments).run();
            program(&["client", "set", &fixture.app.id, "--pkce", mode]).expect_failure(2, "must use PKCE");
            let add = ["client", "add", "App", "--redirect-uri", CALLBACK, "--kind", kind, "--pkce", mode];
            program(&add).expect_failure(2, "must use PKCE");
        }
    }
}

#[test]
fn secret_or_basic_of_a_public_client_is_refused() {
    let fixture = of_kind("browser");
    let code = fresh_code(&fixture);
    let secret = [("code_verifier", VERIFIER), ("client_secret", "any")];
    let with_secret = TestApp { secret: "any".into(), ..fixture.app.clone() };
    let guess = fixture.with_app(with_secret.clone());
    let response = guess.exchange_with(&code, &secret[..1]);
    assert_eq!(oauth_error(&response, 401), "invalid_client");
    assert!(response.json()["error_description"].as_str().unwrap().contains("is public"), "{response:?}");
    let fields =
        [("grant_type", "authorization_code"), ("code", &code), ("redirect_uri", CALLBACK), secret[0]];
    for app in [&with_secret, &fixture.app] {
        let response = fixture.post_form_with_basic("connect/token", &app.basic(), &fields);
        assert_eq!(oauth_error(&response, 401), "invalid_client");
    }
    let late = fixture.exchange_with(&code, &secret[..1]);
    assert_eq!(late.status, 200, "a client that is not authenticated burns no code");
}

#[test]
fn client_with_a_secret_cannot_leave_it_out() {
    let fixture = shared_fixture();
    let unauthenticated = fixture.with_app(TestApp { secret: String::new(), ..fixture.app.clone() });
    let response = unauthenticated.exchange_with(&fresh_code(fixture), &[("code_verifier", VERIFIER)]);
    assert_eq!(oauth_error(&response, 401), "invalid_client");
}

#[test]
fn public_client_cannot_introspect() {
    let fixture = of_kind("browser");
    let tokens = exchanged(&fixture);
    let fields = [("client_id", fixture.app.id.as_str()), ("token", tokens.access())];
    assert_eq!(oauth_error(&fixture.post_form("connect/introspect", &fields), 401), "invalid_client");
}

#[test]
fn public_client_cannot_use_the_tokens_of_another() {
    let (fixture, other) = (of_kind("browser"), of_kind("native"));
    let tokens = exchanged(&fixture);
    assert_eq!(oauth_error(&other.refresh(tokens.refresh()), 400), "invalid_grant");
    assert_eq!(other.revoke(tokens.refresh()).status, 200);
    assert_eq!(fixture.userinfo(tokens.access()).status, 200, "the other client revoked nothing");
    let code = fresh_code(&fixture);
    let response = other.exchange_with(&code, &[("code_verifier", VERIFIER)]);
    assert_eq!(oauth_error(&response, 400), "invalid_grant");
}

#[test]
fn operators_api_knows_the_kinds() {
    let server = shared_server();
    let call = |method: fn(&str) -> HttpRequest, path: &str, body: serde_json::Value| {
        method(&format!("{}/operator/v1/clients{path}", server.operator_url))
            .header("authorization", &format!("Bearer {}", server.installation.token()))
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
    };
    let patch = |url: &str| HttpRequest::new("PATCH".parse().unwrap(), url);
    for kind in ["web", "browser", "native", "resource_server"] {
        let uris = if kind == "resource_server" { json!([]) } else { json!(["https://app.example/cb"]) };
        let created = call(HttpRequest::post, "", json!({"name": "App", "kind": kind, "redirectUris": uris}));
        assert_eq!(created.status, 201, "{created:?}");
        let body = created.json();
        let is_public = KINDS.contains(&kind);
        assert_eq!(body["client"]["kind"], kind);
        assert_eq!(body.get("clientSecret").is_none(), is_public, "{kind}");
        assert_eq!(body["client"]["pkce"], if is_public { "required" } else { "if-sent" });
        let path = format!("/{}", body["client"]["id"].as_str().unwrap());
        let rotated = call(HttpRequest::post, &format!("{path}/secret"), json!({}));
        assert_eq!(rotated.status, if is_public { 409 } else { 200 }, "{rotated:?}");
        if is_public {
            assert_eq!(rotated.problem_code(), "public_client");
        }
        let changed = call(patch, &path, json!({"pkce": "ignore"}));
        assert_eq!(changed.status, if is_public { 400 } else { 200 }, "{changed:?}");
        let native = call(patch, &path, json!({"redirectUris": ["com.example.app:/cb"]}));
        assert_eq!(native.status, if kind == "native" { 200 } else { 400 }, "{native:?}");
        assert_eq!(call(patch, &path, json!({"kind": "web"})).status, 400, "a kind never changes");
    }
    let nameless = call(HttpRequest::post, "", json!({"name": "App"}));
    assert_eq!(nameless.status, 400, "a web application needs a redirect address: {nameless:?}");
}
