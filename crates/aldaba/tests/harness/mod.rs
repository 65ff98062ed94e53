//! What sets the stage: programs that run and end, places to run them on, a client, and lines to send.

mod api;
mod browser;
mod client;
mod dev;
mod door;
mod errands;
mod keyring;
mod lines;
mod office;
mod operator;
mod postgres;
mod program;
mod raw;
mod receiver;
mod running;
mod serve;
mod site;
mod target;
mod wait;
mod wire;

pub(crate) use api::{
    ALL_SCOPES, Api, BASE_URL, Keys, Pass, act, column, context, desk, items, links, room, segment, texts,
};
pub(crate) use browser::{Browser, Form, Page, decoded, encoded};
pub(crate) use client::{Call, Reply};
pub(crate) use dev::Dev;
pub(crate) use door::{Answer, Door};
pub(crate) use errands::{SESSION, at_lobby, get, let_pass, lobby, members, within_seconds};
pub(crate) use keyring::{Keyring, half_hash, sha256};
pub(crate) use lines::{account, bank, charge, company, customer, ndjson};
pub(crate) use office::{
    App, Ask, CALLBACK, ISSUER, Office, PASSWORD, SCOPE, Tokens, claims, new_app, new_user, oauth_error,
    opened,
};
pub(crate) use operator::OperatorApi;
pub(crate) use postgres::Database;
pub(crate) use program::{Done, Program};
pub(crate) use raw::Raw;
pub(crate) use receiver::{Letter, Receiver};
pub(crate) use running::{Frozen, Running};
pub(crate) use serve::{Serve, measure, shared};
pub(crate) use site::Site;
pub(crate) use target::{at_once, get_from_host, hashes, status_of, target};
pub(crate) use wait::{BOUND, until, within};
pub(crate) use wire::Wire;

/// Whether a text looks like a GUID.
pub(crate) fn is_guid(text: &str) -> bool {
    let parts: Vec<usize> = text.split('-').map(str::len).collect();
    let hexadecimal = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    parts == [8, 4, 4, 4, 12] && hexadecimal
}
