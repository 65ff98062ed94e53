//! Which receiver URLs are accepted, why others are refused, and the parts of a parsed URL.

use proptest::prelude::*;

use super::{Host, ReceiverUrl};

fn accepted(text: &str) -> ReceiverUrl {
    ReceiverUrl::parse(text, false).unwrap_or_else(|error| panic!("{text} {error}"))
}

fn accepted_with_loopback(text: &str) -> ReceiverUrl {
    ReceiverUrl::parse(text, true).unwrap_or_else(|error| panic!("{text} {error}"))
}

fn refused(text: &str, allow_loopback: bool) -> String {
    match ReceiverUrl::parse(text, allow_loopback) {
        Ok(_) => panic!("{text:?} was accepted"),
        Err(error) => error,
    }
}

#[test]
fn url_is_split_into_its_parts() {
    let url = accepted("https://Receiver.Example./hooks/in?tenant=7&x[]=1");
    assert_eq!(url.host(), &Host::Name("receiver.example".into()));
    assert_eq!((url.is_tls(), url.port()), (true, 443));
    assert_eq!(url.origin(), "https://receiver.example:443");
    assert_eq!(url.authority(), "receiver.example");
    assert_eq!(url.path_and_query(), "/hooks/in?tenant=7&x[]=1");
    assert_eq!(url.as_str(), "https://Receiver.Example./hooks/in?tenant=7&x[]=1");
}

#[test]
fn port_and_path_are_optional() {
    for (text, path) in [
        ("https://receiver.example", "/"),
        ("https://receiver.example:443", "/"),
        ("HTTPS://receiver.example:443?a=b", "/?a=b"),
        ("https://receiver.example/", "/"),
    ] {
        let url = accepted(text);
        assert_eq!((url.authority(), url.path_and_query()), ("receiver.example", path), "{text}");
    }
}

#[test]
fn host_can_be_an_ip_address() {
    let url = accepted("https://[2001:DB8:0::7]/x");
    assert_eq!(url.host(), &Host::Address("2001:db8::7".parse().unwrap()));
    assert_eq!((url.authority(), url.origin()), ("[2001:db8::7]", "https://[2001:db8::7]:443"));
    let url = accepted("https://192.0.2.7./x");
    assert_eq!(url.host(), &Host::Address("192.0.2.7".parse().unwrap()));
    assert_eq!(
        accepted("https://127.0.0.1/").authority(),
        "127.0.0.1",
        "the egress policy decides about connecting to it"
    );
}

#[test]
fn invalid_urls_are_refused_with_a_reason() {
    for (text, why) in [
        ("", "must begin with https://"),
        ("receiver.example", "must begin with https://"),
        ("ftp://receiver.example/", "must begin with https://, not ftp://"),
        ("http://receiver.example/", "must use https"),
        ("http://localhost:9000/", "must use https"),
        ("https://receiver.example:8443/", "must use port 443, not 8443"),
        ("https://localhost:9000/", "must use port 443"),
        ("https://receiver.example:0/", "has a port"),
        ("https://receiver.example:/", "has a port"),
        ("https://receiver.example:+443/", "has a port"),
        ("https://receiver.example:65979/", "has a port"),
        ("https:///x", "must name a host"),
        ("https://:443/", "must name a host"),
        ("https://./", "must name a host"),
        ("https://user@receiver.example/", "must not contain a user name"),
        ("https://user:pass@receiver.example/", "must not contain a user name"),
        ("https://receiver.example/#top", "must not have a fragment"),
        ("https://receiver.example\\@other.example/", "must not contain '\\\\'"),
        ("https://receiver.example/a b", "must not contain ' '"),
        ("https://receiver.example/a\nb", "must not contain '\\n'"),
        ("https://señal.example/", "punycode"),
        ("https://receiver.example/señal", "percent-encode"),
        ("https://my_receiver.example/", "has a host with '_' in it"),
        ("https://a..example/", "empty part"),
        ("https://receiver.example../", "empty part"),
        ("https://-a.example/", "hyphen"),
        ("https://a-.example/", "hyphen"),
        ("https://a:b:443/", "has a host with ':' in it"),
        ("https://%6c.example/", "has a host with '%' in it"),
        ("https://[::1/", "brackets"),
        ("https://[fe80::1%25eth0]/", "brackets"),
        ("https://[1.2.3.4]/", "brackets"),
        ("https://127.1/", "four numbers"),
        ("https://2130706433/", "four numbers"),
        ("https://0x7f000001/", "four numbers"),
        ("https://0x7f.1/", "four numbers"),
        ("https://0X7F.0X1/", "four numbers"),
        ("https://0177.0.0.1/", "four numbers"),
        ("https://127.0.0.256/", "four numbers"),
        ("https://1.2.3.4.5/", "four numbers"),
        ("https://receiver.0x/", "four numbers"),
    ] {
        let error = refused(text, false);
        assert!(error.contains(why), "{text:?}: {error}");
    }
}

#[test]
fn lengths_are_bounded() {
    let at_most = format!("https://receiver.example/{}", "a".repeat(2048 - 25));
    assert_eq!(accepted(&at_most).as_str().len(), 2048);
    assert!(refused(&format!("{at_most}a"), false).contains("2048"));
    let label = "a".repeat(63);
    accepted(&format!("https://{label}.example/"));
    assert!(refused(&format!("https://{label}a.example/"), false).contains("63"));
    let name = [&*label; 4].join(".");
    accepted(&format!("https://{}/", &name[2..]));
    assert!(refused(&format!("https://{}/", &name[1..]), false).contains("253"));
}

#[test]
fn plain_http_and_other_ports_are_allowed_on_loopback_only() {
    for (text, authority, port) in [
        ("http://localhost:9000/x", "localhost:9000", 9000),
        ("http://localhost/x", "localhost", 80),
        ("http://hooks.localhost:1/x", "hooks.localhost:1", 1),
        ("http://127.8.9.1:9000/x", "127.8.9.1:9000", 9000),
        ("http://[::1]:9000/x", "[::1]:9000", 9000),
        ("https://localhost:9443/x", "localhost:9443", 9443),
        ("https://receiver.example/x", "receiver.example", 443),
    ] {
        let url = accepted_with_loopback(text);
        assert_eq!((url.authority(), url.port()), (authority, port), "{text}");
    }
    for text in [
        "http://receiver.example/",
        "http://localhost.example:9000/",
        "http://notlocalhost:9000/",
        "http://10.0.0.1:9000/",
        "http://[::ffff:127.0.0.1]:9000/",
        "https://receiver.example:9443/",
    ] {
        refused(text, true);
    }
}

#[test]
fn invoicing_url_has_exactly_one_path() {
    assert!(accepted("https://receiver.example/api/webhooks/incoming/Invoicing").is_invoicing());
    for text in [
        "https://receiver.example/",
        "https://receiver.example/api/webhooks/incoming/invoicing",
        "https://receiver.example/api/webhooks/incoming/Invoicing/",
        "https://receiver.example/api/webhooks/incoming/Invoicing?x=1",
        "https://receiver.example/api/webhooks/incoming/Invoicing?",
    ] {
        assert!(!accepted(text).is_invoicing(), "{text}");
    }
}

/// Texts that resemble URLs, so that many are valid.
fn url_like() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        "[a-zA-Z0-9.-]{0,30}",
        "[0-9x.]{0,16}",
        "\\[[0-9a-f:]{0,20}\\]",
        Just("localhost".to_owned()),
        Just("127.0.0.1".to_owned()),
    ];
    let port = prop_oneof![Just(String::new()), "(:[0-9]{0,6})?", Just(":443".to_owned())];
    let path = "([/?][ -~]{0,20})?";
    ("(https|http|HTTPS)", host, port, path)
        .prop_map(|(scheme, host, port, path)| format!("{scheme}://{host}{port}{path}"))
}

proptest! {
    #[test]
    fn parsing_never_panics(text in ".{0,100}", allow_loopback: bool) {
        let _ = ReceiverUrl::parse(&text, allow_loopback);
    }

    #[test]
    fn url_from_its_parts_parses_to_the_same_parts(text in url_like(), allow_loopback: bool) {
        let Ok(url) = ReceiverUrl::parse(&text, allow_loopback) else { return Ok(()) };
        prop_assert_eq!(url.as_str(), &text);
        let rebuilt = format!("{}{}", url.origin(), url.path_and_query());
        let reparsed = ReceiverUrl::parse(&rebuilt, allow_loopback).map_err(TestCaseError::fail)?;
        prop_assert_eq!(reparsed.origin(), url.origin());
        prop_assert_eq!(reparsed.authority(), url.authority());
        prop_assert_eq!(reparsed.path_and_query(), url.path_and_query());
        prop_assert_eq!((reparsed.host(), reparsed.port(), reparsed.is_tls()), (url.host(), url.port(), url.is_tls()));
    }
}

#[test]
fn spellings_of_one_url_have_the_same_canonical_form() {
    let canonical = |text: &str| ReceiverUrl::parse(text, true).unwrap().canonical();
    for same in ["https://h/x", "https://h:443/x", "HTTPS://H/x", "https://h./x"] {
        assert_eq!(canonical(same), "https://h/x", "{same}");
    }
    assert_eq!(canonical("https://h:443"), "https://h/");
    assert_eq!(canonical("http://localhost:80/x"), "http://localhost/x");
    assert_eq!(canonical("http://localhost:443/x"), "http://localhost:443/x");
    assert_eq!(canonical("https://h/X?a=B"), "https://h/X?a=B");
}
