//! The audit: everything that happened to accounts and grants, and nothing that opens a door.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::{
    App, Call, Office, PASSWORD, SESSION, Serve, Site, Tokens, is_guid, members, new_user, oauth_error,
};

const KINDS: [&str; 11] = [
    "client_refused",
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

/// A day at an office on which everything happens; returns all that must stay secret.
fn eventful_day(office: &Office<'_>) -> Vec<String> {
    let browser = office.browser();
    let form = browser.ask(&office.ask()).form("post");
    assert_eq!(office.try_password(&browser, &form, MISTYPED).status, 400);
    let swapped = [("username", IN_THE_WRONG_FIELD), ("password", "lucia@example.com")];
    assert_eq!(browser.submit(&form, &swapped).status, 400);
    let question = browser.settle(office.try_password(&browser, &form, PASSWORD));
    assert!(browser.submit(&question.form("post"), &[("decision", "deny")]).params().contains_key("error"));
    let mut secrets = vec![browser.cookie(SESSION).unwrap()];

    let code = office.code_in(&browser, &office.ask());
    let first = Tokens::of(&office.exchange(&code));
    assert_eq!(oauth_error(&office.exchange(&code), 400), "invalid_grant");
    let tokens = Tokens::of(&office.exchange(&office.code_in(&browser, &office.ask())));
    let second = Tokens::of(&office.refresh(tokens.refresh()));
    let third = Tokens::of(&office.refresh(second.refresh()));
    assert_eq!(oauth_error(&office.refresh(tokens.refresh()), 400), "invalid_grant");
    let given_back = Tokens::of(&office.exchange(&office.code_in(&browser, &office.ask())));
    office.revoke(given_back.refresh());
    let wrong = office.with_app(App { secret: "un secreto inventado".into(), ..office.app.clone() });
    assert_eq!(oauth_error(&wrong.refresh(third.refresh()), 401), "invalid_client");
    browser.submit(&browser.get("/auth/core/logout").form("post"), &[]);
    office.command(&["signing-keys", "rotate"]);

    for tokens in [first, tokens, second, third, given_back] {
        secrets.extend([tokens.access(), tokens.refresh(), tokens.id()].map(str::to_owned));
    }
    secrets.push(code);
    let typed = [PASSWORD, MISTYPED, IN_THE_WRONG_FIELD, "un secreto inventado", &office.app.secret];
    secrets.extend(typed.map(str::to_owned));
    secrets
}

fn raw(serve: &Serve, query: &str) -> Value {
    let url = format!("{}/operator/v1/audit?{query}", serve.operator_url);
    let reply = Call::get(&url).header("authorization", &format!("Bearer {}", serve.site.token())).send();
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

/// What a list of records is told apart by.
fn ids(page: &Value) -> Vec<String> {
    let records = page["records"].as_array().unwrap();
    records.iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn everything_is_written_down_and_nothing_secret() {
    let serve = Serve::start(Site::new(), &[]);
    let office = Office::on(&serve, 1, &["--consent"]);
    let secrets = eventful_day(&office);
    let page = raw(&serve, "pageSize=1000");
    let records = page["records"].as_array().unwrap();
    let kinds: BTreeSet<&str> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), KINDS);
    let text = page.to_string();
    for secret in &secrets {
        assert!(!text.contains(secret.as_str()), "{secret} is in the audit");
    }
    let expected =
        ["address", "at", "client", "email", "grant", "id", "kind", "note", "requestId", "tenant", "user"];
    for record in records {
        assert_eq!(members(record), expected);
        assert!(is_guid(record["id"].as_str().unwrap()), "{record}");
    }
    let granted = records.iter().find(|record| record["kind"] == "granted").unwrap();
    assert_eq!(
        [&granted["email"], &granted["client"], &granted["tenant"], &granted["address"]]
            .map(|value| value.as_str().unwrap()),
        [&*office.email, &*office.app.id, &*office.tenants[0], "127.0.0.1"]
    );
    assert!(is_guid(granted["grant"].as_str().unwrap()) && is_guid(granted["requestId"].as_str().unwrap()));
    let mut times: Vec<&str> = records.iter().map(|record| record["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|newer, older| newer >= older), "newest first");
    times.dedup();
    assert!(times.len() > 5);
    let log = serve.running.stderr();
    for secret in &secrets {
        assert!(!log.contains(secret.as_str()), "{secret} is in the log");
    }
    the_command_shows_the_same(&serve, &office, &page);
}

fn the_command_shows_the_same(serve: &Serve, office: &Office<'_>, all: &Value) {
    let audit = |flags: &[&str]| serve.site.program(&["audit"]).with(flags).run();
    assert_eq!(&audit(&["--json", "--limit", "1000"]).json(), all);
    let text = audit(&[]).code(0).stdout;
    let (head, rows) = text.split_once('\n').unwrap();
    let titles: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(titles, ["AT", "KIND", "USER", "CLIENT", "TENANT", "ADDRESS", "REQUEST", "NOTE"]);
    assert_eq!(rows.lines().count(), ids(all).len());
    assert!(rows.contains(&office.email) && rows.contains("refresh_reused"), "{rows}");

    let mut seen = Vec::new();
    let mut before: Option<String> = None;
    loop {
        let mut flags = vec!["--json", "--limit", "4"];
        flags.extend(before.iter().flat_map(|mark| ["--before", mark.as_str()]));
        let page = audit(&flags).json();
        assert!(ids(&page).len() <= 4);
        seen.extend(ids(&page));
        let Some(next) = page["next"].as_str() else { break };
        before = Some(next.to_owned());
    }
    assert_eq!(seen, ids(all), "pages leave nothing out and nothing twice");
    let first = audit(&["--limit", "4"]).code(0);
    assert!(first.stderr.contains("--before"), "it says how to go on: {first:?}");

    let stranger = new_user(serve, &[]);
    for (flags, is_some) in [
        (["--kind", "granted"], true),
        (["--user", &office.email], true),
        (["--client", &office.app.id], true),
        (["--tenant", &office.tenants[0]], true),
        (["--user", &stranger], false),
    ] {
        let found = audit(&[&["--json"], flags.as_slice()].concat()).json();
        assert_eq!(!ids(&found).is_empty(), is_some, "{flags:?}");
        assert!(ids(&found).len() < ids(all).len(), "{flags:?}");
    }
    audit(&["--kind", "nonsense"]).refused(2, "[possible values: signed_in, sign_in_failed, ");
    audit(&["--before", "nonsense"]).refused(2, "before must be");
    for limit in ["0", "1001", "many"] {
        audit(&["--limit", limit]).refused(2, &format!("invalid value '{limit}' for '--limit <LIMIT>'"));
    }
    for who in ["user", "tenant", "client"] {
        audit(&[&format!("--{who}"), "nobody"]).refused(5, &format!("there is no {who} \"nobody\""));
    }
    let help = audit(&["--help"]).code(0).stdout;
    assert!(KINDS.iter().all(|kind| help.contains(kind)), "{help}");
}

#[test]
fn the_audit_is_the_operators() {
    let office = crate::harness::lobby();
    let url = format!("{}/operator/v1/audit", office.serve.operator_url);
    assert_eq!(Call::get(&url).send().status, 401);
    let public = format!("{}/operator/v1/audit", office.serve.public_url);
    let token = format!("Bearer {}", office.serve.site.token());
    assert_eq!(Call::get(&public).header("authorization", &token).send().status, 404);
}

#[test]
fn a_wrong_question_is_told_in_plain_words() {
    let serve = crate::harness::lobby().serve;
    let ask = |query: &str, status: u16| {
        let url = format!("{}/operator/v1/audit?{query}", serve.operator_url);
        let reply = Call::get(&url).header("authorization", &format!("Bearer {}", serve.site.token())).send();
        assert_eq!(reply.status, status, "{reply:?}");
        reply.text().to_owned()
    };
    for size in ["0", "1001", "-1", "many", ""] {
        let told = ask(&format!("pageSize={size}"), 400);
        assert!(told.contains("pageSize must be a whole number from 1 to 1000"), "{told}");
    }
    let told = ask("pagesize=1", 400);
    assert!(
        told.contains(r#"There is no parameter \"pagesize\" here (did you mean \"pageSize\"?)"#),
        "{told}"
    );
    let told = ask("kind=granted&kind=granted", 400);
    assert!(told.contains(r#"The parameter \"kind\" came twice"#), "{told}");
    assert!(ask("kind=nonsense", 400).contains("kind must be one of"));
    assert!(ask("tenant=nobody", 404).contains("There is no tenant"));
}
