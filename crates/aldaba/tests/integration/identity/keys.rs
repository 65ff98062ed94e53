//! Signing keys: published under their thumbprints, rotated ahead of use, and replaced immediately after a compromise.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{
    EmbeddedServer, Installation, JwkSet, PASSWORD, ServeProcess, Server, SignInFixture, Tokens,
    assert_within_seconds, decode_jwt, get, members, sha256, shared_fixture, shared_server, wait_for,
};

fn kid(token: &str) -> String {
    decode_jwt(token).0["kid"].as_str().unwrap().to_owned()
}

fn listed(server: &Server) -> Vec<Value> {
    server.installation.program(&["signing-keys", "list", "--json"]).run().json().as_array().unwrap().clone()
}

fn rotate(server: &Server, flags: &[&str]) -> String {
    let created = server.installation.program(&["signing-keys", "rotate", "--json"]).with(flags).run().json();
    created["kid"].as_str().unwrap().to_owned()
}

/// Hours between two timestamps of a list, which are taken one after the other.
fn hours_between(from: &Value, to: &Value) -> i64 {
    let minutes = |value: &Value| -> i64 {
        let text = value.as_str().unwrap();
        let number = |at: std::ops::Range<usize>| text[at].parse::<i64>().unwrap();
        // Days since the year 0 in the proleptic calendar; exact enough for two consecutive days.
        let (year, month, day) = (number(0..4), number(5..7), number(8..10));
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
        (days * 24 + number(11..13)) * 60 + number(14..16)
    };
    (minutes(to) - minutes(from) + 30) / 60
}

#[test]
fn kid_is_the_thumbprint_and_private_members_are_not_published() {
    let keys = JwkSet::fetch(shared_server());
    assert_eq!(keys.0.len(), 1);
    for key in &keys.0 {
        assert_eq!(members(key), ["alg", "e", "kid", "kty", "n", "use"]);
        assert_eq!((&key["kty"], &key["use"], &key["alg"]), (&"RSA".into(), &"sig".into(), &"RS256".into()));
        // RFC 7638: the required members, sorted by name, without whitespace.
        let required = format!(r#"{{"e":{},"kty":"RSA","n":{}}}"#, key["e"], key["n"]);
        assert_eq!(key["kid"], sha256(&required));
        assert_eq!(key["n"].as_str().unwrap().len(), 342, "2,048 bits");
    }
}

#[test]
fn every_token_is_signed_with_a_published_key() {
    let fixture = shared_fixture();
    let keys = JwkSet::fetch(fixture.server);
    let page = fixture.authorize(&fixture.browser(), &fixture.authorization_request());
    let tokens = Tokens::from_response(&fixture.exchange(&page.params()["code"]));
    for token in [tokens.access(), tokens.id(), &page.params()["id_token"]] {
        keys.verify(token);
        assert_eq!([kid(token).as_str()], *keys.kids());
    }
}

#[test]
fn next_key_is_published_a_day_ahead_and_does_not_sign_yet() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let browser = fixture.signed_in_browser();
    let old = kid(Tokens::from_response(
        &fixture.exchange(&fixture.code_in_browser(&browser, &fixture.authorization_request())),
    )
    .access());
    let next = rotate(&server, &[]);
    assert_within_seconds(5, "the next key to be published", || {
        JwkSet::fetch(&server).kids() == [&old, &next]
    });
    let tokens = Tokens::from_response(
        &fixture.exchange(&fixture.code_in_browser(&browser, &fixture.authorization_request())),
    );
    assert_eq!(kid(tokens.access()), old, "the next key does not sign yet");
    let list = listed(&server);
    let states: Vec<(&str, &str)> =
        list.iter().map(|key| (key["kid"].as_str().unwrap(), key["state"].as_str().unwrap())).collect();
    assert_eq!(states, [(old.as_str(), "signing"), (next.as_str(), "next")]);
    assert_eq!(hours_between(&list[1]["created_at"], &list[1]["signs_from"]), 24);
    let table = server.installation.program(&["signing-keys", "list"]).run().code(0).stdout;
    assert!(table.starts_with("KID") && table.contains(&next), "{table}");
    let again = server.installation.program(&["signing-keys", "rotate"]).run().code(5);
    assert!(again.stderr.contains("the next signing key exists already and signs from "), "{again:?}");
    let installation = server.stop();
    let server = EmbeddedServer::start(installation, &[]);
    assert_eq!(JwkSet::fetch(&server).kids(), [&old, &next], "keys survive a restart");
    let bearer = format!("Bearer {}", tokens.access());
    assert_eq!(get(&server, "connect/userinfo").header("authorization", &bearer).send().status, 200);
}

#[test]
fn compromised_key_is_refused_within_five_seconds() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let browser = fixture.signed_in_browser();
    let before = Tokens::from_response(
        &fixture.exchange(&fixture.code_in_browser(&browser, &fixture.authorization_request())),
    );
    let (old, new) = (kid(before.access()), rotate(&server, &["--now"]));
    assert_within_seconds(5, "tokens signed with the old key to be refused", || {
        fixture.userinfo(before.access()).status == 401
    });
    let tokens = Tokens::from_response(
        &fixture.exchange(&fixture.code_in_browser(&browser, &fixture.authorization_request())),
    );
    let after = Tokens::from_response(&fixture.refresh(before.refresh()));
    assert_eq!([kid(tokens.access()), kid(tokens.id()), kid(after.access())], [(); 3].map(|()| new.clone()));
    assert_eq!(fixture.userinfo(after.access()).status, 200);
    assert_eq!(JwkSet::fetch(&server).kids(), [new.as_str()]);
    assert_eq!(fixture.introspect(before.access()), json!({"active": false}));
    let hint = fixture.authorization_request().with("id_token_hint", before.id()).with("prompt", "none");
    assert_eq!(browser.get(&hint.path()).params()["error"], "invalid_request");
    assert!(listed(&server).iter().all(|key| key["kid"] != old || key["state"] == "ended"));
    let actors = |kind: &str| {
        let records = fixture.audit(&format!("kind={kind}"));
        records.iter().map(|record| record["actor"].as_str().unwrap()[..3].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(actors("signing_key_rotated"), ["cli", "ser"], "the service made the first key");
    assert_eq!(actors("signing_key_retired"), ["cli"]);
}

#[test]
fn store_contains_no_secret_in_plain_text() {
    let server = ServeProcess::start(Installation::new(), &[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let browser = fixture.browser();
    let page = fixture.authorize(&browser, &fixture.authorization_request());
    let code = &page.params()["code"];
    let tokens = Tokens::from_response(&fixture.exchange(code));
    let unused_code = fixture.code_in_browser(&browser, &fixture.authorization_request());
    let session = browser.cookie(crate::harness::SESSION).unwrap();
    let mut files = Vec::new();
    for name in ["aldaba.db", "aldaba.db-wal"] {
        files.extend(std::fs::read(server.installation.path().join(name)).unwrap_or_default());
    }
    let has = |text: &str| files.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has(&fixture.app.id) && has(&fixture.email), "the files of the store were read");
    let secrets =
        [code, &unused_code, tokens.refresh(), tokens.access(), &session, &fixture.app.secret, PASSWORD];
    for secret in secrets {
        assert!(!has(secret), "{secret}");
    }
    // The start of an RSA key in PKCS #8, in base64 and as bytes.
    assert!(!has("MIIEv"));
    assert!(
        !files
            .windows(4)
            .any(|window| window == [0x30, 0x82, 0x04, 0xbd] || window == [0x30, 0x82, 0x04, 0xbe])
    );
}

#[test]
fn new_store_gets_a_signing_key_automatically() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let first = wait_for("the first key", || JwkSet::fetch(&server).0.first().cloned());
    let list = listed(&server);
    let states: BTreeSet<&str> = list.iter().map(|key| key["state"].as_str().unwrap()).collect();
    assert_eq!((list.len(), states), (1, BTreeSet::from(["signing"])));
    assert_eq!(list[0]["kid"], first["kid"]);
}

#[test]
fn compromised_key_is_listed_as_ended() {
    let installation = Installation::new();
    let run = |arguments: &[&str]| installation.program(&["signing-keys"]).with(arguments).run();
    let first = run(&["list", "--json"]).json()[0]["kid"].as_str().unwrap().to_owned();
    let new = run(&["rotate", "--now"]).code(0).stdout.trim().to_owned();
    let table = run(&["list"]).code(0).stdout;
    let row = |kid: &str| table.lines().find(|line| line.contains(kid)).unwrap_or_else(|| panic!("{table}"));
    assert!(table.lines().next().unwrap().ends_with("ENDED"), "{table}");
    let cells: Vec<&str> = row(&first).split_whitespace().collect();
    assert!(cells[1] == "ended" && cells[4].ends_with('Z'), "{table}");
    let cells: Vec<&str> = row(&new).split_whitespace().collect();
    assert_eq!((cells[1], cells[4]), ("signing", "-"), "{table}");
}
