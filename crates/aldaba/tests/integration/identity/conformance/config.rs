//! Config OP profile: the contents and the URL of the configuration document.

use crate::harness::{
    BEHIND_PROXY, EmbeddedServer, ISSUER, Installation, JwkSet, get, members, shared_server,
};

#[test]
fn oidcc_discovery_endpoint_verification() {
    let response = get(shared_server(), ".well-known/openid-configuration").send();
    assert_eq!(response.status, 200);
    let document = response.json();
    assert_eq!(document["issuer"], ISSUER, "the issuer is the document's URL without its suffix");
    let has = |name: &str, value: &str| document[name].as_array().unwrap().contains(&value.into());
    assert!(has("response_types_supported", "code"));
    assert!(has("subject_types_supported", "public"));
    assert!(has("id_token_signing_alg_values_supported", "RS256"));
    assert!(has("grant_types_supported", "authorization_code"));
    assert!(has("scopes_supported", "openid"));
    assert!(has("claims_supported", "sub"));
    for name in
        ["claims_parameter_supported", "request_parameter_supported", "request_uri_parameter_supported"]
    {
        assert_eq!(document[name], false, "{name}");
    }
    for name in
        members(&document).into_iter().filter(|name| name.ends_with("_endpoint") || *name == "jwks_uri")
    {
        assert!(document[name].as_str().unwrap().starts_with(&format!("{ISSUER}/")), "{name}");
    }
    for key in JwkSet::fetch(shared_server()).0 {
        assert_eq!((&key["kty"], &key["use"]), (&"RSA".into(), &"sig".into()));
        for private in ["d", "p", "q", "dp", "dq", "qi", "k"] {
            assert_eq!(key.get(private), None, "{private}");
        }
    }
}

#[test]
fn oidcc_discovery_endpoint_verification_on_https() {
    // The suite requires https. A proxy terminates TLS, and the document has the external URLs.
    let server =
        EmbeddedServer::start(Installation::new(), &["server.auth_url=https://id.example.com", BEHIND_PROXY]);
    let document = get(&server, ".well-known/openid-configuration").send().json();
    for name in members(&document) {
        if name.ends_with("_endpoint") || ["issuer", "jwks_uri"].contains(&name) {
            let address = document[name].as_str().unwrap();
            assert!(address.starts_with("https://id.example.com/auth/core"), "{name}: {address}");
        }
    }
}
