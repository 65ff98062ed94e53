//! The pages of the portal and of the console: with hostile queries and paths, and with hostile names in what they show.

use domain::OperatorRole;
use serde_json::json;
use testkit::{Request, TestServer};

use super::assert_harmless;
use crate::harness::{encode_form, segment};
use crate::integration::console::fixture::Operator;
use crate::integration::portal::fixture::Developer;

/// The parameters that pages read.
const QUERIES: [&str; 34] = [
    "action",
    "after",
    "area",
    "authorizations_after",
    "before",
    "body",
    "changed",
    "client",
    "company",
    "done",
    "event",
    "failing",
    "family",
    "format",
    "host",
    "invite",
    "kind",
    "lang",
    "made",
    "offset",
    "q",
    "realm",
    "record",
    "request_id",
    "resource",
    "result",
    "route",
    "since",
    "span",
    "state",
    "subscription",
    "table",
    "team",
    "tenant",
];

/// The texts that every parameter of every list gets.
const QUERIED: [&str; 4] =
    ["\0", "'; DROP TABLE tenants; --", "99999999999999999999", "\"><script>alert(1)</script>"];

/// The path with the text in place of every parameter.
fn filled(path: &str, text: &str) -> String {
    let fill = |part: &str| if part.starts_with('{') { segment(text) } else { part.to_owned() };
    path.split('/').map(fill).collect::<Vec<_>>().join("/")
}

/// Makes everything that has a name, with the text as its name where that is allowed.
fn make_things(server: &TestServer, text: &str) {
    for (path, body) in [
        ("tenants", json!({"name": text})),
        ("teams", json!({"name": text})),
        ("subscriptions", json!({"name": text, "products": ["accounting"]})),
        ("clients", json!({"name": text, "redirectUris": ["http://localhost:8765/callback"]})),
        (
            "users",
            json!({"email": format!("u{}@example.com", text.len()), "givenName": text, "familyName": text}),
        ),
        ("tokens", json!({"name": text, "role": "viewer", "expiresIn": "1d"})),
        ("invitations", json!({"realm": "developers", "email": text, "lang": "es"})),
    ] {
        let url = format!("{}/operator/v1/{path}", server.operator_url());
        let answer = Request::post(&url).bearer(server.operator_token()).json(&body).send();
        assert!(answer.status < 500, "{path} named {text:?}: {} {}", answer.status, answer.text());
    }
}

pub(super) fn check(server: &TestServer, texts: &[String]) {
    let operator = Operator::sign_in(server, OperatorRole::Admin);
    let developer = Developer::sign_in(server, "diego");
    let pages = |text: &str| {
        let console = console::console_routes().into_iter().map(|(path, _)| format!("/console/{path}"));
        let console = console.map(|path| (&operator.browser, filled(&path, text)));
        let portal = portal::team_routes().into_iter().map(|(path, _)| developer.path(path));
        let portal = portal.map(|path| (&developer.browser, filled(&path, text)));
        console.chain(portal).collect::<Vec<_>>()
    };
    for text in texts {
        make_things(server, text);
        for (browser, path) in pages(text) {
            assert_harmless(&browser.get(&path), &format!("{path} with {text:?}"));
        }
    }
    for text in texts.iter().filter(|text| QUERIED.contains(&text.as_str())) {
        for (browser, path) in pages("").into_iter().filter(|(_, path)| !path.contains("//")) {
            for name in QUERIES {
                let asked = format!("{path}?{}", encode_form(&[(name, text)]));
                assert_harmless(&browser.get(&asked), &asked);
            }
        }
    }
}
