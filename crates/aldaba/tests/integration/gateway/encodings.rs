//! gzip, Brotli and plain responses have the same content, cached or not, with GET, HEAD and `If-None-Match`.

use std::io::Read as _;

use hyper::Method;

use crate::harness::{ApiFixture, HttpRequest, HttpResponse, charge, company, context};

const CHARGES: &str = "/accounting/api/charges";
const HEADERS: [&str; 9] = [
    "etag",
    "vary",
    "cache-control",
    "content-type",
    "content-encoding",
    "content-length",
    "link",
    "x-pagination",
    "x-sequence-version",
];

fn plain(response: &HttpResponse) -> Vec<u8> {
    let mut bytes = Vec::new();
    match response.header("content-encoding") {
        "gzip" => drop(flate2::read::GzDecoder::new(&*response.body).read_to_end(&mut bytes).unwrap()),
        "br" => brotli::BrotliDecompress(&mut &*response.body, &mut bytes).unwrap(),
        "" => bytes.extend(&response.body),
        other => panic!("{other}"),
    }
    bytes
}

fn headers(response: &HttpResponse) -> [String; 9] {
    HEADERS.map(|name| response.header(name).to_owned())
}

/// `Accept-Encoding` values, each with the encoding of a response that is long enough to compress.
const ACCEPT_ENCODINGS: [(&str, &str); 6] = [
    ("gzip", "gzip"),
    ("br", "br"),
    ("", ""),
    ("identity", ""),
    ("gzip;q=0.5, br", "br"),
    ("br;q=0, gzip", "gzip"),
];

fn request(api: &ApiFixture<'_>, method: Method, path: &str, accept: &str) -> HttpRequest {
    api.request(method, path).header("context", &context("c")).header("accept-encoding", accept)
}

/// Requests one path in one encoding, uncached and cached, with HEAD first or last.
fn assert_consistent(
    api: &ApiFixture<'_>,
    path: &str,
    accept: &str,
    encoding: &str,
    body: &[u8],
    head_first: bool,
) {
    let head = || request(api, Method::HEAD, path, accept).send();
    let get = || request(api, Method::GET, path, accept).send();
    let early = head_first.then(head);
    let first = get();
    assert_eq!((first.status, first.header("content-encoding")), (200, encoding), "{path} {accept}");
    assert_eq!(plain(&first), body, "{path} {accept}");
    assert_eq!(first.header("content-length"), first.body.len().to_string());
    for again in [(); 3].map(|()| get()) {
        assert_eq!(
            (&again.body, headers(&again)),
            (&first.body, headers(&first)),
            "{path} {accept}: cached as uncached"
        );
    }
    for head in early.into_iter().chain([head()]) {
        assert_eq!((head.status, head.body.len()), (200, 0), "{path} {accept}");
        assert_eq!(headers(&head), headers(&first), "{path} {accept}: HEAD as GET");
    }
    for method in [Method::GET, Method::HEAD] {
        let same = request(api, method, path, accept).header("if-none-match", first.header("etag")).send();
        assert_eq!((same.status, same.body.len()), (304, 0), "{path} {accept}");
        for name in HEADERS.iter().filter(|name| !name.starts_with("content-")) {
            assert_eq!(same.header(name), first.header(name), "{path} {accept}: {name}");
        }
        assert_eq!((same.header("content-encoding"), same.header("content-length")), ("", ""), "{same:?}");
    }
}

#[test]
fn every_encoding_has_the_same_content() {
    let api = ApiFixture::new();
    let mut lines = vec![company("c")];
    lines.extend((0..400).map(|number| charge("c", &format!("cargo-{number}"), number)));
    assert_eq!(api.ingest.send_lines(&lines).rejected, 0);
    // Three lengths: too short to compress, short, and long enough to be compressed on a blocking thread.
    for (size, is_encoded) in [(1, false), (20, true), (400, true)] {
        let whole = api.read_for_company("c", &format!("{CHARGES}?pageSize={size}"));
        let vary = whole.header("vary");
        assert!(
            ["authorization", "context", "accept-encoding"].iter().all(|name| vary.contains(name)),
            "{vary}"
        );
        for (number, (accept, encoding)) in ACCEPT_ENCODINGS.into_iter().enumerate() {
            let encoding = if is_encoded { encoding } else { "" };
            // One path that all iterations share, and two that were not requested before.
            let cold = format!("{CHARGES}?pageSize={size}&x={number}");
            for path in [&format!("{CHARGES}?pageSize={size}"), &cold, &format!("{cold}a")] {
                assert_consistent(&api, path, accept, encoding, &whole.body, path.ends_with('a'));
            }
        }
    }
    for (accept, encoding) in ACCEPT_ENCODINGS {
        let feed = format!("{CHARGES}/changes?pageSize=200");
        let body = api.read_for_company("c", &feed).body;
        assert_consistent(&api, &feed, accept, encoding, &body, false);
        let one = format!("{CHARGES}/cargo-1");
        assert_consistent(&api, &one, accept, "", &api.read_for_company("c", &one).body, true);
    }
}

#[test]
fn a_304_has_no_content_length_over_http2() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c"), charge("c", "1", 1)]);
    for method in [Method::GET, Method::HEAD] {
        let request = || request(&api, method.clone(), CHARGES, "").http2();
        let first = request().send();
        let same = request().header("if-none-match", first.header("etag")).send();
        assert_eq!((first.status, same.status, same.header("content-length")), (200, 304, ""), "{same:?}");
    }
}

#[test]
fn compressed_pages_show_changes() {
    let api = ApiFixture::new();
    let records =
        |amount: u64| (0..40).map(|id| charge("c", &format!("cargo-{id}"), amount)).collect::<Vec<_>>();
    api.ingest.send_lines(&[company("c")]);
    let mut seen = Vec::new();
    for round in 0..5 {
        assert_eq!(api.ingest.send_lines(&records(round)).rejected, 0);
        let path = format!("{CHARGES}?pageSize=40");
        let read = |accept: &str| request(&api, Method::GET, &path, accept).send();
        let responses = ["gzip", "br", "", "gzip", "br"].map(read);
        let amount = format!("\"amount\":{round}");
        for response in &responses {
            let text = String::from_utf8(plain(response)).unwrap();
            assert_eq!(text.matches(&amount).count(), 40, "{text}");
            assert_eq!(response.header("etag"), responses[0].header("etag"));
        }
        assert!(!seen.contains(&responses[0].header("etag").to_owned()));
        seen.push(responses[0].header("etag").to_owned());
    }
}
