//! The gateway authorizes webhook management like the read APIs: key, product, scopes, rate limit, usage.

use hyper::Method;
use serde_json::json;

use super::{CUSTOMERS, PREFIXES, app, get, keys, send, webhook_server};
use crate::harness::{ApiFixture, EmbeddedServer, HttpRequest, Installation, OperatorApi, SubscriptionKeys};

const INVOICING: &str = "/invoicing/api/webhooks";

#[test]
fn key_and_token_are_checked_first() {
    let api = app();
    for path in [format!("{CUSTOMERS}/webhooks/events"), INVOICING.to_owned()] {
        let message = HttpRequest::get(&api.url(&path)).send().problem(401);
        assert!(message.contains("missing subscription key"), "{message}");
        let wrong = api.get(&path).header("authorization", "Bearer x").send();
        assert!(wrong.header("www-authenticate").contains("invalid_token"));
        wrong.problem(401);
    }
    let bare = HttpRequest::post(&api.url(&format!("{CUSTOMERS}/webhooks/subscribe"))).body("{}").send();
    assert!(bare.json().get("responseState").is_none(), "authorization errors have the plain error body");
    bare.problem(401);
}

#[test]
fn accounting_webhooks_require_both_scopes_and_invoicing_one() {
    let api = app();
    let request = |scope: &str, path: &str| {
        let token = api.tokens(&format!("openid {scope}")).access().to_owned();
        api.get(path).header("authorization", &format!("Bearer {token}")).send()
    };
    let (accounting, core, hooks) = ("SVC.ES.NEWPOL.ACC.API", "SVC.ES.NEWPOL.COR.API", "SVC.ES.Webhooks");
    for (prefix, _) in [PREFIXES[3], PREFIXES[10], PREFIXES[18]] {
        let own = if prefix.contains("core") { core } else { accounting };
        let other = if prefix.contains("core") { accounting } else { core };
        let path = format!("{prefix}/webhooks/events");
        for (scopes, missing) in [
            (own.to_owned(), Some(hooks)),
            (hooks.to_owned(), Some(own)),
            (format!("{other} {hooks}"), Some(own)),
            (format!("{own} {hooks}"), None),
        ] {
            let response = request(&scopes, &path);
            let Some(missing) = missing else {
                assert_eq!(response.status, 200, "{scopes} at {path}: {response:?}");
                continue;
            };
            response.problem(403);
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{missing}\"");
            assert_eq!(response.header("www-authenticate"), challenge, "{scopes} at {path}");
        }
    }
    assert_eq!(request(hooks, INVOICING).status, 200);
    request(accounting, INVOICING).problem(403);
}

#[test]
fn a_key_gives_access_to_its_products_only() {
    let api = app();
    let invoicing = SubscriptionKeys::new(webhook_server(), &["invoicing"]).primary;
    let accounting = SubscriptionKeys::new(webhook_server(), &["accounting"]).primary;
    for (path, good, wrong) in [
        (format!("{CUSTOMERS}/webhooks"), &accounting, &invoicing),
        (INVOICING.to_owned(), &invoicing, &accounting),
    ] {
        let with = |key: &str| api.get(&path).header("ocp-apim-subscription-key", key).send();
        assert_eq!(with(good).status, 200, "{path}");
        assert!(with(wrong).problem(401).contains("invalid subscription key"), "{path}");
    }
}

#[test]
fn unknown_paths_and_methods_are_refused_before_authorization() {
    let api = app();
    for (method, path, status) in [
        (Method::GET, format!("{CUSTOMERS}/webhooks/subscribe"), 405),
        (Method::POST, format!("{CUSTOMERS}/webhooks/events"), 405),
        (Method::PATCH, format!("{CUSTOMERS}/webhooks"), 405),
        (Method::POST, format!("{CUSTOMERS}/webhooks"), 405),
        (Method::DELETE, INVOICING.to_owned(), 405),
        (Method::GET, format!("{CUSTOMERS}/webhooks/a/b/c/d/e"), 404),
        (Method::GET, "/payroll/api/companies/webhooks".to_owned(), 404),
        (Method::GET, format!("{INVOICING}/a/nothing"), 404),
        (Method::PUT, format!("{CUSTOMERS}/webhooks/nothing/a"), 404),
    ] {
        let response = HttpRequest::new(method, &api.url(&path)).send();
        response.problem(status);
    }
}

#[test]
fn a_company_context_is_refused_by_accounting_webhooks() {
    let api = app();
    for context in ["{\"clientId\":\"c\"}", "c", "{}"] {
        let refused = api.get(&format!("{CUSTOMERS}/webhooks")).header("context", context).send();
        refused.problem(400);
        assert_eq!(refused.json()["errors"][0]["field"], "context");
        assert_eq!(api.get(INVOICING).header("context", context).send().status, 200);
    }
    assert_eq!(api.get(&format!("{CUSTOMERS}/webhooks")).send().status, 200, "the header may be absent");
}

#[test]
fn calls_are_rate_limited_and_counted_by_route_template() {
    let server = EmbeddedServer::start(Installation::new(), &["gateway.rate_per_minute=4"]);
    let keys = SubscriptionKeys::new(&server, &[]);
    let api = ApiFixture::on(&server, &keys);
    let id = "00000000-0000-0000-0000-000000000001";
    assert_eq!(get(&api, &format!("{CUSTOMERS}/webhooks/events")).header("ratelimit-limit"), "4");
    get(&api, &format!("{CUSTOMERS}/webhooks/{id}")).problem(404);
    let refused = send(&api, Method::POST, INVOICING, Some(&json!({})));
    assert_eq!((refused.status, refused.header("ratelimit-remaining")), (400, "1"));
    assert_eq!(get(&api, INVOICING).status, 200);
    get(&api, INVOICING).problem(429);
    let usage = OperatorApi(&server).wait_for_usage(&keys.id, 4);
    assert_eq!(
        usage["days"][0]["routes"],
        json!([
            {"route": format!("{CUSTOMERS}/webhooks/events"), "calls": 1, "failed": 0},
            {"route": format!("{CUSTOMERS}/webhooks/{{webhookId}}"), "calls": 1, "failed": 1},
            {"route": INVOICING, "calls": 2, "failed": 1},
        ])
    );
}

#[test]
fn reads_support_etags_and_head() {
    let api = app();
    let path = format!("{CUSTOMERS}/webhooks/events");
    let first = api.get(&path).send();
    let again = api.get(&path).header("if-none-match", first.header("etag")).send();
    assert_eq!((again.status, again.body.len()), (304, 0));
    let head = send(&api, Method::HEAD, &path, None);
    assert_eq!((head.status, head.body.len(), head.header("etag")), (200, 0, first.header("etag")));
    assert!(!keys().primary.is_empty());
}
