//! The AsyncAPI 3 document: every notification that receivers can get, made from the resource catalogue.

use domain::Resource;
use domain::event::{APP_NAME, EventKind, event_type, semantic_name};
use domain::signature::{ACCOUNTING_HEADER, INVOICING_HEADER};
use serde_json::{Map, Value, json};
use utoipa::PartialSchema;

use super::schema_types::{AcknowledgeData, NotificationData};
use super::{event_texts, examples, notifications};
use crate::management::{Operation, Route, RouteGroup};

const NOTIFICATION: &str = "AccountingNotification";
const DEADLINE: &str = "Answer any 2xx within five seconds, without cookies and without redirects.";

/// The document; it serializes to the same bytes every time.
pub fn asyncapi() -> Value {
    let all: Vec<Resource> = Resource::accounting_family().chain(Resource::invoicing()).collect();
    let of_all = |of: fn(Resource) -> (String, Value)| all.iter().map(|one| of(*one)).collect::<Map<_, _>>();
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Aldaba: notifications",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What Aldaba sends to the receivers of webhooks: each notification is one POST to the address \
                that was subscribed, at least once, in order for each record, with the same bytes on every attempt. \
                The guide to delivery says what a receiver must do.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": of_all(channel),
        "operations": of_all(operation),
        "components": {
            "messages": messages(&all),
            "schemas": schemas(),
            "messageTraits": {
                "accounting": {"headers": headers("AccountingHeaders", ACCOUNTING_HEADER)},
                "invoicing": {"headers": headers("InvoicingHeaders", INVOICING_HEADER)},
            },
        },
    })
}

/// The name of a resource in the document: `Svc.ACC.Customers`, or an entity's name.
fn name(resource: Resource) -> String {
    match resource.area().domain() {
        Some(domain) => format!("{APP_NAME}.{domain}.{}", resource.plural()),
        None => format!("Invoicing.{}", resource.as_str()),
    }
}

/// Every message of a resource, with its name in the document.
fn messages_of(resource: Resource) -> Vec<(String, Option<EventKind>)> {
    let prefix = if resource.is_accounting_family() { "" } else { "Invoicing." };
    let event = |kind| (format!("{prefix}{}", semantic_name(resource, kind)), Some(kind));
    let mut all: Vec<_> = resource.event_kinds().into_iter().map(event).collect();
    if resource.is_accounting_family() {
        all.push((format!("{}.Acknowledge", name(resource)), None));
    }
    all
}

fn channel(resource: Resource) -> (String, Value) {
    let messages: Map<String, Value> = messages_of(resource)
        .into_iter()
        .map(|(name, _)| {
            let place = format!("#/components/messages/{name}");
            (name, json!({ "$ref": place }))
        })
        .collect();
    let title = if resource.is_accounting_family() { resource.plural() } else { resource.as_str() };
    let description = "The receiver's url, as subscribed.";
    (
        name(resource),
        json!({"address": null, "title": title, "description": description, "messages": messages}),
    )
}

fn operation(resource: Resource) -> (String, Value) {
    let description = if resource.is_accounting_family() {
        format!(
            "{DEADLINE} Answer an Acknowledge with exactly 200, and 401 where the signature does not match."
        )
    } else {
        format!(
            "{DEADLINE} Before the first one, answer a GET with the query `echo` with its GUID as the body."
        )
    };
    let operation = json!({
        "action": "send",
        "channel": {"$ref": format!("#/channels/{}", name(resource))},
        "summary": format!("Notifies of changes: {}", name(resource)),
        "description": description,
        "bindings": {"http": {"method": "POST", "bindingVersion": "0.3.0"}},
    });
    (format!("send.{}", name(resource)), operation)
}

fn messages(all: &[Resource]) -> Map<String, Value> {
    let of = |resource: &Resource| {
        let resource = *resource;
        messages_of(resource).into_iter().map(move |(name, kind)| {
            let message = if resource.is_accounting_family() {
                accounting(resource, kind)
            } else {
                invoicing(resource, kind)
            };
            (name, message)
        })
    };
    all.iter().flat_map(of).collect()
}

fn accounting(resource: Resource, kind: Option<EventKind>) -> Value {
    const ACKNOWLEDGE: &str = "Acknowledge";
    let semantic = kind
        .map_or_else(|| format!("{}.{ACKNOWLEDGE}", name(resource)), |kind| semantic_name(resource, kind));
    let event = kind.map_or_else(|| ACKNOWLEDGE.to_owned(), |kind| event_type(resource, kind));
    let domain = resource.area().domain().unwrap_or_default();
    let mut example = examples::notification();
    example["EventType"] = json!({
        "AppName": APP_NAME, "Domain": domain, "Resource": resource.plural(), "EventType": event,
        "SemanticName": semantic,
    });
    if kind.is_none() {
        example["ExtraPartitionInformation"] = json!({});
        example["JsonData"] = json!({"Arguments": ACKNOWLEDGE}).to_string().into();
    }
    let summary = match kind {
        Some(kind) => format!("{}: {}", resource.singular(), kind.as_str()),
        None => "The handshake: accept with exactly 200".to_owned(),
    };
    let schema = if kind.is_some() { "AccountingNotification" } else { "AcknowledgeNotification" };
    let mut message = json!({
        "name": semantic,
        "summary": summary,
        "description": event_texts::description(resource, kind),
        "tags": [tag(resource)],
        "traits": [{"$ref": "#/components/messageTraits/accounting"}],
        "payload": {"$ref": format!("#/components/schemas/{schema}")},
        "x-constants": {"SemanticName": semantic},
        "examples": [{"payload": example}],
    });
    if kind.is_some() {
        let mut body = examples::subscription(resource);
        body["eventTypes"] = json!([semantic]);
        message["x-subscription"] =
            subscription(RouteGroup::Resource(resource), &json!({"context": "none"}), &body);
    }
    message
}

/// The area of a resource, as a tag.
fn tag(resource: Resource) -> Value {
    let area = resource.area();
    json!({"name": area.as_str(), "description": format!("Below `{}`.", area.prefix())})
}

/// The call that subscribes to an event.
fn subscription(group: RouteGroup, headers: &Value, body: &Value) -> Value {
    let route = Route { group, operation: Operation::Subscribe };
    json!({"method": route.method().as_str(), "path": route.path(), "headers": headers, "body": body})
}

fn invoicing(resource: Resource, kind: Option<EventKind>) -> Value {
    let (entity, action) = (resource.as_str(), kind.map_or("", EventKind::as_str));
    let mut example = examples::invoicing_notification();
    example["Entity"] = entity.into();
    if !examples::has_total(resource) {
        example["Changes"] = json!([{"Name": "name", "Value": "Talleres Ebro, S.L."}]);
    }
    if kind == Some(EventKind::Deleted) {
        example["Changes"] = json!([]);
    }
    let mut body = examples::invoicing_subscription();
    body["entity"] = entity.into();
    body["action"] = action.into();
    body["description"] = format!("{entity}: {action}").into();
    json!({
        "name": kind.map_or_else(String::new, |kind| semantic_name(resource, kind)),
        "summary": format!("{entity}: {action}"),
        "description": event_texts::description(resource, kind),
        "tags": [tag(resource)],
        "x-subscription": subscription(RouteGroup::Invoicing, &json!({}), &body),
        "traits": [{"$ref": "#/components/messageTraits/invoicing"}],
        "payload": {"$ref": "#/components/schemas/InvoicingNotification"},
        "x-constants": {"Entity": entity},
        "examples": [{"payload": example}],
    })
}

fn headers(title: &str, signature: &str) -> Value {
    let headers = [(signature, notifications::SIGNED)].into_iter().chain(notifications::STANDARD);
    let properties: Map<String, Value> = headers
        .map(|(name, description)| {
            (name.to_owned(), json!({"title": name, "type": "string", "description": description}))
        })
        .collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({"title": title, "type": "object", "required": required, "properties": properties})
}

/// The schemas that notifications consist of: those of the OpenAPI document, and of the documents inside them. Each has a
/// title, from which generators take the names of types.
fn schemas() -> Map<String, Value> {
    const NAMES: [&str; 5] = [
        NOTIFICATION,
        "NotificationPartition",
        "NotificationEventType",
        "InvoicingNotification",
        "InvoicingChange",
    ];
    let all = serde_json::to_value(super::openapi()).unwrap_or_default();
    let shared = NAMES.iter().map(|name| ((*name).to_owned(), all["components"]["schemas"][name].clone()));
    let data = [
        ("NotificationData", serde_json::to_value(NotificationData::schema())),
        ("AcknowledgeData", serde_json::to_value(AcknowledgeData::schema())),
    ];
    let data = data.into_iter().map(|(name, schema)| (name.to_owned(), schema.unwrap_or_default()));
    let mut schemas: Map<String, Value> = shared.chain(data).collect();
    let mut acknowledge = schemas[NOTIFICATION].clone();
    acknowledge["description"] = "The handshake of a receiver of the accounting family.".into();
    schemas.insert("AcknowledgeNotification".to_owned(), acknowledge);
    for (name, data) in [(NOTIFICATION, "NotificationData"), ("AcknowledgeNotification", "AcknowledgeData")] {
        let member = &mut schemas[name]["properties"]["JsonData"];
        member["contentMediaType"] = "application/json".into();
        member["contentSchema"] = json!({"$ref": format!("#/components/schemas/{data}")});
    }
    for (name, schema) in &mut schemas {
        entitle(name, schema);
    }
    schemas
}

/// Gives a schema and the schemas of its members a title: their names.
fn entitle(name: &str, schema: &mut Value) {
    if schema.get("$ref").is_some() {
        return;
    }
    schema["title"] = name.into();
    let members = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (member, schema) in members.into_iter().flatten() {
        entitle(member, schema);
    }
    if let Some(items) = schema.get_mut("items") {
        entitle(&format!("{name}Item"), items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_has_every_notification_of_the_catalogue() {
        let document = asyncapi();
        for resource in Resource::accounting_family().chain(Resource::invoicing()) {
            let channel = &document["channels"][name(resource)];
            assert_eq!(channel["messages"].as_object().map(Map::len), Some(messages_of(resource).len()));
            for (name, _) in messages_of(resource) {
                let message = &document["components"]["messages"][&name];
                assert!(message["examples"][0]["payload"].is_object(), "{name}: {message}");
                assert!(
                    message["description"].as_str().is_some_and(|text| text.starts_with("Sent ")),
                    "{name}"
                );
                assert_eq!(message["tags"][0]["name"], resource.area().as_str(), "{name}");
                let is_offered = !name.ends_with(".Acknowledge");
                assert_eq!(message["x-subscription"]["body"].is_object(), is_offered, "{name}");
            }
        }
        assert_eq!(document["channels"].as_object().map(Map::len), Some(19 + 18));
        assert_eq!(document["operations"].as_object().map(Map::len), Some(19 + 18));
    }

    #[test]
    fn every_member_says_what_it_means() {
        let document = asyncapi();
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            let members = schema["properties"].as_object().unwrap();
            assert!(!members.is_empty(), "{name}");
            for (member, schema) in members {
                let target = schema["$ref"].as_str().and_then(|place| document.pointer(&place[1..]));
                let described = target.unwrap_or(schema);
                assert!(described["description"].is_string(), "{name}: {member}: {schema}");
            }
        }
    }

    #[test]
    fn every_reference_resolves() {
        let document = asyncapi();
        let text = document.to_string();
        for part in text.split("\"$ref\":\"").skip(1) {
            let place = part.split('"').next().unwrap_or_default().trim_start_matches('#');
            assert!(document.pointer(place).is_some_and(|found| !found.is_null()), "{place}");
        }
    }

    /// Every value in the document that is a schema and no reference.
    fn schemas_below<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
        if value["type"].is_string() || value["properties"].is_object() {
            found.push(value);
        }
        match value {
            Value::Object(members) => {
                let others = members
                    .iter()
                    .filter(|(name, _)| !["examples", "x-subscription"].contains(&name.as_str()));
                others.for_each(|(_, inner)| schemas_below(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|item| schemas_below(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_schema_has_a_title() {
        let document = asyncapi();
        let mut found = Vec::new();
        schemas_below(&document, &mut found);
        assert!(found.len() > 30, "{}", found.len());
        for schema in found {
            assert!(schema["title"].is_string(), "{schema}");
        }
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            assert_eq!(schema["title"], name.as_str());
        }
    }
}
