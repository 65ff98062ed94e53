//! The command line of webhooks and their deliveries.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use domain::delivery::{DeliveryCursor, DeliveryStatus};
use domain::{Resource, Ticks, WebhookStatus};
use operator::admin::{WebhookCursor, subscribable_resources};

use crate::config::{DURATION, parse_duration};

#[derive(Debug, Subcommand)]
pub(crate) enum Webhooks {
    /// Lists webhooks, oldest first
    List(WebhookList),
    /// Shows a webhook, how it stands and how it does
    Show {
        /// The webhook's id
        id: String,
    },
    /// Enables it again: from the first event not delivered where the service had given up, else from the next
    Enable {
        /// The webhook's id
        id: String,
    },
    /// Sends nothing to it any more, and drops what waits
    Disable {
        /// The webhook's id
        id: String,
    },
    /// Deletes it for good; its owner can subscribe again
    Delete {
        /// The webhook's id
        id: String,
        /// To be sure
        #[arg(long)]
        yes: bool,
    },
    /// Has the running service send one made-up event
    Test {
        /// The webhook's id
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WebhookList {
    /// Only this tenant's
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
    /// Only this application's
    #[arg(long, value_name = "ID")]
    pub(crate) client: Option<String>,
    /// Only of this family
    #[arg(long, value_parser = ["accounting", "invoicing"])]
    pub(crate) family: Option<String>,
    /// Only of this resource, as in customers or SaleInvoice
    #[arg(long, value_parser = resource)]
    pub(crate) resource: Option<Resource>,
    /// Only those that stand so [default: all but the unsubscribed and deleted]
    #[arg(long, value_parser = PossibleValuesParser::new(WebhookStatus::ALL.map(WebhookStatus::as_str)))]
    pub(crate) status: Option<String>,
    /// Only what follows: the `next` of an earlier page
    #[arg(long, value_name = "MARK")]
    pub(crate) after: Option<WebhookCursor>,
    /// How many, 1000 at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Deliveries {
    /// Lists what was sent to a webhook, newest first
    List(DeliveryList),
    /// Shows a delivery with its attempts and its body
    Show {
        /// The webhook's id
        webhook: String,
        /// The delivery's OutgoingId, or the event's number in the log
        #[arg(value_name = "OUTGOING_ID")]
        delivery: String,
    },
    /// Has the running service send an event again, or those of a span of time
    Replay(Replay),
}

#[derive(Debug, Args)]
pub(crate) struct DeliveryList {
    /// The webhook's id
    pub(crate) webhook: String,
    /// Only those that failed and are not tried any more
    #[arg(long, conflicts_with = "status")]
    pub(crate) failed: bool,
    /// Only those that stand so
    #[arg(long, value_parser = PossibleValuesParser::new(DeliveryStatus::LISTED.map(DeliveryStatus::as_str)))]
    pub(crate) status: Option<String>,
    /// Only what happened since: a span as in 1h, or a time as in 2026-11-15T08:30:00Z
    #[arg(long, value_name = "SPAN|TIME", value_parser = since)]
    pub(crate) since: Option<Since>,
    /// Only what is older: the `next` of an earlier page
    #[arg(long, value_name = "MARK")]
    pub(crate) before: Option<DeliveryCursor>,
    /// How many, 100 at most
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) limit: u16,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The webhook's id
    pub(crate) webhook: String,
    /// The delivery's OutgoingId, or the event's number in the log
    #[arg(value_name = "OUTGOING_ID", conflicts_with_all = ["from", "to"])]
    pub(crate) delivery: Option<String>,
    /// Instead of one: all events from then on
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) from: Option<Ticks>,
    /// Up to then [default: the end of the log]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "from")]
    pub(crate) to: Option<Ticks>,
}

/// Since when.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Since {
    Ago(std::time::Duration),
    Then(Ticks),
}

fn since(text: &str) -> Result<Since, String> {
    let ago = parse_duration(text).map(Since::Ago);
    let since = ago.or_else(|| Ticks::parse_iso(text).map(Since::Then));
    since.ok_or_else(|| {
        format!("it takes a duration as in 1h ({DURATION}) or a time as in 2026-11-15T08:30:00Z")
    })
}

fn time(text: &str) -> Result<Ticks, String> {
    Ticks::parse_iso(text).ok_or_else(|| "it takes a time as in 2026-11-15T08:30:00Z, or a day (UTC)".into())
}

pub(super) fn resource(word: &str) -> Result<Resource, String> {
    let found = subscribable_resources().find(|resource| resource.as_str() == word);
    found.ok_or_else(|| {
        let words: Vec<&str> = subscribable_resources().map(Resource::as_str).collect();
        format!("it must be one of {}", words.join(", "))
    })
}
