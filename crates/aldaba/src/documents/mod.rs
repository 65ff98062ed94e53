//! The OpenAPI documents, merged from those of the crates, and the AsyncAPI document of the notifications. The program
//! prints them (`aldaba openapi`), serves them next to the APIs, and shows them in Swagger UI.

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod page_location;
mod prefill;
mod routes;
mod served;
mod slim;
mod static_response;
mod swagger_page;

use utoipa::openapi::OpenApi;

use crate::config::Config;
use page_location::OnlyHost;
pub(crate) use page_location::{is_local_page, sign_in_redirect_uri};
use prefill::Filled;
pub(crate) use prefill::Prefill;
pub(crate) use routes::{asyncapi_router, router};
use served::Build;
pub(crate) use slim::{keep_tags, known_tags};

/// An OpenAPI document and its paths on a listener.
pub(crate) struct Document {
    pub(crate) title: &'static str,
    /// The document; none if another router serves it.
    build: Option<Build>,
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
        let build: Build = Box::new(move || public(&config));
        Self { title: "Aldaba", build: Some(build), path: "/openapi.json", page }
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
        Self { title: "Aldaba for operators", build: None, path, page: Some(page) }
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

    fn document() -> OpenApi {
        public(&crate::config::load(&crate::config::Sources::default()).unwrap())
    }

    #[track_caller]
    fn check_components(document: &Value) {
        let mut found = BTreeSet::new();
        references(document, &mut found);
        for reference in &found {
            assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
        for kind in ["schemas", "responses", "parameters", "headers"] {
            for name in document["components"][kind].as_object().into_iter().flat_map(|kind| kind.keys()) {
                assert!(found.contains(&format!("#/components/{kind}/{name}")), "{kind}/{name}");
            }
        }
    }

    #[test]
    fn every_reference_resolves_and_every_component_is_used() {
        let document = serde_json::to_value(document()).unwrap();
        check_components(&document);
        assert!(document["webhooks"]["accountingEvent"].is_object());
    }

    #[test]
    fn slim_documents_are_complete_and_have_nothing_else() {
        let slim = |mut document: OpenApi, tags: &[&str]| {
            let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
            let tags = known_tags(&document, &tags).unwrap();
            keep_tags(&mut document, &tags);
            let document = serde_json::to_value(document).unwrap();
            check_components(&document);
            document
        };
        let all: Vec<String> = document().tags.into_iter().flatten().map(|tag| tag.name).collect();
        assert_eq!(all.len(), 19 + 3, "{all:?}");
        for tag in &all {
            let document = slim(document(), &[tag]);
            assert_eq!(document["tags"].as_array().unwrap().len(), 1, "{tag}");
        }
        let customers = slim(document(), &["customers"]);
        assert!(customers["components"]["schemas"]["Customer"].is_object());
        assert!(customers["components"]["schemas"]["Account"].is_null());
        assert!(customers["webhooks"]["accountingEvent"].is_object());
        assert!(customers["webhooks"]["invoicingEvent"].is_null());
        let schemes: Vec<&String> =
            customers["components"]["securitySchemes"].as_object().unwrap().keys().collect();
        assert_eq!(schemes, ["accessToken", "signIn", "subscriptionKey"]);
        let payroll = slim(document(), &["Payroll companies"]);
        assert!(payroll["webhooks"].is_null(), "it has no webhooks");
        let operator = slim(operator::openapi(), &["Tenants"]);
        assert!(operator["components"]["securitySchemes"]["operatorToken"].is_object());
    }

    /// Names that generated code would have to share with the language, in TypeScript, Python, Java, C# or Go.
    const BUILT_IN: [&str; 24] = [
        "error",
        "event",
        "object",
        "record",
        "map",
        "set",
        "list",
        "date",
        "request",
        "response",
        "string",
        "number",
        "boolean",
        "symbol",
        "promise",
        "function",
        "array",
        "type",
        "notification",
        "notificationevent",
        "exception",
        "process",
        "thread",
        "module",
    ];

    #[test]
    fn names_of_schemas_do_not_collide() {
        for document in [document(), operator::openapi()] {
            let document = serde_json::to_value(document).unwrap();
            let schemas = document["components"]["schemas"].as_object().unwrap();
            let mut seen = BTreeSet::new();
            for name in schemas.keys() {
                let lower = name.to_lowercase();
                assert!(!BUILT_IN.contains(&lower.as_str()), "{name} is a built-in name");
                assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{name}");
                assert!(seen.insert(lower), "{name} differs from another name in case alone");
            }
        }
    }

    #[test]
    fn operations_are_of_a_form_that_generators_take() {
        for document in [document(), operator::openapi()] {
            let document = serde_json::to_value(document).unwrap();
            let mut ids = BTreeSet::new();
            for (path, item) in document["paths"].as_object().unwrap() {
                assert!(item["head"].is_null(), "{path}");
                for (method, operation) in
                    item.as_object().unwrap().iter().filter(|(name, _)| *name != "servers")
                {
                    let place = format!("{method} {path}");
                    let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{place}: no id"));
                    assert!(ids.insert(id.to_lowercase()), "{place}: {id} is used twice");
                    assert_eq!(operation["tags"].as_array().map(Vec::len), Some(1), "{place}");
                    for parameter in operation["parameters"].as_array().into_iter().flatten() {
                        assert!(parameter["content"].is_null(), "{place}: {parameter}");
                    }
                }
            }
        }
        let public = serde_json::to_value(document()).unwrap().to_string();
        assert!(!public.contains("\"allOf\""), "no schema is narrowed");
    }
}
