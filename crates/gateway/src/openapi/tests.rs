//! The document is whole: every address is in it, nothing points nowhere, nothing is named twice.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

fn document() -> Value {
    serde_json::to_value(openapi("https://api.example.com", "https://id.example.com")).unwrap()
}

/// Every value below this one, with the name under which it stands.
fn walk<'a>(name: &'a str, value: &'a Value, see: &mut dyn FnMut(&'a str, &'a Value)) {
    see(name, value);
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| walk(name, value, see)),
        Value::Array(items) => items.iter().for_each(|item| walk(name, item, see)),
        _ => {}
    }
}

#[test]
fn every_address_has_its_operations_and_there_are_no_others() {
    let document = document();
    let told: BTreeSet<&str> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    let there: Vec<String> = Endpoint::all().map(operations::path).collect();
    assert_eq!(told, there.iter().map(String::as_str).collect());
    for endpoint in Endpoint::all() {
        let item = &document["paths"][operations::path(endpoint)];
        for method in ["get", "head"] {
            let operation = &item[method];
            assert_eq!(operation["tags"][0], area_name(endpoint.area()));
            for status in ["200", "304", "400", "401", "403", "404", "429", "503"] {
                assert!(!operation["responses"][status].is_null(), "{method} {endpoint:?} {status}");
            }
            let is_feed = matches!(endpoint, Endpoint::Feed(_) | Endpoint::InvoicingFeed);
            assert_eq!(!operation["responses"]["410"].is_null(), is_feed, "{method} {endpoint:?}");
        }
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let mut count = 0;
    walk("", &document, &mut |name, value| {
        if name == "$ref" {
            let place = value.as_str().unwrap().strip_prefix('#').unwrap();
            assert!(document.pointer(place).is_some(), "{place}");
            count += 1;
        }
    });
    assert!(count > 500, "{count}");
}

#[test]
fn who_must_wait_is_told_how_long() {
    let document = document();
    let retry = |name: &str| {
        let header = &document["components"]["responses"][name]["headers"]["Retry-After"]["$ref"];
        let place = header.as_str().unwrap_or_else(|| panic!("{name}")).trim_start_matches('#');
        document.pointer(place).unwrap()["required"] == true
    };
    for name in ["TooManyRequests", "TooManyRequestsWithoutBody", "ServiceUnavailable"] {
        assert!(retry(name), "{name}");
    }
    for name in ["Forbidden", "ForbiddenWithoutBody"] {
        assert!(!retry(name), "{name}: only where the quota is used up");
    }
}

#[test]
fn every_component_is_used() {
    let document = document();
    let mut used = BTreeSet::new();
    walk("", &document, &mut |name, value| {
        if name == "$ref" {
            used.insert(value.as_str().unwrap().to_owned());
        }
    });
    for kind in ["schemas", "headers", "parameters", "responses"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            assert!(used.contains(&format!("#/components/{kind}/{name}")), "{kind}/{name}");
        }
    }
}

#[test]
fn no_operation_id_is_given_twice() {
    let document = document();
    let mut ids = Vec::new();
    walk("", &document, &mut |name, value| {
        if name == "operationId" {
            ids.push(value.as_str().unwrap().to_owned());
        }
    });
    assert_eq!(ids.len(), 2 * Endpoint::all().count());
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
}

#[test]
fn every_body_and_every_parameter_has_an_example() {
    let document = document();
    walk("", &document, &mut |name, value| {
        if name == "content" && value.is_object() {
            assert!(!value["application/json"]["example"].is_null(), "{value}");
        }
    });
    for (name, one) in document["components"]["parameters"].as_object().unwrap() {
        assert!(!one["schema"]["examples"].is_null() || !one["content"].is_null(), "{name}");
    }
}

#[test]
fn an_example_has_the_members_that_its_schema_asks_for() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let example = schema["examples"][0].as_object().unwrap();
        let (required, known) = (schema["required"].as_array().unwrap(), &schema["properties"]);
        for member in required {
            assert!(example.contains_key(member.as_str().unwrap()), "{name}: {member}");
        }
        for (member, value) in example.iter().filter(|(member, _)| !known[member.as_str()].is_null()) {
            let fits = match known[member.as_str()]["type"].as_str().unwrap() {
                "string" => value.is_string(),
                "integer" => value.is_i64(),
                "array" => value.is_array(),
                other => panic!("{name}: {other}"),
            };
            assert!(fits, "{name}: {member} {value}");
        }
    }
}

#[test]
fn a_service_without_an_address_is_described_all_the_same() {
    let document = serde_json::to_value(openapi("", "")).unwrap();
    assert_eq!(document["servers"][0]["url"], "{base_url}");
    assert_eq!(document["servers"][0]["variables"]["base_url"]["default"], PLACEHOLDER_URL);
    let flow = &document["components"]["securitySchemes"]["signIn"]["flows"]["authorizationCode"];
    assert_eq!(flow["tokenUrl"], format!("{PLACEHOLDER_URL}/auth/core/connect/token"));
}

#[test]
fn the_document_is_the_same_every_time() {
    let text = || openapi("https://api.example.com", "https://id.example.com").to_pretty_json().unwrap();
    assert_eq!(text(), text());
}
