//! Hostile text wherever text is taken: every query parameter, path parameter and text member that the two OpenAPI documents
//! name, every member of a change, every field of a form, and the pages that show it. It is stored as text and escaped, or
//! refused; it is never an error of the server, and never markup, a header or a statement.

mod documents;
mod forms;
mod ingest;
mod pages;

use testserver::TestServer;

use crate::harness::{Database, HttpResponse};

/// What a browser would run if a page did not escape it.
const SCRIPT: &str = "<script>alert(1)</script>";
/// A header that no response of the service has.
const INJECTED: &str = "x-injected";

/// Texts that stores treat differently.
const STORED: [&str; 13] = [
    "\0",
    "a\0b",
    "' OR '1'='1",
    "'; DROP TABLE tenants; --",
    "\\'; SELECT pg_sleep(9); --",
    "100%_\\",
    "\u{d7ff}\u{e000}\u{fffe}\u{10ffff}",
    "99999999999999999999",
    "18446744073709551615",
    // Cursors of pages, at the bounds of their numbers.
    "9223372036854775807-18446744073709551615",
    "9223372036854775807-3c1f6a52-9a0e-4f3b-8d47-5b1f0a9c7e21",
    // In the form of an id of a delivery, which has a number in it.
    "ffffffff-ffff-8fff-bfff-ffffffffffff",
    "NaN",
];

/// Texts that pages, headers, paths and programs treat differently.
const SHOWN: [&str; 14] = [
    "\"><script>alert(1)</script>",
    "' onmouseover='alert(1)' x='",
    "</textarea></title><script>alert(1)</script>",
    "javascript:alert(1)",
    "a\r\nx-injected: 1\r\n\r\n<script>alert(1)</script>",
    "{{7*7}}${7*7}#{7*7}<%= 7*7 %>",
    "../../../../etc/passwd",
    "..\\..\\%2e%2e%2f",
    "\u{202e}gpj.exe\u{2066}\u{200b}\u{feff}",
    // Cyrillic, in the form of a name that everybody knows.
    "\u{430}\u{440}\u{440}\u{4cf}\u{435}.com",
    "%s%n%x{0}{}",
    "(((((((((((a+)+)+)+)+$",
    "-1",
    "1e309",
];

fn all_texts() -> Vec<String> {
    let mut texts: Vec<String> = STORED.into_iter().chain(SHOWN).map(str::to_owned).collect();
    texts.push("x".repeat(5000));
    texts
}

/// The texts for the store that takes no NUL.
fn stored_texts() -> Vec<String> {
    STORED.map(str::to_owned).to_vec()
}

/// Neither an error of the server nor an injected header.
#[track_caller]
fn assert_harmless(response: &HttpResponse, what: &str) {
    assert!(response.status < 500, "{what}: {response:?}");
    assert!(!response.headers.contains_key(INJECTED), "{what}: {response:?}");
    let is_page = response.header("content-type").starts_with("text/html");
    assert!(!is_page || !response.text().contains(SCRIPT), "{what}: {response:?}");
}

/// A server on PostgreSQL, with its database.
fn on_postgresql() -> (TestServer, Database) {
    let database = Database::create();
    (TestServer::builder().set("store.url", &database.url()).start(), database)
}

#[test]
fn hostile_text_in_the_public_api_is_no_server_error() {
    documents::check_public(&TestServer::start(), &all_texts());
}

#[test]
fn hostile_text_in_the_public_api_is_no_server_error_on_postgresql() {
    let (server, _database) = on_postgresql();
    documents::check_public(&server, &stored_texts());
}

#[test]
fn hostile_text_in_the_operators_api_is_no_server_error() {
    documents::check_operator(&TestServer::start(), &all_texts());
}

#[test]
fn hostile_text_in_the_operators_api_is_no_server_error_on_postgresql() {
    let (server, _database) = on_postgresql();
    documents::check_operator(&server, &stored_texts());
}

#[test]
fn hostile_text_in_changes_is_stored_as_text_or_refused() {
    ingest::check(&TestServer::start(), &all_texts());
}

#[test]
fn hostile_text_in_changes_is_stored_as_text_or_refused_on_postgresql() {
    let (server, _database) = on_postgresql();
    ingest::check(&server, &stored_texts());
}

#[test]
fn hostile_text_on_pages_is_escaped() {
    pages::check(&TestServer::start(), &all_texts());
}

#[test]
fn hostile_text_on_pages_is_no_server_error_on_postgresql() {
    let (server, _database) = on_postgresql();
    pages::check(&server, &stored_texts());
}

#[test]
fn hostile_text_in_forms_is_escaped() {
    forms::check(&TestServer::start(), &all_texts());
}

#[test]
fn hostile_text_in_forms_is_no_server_error_on_postgresql() {
    let (server, _database) = on_postgresql();
    forms::check(&server, &stored_texts());
}
