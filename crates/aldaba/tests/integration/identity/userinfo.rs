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
        ("openid", &["sub", "tenant_id", "tenant_name"]),
        ("openid SVC.ES.NEWPOL.ACC.API", &["sub", "tenant_id", "tenant_name"]),
        ("openid email", &["email", "email_verified", "sub", "tenant_id", "tenant_name"]),
        (
            "openid profile",
            &["given_name", "locale", "name", "sub", "tenant_id", "tenant_name", "updated_at"],
        ),
        (
            "openid IDInfo",
            &[
                "email",
                "email_verified",
                "given_name",
                "locale",
                "name",
                "preferred_username",
                "sub",
                "tenant_id",
                "tenant_name",
                "updated_at",
            ],
        ),
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
fn names_and_tenant_are_those_of_the_account_and_the_choice() {
    let fixture = SignInFixture::with_tenants(2);
    let request = fixture.authorization_request().with("scope", "openid profile email");
    let set = ["user", "set", &fixture.email, "--family-name", "Peñalver Ruiz", "--given-name", "Lucía"];
    fixture.command(&set);
    let page = fixture.authorize_for_tenant(&fixture.browser(), &request, &fixture.tenants[1]);
    let tokens = Tokens::from_response(&fixture.exchange(&page.params()["code"]));
    let person = fixture.userinfo(tokens.access()).json();
    let id = claims(tokens.id());
    for claims in [&person, &id] {
        assert_eq!(claims["given_name"], "Lucía");
        assert_eq!(claims["family_name"], "Peñalver Ruiz");
        assert_eq!(claims["name"], "Lucía Peñalver Ruiz");
        assert_eq!(
            (&claims["email"], &claims["preferred_username"]),
            (&json!(fixture.email), &json!(fixture.email))
        );
        assert_eq!(claims["email_verified"], true);
        assert_eq!(claims["tenant_id"], fixture.tenants[1]);
        assert!(!claims["tenant_name"].as_str().unwrap().is_empty(), "{claims}");
        let (updated_at, issued_at) = (claims["updated_at"].as_i64().unwrap(), id["iat"].as_i64().unwrap());
        assert!((issued_at - 600..=issued_at).contains(&updated_at), "{claims}");
    }
    fixture.command(&["user", "set", &fixture.email, "--family-name", ""]);
    let person = fixture.userinfo(tokens.access()).json();
    assert_eq!((person.get("family_name"), &person["name"]), (None, &"Lucía".into()));
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
            "iat": claims["iat"], "nbf": claims["nbf"], "jti": claims["jti"], "tenant_id": fixture.tenants[0],
            "tenant_name": fixture.introspect(tokens.access())["tenant_name"], "svc.es.clientid": fixture.tenants[0]
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

#[test]
fn family_name_is_changed_on_the_account_page() {
    let fixture = SignInFixture::new();
    let browser = fixture.signed_in_browser();
    let tokens = fixture.tokens_for(&fixture.authorization_request().with("scope", "openid profile"));
    let family_name = || fixture.userinfo(tokens.access()).json().get("family_name").cloned();
    for (typed, stored) in [(" Peñalver ", Some("Peñalver")), ("a\u{1}", Some("Peñalver")), ("", None)] {
        let forms = browser.get("/auth/core/account").forms();
        let form = forms.into_iter().find(|form| form.fields.iter().any(|(name, _)| name == "family_name"));
        browser.submit(&form.unwrap(), &[("family_name", typed), ("do", "profile")]);
        assert_eq!(family_name(), stored.map(Into::into), "{typed:?}");
    }
}
