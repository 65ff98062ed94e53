//! Arguments of the commands for integrators: listen, trigger, verify. The variables of the `export` lines that
//! `dev` prints are the defaults of their flags.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use domain::Resource;

use super::webhook_args::resource;
use crate::config::{DURATION, parse_duration};

/// With --resource, the receiver subscribes itself, and at its next start prints the events that it missed.
#[derive(Debug, Args)]
pub(crate) struct Listen {
    /// The address to listen on; port 0 picks a free port
    #[arg(long = "listen", value_name = "ADDR", default_value = "127.0.0.1:8083")]
    pub(crate) address: SocketAddr,
    /// The secret of the subscription (repeatable) [default: no verification; with --resource, a random secret]
    #[arg(long = "secret", value_name = "SECRET", env = "WEBHOOK_SECRET", hide_env_values = true)]
    pub(crate) secrets: Vec<String>,
    /// Forward every event to this URL and return its response
    #[arg(long, value_name = "URL", conflicts_with = "status")]
    pub(crate) forward_to: Option<String>,
    /// Respond to events with this status
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(200..=599))]
    pub(crate) status: Option<u16>,
    /// Wait this long before responding to an event
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) delay: Option<Duration>,
    /// Set a cookie in the response, which the service treats as a failure
    #[arg(long)]
    pub(crate) cookie: bool,
    /// Subscribe to this resource, for example customers or SaleInvoice (repeatable)
    #[arg(long = "resource", value_name = "RESOURCE", value_parser = resource)]
    pub(crate) resources: Vec<Resource>,
    /// The base URL of the service to subscribe to [default: a running dev, with its key and a token]
    #[arg(long, value_name = "URL", env = "BASE")]
    pub(crate) url: Option<String>,
    /// The subscription key
    #[arg(long, env = "KEY", hide_env_values = true)]
    pub(crate) key: Option<String>,
    /// An access token
    #[arg(long, value_name = "TOKEN", env = "ACCESS", hide_env_values = true)]
    pub(crate) access: Option<String>,
    /// The URL at which the service reaches this receiver [default: the listen address]
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// The file that records which events were received, for the next start
    #[arg(long, value_name = "FILE", default_value = ".aldaba-listen.json")]
    pub(crate) state: PathBuf,
    /// Stay subscribed at exit
    #[arg(long, requires = "secrets")]
    pub(crate) stay: bool,
    /// Exit when the service has not responded for this long
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub(crate) patience: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct Trigger {
    /// The event, for example customers.created, SaleInvoice.Created or Svc.ACC.Customers.CustomerUpdated
    #[arg(value_name = "RESOURCE.EVENT")]
    pub(crate) event: String,
    /// The URL of the operator API of the running service [default: a running dev, with its token and first tenant]
    #[arg(long, value_name = "URL", env = "OPERATOR")]
    pub(crate) url: Option<String>,
    /// The operator token
    #[arg(long, env = "TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// The id of the tenant
    #[arg(long, value_name = "ID", env = "TENANT")]
    pub(crate) tenant: Option<String>,
    /// The id of the company that owns the record (accounting family)
    #[arg(long, value_name = "ID", env = "COMPANY")]
    pub(crate) company: Option<String>,
    /// The id of an existing record, whose data is replaced [default: create a new record first]
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The secret of the subscription
    #[arg(long, env = "WEBHOOK_SECRET", hide_env_values = true)]
    pub(crate) secret: String,
    /// The value of the header svc-webhook-signature, ms-signature or webhook-signature (Standard Webhooks)
    #[arg(long)]
    pub(crate) signature: String,
    /// A file with the exact bytes of the body; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) body: PathBuf,
    /// The value of the header webhook-id, for webhook-signature
    #[arg(long, requires = "timestamp")]
    pub(crate) id: Option<String>,
    /// The value of the header webhook-timestamp, for webhook-signature
    #[arg(long, value_name = "SECONDS", requires = "id", allow_hyphen_values = true)]
    pub(crate) timestamp: Option<String>,
    /// The largest accepted difference between webhook-timestamp and now
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub(crate) tolerance: Duration,
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| format!("must be a duration: {DURATION}"))
}
