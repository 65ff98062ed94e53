//! The kind of a client in the operator's API.

use domain::ClientKind as Kind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the client is; it never changes. `web`: an application with a server, which keeps a secret. `browser`: an application
/// that runs in a browser, without a secret and with PKCE; its origins may call the token, userinfo and revocation endpoints.
/// `native`: an application for phones or desktops, without a secret and with PKCE; it may have loopback addresses, whose port
/// is ignored, and private-use schemes (RFC 8252). `resource_server`: an API that checks the tokens it is sent; it has a secret
/// and no redirect addresses.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientKind {
    #[default]
    Web,
    Browser,
    Native,
    ResourceServer,
}

impl From<Kind> for ClientKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Web => Self::Web,
            Kind::Browser => Self::Browser,
            Kind::Native => Self::Native,
            Kind::ResourceServer => Self::ResourceServer,
        }
    }
}

impl From<ClientKind> for Kind {
    fn from(kind: ClientKind) -> Self {
        match kind {
            ClientKind::Web => Self::Web,
            ClientKind::Browser => Self::Browser,
            ClientKind::Native => Self::Native,
            ClientKind::ResourceServer => Self::ResourceServer,
        }
    }
}
