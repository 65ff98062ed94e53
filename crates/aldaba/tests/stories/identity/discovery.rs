//! The configuration document: what it says is true, and anybody may keep it for a while.

use serde_json::{Value, json};

use crate::harness::{
    Call, ISSUER, Keyring, Reply, at_lobby, get, get_from_host, lobby, oauth_error, shared,
};

const DOCUMENT: &str = ".well-known/openid-configuration";

fn document() -> Value {
    get(shared(), DOCUMENT).send().json()
}

/// An advertised address, on the port on which this server really listens.
fn here(address: &Value) -> String {
    let address = address.as_str().unwrap();
    let path = address.strip_prefix("http://127.0.0.1:8080").unwrap_or_else(|| panic!("{address}"));
    format!("{}{path}", shared().public_url)
}

#[test]
fn it_says_what_there_is_and_nothing_else() {
    let at = |path: &str| format!("{ISSUER}{path}");
    let secret = json!(["client_secret_basic", "client_secret_post"]);
    let expected = json!({
        "issuer": ISSUER,
        "authorization_endpoint": at("/connect/authorize"),
        "token_endpoint": at("/connect/token"),
        "userinfo_endpoint": at("/connect/userinfo"),
        "jwks_uri": at("/.well-known/jwks"),
        "revocation_endpoint": at("/connect/revocation"),
        "introspection_endpoint": at("/connect/introspect"),
        "end_session_endpoint": at("/connect/endsession"),
        "scopes_supported": [
            "openid", "profile", "email", "offline_access", "IDInfo", "SVC.ES.NEWPOL.COR.API",
            "SVC.ES.NEWPOL.ACC.API", "SVC.ES.NEWPOL.MNG.API", "SVC.ES.EquipoContex", "SVC.ES.Webhooks"
        ],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query", "form_post"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "token_endpoint_auth_methods_supported": secret,
        "revocation_endpoint_auth_methods_supported": secret,
        "introspection_endpoint_auth_methods_supported": secret,
        "code_challenge_methods_supported": ["S256"],
        "claims_supported": [
            "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "amr", "at_hash", "c_hash", "given_name",
            "name", "locale", "email"
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
fn each_address_answers_as_what_it_is() {
    let document = document();
    let reply = |name: &str, call: fn(&str) -> Call| -> Reply { call(&here(&document[name])).send() };
    assert_eq!(reply("authorization_endpoint", Call::get).status, 400, "a page: no client was named");
    for name in ["token_endpoint", "revocation_endpoint", "introspection_endpoint"] {
        assert_eq!(oauth_error(&reply(name, Call::post), 401), "invalid_client", "{name}");
    }
    for call in [Call::get, Call::post] {
        assert_eq!(reply("userinfo_endpoint", call).header("www-authenticate"), "Bearer");
    }
    assert_eq!(reply("end_session_endpoint", Call::get).status, 200);
    assert_eq!(reply("end_session_endpoint", Call::post).status, 302);
    assert_eq!(reply("jwks_uri", Call::get).json()["keys"].as_array().unwrap().len(), 1);
}

#[test]
fn every_scope_and_every_mode_it_names_can_be_asked_for() {
    let document = document();
    for scope in document["scopes_supported"].as_array().unwrap() {
        let scope = format!("openid {}", scope.as_str().unwrap());
        let page = at_lobby().get(&lobby().ask().with("scope", &scope).path());
        let tokens = lobby().exchange(&page.params()["code"]).json();
        assert_eq!(tokens.get("scope"), None, "{scope} is given as it was asked for");
    }
    for mode in document["response_modes_supported"].as_array().unwrap() {
        let page = at_lobby().get(&lobby().ask().with("response_mode", mode.as_str().unwrap()).path());
        assert!(page.status == 200 || page.params().contains_key("code"), "{mode}");
    }
    for prompt in document["prompt_values_supported"].as_array().unwrap() {
        let page = at_lobby().get(&lobby().ask().with("prompt", prompt.as_str().unwrap()).path());
        assert!(!page.location().contains("error="), "{prompt}: {page:?}");
    }
}

#[test]
fn both_may_be_kept_and_asked_about() {
    for path in [DOCUMENT, ".well-known/jwks"] {
        let reply = get(shared(), path).send();
        assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"), "{path}");
        assert_eq!(reply.header("cache-control"), "public, max-age=300", "{path}");
        let etag = reply.header("etag");
        assert!(etag.starts_with('"') && etag.len() > 10, "{path}: {etag}");
        for known in [etag, &format!("W/{etag}"), &format!("\"other\", {etag}"), "*"] {
            let same = get(shared(), path).header("if-none-match", known).send();
            assert_eq!((same.status, same.body.len(), same.header("etag")), (304, 0, etag), "{path} {known}");
        }
        let other = get(shared(), path).header("if-none-match", "\"other\"").send();
        assert_eq!((other.status, &other.body), (200, &reply.body), "{path}");
    }
}

#[test]
fn the_keys_have_a_second_address() {
    let alias = get(shared(), ".well-known/openid-configuration/jwks").send();
    assert_eq!(alias.json()["keys"].as_array().unwrap(), &Keyring::of(shared()).0);
}

#[test]
fn a_page_of_any_site_may_read_them() {
    for path in [DOCUMENT, ".well-known/jwks", ".well-known/openid-configuration/jwks"] {
        let reply = get(shared(), path).header("origin", "https://app.example").send();
        assert_eq!(reply.header("access-control-allow-origin"), "*", "{path}");
        let url = format!("{}/auth/core/{path}", shared().public_url);
        let asked = Call::new(hyper::Method::OPTIONS, &url)
            .header("origin", "https://app.example")
            .header("access-control-request-method", "GET")
            .send();
        assert_eq!((asked.status, asked.header("access-control-allow-origin")), (204, "*"), "{path}");
        assert!(asked.header("access-control-allow-methods").contains("GET"), "{path}");
    }
}

#[test]
fn another_host_changes_nothing() {
    let path = format!("/auth/core/{DOCUMENT}");
    assert_eq!(get_from_host(shared(), "evil.example", &path, "").json(), document());
    let reply = get(shared(), DOCUMENT).header("x-forwarded-host", "evil.example").send();
    assert_eq!(reply.json(), document());
}
