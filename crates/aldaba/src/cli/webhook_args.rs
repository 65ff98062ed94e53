//! Arguments of the commands `webhooks` and `deliveries`.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use domain::delivery::{DeliveryCursor, DeliveryStatus};
use domain::{Resource, Ticks, WebhookStatus};
use operator::admin::{WebhookCursor, subscribable_resources};

use crate::config::{DURATION, parse_duration};

#[derive(Debug, Subcommand)]
pub(crate) enum Webhooks {
    /// List webhooks, oldest first
    List(WebhookList),
    /// Show a webhook with its status and health
    Show {
        /// The webhook's id
        id: String,
    },
    /// Enable a webhook
    ///
    /// If the service disabled it after failed deliveries, delivery resumes with the first undelivered event; otherwise
    /// it starts with the next event.
    Enable {
        /// The webhook's id
        id: String,
    },
    /// Disable a webhook and drop its pending events
    Disable {
        /// The webhook's id
        id: String,
    },
    /// Delete a webhook permanently; its owner can subscribe again
    Delete {
        /// The webhook's id
        id: String,
        /// Confirm the deletion
        #[arg(long)]
        yes: bool,
    },
    /// Make the running service send one test event
    Test {
        /// The webhook's id
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WebhookList {
    /// Only webhooks of this tenant
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
    /// Only webhooks of this client
    #[arg(long, value_name = "ID")]
    pub(crate) client: Option<String>,
    /// Only webhooks of this team's clients
    #[arg(long, value_name = "ID")]
    pub(crate) team: Option<String>,
    /// Only webhooks of receivers at this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Only webhooks of this family
    #[arg(long, value_parser = ["accounting", "invoicing"])]
    pub(crate) family: Option<String>,
    /// Only webhooks of this resource, for example customers or SaleInvoice
    #[arg(long, value_parser = resource)]
    pub(crate) resource: Option<Resource>,
    /// Only webhooks with this status [default: all except unsubscribed and deleted]
    #[arg(long, value_parser = PossibleValuesParser::new(WebhookStatus::ALL.map(WebhookStatus::as_str)))]
    pub(crate) status: Option<String>,
    /// Only the following webhooks: the `next` cursor of the previous page
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<WebhookCursor>,
    /// The number of webhooks, at most 1000
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Deliveries {
    /// List the deliveries of a webhook, newest first
    List(DeliveryList),
    /// Show a delivery with its attempts and its body
    Show {
        /// The webhook's id
        webhook: String,
        /// The delivery's OutgoingId, or the event's sequence number
        #[arg(value_name = "OUTGOING_ID")]
        delivery: String,
    },
    /// Make the running service send an event, or all events of a period, again
    Replay(Replay),
}

#[derive(Debug, Args)]
pub(crate) struct DeliveryList {
    /// The webhook's id
    pub(crate) webhook: String,
    /// Only deliveries that failed permanently
    #[arg(long, conflicts_with = "status")]
    pub(crate) failed: bool,
    /// Only deliveries with this status
    #[arg(long, value_parser = PossibleValuesParser::new(DeliveryStatus::LISTED.map(DeliveryStatus::as_str)))]
    pub(crate) status: Option<String>,
    /// Only deliveries of this event, for example Svc.ACC.Customers.CustomerCreated
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
    /// Only deliveries of the record with this correlationId
    #[arg(long, value_name = "ID")]
    pub(crate) record: Option<String>,
    /// Only deliveries since then: a duration (1h) or a time (2026-11-15T08:30:00Z)
    #[arg(long, value_name = "DURATION|TIME", value_parser = since)]
    pub(crate) since: Option<Since>,
    /// Only deliveries whose newest attempt was before then
    #[arg(long, value_name = "DURATION|TIME", value_parser = since)]
    pub(crate) until: Option<Since>,
    /// Only older deliveries: the `next` cursor of the previous page
    #[arg(long, value_name = "CURSOR")]
    pub(crate) before: Option<DeliveryCursor>,
    /// The number of deliveries, at most 100
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) limit: u16,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The webhook's id
    pub(crate) webhook: String,
    /// The delivery's OutgoingId, or the event's sequence number
    #[arg(value_name = "OUTGOING_ID", conflicts_with_all = ["from", "to"])]
    pub(crate) delivery: Option<String>,
    /// Replay all events from this time on instead of one delivery
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) from: Option<Ticks>,
    /// The end of the period [default: the end of the log]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "from")]
    pub(crate) to: Option<Ticks>,
}

/// The start of a period: a duration before now, or a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Since {
    Ago(std::time::Duration),
    At(Ticks),
}

impl Since {
    pub(crate) fn time(self, now: Ticks) -> Ticks {
        match self {
            Self::Ago(duration) => now.minus(duration),
            Self::At(at) => at,
        }
    }
}

pub(super) fn since(text: &str) -> Result<Since, String> {
    let ago = parse_duration(text).map(Since::Ago);
    let since = ago.or_else(|| Ticks::parse_iso(text).map(Since::At));
    since.ok_or_else(|| format!("must be a duration ({DURATION}) or a time such as 2026-11-15T08:30:00Z"))
}

fn time(text: &str) -> Result<Ticks, String> {
    Ticks::parse_iso(text).ok_or_else(|| {
        "must be a time such as 2026-11-15T08:30:00Z, or a day (UTC) such as 2026-11-15".into()
    })
}

pub(super) fn resource(name: &str) -> Result<Resource, String> {
    let found = subscribable_resources().find(|resource| resource.as_str() == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = subscribable_resources().map(Resource::as_str).collect();
        format!("must be one of {}", names.join(", "))
    })
}
