//! Operators see every tenant, so that no id is foreign to them by itself; below another tenant or webhook than its own it is
//! answered as an id of nobody, in every role.

use console::console_routes;
use domain::OperatorRole;
use serde_json::json;

use super::fixture::{Console, path};
use super::webhooks::add_webhook;
use crate::harness::{Page, company, customer};

const NOBODYS: &str = "987654321";

/// The parameters of a path that name something of a tenant's.
fn parameters(route: &str) -> Vec<&str> {
    let names = route.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    names.filter(|name| !["area", "resource"].contains(name)).collect()
}

fn comparable(page: &Page, asked: &str, id: &str) -> (u16, String) {
    let request = page.headers.get("x-request-id").and_then(|id| id.to_str().ok()).unwrap_or("none");
    let text = page.text().replace(request, "<request>").replace(asked, "<path>");
    (page.status, text.replace(&format!("/{id}"), "/<id>"))
}

#[test]
fn things_below_another_tenant_or_webhook_are_not_found() {
    let console = Console::new();
    let server = &console.server;
    let (north, south) = (server.add_tenant("Norte"), server.add_tenant("Sur"));
    server
        .apply_changes(&north, &json!([company("c"), customer("c", "k", "Bar"), customer("c", "l", "Bar")]));
    server.apply_changes(&south, &json!([company("c")]));
    let client = server.add_client("Panel").id;
    let webhook = add_webhook(server, 1, &south, &client, "https://hooks.example/a");
    let mut pairs = 0;
    for (route, _) in console_routes() {
        let (parent, id) = match parameters(route).as_slice() {
            [] | [_] => continue,
            ["tenant", "record"] => (south.id.as_str(), "k"),
            ["webhook", "sequence"] => (webhook.as_str(), "3"),
            other => panic!("{route} ({other:?}) has no row: say what is not found below another's parent"),
        };
        let filled = |id: &str| {
            let page = route
                .replace("{tenant}", parent)
                .replace("{webhook}", parent)
                .replace("{area}", "accounting")
                .replace("{resource}", "customers")
                .replace("{record}", id)
                .replace("{sequence}", id);
            path(&format!("{page}?company=c&from=2&to=3"))
        };
        for role in [OperatorRole::Viewer, OperatorRole::Support, OperatorRole::Admin] {
            console.act_as(role);
            for format in ["", "&format=json", "&format=csv"] {
                let ask = |id: &str| {
                    let asked = format!("{}{format}", filled(id));
                    comparable(&console.operator.browser.get(&asked), &asked, id)
                };
                let (theirs, nobodys) = (ask(id), ask(NOBODYS));
                assert_eq!(theirs, nobodys, "{role:?} {route}{format}");
                assert_eq!(theirs.0, 404, "{role:?} {route}{format}: {theirs:?}");
                pairs += 1;
            }
        }
    }
    assert!(pairs >= 36, "{pairs}");
}
