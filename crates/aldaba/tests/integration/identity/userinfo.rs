//! The userinfo and introspection endpoints.

use serde_json::json;

use crate::harness::{
    ISSUER, SCOPE, SignInFixture, Tokens, claims, get, members, oauth_error, register_app, shared_fixture,
    shared_server, shared_signed_in_browser,
};

fn tokens_for(scope: &str) -> Tokens {
    let fixture = shared_fixture();
    Tokens::from_response(&fixture.exchange(
        &fixture.code_in_browser(
            &shared_signed_in_browser(),
            &fixture.authorization_request().with("scope", scope),
        ),
    ))
}

#[test]
fn userinfo_returns_the_claims_that_the_scopes_allow() {
    let expected: [(&str, &[&str]); 5] = [
        ("openid", &["sub"]),
        ("openid SVC.ES.NEWPOL.ACC.API", &["sub"]),
        ("openid email", &["email", "sub"]),
        ("openid profile", &["given_name", "locale", "name", "sub"]),
        ("openid IDInfo", &["email", "given_name", "locale", "name", "sub"]),
    ];
    for (scope, names) in expected {
        let tokens = tokens_for(scope);
        let response = shared_fixture().userinfo(tokens.access());
        assert_eq!((response.status, response.header("cache-control")), (200, "no-store"));
        let person = response.json();
        assert_eq!(members(&person), names, "{scope}");
        assert_eq!(person["sub"], claims(tokens.id())["sub"], "the same as in the id_token");
    }
    let person = shared_fixture().userinfo(tokens_for("openid IDInfo").access()).json();
    assert_eq!(
        (&person["email"], &person["given_name"], &person["locale"]),
        (&shared_fixture().email.as_str().into(), &"Lucía".into(), &"es".into())
    );
}

#[test]
fn access_token_is_accepted_in_the_header_and_in_a_form() {
    let fixture = shared_fixture();
    let tokens = tokens_for("openid email");
    let (bearer, field) = (format!("Bearer {}", tokens.access()), [("access_token", tokens.access())]);
    let by_get = fixture.userinfo(tokens.access()).json();
    let by_header = fixture.request("connect/userinfo").header("authorization", &bearer).send();
    let by_body = fixture.post_form("connect/userinfo", &field);
    assert_eq!([by_header.json(), by_body.json()], [by_get.clone(), by_get]);
    let twice = fixture.post_form_with_basic("connect/userinfo", &bearer, &field);
    assert_eq!((twice.status, twice.header("www-authenticate")), (400, "Bearer error=\"invalid_request\""));
}

#[test]
fn invalid_access_token_is_refused() {
    let fixture = shared_fixture();
    let tokens = tokens_for("openid offline_access");
    let unauthenticated = get(shared_server(), "connect/userinfo").send();
    assert_eq!((unauthenticated.status, unauthenticated.header("www-authenticate")), (401, "Bearer"));
    let in_query = get(shared_server(), &format!("connect/userinfo?access_token={}", tokens.access())).send();
    assert_eq!(in_query.status, 401, "a token in the query is refused");
    let (head, signature) = tokens.access().rsplit_once('.').unwrap();
    let turned: String = signature.chars().rev().collect();
    for wrong in
        [tokens.id(), tokens.refresh(), "nonsense", head, &format!("{head}.{turned}"), &format!("{head}.")]
    {
        let response = fixture.userinfo(wrong);
        assert_eq!(
            (response.status, response.header("www-authenticate")),
            (401, "Bearer error=\"invalid_token\""),
            "{wrong}"
        );
    }
}

#[test]
fn access_token_without_openid_is_refused() {
    let response = shared_fixture().userinfo(tokens_for("SVC.ES.NEWPOL.ACC.API").access());
    assert_eq!(response.status, 403);
    assert!(response.header("www-authenticate").contains("error=\"insufficient_scope\""), "{response:?}");
}

#[test]
fn introspection_describes_the_clients_own_tokens() {
    let fixture = shared_fixture();
    let tokens = tokens_for(SCOPE);
    let claims = claims(tokens.access());
    assert_eq!(
        fixture.introspect(tokens.access()),
        json!({
            "active": true, "token_type": "Bearer", "scope": SCOPE, "client_id": fixture.app.id,
            "sub": claims["sub"], "iss": ISSUER, "aud": format!("{ISSUER}/resources"), "exp": claims["exp"],
            "iat": claims["iat"], "svc.es.clientid": fixture.tenants[0]
        })
    );
    let refresh = fixture.introspect(tokens.refresh());
    assert_eq!((&refresh["active"], &refresh["sub"]), (&true.into(), &claims["sub"]));
    let next = Tokens::from_response(&fixture.refresh(tokens.refresh()));
    assert_eq!(
        fixture.introspect(tokens.refresh()),
        json!({"active": false}),
        "the refresh token was rotated"
    );
    assert_eq!(fixture.introspect(next.refresh())["active"], true);
}

#[test]
fn introspection_reports_everything_else_as_inactive() {
    let fixture = shared_fixture();
    let tokens = tokens_for(SCOPE);
    let other: SignInFixture<'_> = fixture.with_app(register_app(shared_server(), &[]));
    for token in [tokens.access(), tokens.refresh(), tokens.id(), "nonsense"] {
        assert_eq!(other.introspect(token), json!({"active": false}));
    }
    assert_eq!(
        fixture.introspect(tokens.id()),
        json!({"active": false}),
        "an id_token is not an access token"
    );
    let response = fixture.post_form_with_basic(
        "connect/introspect",
        &fixture.app.basic(),
        &[("token", tokens.access())],
    );
    assert_eq!((&response.json()["active"], response.header("cache-control")), (&true.into(), "no-store"));
    let unauthenticated = fixture.post_form_with_basic("connect/introspect", &fixture.app.basic(), &[]);
    assert_eq!(oauth_error(&unauthenticated, 400), "invalid_request");
}
