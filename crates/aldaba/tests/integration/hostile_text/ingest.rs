//! Every text member of a change. What is accepted is read back as it was sent.

use domain::Resource;
use hyper::Method;
use serde_json::{Value, json};
use testserver::TestServer;

use crate::harness::{HttpRequest, company, context, customer, embedded_tokens, segment};

const MEMBERS: [&str; 8] =
    ["area", "resource", "company", "action", "correlationId", "user", "sourceInterface", "sourceAction"];

/// Changes with the text in one member each.
fn changes(text: &str, number: usize) -> Vec<Value> {
    let mut lines = Vec::new();
    for member in MEMBERS {
        let mut line = customer("c", &format!("member-{number}"), "Bar Manolo");
        line[member] = json!(text);
        lines.push(line);
    }
    for resource in Resource::all() {
        let mut line = json!({
            "area": resource.area().as_str(), "resource": resource.as_str(), "action": "upsert",
            "correlationId": format!("text-{number}"), "data": {"name": text, "note": {"deep": [text]}},
        });
        if resource.owner() == domain::catalogue::Owner::Company {
            line["company"] = json!("c");
        }
        for name in ["tradeName", "accountCode", "accountCodeCorrelationId", "code", "description", "vatName"]
        {
            let mut one = line.clone();
            one["data"][name] = json!(text);
            lines.push(one);
        }
        let mut named = line;
        named["data"][text] = json!("a member of this name");
        lines.push(named);
    }
    lines
}

pub(super) fn check(server: &TestServer, texts: &[String]) {
    let tenant = server.add_tenant("Uno");
    server.apply_changes(&tenant, &json!([company("c")]));
    let (user, client) = (server.add_user(&[&tenant]), server.add_client("Panel"));
    let key = server.add_subscription("Clave").primary_key;
    let tokens = embedded_tokens(server.base_url(), &client, &user);
    let bearer = format!("Bearer {}", tokens["access_token"].as_str().unwrap());
    let read = |path: &str| {
        let request = HttpRequest::new(Method::GET, &format!("{}{path}", server.base_url()));
        let request = request.header("ocp-apim-subscription-key", &key).header("authorization", &bearer);
        request.header("context", &context("c")).send()
    };
    let mut stored = 0;
    for (number, text) in texts.iter().enumerate() {
        let lines = changes(text, number);
        let path = format!("tenants/{}/changes", tenant.id);
        let answer = server.operator_post(&path, &Value::Array(lines.clone()));
        let count = |name: &str| answer[name].as_u64().unwrap();
        assert_eq!(count("accepted") + count("rejected"), lines.len() as u64, "{text:?}: {answer}");
        // A customer whose name and id are the text.
        let mut line = customer("c", text, text);
        line["user"] = json!("u");
        let accepted = server.operator_post(&path, &json!([line]))["accepted"] == 1;
        if accepted {
            let found = read(&format!("/accounting/api/customers/{}", segment(text)));
            assert_eq!(found.status, 200, "{text:?}: {found:?}");
            assert_eq!(found.json()["correlationId"], json!(text), "{found:?}");
            assert_eq!(found.json()["tradeName"], json!(text), "{found:?}");
            stored += 1;
        }
        let listed = read("/accounting/api/customers?pageSize=100");
        assert_eq!(listed.status, 200, "after {text:?}: {listed:?}");
        assert_eq!(read("/invoicing/api/changes").status, 200, "after {text:?}");
    }
    assert!(stored > 3, "{stored} of {}", texts.len());
    assert_eq!(read("/accounting/api/companies/c").status, 200, "nothing was dropped");
}
