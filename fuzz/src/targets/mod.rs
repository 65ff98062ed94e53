//! The targets whose parsers have a public interface. Those of private ones are in the modules `fuzzing` of their crates.

pub(crate) mod addresses;
pub(crate) mod backups;
pub(crate) mod changes;
pub(crate) mod client;
pub(crate) mod forms;
pub(crate) mod headers;
pub(crate) mod keys;
pub(crate) mod notifications;
pub(crate) mod operator_api;
pub(crate) mod people;
pub(crate) mod requests;
pub(crate) mod sign_in;

use std::borrow::Cow;

/// The input as text; what is no UTF-8 is replaced.
fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data.strip_suffix(b"\n").unwrap_or(data))
}

/// A number for the kind of a refusal.
fn refused(why: impl std::fmt::Debug) -> u64 {
    domain::fuzzing::signature(&format!("{why:?}").replace('\\', "").replace('"', ""))
}
