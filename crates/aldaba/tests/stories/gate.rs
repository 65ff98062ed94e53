//! Around the door: tokens, addresses, methods, types, request ids, and the error body of all of them.

use hyper::Method;

use crate::harness::{Call, bank, is_guid, ndjson, shared};

#[test]
fn without_the_token_nobody_comes_in() {
    let door = shared().new_tenant();
    let body = ndjson(&[bank("1", "a")]);
    let missing = door.call().header("authorization", "").body(body.clone()).send();
    assert_eq!(
        missing.problem(401),
        "The operator's token is missing; send it as Authorization: Bearer <token>."
    );
    assert_eq!(missing.header("www-authenticate"), "Bearer");
    let token = shared().site.token();
    for wrong in ["Bearer x", "Bearer", "Basic dXNlcjpwYXNz", &format!("Bearer {token}x"), &token] {
        let refused = door.call().header("authorization", wrong).body(body.clone()).send();
        assert_eq!(refused.problem(401), "The operator's token is wrong.", "{wrong}");
        assert_eq!(refused.header("www-authenticate"), "Bearer error=\"invalid_token\"", "{wrong}");
    }
    assert_eq!(door.head(), 0, "nothing came in");
    let any_case = door.call().header("authorization", &format!("bearer {token}")).body(body).send();
    assert_eq!(any_case.status, 200);
}

#[test]
fn an_unknown_tenant_is_told() {
    let unknown = shared().door("nobody").call().body(ndjson(&[bank("1", "a")])).send();
    assert_eq!(unknown.problem(404), "There is no tenant \"nobody\".");
    assert_eq!(unknown.problem_code(), "unknown_tenant");
    shared().door("%ff").call().send().problem(400);
    shared().door("%00").call().send().problem(404);
}

#[test]
fn unknown_addresses_and_methods_have_the_error_body_before_the_gate() {
    let door = shared().door("tenant");
    let (operator, public) = (&shared().operator_url, &shared().public_url);
    for path in ["", "/", "/nothing", "/operator/v1", "/operator/v1/nothing", "/operator/v2/x"] {
        let nothing = Call::get(&format!("{operator}{path}")).send();
        assert_eq!(nothing.problem(404), "There is nothing at this address.", "{path}");
    }
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH] {
        let wrong = Call::new(method, &door.url()).send();
        assert_eq!(wrong.problem(405), "This address does not take this method.");
        assert_eq!(wrong.header("allow"), "POST");
    }
    Call::post(&format!("{public}/livez")).send().problem(405);
    Call::post(&door.url().replace(operator.as_str(), public)).send().problem(404);
}

#[test]
fn other_types_and_encodings_are_refused() {
    let door = shared().new_tenant();
    let body = ndjson(&[bank("1", "a")]);
    for wrong in
        ["application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json"]
    {
        let refused = door.call().header("content-type", wrong).body(body.clone()).send();
        let essence = wrong.split(';').next().unwrap();
        assert!(
            refused
                .problem(415)
                .starts_with(&format!("Content-Type is {essence:?}; send application/x-ndjson"))
        );
    }
    for encoding in ["gzip", "br", "zstd"] {
        let refused = door.call().header("content-encoding", encoding).body(body.clone()).send();
        assert_eq!(refused.problem(415), "Send the body without Content-Encoding.");
    }
    assert_eq!(door.head(), 0, "nothing came in");
    for right in
        ["application/x-ndjson", "Application/JSON; charset=utf-8", "application/jsonl", "text/plain", ""]
    {
        assert_eq!(
            door.call().header("content-type", right).body(body.clone()).send().status,
            200,
            "{right}"
        );
    }
}

#[test]
fn every_answer_carries_a_request_id() {
    let door = shared().new_tenant();
    let operator = &shared().operator_url;
    let urls = [
        format!("{operator}/livez"),
        format!("{operator}/metrics"),
        format!("{operator}/nothing"),
        door.url(),
    ];
    let mut seen = Vec::new();
    for url in &urls {
        let reply = Call::get(url).send();
        assert!(is_guid(reply.header("x-request-id")), "{url}");
        seen.push(reply.header("x-request-id").to_owned());
    }
    assert!(is_guid(door.call().send().header("x-request-id")));
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), urls.len(), "each has its own");
}

#[test]
fn a_well_formed_request_id_is_kept_and_an_odd_one_replaced() {
    let door = shared().new_tenant();
    let long = "x".repeat(64);
    for kept in ["abc-123_x.y", "7", &long] {
        assert_eq!(door.call().header("x-request-id", kept).send().header("x-request-id"), kept);
        let problem = Call::get(&door.url()).header("x-request-id", kept).send();
        problem.problem(405);
        assert_eq!(problem.header("x-request-id"), kept);
    }
    let too_long = "x".repeat(65);
    for odd in ["a b", "a\"b", "<script>", "a/b", &too_long] {
        assert!(is_guid(door.call().header("x-request-id", odd).send().header("x-request-id")), "{odd}");
    }
}
