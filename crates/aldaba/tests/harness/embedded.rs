//! The code flow on a server in the test's process.

use serde_json::Value;
use testserver::{CALLBACK, PASSWORD, TestClient, TestUser};

use super::{ALL_SCOPES, Browser, HttpRequest, HttpResponse, encode_form};

/// An authorization code with all scopes, of a user who has one tenant and who allows everything.
#[track_caller]
pub(crate) fn embedded_code(base_url: &str, client: &TestClient, user: &TestUser) -> String {
    let browser = Browser::new(base_url);
    let fields = [
        ("client_id", client.id.as_str()),
        ("response_type", "code"),
        ("redirect_uri", CALLBACK),
        ("scope", ALL_SCOPES),
        ("state", "s"),
        ("nonce", "n"),
    ];
    let path = format!("/auth/core/connect/authorize?{}", encode_form(&fields));
    let mut page = browser.follow_redirects(browser.get(&path));
    for _ in 0..3 {
        if page.status == 200 && page.has_field("password") {
            let fields = [("username", user.email.as_str()), ("password", PASSWORD)];
            page = browser.follow_redirects(browser.submit(&page.form("post"), &fields));
        } else if page.status == 200 {
            page = browser.follow_redirects(browser.submit(&page.form("post"), &[("decision", "allow")]));
        }
    }
    page.params().remove("code").unwrap_or_else(|| panic!("no code: {page:?}"))
}

/// The response of the token endpoint to a new code.
#[track_caller]
pub(crate) fn embedded_tokens(base_url: &str, client: &TestClient, user: &TestUser) -> Value {
    let code = embedded_code(base_url, client, user);
    let fields = [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", CALLBACK)];
    let tokens = post_as_client(base_url, client, "/auth/core/connect/token", &fields);
    assert_eq!(tokens.status, 200, "{tokens:?}");
    tokens.json()
}

/// Posts a form with the client's secret in it.
#[track_caller]
pub(crate) fn post_as_client(
    base_url: &str,
    client: &TestClient,
    path: &str,
    fields: &[(&str, &str)],
) -> HttpResponse {
    let own = [("client_id", client.id.as_str()), ("client_secret", client.secret.as_str())];
    HttpRequest::post(&format!("{base_url}{path}"))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(encode_form(&[&own[..], fields].concat()))
        .send()
}
