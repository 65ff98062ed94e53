//! The OpenAPI documents: put together from what the rooms tell of themselves, printed by `aldaba openapi`,
//! served beside the APIs, and browsable; and the AsyncAPI document of the notifications.

mod routes;
mod static_response;
mod swagger_page;

use utoipa::openapi::OpenApi;

use crate::config::Config;
pub(crate) use routes::{asyncapi_router, router};

/// Writes a document; called once, when somebody first asks for it.
type Write = Box<dyn FnOnce() -> String + Send>;

/// A document and the places where a listener shows it.
pub(crate) struct Document {
    pub(crate) title: &'static str,
    /// The document itself; none where another room serves it at its address.
    pub(crate) text: Option<Write>,
    /// Where it is read.
    pub(crate) address: &'static str,
    /// Where it is browsed.
    pub(crate) page: &'static str,
}

impl Document {
    /// Of the public side.
    pub(crate) fn public(config: &Config) -> Self {
        let config = config.clone();
        let text: Write = Box::new(move || text(&public(&config)) + "\n");
        Self { title: "Aldaba", text: Some(text), address: "/openapi.json", page: "/docs/" }
    }

    /// Of the operator's side, whose room serves the document itself.
    pub(crate) fn operator() -> Self {
        let (address, page) = ("/operator/v1/openapi.json", "/operator/docs/");
        Self { title: "Aldaba for operators", text: None, address, page }
    }
}

/// The public side: the APIs behind the gate, the management of webhooks and what they send, and the identity provider.
pub(crate) fn public(config: &Config) -> OpenApi {
    let server = &config.server;
    let mut management = webhooks::openapi();
    // Putting documents together leaves these where they are.
    let notifications = management.webhooks.take();
    let mut document = gateway::openapi(&server.base_url, &server.auth_url)
        .merge_from(management)
        .merge_from(identity::openapi(&server.auth_url));
    document.webhooks = notifications;
    document
}

/// The AsyncAPI document as it is printed and served; no configuration changes it.
pub(crate) fn asyncapi() -> String {
    format!("{:#}", webhooks::asyncapi())
}

/// As it is printed and served: the same bytes every time.
pub(crate) fn text(document: &OpenApi) -> String {
    document.to_pretty_json().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// Every reference below this value.
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
    fn put_together_every_reference_leads_somewhere_and_every_part_is_used() {
        let config = crate::config::load(&crate::config::Sources::default()).unwrap();
        let document = serde_json::to_value(public(&config)).unwrap();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for place in &found {
            assert!(document.pointer(place.trim_start_matches('#')).is_some(), "{place}");
        }
        for kind in ["schemas", "responses", "parameters", "headers"] {
            for name in document["components"][kind].as_object().unwrap().keys() {
                assert!(found.contains(&format!("#/components/{kind}/{name}")), "{kind}/{name}");
            }
        }
        assert!(document["webhooks"]["accountingEvent"].is_object());
    }
}
