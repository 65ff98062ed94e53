//! The document tells of every address, once, with examples that have what their schemas ask for.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

fn document() -> Value {
    serde_json::to_value(openapi()).unwrap()
}

#[test]
fn every_address_is_told_and_no_other() {
    let document = document();
    let mut told = 0;
    for route in Route::all() {
        let operation = &document["paths"][route.path()][route.method().as_str().to_lowercase()];
        assert!(operation["operationId"].is_string(), "{route:?}");
        told += 1;
    }
    let operations: usize =
        document["paths"].as_object().unwrap().values().map(|item| item.as_object().unwrap().len()).sum();
    assert_eq!(operations, told);
    let ids: BTreeSet<String> =
        Route::all().map(|route| operations::operation(route).operation_id.unwrap()).collect();
    assert_eq!(ids.len(), told, "no id is given twice");
}

#[test]
fn notifications_are_told_as_webhooks() {
    let document = document();
    let names: Vec<&String> = document["webhooks"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["accountingEvent", "invoicingEvent", "invoicingHandshake"]);
    let headers = document["webhooks"]["accountingEvent"]["post"]["parameters"].as_array().unwrap();
    assert!(headers.iter().any(|one| one["name"] == "svc-webhook-signature"), "{headers:?}");
}

/// Everything with a schema and an example.
fn walk<'a>(value: &'a Value, see: &mut dyn FnMut(&'a Value)) {
    see(value);
    match value {
        Value::Object(members) => members.values().for_each(|value| walk(value, see)),
        Value::Array(items) => items.iter().for_each(|item| walk(item, see)),
        _ => {}
    }
}

#[test]
fn an_example_has_what_its_schema_asks_for_and_nothing_else() {
    let document = document();
    let mut seen = 0;
    walk(&document, &mut |value| {
        let Some(name) = value["schema"]["$ref"].as_str().or(value["schema"]["items"]["$ref"].as_str())
        else {
            return;
        };
        let example = if value["example"].is_array() { &value["example"][0] } else { &value["example"] };
        let Some(schema) = document.pointer(name.trim_start_matches('#')) else {
            assert_eq!(name, "#/components/schemas/Error", "the gateway's");
            return;
        };
        let example = example.as_object().unwrap_or_else(|| panic!("{name}: no example"));
        for required in schema["required"].as_array().unwrap() {
            assert!(example.contains_key(required.as_str().unwrap()), "{name}: {required}");
        }
        for member in example.keys() {
            assert!(!schema["properties"][member].is_null(), "{name}: {member}");
        }
        seen += 1;
    });
    assert!(seen > 200, "{seen}");
}
