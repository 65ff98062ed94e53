//! Every refusal has a code of the catalogue: the gate's, the reads', those of webhook management and of the operator's API. The
//! page `/docs/errors` lists all codes.

use domain::ErrorCode;
use hyper::Method;
use serde_json::json;

use crate::harness::{HttpRequest, unlimited_server};

fn get(path: &str) -> HttpRequest {
    HttpRequest::get(&format!("{}{path}", unlimited_server().public_url))
}

/// Sends the request, which must be refused with this code.
#[track_caller]
fn refused(request: HttpRequest, code: ErrorCode) {
    let response = request.send();
    assert_eq!(response.json()["code"], code.as_str(), "{response:?}");
    response.problem(code.status());
}

#[test]
fn refusals_without_credentials_have_a_code() {
    for path in ["/accounting/api/customers", "/payroll/api/companies", "/invoicing/api/webhooks"] {
        refused(get(path), ErrorCode::MissingSubscriptionKey);
        refused(get(path).header("ocp-apim-subscription-key", "wrong"), ErrorCode::InvalidSubscriptionKey);
    }
    refused(get("/nothing/here"), ErrorCode::PathNotFound);
    let post = HttpRequest::new(
        Method::POST,
        &format!("{}/accounting/api/customers", unlimited_server().public_url),
    );
    refused(post, ErrorCode::MethodNotAllowed);
    refused(get("/openapi.json?tags=nonsense"), ErrorCode::InvalidParameter);
}

#[test]
fn every_documented_operation_is_refused_with_a_code() {
    let document = get("/openapi.json").send().json();
    let paths = document["paths"].as_object().unwrap();
    let mut operations = 0;
    for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("/auth/")) {
        let url = format!("{}{}", unlimited_server().public_url, path.replace(['{', '}'], ""));
        for method in item.as_object().unwrap().keys() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            refused(HttpRequest::new(method.clone(), &url), ErrorCode::MissingSubscriptionKey);
            let with_key = HttpRequest::new(method, &url).header("ocp-apim-subscription-key", "wrong");
            refused(with_key, ErrorCode::InvalidSubscriptionKey);
            operations += 1;
        }
    }
    assert_eq!(operations, 19 * 3 + 2 + 19 * 15 + 12);
}

#[test]
fn refusals_of_the_operator_api_have_a_code() {
    let server = unlimited_server();
    let at = |path: &str| HttpRequest::get(&format!("{}{path}", server.operator_url));
    refused(at("/operator/v1/tenants"), ErrorCode::MissingToken);
    refused(at("/operator/v1/tenants").header("authorization", "Bearer wrong"), ErrorCode::InvalidToken);
}

#[test]
fn page_lists_every_code_in_both_languages() {
    for (lang, word) in [("es", "Códigos de error"), ("en", "Error codes")] {
        let page = get(&format!("/docs/errors?lang={lang}")).send();
        assert_eq!(page.status, 200, "{page:?}");
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
        assert!(page.text().contains(word), "{lang}");
        for code in ErrorCode::ALL {
            assert!(page.text().contains(&format!("<code id=\"{code}\">")), "{lang}: {code}");
        }
    }
}

#[test]
fn documents_link_to_the_page() {
    let document = get("/openapi.json").send().json();
    assert!(document["info"]["description"].as_str().unwrap().contains("(/docs/errors)"));
    let error = &document["components"]["schemas"]["ApiError"];
    let required = ["statusCode", "code", "message", "requestId"];
    assert_eq!(error["required"], json!(required));
}
