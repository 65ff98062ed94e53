//! The public APIs' OpenAPI document: printed by the command, served over HTTP, and shown on a page.

use hyper::Method;
use serde_json::Value;

use crate::harness::{EmbeddedServer, HttpRequest, HttpResponse, Installation, Program, unlimited_server};

fn get(path: &str) -> HttpResponse {
    HttpRequest::get(&format!("{}{path}", unlimited_server().public_url)).send()
}

#[track_caller]
fn page() -> String {
    let page = get("/docs/");
    assert_eq!(page.status, 200, "{page:?}");
    page.text().to_owned()
}

/// The file name extension.
fn extension(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

/// The files that the page refers to.
fn files() -> Vec<String> {
    let page = page();
    let names = page.split('"').filter(|text| ["css", "js", "svg"].contains(&extension(text)));
    let paths: std::collections::BTreeSet<String> = names.map(|name| format!("/docs/{name}")).collect();
    paths.into_iter().collect()
}

#[test]
fn printed_and_served_openapi_documents_are_equal() {
    let printed = unlimited_server().installation.program(&["openapi"]).run().code(0);
    let served = get("/openapi.json");
    assert_eq!((served.status, served.header("content-type")), (200, "application/json"));
    assert_eq!(printed.stdout, served.text());
    assert_eq!(printed.stderr, "");
    let again = unlimited_server().installation.program(&["openapi", "--json"]).run().code(0);
    assert_eq!(printed.stdout, again.stdout, "the media type is JSON in both cases");
    let document: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"][0]["url"], "http://127.0.0.1:8080");
}

#[test]
fn openapi_document_covers_every_area_and_sign_in() {
    let document = get("/openapi.json").json();
    let paths = document["paths"].as_object().unwrap();
    for path in [
        "/accounting/api/companies",
        "/accounting/api/accounts/{correlationId}",
        "/accounting-core/api/activities/prorates/changes",
        "/accounting-import/api/integrationFiles",
        "/payroll/api/companies",
        "/invoicing/api/changes",
        "/auth/core/connect/token",
    ] {
        assert!(paths.contains_key(path), "{path}");
    }
    for reference in references(&document) {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

fn references(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| match value {
                Value::String(text) if name == "$ref" => vec![text.as_str()],
                other => references(other),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn openapi_document_supports_conditional_requests() {
    let first = get("/openapi.json");
    assert_eq!(first.header("cache-control"), "no-cache");
    let address = format!("{}/openapi.json", unlimited_server().public_url);
    let again = HttpRequest::get(&address).header("if-none-match", first.header("etag")).send();
    assert_eq!((again.status, again.body.len()), (304, 0));
    let other = HttpRequest::get(&address).header("if-none-match", "W/\"0\"").send();
    assert_eq!(other.status, 200);
    let head = HttpRequest::new(Method::HEAD, &address).send();
    assert_eq!((head.status, head.header("etag")), (200, first.header("etag")));
    let packed = HttpRequest::get(&address).header("accept-encoding", "gzip").send();
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert!(packed.body.len() * 5 < first.body.len(), "{}", packed.body.len());
}

#[test]
fn openapi_page_loads_nothing_from_other_hosts() {
    let moved = get("/docs");
    assert_eq!((moved.status, moved.header("location")), (308, "/docs/"));
    let page = get("/docs/");
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    assert!(!page.text().contains("http"), "{}", page.text());
    let settings = get("/docs/settings.json");
    assert_eq!(settings.json()["document"], "../openapi.json");
    assert_eq!(settings.json()["authorize"], serde_json::json!({}), "the page contains no key or token");
    assert_eq!(settings.header("cache-control"), "no-store");
    assert_eq!(settings.json()["signIn"].as_object().unwrap().len(), 1, "the page contains no client");
    let operator =
        HttpRequest::get(&format!("{}/operator/docs/settings.json", unlimited_server().operator_url)).send();
    assert_eq!(operator.json()["authorize"], serde_json::json!({}), "the page contains no token");
}

#[test]
fn page_that_a_sign_in_returns_to_has_a_strict_policy() {
    let settings = get("/docs/settings.json").json();
    assert_eq!(
        settings["signIn"]["redirectUri"], "http://localhost:8080/docs/oauth2-redirect.html",
        "an address that can be registered"
    );
    let page = get("/docs/oauth2-redirect.html?code=x&state=y");
    assert_eq!((page.status, page.header("cache-control")), (200, "no-store"));
    assert_eq!((page.header("referrer-policy"), page.header("x-frame-options")), ("no-referrer", "DENY"));
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let script = page.text().split("<script src=\"").nth(1).unwrap().split('"').next().unwrap();
    let script = get(&format!("/docs/{script}"));
    assert_eq!((script.status, script.header("content-type")), (200, "text/javascript; charset=utf-8"));
}

#[test]
fn page_can_be_switched_off() {
    let server = EmbeddedServer::start(Installation::new(), &["server.docs=false"]);
    let get = |path: &str| HttpRequest::get(&format!("{}{path}", server.public_url)).send();
    for path in ["/docs", "/docs/", "/docs/settings.json", "/docs/oauth2-redirect.html"] {
        get(path).problem(404);
    }
    assert_eq!(get("/openapi.json").status, 200, "the document stays");
}

#[test]
fn page_is_not_on_the_origin_of_the_sign_in_pages() {
    let settings = [
        "server.base_url=https://api.example",
        "server.auth_url=https://id.example",
        "server.peer_is_client=true",
    ];
    let server = EmbeddedServer::start(Installation::new(), &settings);
    let get = |host: &str, path: &str| {
        HttpRequest::get(&format!("{}{path}", server.public_url)).header("host", host).send()
    };
    for path in ["/docs", "/docs/", "/docs/settings.json", "/docs/oauth2-redirect.html"] {
        get("id.example", path).problem(404);
        assert_ne!(get("api.example", path).status, 404, "{path}");
    }
    assert_eq!(get("api.example", "/docs/settings.json").json()["signIn"], Value::Null, "it could not work");
    assert_eq!(get("id.example", "/auth/core/.well-known/openid-configuration").status, 200);
}

#[test]
fn openapi_page_assets_are_cached_immutably() {
    let files = files();
    assert_eq!(files.len(), 6, "{files:?}");
    for path in files {
        let file = HttpRequest::get(&format!("{}{path}", unlimited_server().public_url))
            .header("accept-encoding", "br, gzip")
            .send();
        assert_eq!(file.status, 200, "{path}");
        assert_eq!(file.header("cache-control"), "public, max-age=31536000, immutable", "{path}");
        assert!(!file.header("etag").is_empty(), "{path}");
        assert_eq!(file.header("content-encoding"), "gzip", "{path}");
    }
    for path in ["/docs/swagger-ui.js", "/docs/index.html", "/docs/..%2Fopenapi.json", "/docs/a/b"] {
        get(path).problem(404);
    }
}

#[test]
fn openapi_without_a_configuration_has_no_fixed_server_url() {
    let printed = Program::new(&["openapi"]).run().code(0);
    let document: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(document["servers"][0]["url"], "{base_url}");
}

#[test]
fn openapi_can_be_written_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("openapi.json");
    let finished = Program::new(&["openapi", "--output", file.to_str().unwrap()]).run().code(0);
    assert_eq!(finished.stdout, "");
    let printed = Program::new(&["openapi"]).run().stdout;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed);
    let nowhere = folder.path().join("no/such/folder.json");
    Program::new(&["openapi", "--output", nowhere.to_str().unwrap()]).run().expect_failure(1, "folder.json");
}
