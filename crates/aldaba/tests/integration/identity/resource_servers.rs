//! Clients of the kind `resource_server`: they check the access tokens of every client, and sign nobody in.

use serde_json::json;

use crate::harness::{
    ISSUER, SCOPE, SignInFixture, TestApp, claims, oauth_error, shared_fixture, shared_server,
};

fn resource_server() -> SignInFixture<'static> {
    let add = ["client", "add", "API de informes", "--kind", "resource_server", "--json"];
    let created = shared_server().installation.program(&add).run().json();
    assert_eq!((&created["kind"], &created["redirect_uris"]), (&"resource_server".into(), &json!([])));
    let text = |member: &str| created[member].as_str().unwrap().to_owned();
    shared_fixture().with_app(TestApp { id: text("client_id"), secret: text("client_secret") })
}

#[test]
fn resource_server_introspects_the_access_tokens_of_every_client() {
    let (api, fixture) = (resource_server(), SignInFixture::new());
    let tokens = fixture.tokens();
    let claims = claims(tokens.access());
    let tenant = fixture.tenants[0].as_str();
    let introspection = api.introspect(tokens.access());
    assert_eq!(
        introspection,
        json!({
            "active": true, "token_type": "Bearer", "scope": SCOPE, "client_id": fixture.app.id,
            "sub": claims["sub"], "iss": ISSUER, "aud": format!("{ISSUER}/resources"), "exp": claims["exp"],
            "iat": claims["iat"], "nbf": claims["nbf"], "jti": claims["jti"], "tenant_id": tenant,
            "tenant_name": introspection["tenant_name"], "svc.es.clientid": tenant
        })
    );
    assert!(!introspection["tenant_name"].as_str().unwrap().is_empty());
    for other in [tokens.refresh(), tokens.id(), "nonsense"] {
        assert_eq!(api.introspect(other), json!({"active": false}), "only access tokens reach an API");
    }
    let basic =
        api.post_form_with_basic("connect/introspect", &api.app.basic(), &[("token", tokens.access())]);
    assert_eq!(basic.json()["active"], true);
    assert_eq!(api.revoke(tokens.access()).status, 200);
    assert_eq!(api.introspect(tokens.access())["active"], true, "it cannot revoke them");
    assert_eq!(fixture.revoke(tokens.access()).status, 200);
    assert_eq!(api.introspect(tokens.access()), json!({"active": false}));
}

#[test]
fn disabled_or_unauthenticated_resource_server_learns_nothing() {
    let (api, tokens) = (resource_server(), shared_fixture().tokens());
    let unauthenticated = [("client_id", api.app.id.as_str()), ("token", tokens.access())];
    assert_eq!(oauth_error(&api.post_form("connect/introspect", &unauthenticated), 401), "invalid_client");
    api.command(&["client", "disable", &api.app.id]);
    let fields = [unauthenticated[0], ("client_secret", &api.app.secret), unauthenticated[1]];
    assert_eq!(oauth_error(&api.post_form("connect/introspect", &fields), 401), "invalid_client");
}

#[test]
fn nobody_signs_in_to_a_resource_server() {
    let api = resource_server();
    let browser = api.browser().with_header("accept-language", "en");
    let page = browser.get(&api.authorization_request().path());
    assert_eq!((page.status, page.location()), (400, ""));
    assert!(page.text().contains("Nobody signs in to this application"), "{page:?}");
    for grant in ["authorization_code", "refresh_token"] {
        let fields = [
            ("grant_type", grant),
            ("code", "x"),
            ("refresh_token", "x"),
            ("redirect_uri", "https://a.example/"),
        ];
        assert_eq!(oauth_error(&api.token_request(&fields), 400), "unauthorized_client", "{grant}");
    }
    let program = |arguments: &[&str]| shared_server().installation.program(arguments).run();
    let uri = "https://api.example/callback";
    program(&["client", "add", "API", "--kind", "resource_server", "--redirect-uri", uri])
        .expect_failure(2, "no redirect addresses");
    program(&["client", "redirect", &api.app.id, uri]).expect_failure(2, "no redirect addresses");
    program(&["client", "rotate", &api.app.id]).code(0);
}
