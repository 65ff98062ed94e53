//! A document with the operations of some tags alone, and only what these need: for generators of clients.

use std::collections::BTreeSet;

use serde_json::Value;
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::{Operation, PathItem};

/// A tag that the document does not have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownTag {
    pub(crate) tag: String,
    pub(crate) known: Vec<String>,
}

impl std::fmt::Display for UnknownTag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tag, known } = self;
        let near = domain::suggest::did_you_mean(tag, known.iter().map(String::as_str));
        write!(f, "there is no tag {tag:?}{near}; known are {}", known.join(", "))
    }
}

/// The names of tags in a document, as it spells them. Wanted ones are compared without case, spaces and punctuation.
pub(crate) fn known_tags(document: &OpenApi, wanted: &[String]) -> Result<BTreeSet<String>, UnknownTag> {
    let items = document.paths.paths.values();
    let known: BTreeSet<&String> =
        items.flat_map(operations).flat_map(|operation| operation.tags.iter().flatten()).collect();
    let find = |tag: &String| {
        let found = known.iter().find(|one| letters(one) == letters(tag)).map(|one| (*one).clone());
        found.ok_or_else(|| UnknownTag {
            tag: tag.chars().take(100).collect(),
            known: known.iter().map(|one| (*one).clone()).collect(),
        })
    };
    wanted.iter().map(find).collect()
}

fn letters(tag: &str) -> String {
    tag.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Removes everything that the operations of these tags do not need.
pub(crate) fn keep_tags(document: &mut OpenApi, tags: &BTreeSet<String>) {
    let is_kept = |operation: &Operation| operation.tags.iter().flatten().any(|tag| tags.contains(tag));
    document.paths.paths.retain(|_, item| {
        for slot in operation_slots(item) {
            slot.take_if(|operation| !is_kept(operation));
        }
        operations(item).next().is_some()
    });
    if let Some(described) = &mut document.tags {
        described.retain(|tag| tags.contains(&tag.name));
    }
    keep_notifications(document);
    keep_used_components(document);
}

/// Keeps the notifications of the families whose webhooks are left.
fn keep_notifications(document: &mut OpenApi) {
    let has_webhooks = |prefix: &str| {
        document.paths.paths.keys().any(|path| path.starts_with(prefix) && path.contains("/webhooks"))
    };
    let (accounting, invoicing) = (has_webhooks("/accounting"), has_webhooks("/invoicing"));
    if let Some(notifications) = &mut document.webhooks {
        notifications
            .paths
            .retain(|name, _| if name.starts_with("accounting") { accounting } else { invoicing });
    }
    document.webhooks.take_if(|notifications| notifications.paths.is_empty());
}

fn keep_used_components(document: &mut OpenApi) {
    let whole = serde_json::to_value(&*document).unwrap_or_default();
    let mut used = BTreeSet::new();
    for part in ["paths", "webhooks", "security"] {
        collect(&whole, &whole[part], &mut used);
    }
    let schemes = security_schemes(&whole);
    let Some(components) = &mut document.components else { return };
    let is_used = |kind: &str, name: &str| used.contains(&format!("#/components/{kind}/{name}"));
    components.schemas.retain(|name, _| is_used("schemas", name));
    components.responses.retain(|name, _| is_used("responses", name));
    components.parameters.retain(|name, _| is_used("parameters", name));
    components.headers.retain(|name, _| is_used("headers", name));
    components.security_schemes.retain(|name, _| schemes.contains(name));
}

/// Collects the references below a value, and below what they refer to.
fn collect(document: &Value, value: &Value, used: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref")
                && used.insert(reference.clone())
                && let Some(target) = document.pointer(reference.trim_start_matches('#'))
            {
                collect(document, target, used);
            }
            members.values().for_each(|inner| collect(document, inner, used));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(document, item, used)),
        _ => {}
    }
}

/// The names of the schemes that operations require.
fn security_schemes(document: &Value) -> BTreeSet<String> {
    let items = document["paths"].as_object().into_iter().flat_map(|paths| paths.values());
    let of_operations = items.flat_map(|item| item.as_object().into_iter().flat_map(|item| item.values()));
    let all = of_operations.map(|operation| &operation["security"]).chain([&document["security"]]);
    all.flat_map(|security| security.as_array().into_iter().flatten())
        .flat_map(|requirement| requirement.as_object().into_iter().flat_map(|one| one.keys().cloned()))
        .collect()
}

fn operation_slots(item: &mut PathItem) -> [&mut Option<Operation>; 8] {
    [
        &mut item.get,
        &mut item.put,
        &mut item.post,
        &mut item.delete,
        &mut item.options,
        &mut item.head,
        &mut item.patch,
        &mut item.trace,
    ]
}

fn operations(item: &PathItem) -> impl Iterator<Item = &Operation> {
    let all =
        [&item.get, &item.put, &item.post, &item.delete, &item.options, &item.head, &item.patch, &item.trace];
    all.into_iter().flatten()
}
