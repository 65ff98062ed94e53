//! The document has every route once, with examples that match their schemas.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

fn document() -> Value {
    serde_json::to_value(openapi()).unwrap()
}

#[test]
fn document_has_exactly_the_routes() {
    let document = document();
    let mut routes = 0;
    for route in Route::all() {
        let operation = &document["paths"][route.path()][route.method().as_str().to_lowercase()];
        assert!(operation["operationId"].is_string(), "{route:?}");
        routes += 1;
    }
    let operations: usize =
        document["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len()).sum();
    assert_eq!(operations, routes);
    let ids: BTreeSet<String> =
        Route::all().map(|route| operations::operation(route).operation_id.unwrap()).collect();
    assert_eq!(ids.len(), routes, "operation ids are unique");
}

#[test]
fn notifications_are_in_the_webhooks_section() {
    let document = document();
    let names: Vec<&String> = document["webhooks"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["accountingEvent", "invoicingEvent", "invoicingHandshake"]);
    let headers = document["webhooks"]["accountingEvent"]["post"]["parameters"].as_array().unwrap();
    assert!(headers.iter().any(|one| one["name"] == "svc-webhook-signature"), "{headers:?}");
}

/// Visits every value of the document.
fn walk<'a>(value: &'a Value, visit: &mut dyn FnMut(&'a Value)) {
    visit(value);
    match value {
        Value::Object(members) => members.values().for_each(|value| walk(value, visit)),
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        _ => {}
    }
}

#[test]
fn examples_match_their_schemas() {
    let document = document();
    let mut checked = 0;
    walk(&document, &mut |value| {
        let Some(name) = value["schema"]["$ref"].as_str().or(value["schema"]["items"]["$ref"].as_str())
        else {
            return;
        };
        let example = if value["example"].is_array() { &value["example"][0] } else { &value["example"] };
        let Some(schema) = document.pointer(name.trim_start_matches('#')) else {
            assert_eq!(name, "#/components/schemas/ApiError", "the gateway's");
            return;
        };
        let example = example.as_object().unwrap_or_else(|| panic!("{name}: no example"));
        for required in schema["required"].as_array().unwrap() {
            assert!(example.contains_key(required.as_str().unwrap()), "{name}: {required}");
        }
        for member in example.keys() {
            assert!(!schema["properties"][member].is_null(), "{name}: {member}");
        }
        checked += 1;
    });
    assert!(checked > 200, "{checked}");
}
