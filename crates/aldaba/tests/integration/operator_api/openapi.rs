//! The operator's OpenAPI document: complete, correct, and covering every route.

use std::collections::BTreeSet;

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{CALLBACK, HttpRequest, HttpResponse, OperatorApi, PASSWORD, shared_server};

const VERBS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

#[track_caller]
pub(super) fn document() -> Value {
    let response =
        HttpRequest::get(&format!("{}/operator/v1/openapi.json", shared_server().operator_url)).send();
    assert_eq!(response.status, 200, "{response:?}");
    response.json()
}

/// Every operation: its path, its verb and its object in the document.
pub(super) fn operations(document: &Value) -> Vec<(String, &'static str, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        VERBS
            .into_iter()
            .filter_map(|verb| Some((path.clone(), verb, item.get(verb)?.clone())))
            .collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

/// A path of the document with its parameters replaced by names that do not exist.
fn fill_parameters(path: &str) -> String {
    path.replace("{slot}", "primary").replace(['{', '}'], "")
}

fn request(verb: &str, path: &str) -> HttpRequest {
    let method = Method::from_bytes(verb.to_uppercase().as_bytes()).unwrap();
    HttpRequest::new(method, &format!("{}{}", shared_server().operator_url, fill_parameters(path)))
}

#[test]
fn every_documented_operation_exists_and_requires_the_token() {
    let document = document();
    let operations = operations(&document);
    assert!(operations.len() >= 24, "{operations:?}");
    let token = format!("Bearer {}", shared_server().installation.token());
    for (path, verb, operation) in operations {
        let is_open = operation["security"] == json!([{}]);
        assert_eq!(is_open, path == "/operator/v1/openapi.json", "{verb} {path}");
        for slash in ["", "/"] {
            let path = format!("{path}{slash}");
            let without = request(verb, &path).send().status;
            assert_eq!(without, if is_open { 200 } else { 401 }, "{verb} {path}");
            let response = request(verb, &path).header("authorization", &token).send();
            assert!(!response.text().contains("nothing at this address"), "{verb} {path}: {response:?}");
            if response.status >= 400 {
                response.assert_catalogued(response.status);
            }
            let status = response.status.to_string();
            assert!(operation["responses"].get(&status).is_some(), "{verb} {path} answered {status}");
        }
    }
}

#[test]
fn undocumented_methods_are_refused() {
    for (path, item) in document()["paths"].as_object().unwrap() {
        let documented: BTreeSet<String> =
            VERBS.iter().filter(|verb| item.get(**verb).is_some()).map(|verb| verb.to_uppercase()).collect();
        let other = VERBS.iter().find(|verb| item.get(**verb).is_none()).unwrap();
        let refused = request(other, path).send();
        assert_eq!(refused.problem(405), "This address does not take this method.", "{other} {path}");
        let mut allowed: BTreeSet<String> =
            refused.header("allow").split(',').map(|verb| verb.trim().to_owned()).collect();
        allowed.remove("HEAD");
        assert_eq!(allowed, documented, "{path}");
    }
}

/// All references in a document.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(target) if name == "$ref" => found.push(target.clone()),
                    other => references(other, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn the_document_is_complete() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["security"], json!([{"operatorToken": []}]));
    assert_eq!(document["components"]["securitySchemes"]["operatorToken"]["scheme"], "bearer");
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(!found.is_empty());
    for target in found {
        assert!(document.pointer(target.trim_start_matches('#')).is_some(), "{target} does not resolve");
    }
    let mut ids = BTreeSet::new();
    for (path, verb, operation) in operations(&document) {
        let place = format!("{verb} {path}");
        assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{place}");
        assert!(operation["summary"].is_string() && operation["tags"][0].is_string(), "{place}");
        let responses = &operation["responses"];
        if operation["security"].is_null() {
            let always = ["401", "500", "503"];
            assert!(always.iter().all(|status| responses[*status]["$ref"].is_string()), "{place}");
        }
        if verb != "get" {
            assert!(responses["403"]["$ref"].is_string(), "{place}");
        }
        if path.contains('{') {
            assert!(responses["404"]["$ref"].is_string(), "{place}");
        }
        let body = &operation["requestBody"]["content"]["application/json"];
        if body.is_object() {
            assert!(responses["400"]["$ref"].is_string() && responses["415"]["$ref"].is_string(), "{place}");
        }
    }
    let changes =
        &document["paths"]["/operator/v1/tenants/{tenant}/changes"]["post"]["requestBody"]["content"];
    assert!(changes["application/x-ndjson"].is_object() && changes["application/json"].is_object());
}

/// Checks a value against a schema: members, types and enum values.
fn check(document: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(target) = schema["$ref"].as_str() {
        return check(document, document.pointer(target.trim_start_matches('#')).unwrap(), value, place);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        if value.is_null() {
            assert!(choices.iter().any(|choice| choice["type"] == "null"), "{place}");
            return;
        }
        return check(document, &choices[0], value, place);
    }
    if schema["type"].is_null() {
        return;
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds = &schema["type"];
    assert!(
        kinds == kind || kinds.as_array().is_some_and(|kinds| kinds.contains(&json!(kind))),
        "{place}: {value}"
    );
    if let Some(allowed_values) = schema["enum"].as_array() {
        assert!(allowed_values.contains(value), "{place}: {value}");
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        check(document, &schema["items"], item, &format!("{place}[{index}]"));
    }
    if let Some(members) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(members.contains_key(name.as_str().unwrap()), "{place}: {name} is missing");
        }
        for (name, member) in members {
            let known =
                schema["properties"].get(name).unwrap_or_else(|| panic!("{place}: {name} is not documented"));
            check(document, known, member, &format!("{place}.{name}"));
        }
    }
}

/// Asserts that the document describes this response.
#[track_caller]
pub(super) fn assert_documented(document: &Value, verb: &str, path: &str, response: &HttpResponse) {
    let documented =
        &document["paths"][format!("/operator/v1{path}")][verb]["responses"][response.status.to_string()];
    let documented = match documented["$ref"].as_str() {
        Some(target) => document.pointer(target.trim_start_matches('#')).unwrap(),
        None => documented,
    };
    assert!(documented.is_object(), "{verb} {path}: {response:?}");
    for header in documented["headers"].as_object().unwrap().keys() {
        assert!(!response.header(&header.to_lowercase()).is_empty(), "{verb} {path}: no {header}");
    }
    check(document, &documented["content"]["application/json"]["schema"], &response.json(), path);
}

#[test]
fn responses_match_the_document() {
    let document = document();
    let api = OperatorApi(shared_server());
    let assert_documented =
        |verb: &str, path: &str, response: &HttpResponse| assert_documented(&document, verb, path, response);
    let tenant = api.post("/tenants", &json!({"name": "Documentada", "id": "documented"}));
    assert_documented("post", "/tenants", &tenant);
    assert_documented(
        "post",
        "/tenants",
        &api.post("/tenants", &json!({"name": "Otra", "id": "documented"})),
    );
    let user = json!({"email": "documented@example.com", "givenName": "Ana", "password": PASSWORD});
    assert_documented("post", "/users", &api.post("/users", &user));
    assert_documented("post", "/users", &api.post("/users", &json!({"email": 7})));
    assert_documented(
        "put",
        "/users/{user}/tenants/{tenant}",
        &api.put("/users/documented@example.com/tenants/documented"),
    );
    for body in [json!({"admin": true}), json!({})] {
        let changed = api.patch("/users/documented@example.com/tenants/documented", &body);
        assert_documented("patch", "/users/{user}/tenants/{tenant}", &changed);
    }
    assert_documented("get", "/users/{user}/tenants", &api.get("/users/documented@example.com/tenants"));
    assert_documented("get", "/tenants/{tenant}/users", &api.get("/tenants/documented/users"));
    let authorizations = api.get("/users/documented@example.com/authorizations");
    assert_documented("get", "/users/{user}/authorizations", &authorizations);
    for action in ["reset-password", "end-sessions"] {
        let done = api.post(&format!("/users/documented@example.com/{action}"), &json!({}));
        assert_eq!(done.status, 200, "{done:?}");
        assert_documented("post", &format!("/users/{{user}}/{action}"), &done);
    }
    assert_documented("get", "/users", &api.get("/users?q=documented&standing=active"));
    assert_documented("get", "/tenants", &api.get("/tenants?q=Documentada&standing=unknown"));
    let client = json!({"name": "Panel", "id": "documented", "redirectUris": [CALLBACK]});
    assert_documented("post", "/clients", &api.post("/clients", &client));
    assert_documented(
        "post",
        "/clients/{client}/secret",
        &api.post("/clients/documented/secret", &json!({})),
    );
    let created = api.post("/subscriptions", &json!({"name": "Panel", "products": ["payroll"]}));
    assert_documented("post", "/subscriptions", &created);
    let id = created.json()["subscription"]["id"].as_str().unwrap().to_owned();
    let key = api.post(&format!("/subscriptions/{id}/keys/primary"), &json!({}));
    assert_documented("post", "/subscriptions/{subscription}/keys/{slot}", &key);
    let one = format!("/subscriptions/{id}");
    assert_documented("patch", "/subscriptions/{subscription}", &api.patch(&one, &json!({"dailyQuota": 7})));
    assert_documented("get", "/subscriptions/{subscription}", &api.get(&one));
    assert_documented("get", "/subscriptions/{subscription}/usage", &api.get(&format!("{one}/usage")));
    let backwards = api.get(&format!("{one}/usage?from=2026-11-15&to=2026-11-14"));
    assert_documented("get", "/subscriptions/{subscription}/usage", &backwards);
    assert_documented(
        "post",
        "/subscriptions/{subscription}/cancel",
        &api.post(&format!("{one}/cancel"), &json!({})),
    );
    assert_documented("patch", "/subscriptions/{subscription}", &api.patch(&one, &json!({"dailyQuota": 7})));
    let refused = api.post(&format!("{one}/keys/primary"), &json!({}));
    assert_documented("post", "/subscriptions/{subscription}/keys/{slot}", &refused);
    let token = api.post("/tokens", &json!({"name": "documented", "role": "viewer", "expiresIn": "1d"}));
    assert_documented("post", "/tokens", &token);
    let one = format!("/tokens/{}", token.json()["token"]["id"].as_str().unwrap());
    assert_documented("get", "/tokens/{token}", &api.get(&one));
    assert_documented("delete", "/tokens/{token}", &api.delete(&one));
    for list in [
        "/tenants",
        "/users",
        "/clients",
        "/subscriptions",
        "/operators",
        "/tokens",
        "/webhooks",
        "/stats",
        "/audit",
    ] {
        assert_documented("get", list, &api.get(list));
    }
    for (path, one) in [("/tenants/{tenant}", "/tenants/nobody"), ("/users/{user}", "/users/nobody")] {
        assert_documented("get", path, &api.get(one));
    }
    let body = "{\"area\":\"nowhere\"}\n{\"area\":\"core\",\"resource\":\"persons\",\"action\":\"upsert\",\"data\":{}}";
    let changes = shared_server().ingest_client("documented").request().body(body).send();
    assert_eq!(changes.status, 200, "{changes:?}");
    assert_documented("post", "/tenants/{tenant}/changes", &changes);
    let missing = HttpRequest::get(&format!("{}/operator/v1/audit", shared_server().operator_url)).send();
    assert_documented("get", "/audit", &missing);
}
