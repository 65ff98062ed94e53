//! The command line of the integrator's kit. What `dev` prints as `export` lines is taken where a flag is not given.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use domain::Resource;

use super::hooks::resource;
use crate::config::{DURATION, parse_duration};

/// A receiver; with --resource it subscribes itself, and tells at its next start what it missed.
#[derive(Debug, Args)]
pub(crate) struct Listen {
    /// Where to listen; port 0 takes any
    #[arg(long = "listen", value_name = "ADDR", default_value = "127.0.0.1:8083")]
    pub(crate) address: SocketAddr,
    /// The secret given at subscription (repeatable) [default: nothing is verified; with --resource a new one]
    #[arg(long = "secret", env = "WEBHOOK_SECRET", hide_env_values = true)]
    pub(crate) secrets: Vec<String>,
    /// Hands what comes on to this address, and answers what it answers
    #[arg(long, value_name = "URL", conflicts_with = "status")]
    pub(crate) forward_to: Option<String>,
    /// Answers events with this status
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(200..=599))]
    pub(crate) status: Option<u16>,
    /// Waits for so long before it answers an event
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) delay: Option<Duration>,
    /// Answers events with a cookie, which the service takes for a failure
    #[arg(long)]
    pub(crate) cookie: bool,
    /// Subscribes to this resource, as in customers or SaleInvoice (repeatable)
    #[arg(long = "resource", value_name = "RESOURCE", value_parser = resource, requires_all = ["url", "key", "access"])]
    pub(crate) resources: Vec<Resource>,
    /// The service's address, to subscribe at
    #[arg(long, value_name = "URL", env = "BASE")]
    pub(crate) url: Option<String>,
    /// A key of the subscription
    #[arg(long, env = "KEY", hide_env_values = true)]
    pub(crate) key: Option<String>,
    /// An access token
    #[arg(long, value_name = "TOKEN", env = "ACCESS", hide_env_values = true)]
    pub(crate) access: Option<String>,
    /// The address under which the service reaches this receiver [default: where it listens]
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Remembers in this file what was seen, for the next start
    #[arg(long, value_name = "FILE", default_value = ".aldaba-listen.json")]
    pub(crate) state: PathBuf,
    /// Stays subscribed at the end
    #[arg(long, requires = "secrets")]
    pub(crate) stay: bool,
    /// How long the service may be silent before this ends
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub(crate) patience: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct Trigger {
    /// What is to happen, as in customers.created, SaleInvoice.Created or Svc.ACC.Customers.CustomerUpdated
    #[arg(value_name = "RESOURCE.EVENT")]
    pub(crate) event: String,
    /// The operator's address of the running service
    #[arg(long, value_name = "URL", env = "OPERATOR")]
    pub(crate) url: String,
    /// The operator's token
    #[arg(long, env = "TOKEN", hide_env_values = true)]
    pub(crate) token: String,
    /// The tenant in which it happens
    #[arg(long, value_name = "ID", env = "TENANT")]
    pub(crate) tenant: String,
    /// The company that the record belongs to, for the accounting family
    #[arg(long, value_name = "ID", env = "COMPANY")]
    pub(crate) company: Option<String>,
    /// It happens to this record, whose data is replaced [default: a new one, made first]
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The secret that was given at subscription
    #[arg(long, env = "WEBHOOK_SECRET", hide_env_values = true)]
    pub(crate) secret: String,
    /// The header's value: svc-webhook-signature, ms-signature, or webhook-signature of Standard Webhooks
    #[arg(long)]
    pub(crate) signature: String,
    /// The body's bytes as they came; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) body: PathBuf,
    /// The header webhook-id, for webhook-signature
    #[arg(long, requires = "timestamp")]
    pub(crate) id: Option<String>,
    /// The header webhook-timestamp, for webhook-signature
    #[arg(long, value_name = "SECONDS", requires = "id", allow_hyphen_values = true)]
    pub(crate) timestamp: Option<String>,
    /// How far webhook-timestamp may lie from now
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub(crate) tolerance: Duration,
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| format!("it takes a duration: {DURATION}"))
}
