//! The settings of the developer portal.

use std::path::PathBuf;

use domain::subscription::{Product, Products};
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
    pub(crate) logo: Option<PathBuf>,
    /// `#rrggbb`, or empty.
    pub(crate) color: String,
    pub(crate) approval: Approval,
}

/// Who approves what teams ask for, by product.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Approval {
    /// The products whose requests for the sandbox are approved automatically.
    #[serde(rename = "automatic", serialize_with = "names")]
    pub(crate) automatic: Products,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference to the field")]
fn registration<S: serde::Serializer>(is_open: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if *is_open { "open" } else { "invite" })
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference to the field")]
fn names<S: serde::Serializer>(products: &Products, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(products.names())
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
        logo: reader.optional("portal.logo").map(PathBuf::from),
        color: reader.parsed("portal.color", String::new(), color, "must be a colour such as #15564a"),
        approval: approval(reader),
    }
}

fn color(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some(String::new());
    }
    let digits = text.strip_prefix('#')?;
    (digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

fn approval(reader: &mut SettingsReader<'_>) -> Approval {
    let parse = |text: &str| match text {
        "operator" => Some(false),
        "automatic" => Some(true),
        _ => None,
    };
    let must = "must be operator or automatic";
    let mut is_automatic = |product: &Product| {
        reader.parsed(&format!("portal.approval.{}", product.as_str()), false, parse, must)
    };
    Approval { automatic: Product::ALL.into_iter().filter(|product| is_automatic(product)).collect() }
}
