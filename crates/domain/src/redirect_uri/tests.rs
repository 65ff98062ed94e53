//! Tests of the rules for redirect URIs.

use super::{check, is_embedded, matches, origin, private_use_scheme};
use crate::ClientKind::{self, Browser, Native, ResourceServer, Web};

fn assert_all(uris: &[&str], kind: ClientKind, is_accepted: bool) {
    for uri in uris {
        assert_eq!(check(uri, kind).is_ok(), is_accepted, "{uri} for {kind:?}");
    }
}

const ANYWHERE: [&str; 5] = [
    "https://app.example/callback",
    "https://app.example:8443/cb?x=1",
    "https://[2001:db8::7]/cb",
    "https://[2001:db8::7]:8443/cb",
    "http://localhost:8765/callback",
];
const OUT_OF_BAND: [&str; 2] = ["urn:ietf:wg:oauth:2.0:oob", "http://oob/done"];
const LOOPBACK: [&str; 5] = [
    "http://127.0.0.1/callback",
    "http://127.0.0.1:8765/callback",
    "http://127.0.0.1:8765",
    "http://[::1]/callback?x=1",
    "http://[::1]:8765/callback",
];
const PRIVATE_USE: [&str; 5] = [
    "com.example.app:/callback",
    "com.example.app://callback",
    "com.example.my-app:/oauth2redirect?x=1",
    "es.example2.app:///callback",
    "com.example:/",
];

#[test]
fn address_of_an_embedded_browser_has_the_host_oob() {
    assert!(["http://oob", "http://oob/a", "http://oob?x"].iter().all(|uri| is_embedded(uri)));
    assert!(!["http://oob.example/", "https://oob/", "http://oob:1/"].iter().any(|uri| is_embedded(uri)));
}

#[test]
fn kind_of_client_decides_which_uris_are_accepted() {
    for kind in [Web, Browser, Native] {
        assert_all(&ANYWHERE, kind, true);
        assert_all(&OUT_OF_BAND, kind, kind != Browser);
        assert_all(&LOOPBACK, kind, kind == Native);
        assert_all(&PRIVATE_USE, kind, kind == Native);
    }
    for uris in [&ANYWHERE[..], &OUT_OF_BAND, &LOOPBACK, &PRIVATE_USE] {
        assert_all(uris, ResourceServer, false);
    }
}

#[test]
fn other_uris_are_refused_for_every_kind() {
    let refused = [
        "",
        "callback",
        "http://127.0.0.2:8765/callback",
        "http://127.0.0.1.example/callback",
        "http://127.1:8765/callback",
        "http://0x7f000001:8765/callback",
        "http://[::2]:8765/callback",
        "http://[0:0:0:0:0:0:0:1]:8765/callback",
        "http://[::ffff:127.0.0.1]/callback",
        "http://127.0.0.1:0/callback",
        "http://127.0.0.1:x/callback",
        "http://user@127.0.0.1/callback",
        "http://127.0.0.1/callback#x",
        "http://localhost/callback",
        "http://localhost.evil.example:80/",
        "http://app.example/callback",
        "https://user@app.example/",
        "https://app.example/#x",
        "https://*.example/",
        "https://app.example\\@evil.example/",
        "https:///callback",
        "https://app.example:0/",
        "https://app.example:+80/",
        "https://app.example;script-src/",
        "https://app.example,other/",
        "https://app'example/",
        "https://[0]/",
        "https://app[1]/",
        "https://app:example:80/",
        "https://app.example/a b",
        "custom://app",
        "custom:/callback",
        "HTTPS://app.example/",
        "javascript:alert(1)",
        "javascript://app.example/%0aalert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "intent://app/#Intent;end",
        "com.example.app:callback",
        "com.example.app:",
        "Com.example.app:/callback",
        "com..app:/callback",
        ".example:/callback",
        "com.:/callback",
        "1com.example:/callback",
        "com.example.app:/callback#x",
        "com.example.app://user@host/callback",
        "com.example.app:/*",
        "com.example_app:/callback",
        "com.example;script-src:/callback",
    ];
    for kind in ClientKind::ALL {
        assert_all(&refused, kind, false);
    }
}

#[test]
fn port_of_a_loopback_address_is_ignored() {
    for (registered, requested) in [
        ("https://app.example/cb", "https://app.example/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb"),
        ("http://127.0.0.1:8765/cb", "http://127.0.0.1:51004/cb"),
        ("http://127.0.0.1:8765/cb", "http://127.0.0.1/cb"),
        ("http://[::1]/cb?x=1", "http://[::1]:51004/cb?x=1"),
        ("http://127.0.0.1:1", "http://127.0.0.1:2"),
        ("com.example.app:/cb", "com.example.app:/cb"),
    ] {
        assert!(matches(registered, requested), "{registered} and {requested}");
    }
}

#[test]
fn everything_else_is_compared_exactly() {
    for (registered, requested) in [
        ("https://app.example/cb", "https://app.example:443/cb"),
        ("https://127.0.0.1/cb", "https://127.0.0.1:8443/cb"),
        ("http://localhost:8765/cb", "http://localhost:8766/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb/"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb?x=1"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb#x"),
        ("http://127.0.0.1/cb", "http://[::1]:51004/cb"),
        ("http://127.0.0.1/cb", "http://localhost:51004/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:0/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb"),
        ("http://127.0.0.1/cb", "http://x@127.0.0.1/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb"),
        ("http://127.0.0.1/cb", "https://127.0.0.1/cb"),
        ("com.example.app:/cb", "com.example.app:/cb2"),
        ("com.example.app:/cb", "com.example.app://cb"),
    ] {
        assert!(!matches(registered, requested), "{registered} and {requested}");
    }
}

#[test]
fn private_use_schemes_have_a_dot() {
    assert_eq!(private_use_scheme("com.example.app:/cb"), Some("com.example.app"));
    for uri in ["https://app.example/cb", "javascript:/x", "urn:ietf:wg:oauth:2.0:oob", "http://oob/a"] {
        assert_eq!(private_use_scheme(uri), None, "{uri}");
    }
}

#[test]
fn origin_is_what_browsers_send() {
    for (uri, expected) in [
        ("https://app.example/callback", Some("https://app.example")),
        ("https://App.Example:443/callback", Some("https://app.example")),
        ("https://app.example:8443?x", Some("https://app.example:8443")),
        ("https://app.example:08443/", Some("https://app.example:8443")),
        ("https://[2001:db8::7]:8443/cb", Some("https://[2001:db8::7]:8443")),
        ("http://localhost:5173/", Some("http://localhost:5173")),
        ("com.example.app:/cb", None),
        ("com.example.app://host/cb", None),
        ("urn:ietf:wg:oauth:2.0:oob", None),
    ] {
        assert_eq!(origin(uri).as_deref(), expected, "{uri}");
    }
}
