//! The audit log: it records everything that happens to accounts and grants, and contains no secrets.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::{
    HttpRequest, Installation, PASSWORD, SESSION, ServeProcess, SignInFixture, TestApp, Tokens, is_guid,
    members, new_user, oauth_error,
};

const KINDS: [&str; 12] = [
    "client_refused",
    "code_issued",
    "code_reused",
    "consent_denied",
    "granted",
    "refresh_reused",
    "refreshed",
    "revoked",
    "sign_in_failed",
    "signed_in",
    "signed_out",
    "signing_key_rotated",
];
const MISTYPED: &str = "una contraseña mal escrita";
const IN_THE_WRONG_FIELD: &str = "mi-clave-secreta-de-siempre";

/// Causes every kind of audit record; returns all values that must not appear in the log.
fn cause_all_audit_events(fixture: &SignInFixture<'_>) -> Vec<String> {
    let browser = fixture.browser();
    let form = browser.start_authorization(&fixture.authorization_request()).form("post");
    assert_eq!(fixture.try_password(&browser, &form, MISTYPED).status, 400);
    let swapped = [("username", IN_THE_WRONG_FIELD), ("password", "lucia@example.com")];
    assert_eq!(browser.submit(&form, &swapped).status, 400);
    let question = browser.follow_redirects(fixture.try_password(&browser, &form, PASSWORD));
    assert!(browser.submit(&question.form("post"), &[("decision", "deny")]).params().contains_key("error"));
    let mut secrets = vec![browser.cookie(SESSION).unwrap()];

    let code = fixture.code_in_browser(&browser, &fixture.authorization_request());
    let first = Tokens::from_response(&fixture.exchange(&code));
    assert_eq!(oauth_error(&fixture.exchange(&code), 400), "invalid_grant");
    let tokens = Tokens::from_response(
        &fixture.exchange(&fixture.code_in_browser(&browser, &fixture.authorization_request())),
    );
    let second = Tokens::from_response(&fixture.refresh(tokens.refresh()));
    let third = Tokens::from_response(&fixture.refresh(second.refresh()));
    assert_eq!(oauth_error(&fixture.refresh(tokens.refresh()), 400), "invalid_grant");
    let given_back = Tokens::from_response(
        &fixture.exchange(&fixture.code_in_browser(&browser, &fixture.authorization_request())),
    );
    fixture.revoke(given_back.refresh());
    let wrong = fixture.with_app(TestApp { secret: "un secreto inventado".into(), ..fixture.app.clone() });
    assert_eq!(oauth_error(&wrong.refresh(third.refresh()), 401), "invalid_client");
    browser.submit(&browser.get("/auth/core/logout").form("post"), &[]);
    fixture.command(&["signing-keys", "rotate"]);

    for tokens in [first, tokens, second, third, given_back] {
        secrets.extend([tokens.access(), tokens.refresh(), tokens.id()].map(str::to_owned));
    }
    secrets.push(code);
    let typed = [PASSWORD, MISTYPED, IN_THE_WRONG_FIELD, "un secreto inventado", &fixture.app.secret];
    secrets.extend(typed.map(str::to_owned));
    secrets
}

fn raw(server: &ServeProcess, query: &str) -> Value {
    let url = format!("{}/operator/v1/audit?{query}", server.operator_url);
    let response = HttpRequest::get(&url)
        .header("authorization", &format!("Bearer {}", server.installation.token()))
        .send();
    assert_eq!(response.status, 200, "{response:?}");
    response.json()
}

/// The entries that `aldaba audit --json` prints, one a line.
fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The ids of a page of records.
fn ids(page: &Value) -> Vec<String> {
    let records = page["records"].as_array().unwrap();
    records.iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn all_events_are_recorded_without_secrets() {
    let server = ServeProcess::start(Installation::new(), &[]);
    let fixture = SignInFixture::on(&server, 1, &["--consent"]);
    let secrets = cause_all_audit_events(&fixture);
    let page = raw(&server, "pageSize=1000");
    let records = page["records"].as_array().unwrap();
    let kinds: BTreeSet<&str> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    for kind in KINDS {
        assert!(kinds.contains(kind), "{kind} is not in {kinds:?}");
    }
    let text = page.to_string();
    for secret in &secrets {
        assert!(!text.contains(secret.as_str()), "{secret} is in the audit");
    }
    let expected = [
        "actor",
        "actorEmail",
        "address",
        "at",
        "changes",
        "client",
        "count",
        "cursor",
        "email",
        "grant",
        "id",
        "kind",
        "note",
        "object",
        "requestId",
        "tenant",
        "user",
    ];
    for record in records {
        assert_eq!(members(record), expected);
        assert!(is_guid(record["id"].as_str().unwrap()), "{record}");
    }
    let granted = records.iter().find(|record| record["kind"] == "granted").unwrap();
    assert_eq!(
        [&granted["email"], &granted["client"], &granted["tenant"], &granted["address"]]
            .map(|value| value.as_str().unwrap()),
        [&*fixture.email, &*fixture.app.id, &*fixture.tenants[0], "127.0.0.1"]
    );
    assert!(is_guid(granted["grant"].as_str().unwrap()) && is_guid(granted["requestId"].as_str().unwrap()));
    let mut times: Vec<&str> = records.iter().map(|record| record["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|newer, older| newer >= older), "newest first");
    times.dedup();
    assert!(times.len() > 5);
    let log = server.process.stderr();
    for secret in &secrets {
        assert!(!log.contains(secret.as_str()), "{secret} is in the log");
    }
    command_prints_the_same_records(&server, &fixture, &page);
}

fn command_prints_the_same_records(server: &ServeProcess, fixture: &SignInFixture<'_>, all: &Value) {
    let audit = |flags: &[&str]| server.installation.program(&["audit"]).with(flags).run();
    assert_eq!(Value::from(lines(&audit(&["--json"]).code(0).stdout)), all["records"]);
    let text = audit(&[]).code(0).stdout;
    let (head, rows) = text.split_once('\n').unwrap();
    let titles: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(titles, ["AT", "KIND", "ACTOR", "USER", "CLIENT", "TENANT", "ADDRESS", "REQUEST", "WHAT"]);
    assert_eq!(rows.lines().count(), ids(all).len());
    assert!(rows.contains(&fixture.email) && rows.contains("refresh_reused"), "{rows}");

    let mut collected = Vec::new();
    let mut before: Option<String> = None;
    loop {
        let mut flags = vec!["--json", "--limit", "4"];
        flags.extend(before.iter().flat_map(|mark| ["--before", mark.as_str()]));
        let page = lines(&audit(&flags).code(0).stdout);
        assert!(page.len() <= 4);
        collected.extend(page.iter().map(|record| record["id"].as_str().unwrap().to_owned()));
        let Some(last) = page.last() else { break };
        before = Some(last["cursor"].as_str().unwrap().to_owned());
    }
    assert_eq!(collected, ids(all), "pages neither skip nor repeat a record");
    let first = audit(&["--limit", "4"]).code(0);
    assert!(first.stderr.contains("--before"), "the output says how to get the next page: {first:?}");

    let other_user = new_user(server, &[]);
    for (flags, is_some) in [
        (["--kind", "granted"], true),
        (["--user", &fixture.email], true),
        (["--client", &fixture.app.id], true),
        (["--tenant", &fixture.tenants[0]], true),
        (["--actor", "cli"], true),
        (["--actor", &format!("client:{}", fixture.app.id)], true),
        (["--since", "2100-01-01"], false),
        (["--user", &other_user], true),
    ] {
        let found = lines(&audit(&[&["--json"], flags.as_slice()].concat()).code(0).stdout);
        assert_eq!(!found.is_empty(), is_some, "{flags:?}");
        assert!(found.len() < ids(all).len(), "{flags:?}");
    }
    assert!(lines(&audit(&["--json", "--since", "1h"]).code(0).stdout).len() >= ids(all).len());
    audit(&["--since", "yesterday"]).expect_failure(2, "must be a duration");
    audit(&["--actor", "nobody"])
        .expect_failure(2, "actor must be one of service, anonymous, operator, token, cli");
    audit(&["--kind", "nonsense"]).expect_failure(2, "[possible values: signed_in, sign_in_failed, ");
    audit(&["--before", "nonsense"]).expect_failure(2, "before must be");
    for limit in ["0", "-1", "many"] {
        let flag = format!("--limit={limit}");
        audit(&[&flag]).expect_failure(2, &format!("invalid value '{limit}' for '--limit <LIMIT>'"));
    }
    for kind in ["user", "tenant", "client"] {
        audit(&[&format!("--{kind}"), "nobody"]).expect_failure(5, &format!("there is no {kind} \"nobody\""));
    }
    let help = audit(&["--help"]).code(0).stdout;
    assert!(KINDS.iter().all(|kind| help.contains(kind)), "{help}");
}

#[test]
fn failed_sign_ins_are_counted_per_minute() {
    let fixture = SignInFixture::new();
    let browser = fixture.browser();
    let form = browser.start_authorization(&fixture.authorization_request()).form("post");
    for _ in 0..3 {
        assert_eq!(fixture.try_password(&browser, &form, MISTYPED).status, 400);
    }
    let records = fixture.audit(&format!("kind=sign_in_failed&user={}", fixture.email));
    assert!((1..=2).contains(&records.len()), "one entry a minute: {records:?}");
    assert_eq!(records.iter().map(|record| record["count"].as_u64().unwrap()).sum::<u64>(), 3);
    for record in &records {
        assert_eq!(record["actor"], "anonymous", "{record}");
        assert!(
            record["at"].as_str().unwrap().ends_with(":00.0000000Z"),
            "the start of the minute: {record}"
        );
    }
}

#[test]
fn audit_requires_the_operator_token() {
    let fixture = crate::harness::shared_fixture();
    let url = format!("{}/operator/v1/audit", fixture.server.operator_url);
    assert_eq!(HttpRequest::get(&url).send().status, 401);
    let public = format!("{}/operator/v1/audit", fixture.server.public_url);
    let token = format!("Bearer {}", fixture.server.installation.token());
    assert_eq!(HttpRequest::get(&public).header("authorization", &token).send().status, 404);
}

#[test]
fn invalid_queries_are_explained() {
    let server = crate::harness::shared_fixture().server;
    let request = |query: &str, status: u16| {
        let url = format!("{}/operator/v1/audit?{query}", server.operator_url);
        let response = HttpRequest::get(&url)
            .header("authorization", &format!("Bearer {}", server.installation.token()))
            .send();
        assert_eq!(response.status, status, "{response:?}");
        response.text().to_owned()
    };
    for size in ["0", "1001", "-1", "many", ""] {
        let problem = request(&format!("pageSize={size}"), 400);
        assert!(problem.contains("pageSize must be a whole number from 1 to 1000"), "{problem}");
    }
    let problem = request("pagesize=1", 400);
    assert!(
        problem.contains(r#"There is no parameter \"pagesize\" here (did you mean \"pageSize\"?)"#),
        "{problem}"
    );
    let problem = request("kind=granted&kind=granted", 400);
    assert!(problem.contains(r#"The parameter \"kind\" came twice"#), "{problem}");
    assert!(request("kind=nonsense", 400).contains("kind must be one of"));
    assert!(request("tenant=nobody", 404).contains("There is no tenant"));
}
