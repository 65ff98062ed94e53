//! Request checks of the ingest API: token, path, method, content type, request id, and the common error body.

use hyper::Method;

use crate::harness::{HttpRequest, bank, is_guid, ndjson, shared_server};

#[test]
fn request_without_the_operator_token_is_refused() {
    let ingest = shared_server().ingest_for_new_tenant();
    let body = ndjson(&[bank("1", "a")]);
    let missing = ingest.request().header("authorization", "").body(body.clone()).send();
    assert_eq!(
        missing.problem(401),
        "The operator's token is missing; send it as Authorization: Bearer <token>."
    );
    assert_eq!(missing.header("www-authenticate"), "Bearer");
    let token = shared_server().installation.token();
    for wrong in ["Bearer x", "Bearer", "Basic dXNlcjpwYXNz", &format!("Bearer {token}x"), &token] {
        let refused = ingest.request().header("authorization", wrong).body(body.clone()).send();
        assert_eq!(refused.problem(401), "The operator's token is wrong.", "{wrong}");
        assert_eq!(refused.header("www-authenticate"), "Bearer error=\"invalid_token\"", "{wrong}");
    }
    assert_eq!(ingest.head(), 0, "nothing was written");
    let any_case = ingest.request().header("authorization", &format!("bearer {token}")).body(body).send();
    assert_eq!(any_case.status, 200);
}

#[test]
fn unknown_tenant_is_refused() {
    let unknown = shared_server().ingest_client("nobody").request().body(ndjson(&[bank("1", "a")])).send();
    assert_eq!(unknown.problem(404), "There is no tenant \"nobody\".");
    assert_eq!(unknown.problem_code(), "unknown_tenant");
    shared_server().ingest_client("%ff").request().send().problem(400);
    shared_server().ingest_client("%00").request().send().problem(404);
}

#[test]
fn unknown_paths_and_methods_get_the_error_body_without_a_token() {
    let ingest = shared_server().ingest_client("tenant");
    let (operator, public) = (&shared_server().operator_url, &shared_server().public_url);
    for path in ["/nothing", "/operator/v1", "/operator/v1/nothing", "/operator/v2/x"] {
        let not_found = HttpRequest::get(&format!("{operator}{path}")).send();
        assert_eq!(not_found.problem(404), "There is nothing at this address.", "{path}");
    }
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH] {
        let wrong = HttpRequest::new(method, &ingest.url()).send();
        assert_eq!(wrong.problem(405), "This address does not take this method.");
        assert_eq!(wrong.header("allow"), "POST");
    }
    HttpRequest::post(&format!("{public}/livez")).send().problem(405);
    HttpRequest::post(&ingest.url().replace(operator.as_str(), public)).send().problem(404);
}

#[test]
fn other_content_types_and_encodings_are_refused() {
    let ingest = shared_server().ingest_for_new_tenant();
    let body = ndjson(&[bank("1", "a")]);
    for wrong in
        ["application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json"]
    {
        let refused = ingest.request().header("content-type", wrong).body(body.clone()).send();
        let essence = wrong.split(';').next().unwrap();
        assert!(
            refused
                .problem(415)
                .starts_with(&format!("Content-Type is {essence:?}; send application/x-ndjson"))
        );
    }
    for encoding in ["gzip", "br", "zstd"] {
        let refused = ingest.request().header("content-encoding", encoding).body(body.clone()).send();
        assert_eq!(refused.problem(415), "Send the body without Content-Encoding.");
    }
    assert_eq!(ingest.head(), 0, "nothing was written");
    for right in
        ["application/x-ndjson", "Application/JSON; charset=utf-8", "application/jsonl", "text/plain", ""]
    {
        assert_eq!(
            ingest.request().header("content-type", right).body(body.clone()).send().status,
            200,
            "{right}"
        );
    }
}

#[test]
fn every_response_has_a_request_id() {
    let ingest = shared_server().ingest_for_new_tenant();
    let operator = &shared_server().operator_url;
    let urls = [
        format!("{operator}/livez"),
        format!("{operator}/metrics"),
        format!("{operator}/nothing"),
        ingest.url(),
    ];
    let mut ids = Vec::new();
    for url in &urls {
        let response = HttpRequest::get(url).send();
        assert!(is_guid(response.header("x-request-id")), "{url}");
        ids.push(response.header("x-request-id").to_owned());
    }
    assert!(is_guid(ingest.request().send().header("x-request-id")));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), urls.len(), "every response has its own id");
}

#[test]
fn valid_request_id_is_returned_and_invalid_one_is_replaced() {
    let ingest = shared_server().ingest_for_new_tenant();
    let long = "x".repeat(64);
    for valid in ["abc-123_x.y", "7", &long] {
        assert_eq!(ingest.request().header("x-request-id", valid).send().header("x-request-id"), valid);
        let problem = HttpRequest::get(&ingest.url()).header("x-request-id", valid).send();
        problem.problem(405);
        assert_eq!(problem.header("x-request-id"), valid);
    }
    let too_long = "x".repeat(65);
    for invalid in ["a b", "a\"b", "<script>", "a/b", &too_long] {
        assert!(
            is_guid(ingest.request().header("x-request-id", invalid).send().header("x-request-id")),
            "{invalid}"
        );
    }
}
