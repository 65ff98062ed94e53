//! The OpenAPI documents, merged from those of the crates, and the AsyncAPI document of the notifications. The program
//! prints them (`aldaba openapi`), serves them next to the APIs, and shows them in Swagger UI.

mod page_location;
mod prefill;
mod routes;
mod static_response;
mod swagger_page;

use utoipa::openapi::OpenApi;

use crate::config::Config;
use page_location::OnlyHost;
pub(crate) use page_location::{is_local_page, sign_in_redirect_uri};
use prefill::Filled;
pub(crate) use prefill::Prefill;
pub(crate) use routes::{asyncapi_router, router};

/// Renders a document; called once, on the first request.
type Render = Box<dyn FnOnce() -> String + Send>;

/// An OpenAPI document and its paths on a listener.
pub(crate) struct Document {
    pub(crate) title: &'static str,
    /// The document; none if another router serves it.
    pub(crate) text: Option<Render>,
    /// The path of the document.
    pub(crate) path: &'static str,
    /// The Swagger UI page, if there is one.
    pub(crate) page: Option<Page>,
}

/// The Swagger UI page of a document.
pub(crate) struct Page {
    pub(crate) path: &'static str,
    only_host: OnlyHost,
    /// The redirect URI of a sign-in on the page, if it offers one.
    sign_in_redirect_uri: Option<String>,
    /// What `aldaba dev` fills in.
    filled: Option<Filled>,
}

impl Document {
    /// The document of the public APIs.
    pub(crate) fn public(config: &Config) -> Self {
        let server = &config.server;
        let page = server.docs.then(|| Page {
            path: "/docs/",
            only_host: OnlyHost::new(server),
            sign_in_redirect_uri: sign_in_redirect_uri(server),
            filled: config
                .development
                .clone()
                .map(|prefill| Filled::Public(prefill, server.auth_url.clone())),
        });
        let config = config.clone();
        let text: Render = Box::new(move || text(&public(&config)) + "\n");
        Self { title: "Aldaba", text: Some(text), path: "/openapi.json", page }
    }

    /// The document of the operator API, which `operator::router` serves.
    pub(crate) fn operator(config: &Config) -> Self {
        let page = Page {
            path: "/operator/docs/",
            only_host: OnlyHost::any(),
            sign_in_redirect_uri: None,
            filled: config.development.clone().map(Filled::Operator),
        };
        let path = "/operator/v1/openapi.json";
        Self { title: "Aldaba for operators", text: None, path, page: Some(page) }
    }
}

/// The public APIs: reads, webhook management and notifications, and the identity provider.
pub(crate) fn public(config: &Config) -> OpenApi {
    let server = &config.server;
    let mut management = webhooks::openapi();
    // `merge_from` does not merge webhooks.
    let notifications = management.webhooks.take();
    let mut document = gateway::openapi(&server.base_url, &server.auth_url)
        .merge_from(management)
        .merge_from(identity::openapi(&server.auth_url));
    document.webhooks = notifications;
    document
}

/// The AsyncAPI document; it does not depend on the configuration.
pub(crate) fn asyncapi() -> String {
    format!("{:#}", webhooks::asyncapi())
}

/// The document as JSON, always with the same bytes.
pub(crate) fn text(document: &OpenApi) -> String {
    document.to_pretty_json().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// Collects every reference in this value.
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str).map(ToOwned::to_owned));
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_resolves_and_every_component_is_used() {
        let config = crate::config::load(&crate::config::Sources::default()).unwrap();
        let document = serde_json::to_value(public(&config)).unwrap();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for reference in &found {
            assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
        for kind in ["schemas", "responses", "parameters", "headers"] {
            for name in document["components"][kind].as_object().unwrap().keys() {
                assert!(found.contains(&format!("#/components/{kind}/{name}")), "{kind}/{name}");
            }
        }
        assert!(document["webhooks"]["accountingEvent"].is_object());
    }
}
