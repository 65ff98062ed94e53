//! The OpenAPI documents: put together from what the rooms tell of themselves, printed by `aldaba openapi`,
//! served beside the APIs, and browsable.

mod kept;
mod page;
mod served;

use utoipa::openapi::OpenApi;

use crate::config::Config;
pub(crate) use served::router;

/// A document and the places where a listener shows it.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) title: &'static str,
    /// The document itself; none where another room serves it at its address.
    pub(crate) text: Option<String>,
    /// Where it is read.
    pub(crate) address: &'static str,
    /// Where it is browsed.
    pub(crate) page: &'static str,
}

impl Document {
    /// Of the public side.
    pub(crate) fn public(config: &Config) -> Self {
        Self { title: "Aldaba", text: Some(text(&public(config))), address: "/openapi.json", page: "/docs/" }
    }

    /// Of the operator's side, whose room serves the document itself.
    pub(crate) fn operator() -> Self {
        let (address, page) = ("/operator/v1/openapi.json", "/operator/docs/");
        Self { title: "Aldaba for operators", text: None, address, page }
    }
}

/// The public side: the APIs behind the gate, and the identity provider.
pub(crate) fn public(config: &Config) -> OpenApi {
    let server = &config.server;
    gateway::openapi(&server.base_url, &server.auth_url).merge_from(identity::openapi(&server.auth_url))
}

/// As it is printed and served: the same bytes every time.
pub(crate) fn text(document: &OpenApi) -> String {
    document.to_pretty_json().unwrap_or_default()
}
