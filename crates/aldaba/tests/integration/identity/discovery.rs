//! The OpenID configuration document and the JWKS endpoint.

use serde_json::{Value, json};

use crate::harness::{
    HttpRequest, HttpResponse, ISSUER, JwkSet, get, get_from_host, oauth_error, shared_fixture,
    shared_server, shared_signed_in_browser,
};

const DOCUMENT: &str = ".well-known/openid-configuration";

fn document() -> Value {
    get(shared_server(), DOCUMENT).send().json()
}

/// An advertised URL, at the port on which this server listens.
fn local_url(address: &Value) -> String {
    let address = address.as_str().unwrap();
    let path = address.strip_prefix("http://127.0.0.1:8080").unwrap_or_else(|| panic!("{address}"));
    format!("{}{path}", shared_server().public_url)
}

#[test]
fn document_has_exactly_the_expected_members() {
    let at = |path: &str| format!("{ISSUER}{path}");
    let secret = json!(["client_secret_basic", "client_secret_post"]);
    let secret_or_none = json!(["client_secret_basic", "client_secret_post", "none"]);
    let expected = json!({
        "issuer": ISSUER,
        "authorization_endpoint": at("/connect/authorize"),
        "token_endpoint": at("/connect/token"),
        "userinfo_endpoint": at("/connect/userinfo"),
        "jwks_uri": at("/.well-known/jwks"),
        "revocation_endpoint": at("/connect/revocation"),
        "introspection_endpoint": at("/connect/introspect"),
        "end_session_endpoint": at("/connect/endsession"),
        "backchannel_logout_supported": true,
        "backchannel_logout_session_supported": true,
        "scopes_supported": [
            "openid", "profile", "email", "offline_access", "IDInfo", "SVC.ES.NEWPOL.COR.API",
            "SVC.ES.NEWPOL.ACC.API", "SVC.ES.NEWPOL.MNG.API", "SVC.ES.EquipoContex", "SVC.ES.Webhooks"
        ],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query", "form_post"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "token_endpoint_auth_methods_supported": secret_or_none,
        "revocation_endpoint_auth_methods_supported": secret_or_none,
        "introspection_endpoint_auth_methods_supported": secret,
        "code_challenge_methods_supported": ["S256"],
        "acr_values_supported": ["2fa"],
        "claims_supported": [
            "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "sid", "at_hash", "c_hash",
            "given_name", "family_name", "name", "preferred_username", "locale", "updated_at", "email", "email_verified", "tenant_id",
            "tenant_name"
        ],
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "ui_locales_supported": ["es", "en"],
        "claims_parameter_supported": false,
        "request_parameter_supported": false,
        "request_uri_parameter_supported": false,
        "authorization_response_iss_parameter_supported": true
    });
    assert_eq!(document(), expected);
}

#[test]
fn every_advertised_endpoint_responds() {
    let document = document();
    let response = |name: &str, request: fn(&str) -> HttpRequest| -> HttpResponse {
        request(&local_url(&document[name])).send()
    };
    assert_eq!(
        response("authorization_endpoint", HttpRequest::get).status,
        400,
        "an error page, because no client was named"
    );
    for name in ["token_endpoint", "revocation_endpoint", "introspection_endpoint"] {
        assert_eq!(oauth_error(&response(name, HttpRequest::post), 401), "invalid_client", "{name}");
    }
    for request in [HttpRequest::get, HttpRequest::post] {
        assert_eq!(response("userinfo_endpoint", request).header("www-authenticate"), "Bearer");
    }
    assert_eq!(response("end_session_endpoint", HttpRequest::get).status, 200);
    assert_eq!(response("end_session_endpoint", HttpRequest::post).status, 302);
    assert_eq!(response("jwks_uri", HttpRequest::get).json()["keys"].as_array().unwrap().len(), 1);
}

#[test]
fn every_advertised_scope_and_mode_works() {
    let document = document();
    for scope in document["scopes_supported"].as_array().unwrap() {
        let scope = format!("openid {}", scope.as_str().unwrap());
        let page = shared_signed_in_browser()
            .get(&shared_fixture().authorization_request().with("scope", &scope).path());
        let tokens = shared_fixture().exchange(&page.params()["code"]).json();
        assert_eq!(tokens.get("scope"), None, "{scope} is granted as requested");
    }
    for mode in document["response_modes_supported"].as_array().unwrap() {
        let page = shared_signed_in_browser().get(
            &shared_fixture().authorization_request().with("response_mode", mode.as_str().unwrap()).path(),
        );
        assert!(page.status == 200 || page.params().contains_key("code"), "{mode}");
    }
    for prompt in document["prompt_values_supported"].as_array().unwrap() {
        let page = shared_signed_in_browser()
            .get(&shared_fixture().authorization_request().with("prompt", prompt.as_str().unwrap()).path());
        assert!(!page.location().contains("error="), "{prompt}: {page:?}");
    }
}

#[test]
fn document_and_keys_are_cacheable_and_support_conditional_requests() {
    for path in [DOCUMENT, ".well-known/jwks"] {
        let response = get(shared_server(), path).send();
        assert_eq!((response.status, response.header("content-type")), (200, "application/json"), "{path}");
        assert_eq!(response.header("cache-control"), "public, max-age=300", "{path}");
        let etag = response.header("etag");
        assert!(etag.starts_with('"') && etag.len() > 10, "{path}: {etag}");
        for known in [etag, &format!("W/{etag}"), &format!("\"other\", {etag}"), "*"] {
            let same = get(shared_server(), path).header("if-none-match", known).send();
            assert_eq!((same.status, same.body.len(), same.header("etag")), (304, 0, etag), "{path} {known}");
        }
        let other = get(shared_server(), path).header("if-none-match", "\"other\"").send();
        assert_eq!((other.status, &other.body), (200, &response.body), "{path}");
    }
}

#[test]
fn keys_have_a_second_url() {
    let alias = get(shared_server(), ".well-known/openid-configuration/jwks").send();
    assert_eq!(alias.json()["keys"].as_array().unwrap(), &JwkSet::fetch(shared_server()).0);
}

#[test]
fn cors_allows_any_origin() {
    for path in [DOCUMENT, ".well-known/jwks", ".well-known/openid-configuration/jwks"] {
        let response = get(shared_server(), path).header("origin", "https://app.example").send();
        assert_eq!(response.header("access-control-allow-origin"), "*", "{path}");
        let url = format!("{}/auth/core/{path}", shared_server().public_url);
        let preflight = HttpRequest::new(hyper::Method::OPTIONS, &url)
            .header("origin", "https://app.example")
            .header("access-control-request-method", "GET")
            .send();
        assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, "*"), "{path}");
        assert!(preflight.header("access-control-allow-methods").contains("GET"), "{path}");
    }
}

#[test]
fn host_header_changes_nothing() {
    let path = format!("/auth/core/{DOCUMENT}");
    assert_eq!(get_from_host(shared_server(), "evil.example", &path, "").json(), document());
    let response = get(shared_server(), DOCUMENT).header("x-forwarded-host", "evil.example").send();
    assert_eq!(response.json(), document());
}
