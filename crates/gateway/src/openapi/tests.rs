//! The document is complete and consistent: it has every endpoint, no dangling reference and no duplicate id.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

fn document() -> Value {
    serde_json::to_value(openapi("https://api.example.com", "https://id.example.com")).unwrap()
}

/// Visits this value and every value below it, each with its member name.
fn walk<'a>(name: &'a str, value: &'a Value, visit: &mut dyn FnMut(&'a str, &'a Value)) {
    visit(name, value);
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| walk(name, value, visit)),
        Value::Array(items) => items.iter().for_each(|item| walk(name, item, visit)),
        _ => {}
    }
}

#[test]
fn document_has_exactly_the_endpoints() {
    let document = document();
    let documented: BTreeSet<&str> =
        document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    let paths: Vec<String> = Endpoint::all().map(operations::path).collect();
    assert_eq!(documented, paths.iter().map(String::as_str).collect());
    for endpoint in Endpoint::all() {
        let item = &document["paths"][operations::path(endpoint)];
        let operation = &item["get"];
        assert_eq!(item.as_object().unwrap().len(), 1, "no HEAD: {endpoint:?}");
        assert_eq!(operation["tags"], serde_json::json!([tags::name(endpoint)]));
        assert_eq!(operation["security"].as_array().unwrap().len(), 2, "{endpoint:?}");
        for status in ["200", "304", "400", "401", "403", "404", "429", "503"] {
            assert!(!operation["responses"][status].is_null(), "{endpoint:?} {status}");
        }
        let is_feed = matches!(endpoint, Endpoint::Feed(_) | Endpoint::InvoicingFeed);
        assert_eq!(!operation["responses"]["410"].is_null(), is_feed, "{endpoint:?}");
    }
}

#[test]
fn every_reference_resolves() {
    let document = document();
    let mut count = 0;
    walk("", &document, &mut |name, value| {
        if name == "$ref" {
            let pointer = value.as_str().unwrap().strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
            count += 1;
        }
    });
    assert!(count > 300, "{count}");
}

#[test]
fn responses_that_ask_to_wait_require_retry_after() {
    let document = document();
    let is_required = |name: &str| {
        let header = &document["components"]["responses"][name]["headers"]["Retry-After"]["$ref"];
        let pointer = header.as_str().unwrap_or_else(|| panic!("{name}")).trim_start_matches('#');
        document.pointer(pointer).unwrap()["required"] == true
    };
    for name in ["TooManyRequests", "ServiceUnavailable"] {
        assert!(is_required(name), "{name}");
    }
    assert!(!is_required("Forbidden"), "only if the quota is used up");
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
fn operation_ids_are_unique() {
    let document = document();
    let mut ids = Vec::new();
    walk("", &document, &mut |name, value| {
        if name == "operationId" {
            ids.push(value.as_str().unwrap().to_owned());
        }
    });
    assert_eq!(ids.len(), Endpoint::all().count());
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
    for (name, parameter) in document["components"]["parameters"].as_object().unwrap() {
        assert!(!parameter["schema"]["examples"].is_null(), "{name}");
    }
}

/// Generators of clients leave out operations with a required parameter that they cannot serialise.
#[test]
fn every_parameter_has_a_simple_type() {
    let document = document();
    for (name, parameter) in document["components"]["parameters"].as_object().unwrap() {
        assert!(parameter["content"].is_null(), "{name}");
        let kind = parameter["schema"]["type"].as_str().unwrap();
        assert!(["string", "integer"].contains(&kind), "{name}: {kind}");
    }
    let context = &document["components"]["parameters"]["context"];
    assert_eq!((&context["in"], &context["required"]), (&"header".into(), &true.into()));
    let example: Value = serde_json::from_str(context["example"].as_str().unwrap()).unwrap();
    assert!(example["clientId"].is_string(), "{example}");
}

#[test]
fn examples_have_the_members_of_their_schemas() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let example = schema["examples"][0].as_object().unwrap();
        let (required, properties) = (schema["required"].as_array().unwrap(), &schema["properties"]);
        for member in required {
            assert!(example.contains_key(member.as_str().unwrap()), "{name}: {member}");
        }
        for (member, value) in example.iter().filter(|(member, _)| !properties[member.as_str()].is_null()) {
            let has_type = match properties[member.as_str()]["type"].as_str().unwrap() {
                "string" => value.is_string(),
                "integer" => value.is_i64(),
                "array" => value.is_array(),
                other => panic!("{name}: {other}"),
            };
            assert!(has_type, "{name}: {member} {value}");
        }
    }
}

#[test]
fn document_without_an_address_uses_a_placeholder() {
    let document = serde_json::to_value(openapi("", "")).unwrap();
    assert_eq!(document["servers"][0]["url"], "{base_url}");
    assert_eq!(document["servers"][0]["variables"]["base_url"]["default"], PLACEHOLDER_URL);
    let flow = &document["components"]["securitySchemes"]["signIn"]["flows"]["authorizationCode"];
    assert_eq!(flow["tokenUrl"], format!("{PLACEHOLDER_URL}/auth/core/connect/token"));
}

#[test]
fn document_is_deterministic() {
    let text = || openapi("https://api.example.com", "https://id.example.com").to_pretty_json().unwrap();
    assert_eq!(text(), text());
}

#[test]
fn every_tag_is_described_and_used() {
    let document = document();
    let described: BTreeSet<&str> =
        document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    assert_eq!(described, Endpoint::all().map(tags::name).collect());
    assert_eq!(described.len(), document["tags"].as_array().unwrap().len());
}
