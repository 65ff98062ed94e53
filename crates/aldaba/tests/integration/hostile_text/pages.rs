//! The pages of the portal and of the console: with hostile queries and paths, and with hostile names in what they show.

use std::collections::BTreeSet;

use domain::OperatorRole;
use serde_json::json;
use testserver::{Request, TestServer};

use super::assert_harmless;
use crate::harness::{Page, decode_form, encode_form, segment};
use crate::integration::console::fixture::Operator;
use crate::integration::portal::fixture::Developer;

/// Parameters that pages read, also where no link or form names them because a page without data shows neither.
const KNOWN: [&str; 34] = [
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

/// The names of the parameters in the links of a page and in its forms that are sent as queries.
fn queries(page: &Page) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for link in page.text().split("href=\"").skip(1) {
        let link = link.split('"').next().unwrap_or_default().replace("&amp;", "&");
        let query = link.split_once('?').map(|(_, query)| query.split('#').next().unwrap_or_default());
        names.extend(query.map(decode_form).unwrap_or_default().into_keys());
    }
    for form in page.text().split("<form").skip(1) {
        let (tag, rest) = form.split_once('>').unwrap_or_default();
        let inside = rest.split("</form>").next().unwrap_or_default();
        let fields = inside.split(" name=\"").skip(1).filter(|_| !tag.contains("method=\"post\""));
        names.extend(fields.filter_map(|field| Some(field.split('"').next()?.to_owned())));
    }
    names
}

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
    let lists: Vec<_> = pages("").into_iter().filter(|(_, path)| !path.contains("//")).collect();
    let mut names: BTreeSet<String> = KNOWN.map(str::to_owned).into();
    names.extend(lists.iter().flat_map(|(browser, path)| queries(&browser.get(path))));
    assert!(names.len() < 3 * KNOWN.len(), "{names:?}");
    for text in texts.iter().filter(|text| QUERIED.contains(&text.as_str())) {
        for (browser, path) in &lists {
            for name in &names {
                let asked = format!("{path}?{}", encode_form(&[(name, text)]));
                assert_harmless(&browser.get(&asked), &asked);
            }
        }
    }
}
