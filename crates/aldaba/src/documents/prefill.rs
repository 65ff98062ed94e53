//! What the pages of `aldaba dev` fill in: keys and tokens of its store. `serve` has none, so its pages fill in nothing.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use axum::http::Uri;
use axum::http::header::{HOST, HeaderMap};
use domain::{Scope, Secret};
use serde_json::{Value, json};
use web::BoxFuture;

/// Returns an access token of the identity provider at an origin; none if the sign-in fails.
pub(crate) type TokenSource = Arc<dyn Fn(String) -> BoxFuture<'static, Option<Secret>> + Send + Sync>;

/// The credentials of a development store.
#[derive(Clone)]
pub(crate) struct Prefill {
    pub(crate) subscription_key: Secret,
    pub(crate) operator_token: Secret,
    pub(crate) client_id: String,
    pub(crate) client_secret: Secret,
    pub(crate) access_token: TokenSource,
}

impl fmt::Debug for Prefill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prefill(***)")
    }
}

/// What one page fills in.
#[derive(Clone, Debug)]
pub(super) enum Filled {
    /// Key, token and client of the public APIs, whose identity provider is at this origin.
    Public(Prefill, String),
    /// The token of the operator API.
    Operator(Prefill),
}

impl Filled {
    /// The settings of the page with the values, by the names of the document's security schemes.
    pub(super) async fn add_to(&self, mut settings: Value) -> Value {
        match self {
            Self::Public(prefill, origin) => {
                settings["authorize"] = json!({"subscriptionKey": prefill.subscription_key.reveal()});
                if let Some(token) = (prefill.access_token)(origin.clone()).await {
                    settings["authorize"]["accessToken"] = token.reveal().into();
                }
                if let Some(sign_in) = settings["signIn"].as_object_mut() {
                    let scopes: Vec<&str> = Scope::ALL.into_iter().map(Scope::name).collect();
                    sign_in.insert("clientId".into(), prefill.client_id.as_str().into());
                    sign_in.insert("clientSecret".into(), prefill.client_secret.reveal().into());
                    sign_in.insert("scopes".into(), scopes.into());
                }
            }
            Self::Operator(prefill) => {
                settings["authorize"] = json!({"operatorToken": prefill.operator_token.reveal()});
            }
        }
        settings
    }
}

/// Whether a request names this machine. A page of another site whose name leads here (DNS rebinding) must not read the values.
pub(super) fn is_for_loopback(uri: &Uri, headers: &HeaderMap) -> bool {
    let header: Option<Uri> = headers.get(HOST).and_then(|host| host.to_str().ok()?.parse().ok());
    let host = uri.host().or_else(|| header.as_ref().and_then(Uri::host)).unwrap_or_default();
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefill(token: Option<&'static str>) -> Prefill {
        Prefill {
            subscription_key: Secret::new("key"),
            operator_token: Secret::new("operator"),
            client_id: "client".into(),
            client_secret: Secret::new("secret"),
            access_token: Arc::new(move |origin| {
                assert_eq!(origin, "http://127.0.0.1:8080");
                Box::pin(async move { token.map(Secret::new) })
            }),
        }
    }

    #[tokio::test]
    async fn values_have_the_names_of_the_security_schemes() {
        let filled = Filled::Public(prefill(Some("token")), "http://127.0.0.1:8080".into());
        let settings = filled.add_to(json!({"authorize": {}, "signIn": {"redirectUri": "x"}})).await;
        assert_eq!(settings["authorize"], json!({"subscriptionKey": "key", "accessToken": "token"}));
        assert_eq!(settings["signIn"]["clientId"], "client");
        let config = crate::config::load(&crate::config::Sources::default()).unwrap();
        let document = serde_json::to_value(super::super::public(&config)).unwrap();
        for scheme in settings["authorize"].as_object().unwrap().keys() {
            assert!(document["components"]["securitySchemes"][scheme].is_object(), "{scheme}");
        }
        let document = serde_json::to_value(operator::openapi()).unwrap();
        let settings = Filled::Operator(prefill(None)).add_to(json!({"authorize": {}})).await;
        for scheme in settings["authorize"].as_object().unwrap().keys() {
            assert!(document["components"]["securitySchemes"][scheme].is_object(), "{scheme}");
        }
    }

    #[tokio::test]
    async fn page_without_a_sign_in_gets_the_key_alone() {
        let filled = Filled::Public(prefill(None), "http://127.0.0.1:8080".into());
        let settings = filled.add_to(json!({"authorize": {}, "signIn": null})).await;
        assert_eq!(settings, json!({"authorize": {"subscriptionKey": "key"}, "signIn": null}));
        assert_eq!(format!("{filled:?}"), r#"Public(Prefill(***), "http://127.0.0.1:8080")"#);
    }

    #[test]
    fn only_this_machine_gets_the_values() {
        let is_for = |host: &str| {
            let headers = HeaderMap::from_iter([(HOST, host.parse().unwrap())]);
            is_for_loopback(&"/docs/settings.json".parse().unwrap(), &headers)
        };
        for host in ["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST"] {
            assert!(is_for(host), "{host}");
        }
        for host in ["rebound.example:8080", "192.0.2.1", "localhost.example", ""] {
            assert!(!is_for(host), "{host}");
        }
        assert!(!is_for_loopback(&"/docs/settings.json".parse().unwrap(), &HeaderMap::new()));
    }
}
