//! Named tokens of the operator's API: made once, used under their name, refused once they end.

use std::sync::Arc;
use std::time::Duration;

use domain::Clock as _;
use serde_json::{Value, json};
use testserver::{TestClock, TestServer};

use super::roles::{add_token, send};
use crate::harness::{HttpRequest, Installation, ServeProcess};

/// A GET of the tenants with this token.
#[track_caller]
fn read(server: &TestServer, token: &str) -> testserver::Response {
    send(server, token, "get", "/tenants", &Value::Null)
}

#[track_caller]
fn assert_unauthorized(response: &testserver::Response, message: &str) {
    assert_eq!(response.status, 401, "{}", response.text());
    assert_eq!(response.headers["www-authenticate"], "Bearer error=\"invalid_token\"");
    let problem = response.json();
    assert!(problem["message"].as_str().unwrap().contains(message), "{problem}");
}

#[test]
fn token_is_accepted_until_it_expires_or_is_revoked() {
    let clock = Arc::new(TestClock::default());
    let server = TestServer::builder().clock(clock.clone()).start();
    let new = json!({"name": "nightly", "role": "viewer", "expiresIn": "90d"});
    let (id, secret) = add_token(&server, &new);
    assert!(secret.starts_with("aldaba_op_") && secret.len() == 53, "{secret}");
    read(&server, &secret).expect_status(200);
    clock.advance(Duration::from_secs(90 * 86_400 - 1));
    read(&server, &secret).expect_status(200);
    clock.advance(Duration::from_secs(1));
    assert_unauthorized(&read(&server, &secret), "The token \"nightly\" has expired (2026-04-01T");
    let shown = server.operator_get(&format!("/operator/v1/tokens/{id}")).json();
    assert_eq!((&shown["state"], &shown["role"]), (&json!("expired"), &json!("viewer")), "{shown}");

    let taken = send(&server, server.operator_token(), "post", "/tokens", &new).expect_status(409).json();
    assert_eq!(taken["errors"][0]["code"], "exists", "{taken}");
    for _ in 0..2 {
        let revoked =
            send(&server, server.operator_token(), "delete", &format!("/tokens/{id}"), &Value::Null);
        assert_eq!(revoked.expect_status(200).json()["state"], "revoked");
    }
    assert_unauthorized(&read(&server, &secret), "The token \"nightly\" is revoked");
    let eternal = add_token(&server, &json!({"name": "nightly", "role": "support"}));
    clock.advance(Duration::from_secs(100 * 365 * 86_400));
    read(&server, &eternal.1).expect_status(200);
    let page = server.operator_get("/operator/v1/tokens").json();
    let states: Vec<&Value> = page["tokens"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["revoked", "live"], "{page}");
    assert!(!page.to_string().contains("aldaba_op_"), "{page}");
}

#[test]
fn unknown_and_malformed_tokens_are_refused() {
    let server = TestServer::start();
    let (id, secret) = add_token(&server, &json!({"name": "nightly", "role": "admin"}));
    let (start, end) = secret.split_at(secret.len() - 1);
    let other = if end == "A" { "B" } else { "A" };
    let long = "a".repeat(4000);
    let wrong = [
        "",
        "nightly",
        &id,
        "aldaba_op_",
        start,
        &secret["aldaba_op_".len()..],
        &secret.to_lowercase(),
        &format!("{start}{other}"),
        &format!("{secret}{end}"),
        &format!("aldaba_op_{long}"),
        &format!("{} {}", server.operator_token(), secret),
    ];
    for token in wrong {
        assert_unauthorized(&read(&server, token), "The operator's token is wrong.");
    }
    read(&server, &secret).expect_status(200);
    let url = format!("{}/operator/v1/tenants", server.operator_url());
    let basic = testserver::Request::get(&url).header("authorization", &format!("Basic {secret}")).send();
    assert_unauthorized(&basic, "wrong");
}

#[test]
fn last_use_is_shown_to_the_minute() {
    let clock = Arc::new(TestClock::default());
    let server = TestServer::builder().clock(clock.clone()).start();
    let (id, secret) = add_token(&server, &json!({"name": "nightly", "role": "viewer"}));
    let last_used = || server.operator_get(&format!("/operator/v1/tokens/{id}")).json()["lastUsedAt"].clone();
    assert_eq!(last_used(), Value::Null);
    let first = clock.now().iso();
    read(&server, &secret);
    assert_eq!(last_used(), first);
    clock.advance(Duration::from_secs(59));
    read(&server, &secret);
    assert_eq!(last_used(), first);
    let second = clock.advance(Duration::from_secs(1)).iso();
    // A refused request is a use too: the token was accepted.
    send(&server, &secret, "post", "/tenants", &json!({"name": "Sur"})).expect_status(403);
    assert_eq!(last_used(), second);
}

#[test]
fn only_valid_tokens_are_added() {
    let server = TestServer::start();
    let add = |body: &Value| send(&server, server.operator_token(), "post", "/tokens", body);
    for (member, body) in [
        ("name", json!({"role": "admin"})),
        ("role", json!({"name": "a"})),
        ("role", json!({"name": "a", "role": "root"})),
        ("name", json!({"name": "a b", "role": "admin"})),
        ("expiresIn", json!({"name": "a", "role": "admin", "expiresIn": "0s"})),
        ("expiresIn", json!({"name": "a", "role": "admin", "expiresIn": "1000d"})),
        ("secret", json!({"name": "a", "role": "admin", "secret": "chosen"})),
    ] {
        let refused = add(&body).expect_status(400).json();
        assert_eq!(refused["errors"][0]["field"], member, "{refused}");
    }
    let added = add(&json!({"name": "a", "role": "admin"})).expect_status(201);
    assert_eq!(added.headers["cache-control"], "no-store");
    let id = added.json()["token"]["id"].as_str().unwrap().to_owned();
    assert_eq!(added.headers["location"], format!("/operator/v1/tokens/{id}"));
    for (verb, path) in [("get", "/tokens/nobody"), ("delete", "/tokens/nobody"), ("get", "/tokens/a")] {
        send(&server, server.operator_token(), verb, path, &Value::Null).expect_status(404);
    }
}

/// The command line next to a running service: what it revokes is refused from the next request on.
#[test]
fn commands_add_list_and_revoke_tokens() {
    let server = ServeProcess::start(Installation::new(), &[]);
    let run = |arguments: &[&str]| server.installation.program(arguments).run();
    let added = run(&["token", "add", "nightly", "--role", "support", "--expires", "90d"]).code(0);
    let secret = added.stdout.trim().to_owned();
    assert!(secret.starts_with("aldaba_op_") && added.stdout.lines().count() == 1, "{added:?}");
    assert!(added.stderr.contains("shown only now") && !added.stderr.contains(&secret), "{added:?}");
    let tenant = |id: &str| {
        HttpRequest::post(&format!("{}/operator/v1/tenants/{id}/changes", server.operator_url))
            .header("authorization", &format!("Bearer {secret}"))
            .send()
    };
    server.installation.add_tenant("norte");
    assert_eq!(tenant("norte").status, 200);
    let listed = run(&["token", "list", "--json"]).json();
    let one = &listed[0];
    assert_eq!(
        (&one["name"], &one["role"], &one["state"]),
        (&json!("nightly"), &json!("support"), &json!("live"))
    );
    assert!(
        one["last_used_at"].is_string() && one["created_by"].as_str().unwrap().starts_with("cli"),
        "{one}"
    );
    assert!(run(&["token", "list"]).code(0).stdout.contains("nightly"));

    run(&["token", "add", "nightly", "--role", "viewer"])
        .expect_failure(5, "there is already a token \"nightly\"");
    run(&["token", "add", "b", "--role", "viewer", "--expires", "soon"]).expect_failure(2, "--expires");
    run(&["token", "add", "b", "--role", "viewer", "--expires", "0s"]).expect_failure(2, "expires after 1s");
    run(&["token", "revoke", "nobody"]).expect_failure(5, "there is no token \"nobody\"");
    let revoked = run(&["token", "revoke", "nightly", "--json"]).json();
    assert_eq!(revoked["state"], "revoked");
    assert_eq!(tenant("norte").status, 401);
    run(&["token", "revoke", "nightly"]).expect_failure(5, "not revoked");
    let both = run(&["token", "add", "b", "--role", "admin", "--json"]).json();
    assert_eq!((&both["token"]["expires_at"], &both["token"]["role"]), (&Value::Null, &json!("admin")));

    // The audit names the token and knows nothing of its secret; nor does the log.
    let second = both["secret"].as_str().unwrap();
    let url = format!("{}/operator/v1/tenants", server.operator_url);
    let added = HttpRequest::post(&url)
        .header("authorization", &format!("Bearer {second}"))
        .header("content-type", "application/json")
        .body(json!({"name": "Sur", "id": "sur"}).to_string())
        .send();
    assert_eq!(added.status, 201, "{added:?}");
    let audit = run(&["audit", "--json"]).code(0).stdout;
    let of_token =
        audit.lines().find(|line| line.contains("tenant_added") && line.contains("\"sur\"")).unwrap();
    let entry: Value = serde_json::from_str(of_token).unwrap();
    assert_eq!(entry["actor"], "token:b", "{entry}");
    for kind in ["operator_token_added", "operator_token_revoked"] {
        assert!(audit.contains(kind), "{audit}");
    }
    let log = server.process.stderr();
    for secret in [&secret, second] {
        assert!(!audit.contains(secret) && !log.contains(secret));
    }
    server.stop();
}

#[test]
fn commands_change_operators() {
    let installation = Installation::new();
    for (id, role) in [("nuria", "admin"), ("otto", "viewer")] {
        installation.add_operator(id, domain::OperatorRole::from_name(role).unwrap());
    }
    let run = |arguments: &[&str]| installation.program(arguments).run();
    let (nuria, otto) = ("nuria@operators.example", "otto@operators.example");
    run(&["operator", "disable", nuria]).expect_failure(5, "is the last active operator with the role admin");
    run(&["operator", "role", nuria, "support"]).expect_failure(5, "give another one the role first");
    assert_eq!(run(&["operator", "role", otto, "admin", "--json"]).json()["role"], "admin");
    run(&["operator", "disable", nuria]).code(0);
    let listed = run(&["operator", "list", "--json"]).json();
    let rows: Vec<[&str; 3]> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| ["email", "role", "standing"].map(|member| one[member].as_str().unwrap()))
        .collect();
    assert_eq!(rows, [[nuria, "admin", "disabled"], [otto, "admin", "active"]]);
    run(&["operator", "enable", nuria]).code(0);
    assert!(run(&["operator", "list"]).code(0).stdout.contains(nuria));
    run(&["operator", "role", otto, "root"]).code(2);
    run(&["operator", "role", "nobody@example.com", "viewer"]).expect_failure(5, "there is no operator");
}
