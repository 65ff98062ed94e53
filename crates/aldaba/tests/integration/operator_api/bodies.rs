//! Invalid request bodies, and requests without the token.

use hyper::Method;
use serde_json::json;

use crate::harness::{HttpRequest, OperatorApi, shared_server};

fn post(body: impl Into<bytes::Bytes>) -> HttpRequest {
    OperatorApi(shared_server())
        .request(Method::POST, "/tenants")
        .header("content-type", "application/json")
        .body(body)
}

#[test]
fn unknown_missing_and_duplicate_members_are_named() {
    for (body, code, message) in [
        (
            r#"{"nmae":"a"}"#,
            "unknown_member",
            "There is no member \"nmae\" here (did you mean \"name\"?); known are name, id, shortCode.",
        ),
        (r#"{"id":"a"}"#, "missing_member", "The member \"name\" is missing."),
        (r#"{"name":"a","name":"b"}"#, "duplicate_member", "The member \"name\" came twice; send it once."),
        (r#"{"name":null}"#, "invalid_member", "name: invalid type: null, expected a string."),
        (r#"{"name":["a"]}"#, "invalid_member", "name: invalid type: sequence, expected a string."),
    ] {
        let refused = post(body).send();
        assert_eq!(
            (refused.problem(400).as_str(), refused.problem_code().as_str()),
            (message, code),
            "{body}"
        );
    }
    assert_eq!(post(r#"{"name":"Con nulos","id":null,"shortCode":null}"#).send().status, 201);
}

#[test]
fn bodies_that_are_not_json_objects_are_refused() {
    for body in [
        "",
        " ",
        "null",
        "[]",
        "[\"Asesoría\"]",
        "\"Asesoría\"",
        "7",
        "name=a",
        "{",
        "{}{}",
        "{\"name\":\"a\"}x",
        "\u{0}",
    ] {
        let refused = post(body.to_owned()).send();
        refused.problem(400);
        assert!(
            ["invalid_json", "missing_member"].contains(&&*refused.problem_code()),
            "{body}: {refused:?}"
        );
    }
    let deep = format!("{{\"name\":{}1{}}}", "[".repeat(20_000), "]".repeat(20_000));
    post(deep).send().problem(400);
    post(vec![b'{', b'"', 0xff, b'"', b':', b'1', b'}']).send().problem(400);
}

#[test]
fn other_content_types_and_encodings_are_refused() {
    let body = json!({"name": "Asesoría"}).to_string();
    for wrong in ["text/plain", "application/x-www-form-urlencoded", "application/jsonl", "json"] {
        let refused = post(body.clone()).header("content-type", wrong).send();
        assert_eq!(refused.problem(415), format!("Content-Type is {wrong:?}; send application/json."));
    }
    let missing = post(body.clone()).header("content-type", "").send();
    assert_eq!(missing.problem(415), "Content-Type is missing; send application/json.");
    let compressed = post(body.clone()).header("content-encoding", "gzip").send();
    assert_eq!(compressed.problem(415), "Send the body without Content-Encoding.");
    assert_eq!(post(body).header("content-type", "Application/JSON; charset=utf-8").send().status, 201);
}

#[test]
fn bodies_over_64_kib_are_refused() {
    let of_size = |bytes: usize| format!("{{\"name\":\"{}\"}}", "x".repeat(bytes - 11));
    assert!(post(of_size(64 * 1024)).send().problem(400).contains("a name has 1 to 200 characters"));
    for bytes in [64 * 1024 + 1, 5_000_000] {
        let refused = post(of_size(bytes)).send();
        assert_eq!(refused.problem(413), "The body may have 64 KiB at most.");
        assert_eq!(refused.problem_code(), "body_too_large");
    }
}

#[test]
fn requests_without_the_token_are_refused() {
    let url = |path: &str| format!("{}/operator/v1{path}", shared_server().operator_url);
    let body = json!({"name": "Intrusa", "id": "intruder"}).to_string();
    for token in ["", "Bearer nonsense"] {
        for path in ["/tenants", "/users", "/clients", "/subscriptions", "/tenants/nobody"] {
            HttpRequest::get(&url(path)).header("authorization", token).send().problem(401);
        }
        let request = HttpRequest::post(&url("/tenants")).header("authorization", token);
        request.header("content-type", "application/json").body(body.clone()).send().problem(401);
    }
    OperatorApi(shared_server()).get("/tenants/intruder").problem(404);
    let public = format!("{}/operator/v1/tenants", shared_server().public_url);
    HttpRequest::get(&public).send().problem(404);
}
