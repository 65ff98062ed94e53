//! Shared test tools: processes, installations, HTTP clients, fixtures, and change lines.

mod api_fixture;
mod attack;
mod authenticator;
mod browser;
mod changes;
mod database_proxy;
mod dev;
mod embedded;
mod embedded_server;
mod http;
mod ingest;
mod installation;
mod jwks;
mod operator_api;
mod page_forms;
mod panics;
mod ports;
mod postgres;
mod process;
mod program;
mod raw_http;
mod receiver;
mod serve_process;
mod server;
mod sign_in;
mod sign_in_actions;
mod wait;

pub(crate) use api_fixture::{
    ALL_SCOPES, ApiCredentials, ApiFixture, BASE_URL, SubscriptionKeys, change_line, column, context, items,
    links, segment, shared_api, texts, unlimited_server,
};
pub(crate) use attack::{
    attack_server, get_from_host, password_hash_count, run_concurrently, send_raw_bytes,
};
pub(crate) use authenticator::Authenticator;
pub(crate) use browser::{Browser, Form, Page, decode_form, encode_form};
pub(crate) use changes::{account, bank, charge, company, customer, ndjson};
pub(crate) use database_proxy::DatabaseProxy;
pub(crate) use dev::Dev;
pub(crate) use embedded::{embedded_code, embedded_tokens, post_as_client};
pub(crate) use embedded_server::{EmbeddedServer, shared_server};
pub(crate) use http::{HttpRequest, HttpResponse};
pub(crate) use ingest::{IngestClient, IngestResponse};
pub(crate) use installation::Installation;
pub(crate) use jwks::{JwkSet, half_hash, sha256};
pub(crate) use operator_api::OperatorApi;
pub(crate) use page_forms::Submission;
pub(crate) use ports::free_ports;
pub(crate) use postgres::Database;
pub(crate) use process::{FrozenProcess, RunningProcess};
pub(crate) use program::{FinishedProcess, Program};
pub(crate) use raw_http::RawConnection;
pub(crate) use receiver::{ReceivedRequest, Receiver};
pub(crate) use serve_process::ServeProcess;
pub(crate) use server::{BEHIND_PROXY, Server, metric};
pub(crate) use sign_in::{
    AuthorizationRequest, CALLBACK, CHALLENGE, ISSUER, PASSWORD, SCOPE, SignInFixture, TestApp, Tokens,
    VERIFIER, claims, decode_jwt, new_user, oauth_error, register_app,
};
pub(crate) use sign_in_actions::{
    SESSION, assert_within_seconds, get, members, shared_fixture, shared_signed_in_browser, wait_for_duration,
};
pub(crate) use wait::{WAIT_MAX, poll_within, wait_for};

/// Whether a text has the form of a GUID.
pub(crate) fn is_guid(text: &str) -> bool {
    let parts: Vec<usize> = text.split('-').map(str::len).collect();
    let hexadecimal = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    parts == [8, 4, 4, 4, 12] && hexadecimal
}
