//! What a request asks for, as the databases store it.

use domain::subscription::{Product, Products};
use domain::{ClientId, ClientKind};
use serde::{Deserialize, Serialize};

use super::RequestKind;
use crate::Pkce;

impl RequestKind {
    /// As the databases store it.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(&Details::from(self)).unwrap_or_default()
    }

    pub(crate) fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str::<Details>(json).ok().map(Self::from)
    }
}

/// The stored form of a kind.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Details {
    Client {
        name: String,
        redirect_uris: Vec<String>,
        products: i64,
        pkce: i64,
        sandbox: bool,
        /// Requests from before there were kinds are for web applications.
        #[serde(default)]
        client_kind: i64,
    },
    RedirectUri {
        client: ClientId,
        uri: String,
    },
    Subscription {
        name: String,
        product: Product,
        sandbox: bool,
    },
}

impl From<&RequestKind> for Details {
    fn from(kind: &RequestKind) -> Self {
        match kind.clone() {
            RequestKind::Client { name, kind, redirect_uris, products, pkce, is_sandbox } => Self::Client {
                name,
                client_kind: kind.code(),
                redirect_uris,
                products: products.bits(),
                pkce: pkce.code(),
                sandbox: is_sandbox,
            },
            RequestKind::RedirectUri { client, uri } => Self::RedirectUri { client, uri },
            RequestKind::Subscription { name, product, is_sandbox } => {
                Self::Subscription { name, product, sandbox: is_sandbox }
            }
        }
    }
}

impl From<Details> for RequestKind {
    fn from(details: Details) -> Self {
        match details {
            Details::Client { name, redirect_uris, products, pkce, sandbox, client_kind } => Self::Client {
                name,
                kind: ClientKind::from_code(client_kind),
                redirect_uris,
                products: Products::from_bits(products),
                pkce: Pkce::from_code(pkce),
                is_sandbox: sandbox,
            },
            Details::RedirectUri { client, uri } => Self::RedirectUri { client, uri },
            Details::Subscription { name, product, sandbox } => {
                Self::Subscription { name, product, is_sandbox: sandbox }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_from_before_there_were_kinds_is_for_a_web_application() {
        let stored = r#"{"kind":"client","name":"Panel","redirect_uris":["https://a.example/"],"products":7,"pkce":2,"sandbox":true}"#;
        let kind = RequestKind::from_json(stored).unwrap();
        let RequestKind::Client { kind: ClientKind::Web, .. } = &kind else { panic!("{kind:?}") };
        let native = RequestKind::Client {
            name: "App".into(),
            kind: ClientKind::Native,
            redirect_uris: vec!["com.example.app:/cb".into()],
            products: Products::all(),
            pkce: Pkce::Required,
            is_sandbox: false,
        };
        assert_eq!(RequestKind::from_json(&native.to_json()), Some(native));
    }
}
