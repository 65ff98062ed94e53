//! Requests that a proxy in front may frame in another way than the service (request smuggling). Each is refused, or framed as
//! RFC 9112 says; what is hidden in a body is never answered as a request of its own.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use testserver::TestServer;

/// The request that must not be seen: nothing else is answered with 404 here.
const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nhost: x\r\n\r\n";
/// The request after it, which ends the connection: it is answered with 200.
const NEXT: &str = "GET /auth/core/.well-known/jwks HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
const CHUNKED: &str = "transfer-encoding: chunked\r\n";

/// Sends bytes and then the next request; returns the statuses of all responses until the connection ends.
fn statuses(server: &TestServer, bytes: &str) -> Vec<u16> {
    let mut stream = TcpStream::connect(server.base_url().trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The service may have closed the connection before it has read everything.
    let _ = stream.write_all(format!("{bytes}{NEXT}").as_bytes());
    let (mut answer, mut piece) = (Vec::new(), [0; 16 * 1024]);
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        answer.extend_from_slice(&piece[..count]);
    }
    let text = String::from_utf8_lossy(&answer);
    let lines = text.split("HTTP/1.1 ").skip(1);
    lines.map(|line| line.get(..3).and_then(|status| status.parse().ok()).unwrap_or_default()).collect()
}

/// A POST to an address that takes none: 405 says that the request was framed and answered.
fn post(headers: &str, body: &str) -> String {
    format!("POST /openapi.json HTTP/1.1\r\nhost: x\r\n{headers}\r\n{body}")
}

#[test]
fn two_lengths_are_never_framed_in_two_ways() {
    let server = TestServer::start();
    let hidden_in_chunk = format!("{:x}\r\n{HIDDEN}\r\n0\r\n\r\n", HIDDEN.len());
    let both = format!("0\r\n\r\n{HIDDEN}");
    for (headers, body) in [
        // A length and chunks: the chunks count, and the connection ends, because a proxy may count the length.
        (format!("content-length: {}\r\n{CHUNKED}", both.len()), &both),
        (format!("{CHUNKED}content-length: {}\r\n", both.len()), &both),
        (format!("content-length: 3\r\n{CHUNKED}"), &hidden_in_chunk),
        // Two lengths.
        (format!("content-length: 0\r\ncontent-length: {}\r\n", HIDDEN.len()), &HIDDEN.to_owned()),
        (format!("content-length: {}\r\ncontent-length: 0\r\n", HIDDEN.len()), &HIDDEN.to_owned()),
        (format!("content-length: {0}, {0}\r\n", HIDDEN.len()), &HIDDEN.to_owned()),
    ] {
        let seen = statuses(&server, &post(&headers, body));
        assert!([&[405][..], &[400], &[]].contains(&&*seen), "{headers:?}: {seen:?}");
    }
}

#[test]
fn lengths_that_are_no_numbers_are_refused() {
    let server = TestServer::start();
    for length in
        ["+5", "-1", "0x5", "5 5", "5,", "1e1", "99999999999999999999", "\u{665}", "5;a=b", " ", "\"5\""]
    {
        let seen = statuses(&server, &post(&format!("content-length: {length}\r\n"), "hello"));
        assert!([&[400][..], &[]].contains(&&*seen), "{length:?}: {seen:?}");
    }
}

#[test]
fn disguised_encodings_are_refused() {
    let server = TestServer::start();
    let body = format!("0\r\n\r\n{HIDDEN}");
    for header in [
        "transfer-encoding: xchunked\r\n",
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding: identity\r\n",
        "transfer-encoding: \"chunked\"\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n",
        "transfer-encoding : chunked\r\n",
        " transfer-encoding: chunked\r\n",
        "transfer-encoding:\r\n chunked\r\n",
        "transfer-encoding\t: chunked\r\n",
        "x: y\r\n\ttransfer-encoding: chunked\r\n",
        "x: y\rtransfer-encoding: chunked\r\n",
        "transfer-encoding: chun\0ked\r\n",
        "transfer_encoding: chunked\r\n",
        "transfer-encoding: \u{b}chunked\r\n",
    ] {
        let headers = format!("content-length: {}\r\n{header}", body.len());
        let seen = statuses(&server, &post(&headers, &body));
        assert!(!seen.contains(&404), "{header:?}: {seen:?}");
        // A name that only looks like the header is another header: the length counts, and the next request is seen.
        let expected: &[&[u16]] =
            if header.starts_with("transfer_") { &[&[405, 200], &[405]] } else { &[&[400], &[]] };
        assert!(expected.contains(&&*seen), "{header:?}: {seen:?}");
    }
    let old = format!("POST /openapi.json HTTP/1.0\r\nhost: x\r\n{CHUNKED}\r\n{body}");
    let seen = statuses(&server, &old);
    assert!(!seen.contains(&404) && !seen.contains(&405), "chunks in HTTP/1.0: {seen:?}");
}

#[test]
fn malformed_chunks_end_the_connection() {
    let server = TestServer::start();
    // An address that reads its body.
    let head = |path: &str| {
        format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\n")
    };
    for body in [
        "0x5\r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "5\nhello\n0\n\n",
        "5\r\nhelloX0\r\n\r\n",
        "5;a\nb\r\nhello\r\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
        "\r\nhello\r\n0\r\n\r\n",
        "5 5\r\nhello\r\n0\r\n\r\n",
        &format!("5;{}\r\nhello\r\n0\r\n\r\n", "a".repeat(100_000)),
    ] {
        let request = format!("{}{CHUNKED}\r\n{body}{HIDDEN}", head("/auth/core/connect/token"));
        let seen = statuses(&server, &request);
        assert!([&[400][..], &[]].contains(&&*seen), "{:?}: {seen:?}", &body[..body.len().min(40)]);
    }
    // An extension of a chunk is allowed and means nothing.
    let request = format!("{}{CHUNKED}\r\n5;a=b\r\nx=yzz\r\n0\r\n\r\n", head("/auth/core/connect/token"));
    assert_eq!(statuses(&server, &request), [401, 200]);
}

#[test]
fn body_that_nobody_reads_is_no_request() {
    let server = TestServer::start();
    for method in ["GET", "HEAD", "DELETE", "OPTIONS", "PURGE"] {
        for path in ["/auth/core/.well-known/jwks", "/accounting/api/companies", "/nothing/at/all?x"] {
            let head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\n");
            let with_length = format!("{head}content-length: {}\r\n\r\n{HIDDEN}", HIDDEN.len());
            let in_chunks = format!("{head}{CHUNKED}\r\n{:x}\r\n{HIDDEN}\r\n0\r\n\r\n", HIDDEN.len());
            for request in [with_length, in_chunks] {
                let seen = statuses(&server, &request);
                let is_own = |status: &u16| path.starts_with("/nothing") || *status != 404;
                assert!(seen.len() <= 2 && seen.iter().take(1).all(is_own), "{request:?}: {seen:?}");
                assert!(seen.get(1).is_none_or(|status| *status == 200), "{request:?}: {seen:?}");
            }
        }
    }
}

#[test]
fn request_with_two_hosts_is_refused() {
    let server = TestServer::start();
    for hosts in ["host: a\r\nhost: b\r\n", "Host: a\r\nhOST: a\r\n", "host: a\r\nhost:\r\n"] {
        let request = format!("GET /auth/core/.well-known/jwks HTTP/1.1\r\n{hosts}\r\n");
        assert_eq!(statuses(&server, &request), [400, 200], "{hosts:?}");
    }
    for target in ["http://a/auth/core/.well-known/jwks", "/auth/core/.well-known/jwks"] {
        assert_eq!(
            statuses(&server, &format!("GET {target} HTTP/1.1\r\nhost: b\r\n\r\n")),
            [200, 200],
            "{target}"
        );
    }
}

#[test]
fn odd_request_lines_are_refused_or_framed_once() {
    let server = TestServer::start();
    for line in [
        "GET  /hidden HTTP/1.1",
        "GET /hidden HTTP/1.1 HTTP/1.1",
        "GET /hid den HTTP/1.1",
        "GET /hidden HTTP/2.0",
        "GET /hidden HTTP/1.1\0",
        "get\t/hidden HTTP/1.1",
        "(GET) /hidden HTTP/1.1",
        "GET /hidden",
        "\u{feff}GET /hidden HTTP/1.1",
    ] {
        let seen = statuses(&server, &format!("{line}\r\nhost: x\r\n\r\n"));
        assert!([&[400][..], &[]].contains(&&*seen), "{line:?}: {seen:?}");
    }
    // Lines that end with a newline alone are one request (RFC 9112, 2.2).
    let seen = statuses(&server, "GET /auth/core/.well-known/jwks HTTP/1.1\nhost: x\n\n");
    assert_eq!(seen, [200, 200]);
}
