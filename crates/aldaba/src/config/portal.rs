//! The settings of the developer portal.

use serde::Serialize;

use super::reader::SettingsReader;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Portal {
    /// Whether developers without an invitation may register.
    #[serde(rename = "registration", serialize_with = "registration")]
    pub(crate) is_registration_open: bool,
    /// Whether teams may have sandboxes.
    #[serde(rename = "sandbox")]
    pub(crate) is_sandbox_open: bool,
    /// How many webhooks a client may have in the sandbox.
    pub(crate) sandbox_webhooks: usize,
    /// How many events a team may make in its sandbox on one day.
    pub(crate) sandbox_events_per_day: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference to the field")]
fn registration<S: serde::Serializer>(is_open: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if *is_open { "open" } else { "invite" })
}

pub(super) fn portal(reader: &mut SettingsReader<'_>) -> Portal {
    let parse = |text: &str| match text {
        "invite" => Some(false),
        "open" => Some(true),
        _ => None,
    };
    Portal {
        is_registration_open: reader.parsed("portal.registration", false, parse, "must be invite or open"),
        is_sandbox_open: reader.flag("portal.sandbox"),
        sandbox_webhooks: reader.number("portal.sandbox_webhooks", 1, 1000),
        sandbox_events_per_day: reader.number("portal.sandbox_events_per_day", 0, 1_000_000),
    }
}
