//! The OpenID Connect discovery document.

use axum::http::HeaderValue;
use bytes::Bytes;
use domain::Scope;
use serde_json::json;

use crate::keys::etag;
use crate::settings::Settings;

pub(crate) struct DiscoveryDocument {
    pub(crate) body: Bytes,
    pub(crate) etag: HeaderValue,
}

impl DiscoveryDocument {
    pub(crate) fn new(settings: &Settings) -> Self {
        let at = |path: &str| format!("{}{path}", settings.issuer);
        let secret = ["client_secret_basic", "client_secret_post"];
        let secret_or_none = ["client_secret_basic", "client_secret_post", "none"];
        let scopes: Vec<&str> = Scope::ALL.into_iter().map(Scope::name).collect();
        let document = json!({
            "issuer": settings.issuer,
            "authorization_endpoint": at("/connect/authorize"),
            "token_endpoint": at("/connect/token"),
            "userinfo_endpoint": at("/connect/userinfo"),
            "jwks_uri": at("/.well-known/jwks"),
            "revocation_endpoint": at("/connect/revocation"),
            "introspection_endpoint": at("/connect/introspect"),
            "end_session_endpoint": at("/connect/endsession"),
            "backchannel_logout_supported": true,
            "backchannel_logout_session_supported": true,
            "scopes_supported": scopes,
            "response_types_supported": ["code"],
            "response_modes_supported": ["query", "form_post"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": secret_or_none,
            "revocation_endpoint_auth_methods_supported": secret_or_none,
            "introspection_endpoint_auth_methods_supported": secret,
            "code_challenge_methods_supported": ["S256"],
            "claims_supported": [
                "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "sid", "at_hash", "c_hash",
                "given_name", "family_name", "name", "preferred_username", "locale", "updated_at", "email",
                "email_verified", "tenant_id", "tenant_name"
            ],
            "acr_values_supported": ["2fa"],
            "prompt_values_supported": ["none", "login", "consent", "select_account"],
            "ui_locales_supported": ["es", "en"],
            "claims_parameter_supported": false,
            "request_parameter_supported": false,
            "request_uri_parameter_supported": false,
            "authorization_response_iss_parameter_supported": true,
        });
        let body = Bytes::from(document.to_string());
        Self { etag: etag(&body), body }
    }
}
