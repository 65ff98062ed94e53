//! Signing keys: published under their thumbprints, the next one ahead of its time, replaced at once in need.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{
    Keyring, Office, PASSWORD, Serve, Site, Tokens, get, lobby, members, opened, sha256, shared, until,
    within_seconds,
};

fn kid(token: &str) -> String {
    opened(token).0["kid"].as_str().unwrap().to_owned()
}

fn listed(serve: &Serve) -> Vec<Value> {
    serve.site.program(&["signing-keys", "list", "--json"]).run().json().as_array().unwrap().clone()
}

fn rotate(serve: &Serve, flags: &[&str]) -> String {
    let made = serve.site.program(&["signing-keys", "rotate", "--json"]).with(flags).run().json();
    made["kid"].as_str().unwrap().to_owned()
}

/// Whole hours between two moments of a list.
fn hours_between(from: &Value, to: &Value) -> i64 {
    let minutes = |value: &Value| -> i64 {
        let text = value.as_str().unwrap();
        let number = |at: std::ops::Range<usize>| text[at].parse::<i64>().unwrap();
        // Days since the year 0 in the proleptic calendar, good enough for two days in a row.
        let (year, month, day) = (number(0..4), number(5..7), number(8..10));
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
        (days * 24 + number(11..13)) * 60 + number(14..16)
    };
    (minutes(to) - minutes(from)) / 60
}

#[test]
fn a_key_is_named_by_its_thumbprint_and_keeps_its_private_half() {
    let keys = Keyring::of(shared());
    assert_eq!(keys.0.len(), 1);
    for key in &keys.0 {
        assert_eq!(members(key), ["alg", "e", "kid", "kty", "n", "use"]);
        assert_eq!((&key["kty"], &key["use"], &key["alg"]), (&"RSA".into(), &"sig".into(), &"RS256".into()));
        // RFC 7638: the required members, in the order of their names, without spaces.
        let required = format!(r#"{{"e":{},"kty":"RSA","n":{}}}"#, key["e"], key["n"]);
        assert_eq!(key["kid"], sha256(&required));
        assert_eq!(key["n"].as_str().unwrap().len(), 342, "2,048 bits");
    }
}

#[test]
fn every_token_is_signed_by_the_published_key() {
    let office = lobby();
    let keys = Keyring::of(office.serve);
    let page = office.arrive(&office.browser(), &office.ask());
    let tokens = Tokens::of(&office.exchange(&page.params()["code"]));
    for token in [tokens.access(), tokens.id(), &page.params()["id_token"]] {
        keys.verified(token);
        assert_eq!([kid(token).as_str()], *keys.kids());
    }
}

#[test]
fn the_next_key_is_published_a_day_ahead_and_does_not_sign() {
    let serve = Serve::start(Site::new(), &[]);
    let office = Office::on(&serve, 1, &[]);
    let browser = office.signed_in();
    let old = kid(Tokens::of(&office.exchange(&office.code_in(&browser, &office.ask()))).access());
    let next = rotate(&serve, &[]);
    within_seconds(5, "the next key to be published", || Keyring::of(&serve).kids() == [&old, &next]);
    let tokens = Tokens::of(&office.exchange(&office.code_in(&browser, &office.ask())));
    assert_eq!(kid(tokens.access()), old, "it does not sign yet");
    let list = listed(&serve);
    let states: Vec<(&str, &str)> =
        list.iter().map(|key| (key["kid"].as_str().unwrap(), key["state"].as_str().unwrap())).collect();
    assert_eq!(states, [(old.as_str(), "signing"), (next.as_str(), "next")]);
    assert_eq!(hours_between(&list[1]["created_at"], &list[1]["signs_from"]), 24);
    let table = serve.site.program(&["signing-keys", "list"]).run().code(0).stdout;
    assert!(table.starts_with("KID") && table.contains(&next), "{table}");
    let again = serve.site.program(&["signing-keys", "rotate"]).run().code(0);
    assert!(again.stderr.starts_with("A next key already exists since "), "{again:?}");
    let newest = again.stdout.trim().to_owned();
    let site = serve.stop();
    let serve = Serve::start(site, &[]);
    assert_eq!(Keyring::of(&serve).kids(), [&old, &next, &newest], "keys outlive the process");
    let bearer = format!("Bearer {}", tokens.access());
    assert_eq!(get(&serve, "connect/userinfo").header("authorization", &bearer).send().status, 200);
}

#[test]
fn after_a_compromise_the_old_key_is_worth_nothing_within_five_seconds() {
    let serve = Serve::start(Site::new(), &[]);
    let office = Office::on(&serve, 1, &[]);
    let browser = office.signed_in();
    let before = Tokens::of(&office.exchange(&office.code_in(&browser, &office.ask())));
    let (old, new) = (kid(before.access()), rotate(&serve, &["--now"]));
    within_seconds(5, "tokens of the old key to be refused", || {
        office.userinfo(before.access()).status == 401
    });
    let tokens = Tokens::of(&office.exchange(&office.code_in(&browser, &office.ask())));
    let after = Tokens::of(&office.refresh(before.refresh()));
    assert_eq!([kid(tokens.access()), kid(tokens.id()), kid(after.access())], [(); 3].map(|()| new.clone()));
    assert_eq!(office.userinfo(after.access()).status, 200);
    assert_eq!(Keyring::of(&serve).kids(), [new.as_str()]);
    assert_eq!(office.introspect(before.access()), json!({"active": false}));
    let hint = office.ask().with("id_token_hint", before.id()).with("prompt", "none");
    assert_eq!(browser.get(&hint.path()).params()["error"], "invalid_request");
    assert!(listed(&serve).iter().all(|key| key["kid"] != old || key["state"] == "ended"));
    assert_eq!(office.audit("kind=signing_key_rotated").len(), 1);
}

#[test]
fn nothing_secret_lies_in_the_store_in_plain() {
    let serve = Serve::start(Site::new(), &[]);
    let office = Office::on(&serve, 1, &[]);
    let browser = office.browser();
    let page = office.arrive(&browser, &office.ask());
    let code = &page.params()["code"];
    let tokens = Tokens::of(&office.exchange(code));
    let waiting = office.code_in(&browser, &office.ask());
    let session = browser.cookie(crate::harness::SESSION).unwrap();
    let mut kept = Vec::new();
    for name in ["aldaba.db", "aldaba.db-wal"] {
        kept.extend(std::fs::read(serve.site.path().join(name)).unwrap_or_default());
    }
    let has = |text: &str| kept.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has(&office.app.id) && has(&office.email), "this is where things are kept");
    let secrets = [code, &waiting, tokens.refresh(), tokens.access(), &session, &office.app.secret, PASSWORD];
    for secret in secrets {
        assert!(!has(secret), "{secret}");
    }
    // How an RSA key in PKCS #8 begins, in base64 and as bytes.
    assert!(!has("MIIEv"));
    assert!(
        !kept
            .windows(4)
            .any(|window| window == [0x30, 0x82, 0x04, 0xbd] || window == [0x30, 0x82, 0x04, 0xbe])
    );
}

#[test]
fn a_store_gets_its_first_key_by_itself_and_it_signs_at_once() {
    let serve = Serve::start(Site::new(), &[]);
    let first = until("the first key", || Keyring::of(&serve).0.first().cloned());
    let list = listed(&serve);
    let states: BTreeSet<&str> = list.iter().map(|key| key["state"].as_str().unwrap()).collect();
    assert_eq!((list.len(), states), (1, BTreeSet::from(["signing"])));
    assert_eq!(list[0]["kid"], first["kid"]);
}

#[test]
fn a_key_that_a_compromise_ended_is_listed_as_ended() {
    let site = Site::new();
    let run = |arguments: &[&str]| site.program(&["signing-keys"]).with(arguments).run();
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
