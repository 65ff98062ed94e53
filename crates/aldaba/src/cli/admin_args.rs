//! Arguments of the administration commands: tenant, key, signing-keys, audit.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use operator::admin::{DAILY_QUOTA_MAX, read_day};
use store::AuditKind;

#[derive(Debug, Subcommand)]
pub(crate) enum Tenant {
    /// Add a tenant and print its id
    Add {
        /// The name that users see
        name: String,
        /// The tenant's id, which cannot be changed later [default: a new GUID]
        #[arg(long)]
        id: Option<String>,
        /// The short code in tokens (claim svc.es.idcda)
        #[arg(long)]
        short_code: Option<String>,
    },
    /// List all tenants
    List,
    /// Disable a tenant: users cannot choose it, and its tokens are refused
    Disable {
        /// The tenant's id
        id: String,
    },
    /// Enable a disabled tenant: its tokens that have not expired work again
    Enable {
        /// The tenant's id
        id: String,
    },
    /// Erase a tenant and all its data permanently
    Erase {
        /// The tenant's id
        id: String,
        /// The tenant's id again, as confirmation
        #[arg(long, value_name = "ID")]
        confirm: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Add a subscription and print its two keys
    Add {
        /// A name for the subscription
        name: String,
        /// A product that the keys give access to (repeatable) [default: all]
        #[arg(long = "product", value_name = "PRODUCT", value_parser = ["accounting", "payroll", "invoicing"])]
        products: Vec<String>,
        /// The id of the team that owns the subscription: it opens for that team's clients alone
        #[arg(long)]
        team: Option<String>,
    },
    /// Give a subscription to a team: it opens for that team's clients alone
    Team {
        /// The subscription's id
        id: String,
        /// The team's id; '' takes the subscription out of its team, and it opens for every client
        team: String,
    },
    /// List subscriptions
    List {
        /// Only those of this team
        #[arg(long, value_name = "TEAM")]
        team: Option<String>,
    },
    /// Show a subscription with its quota and the validity and last use of its keys
    Show {
        /// The subscription's id
        id: String,
    },
    /// Suspend a subscription: its keys are refused until it is resumed
    Suspend {
        /// The subscription's id
        id: String,
    },
    /// Resume a suspended subscription: its keys are accepted again
    Resume {
        /// The subscription's id
        id: String,
    },
    /// Cancel a subscription permanently and delete its keys
    Cancel {
        /// The subscription's id
        id: String,
        /// Confirm the cancellation
        #[arg(long)]
        yes: bool,
    },
    /// Set the number of calls per day
    Quota {
        /// The subscription's id
        id: String,
        /// The number of calls, or none to use gateway.quota_per_day
        #[arg(value_name = "N|none", value_parser = quota)]
        calls: QuotaArg,
    },
    /// Show the number of calls by day and route
    Usage {
        /// The subscription's id
        id: String,
        /// The first day (UTC), for example 2026-11-01 [default: 30 days up to the last day]
        #[arg(long, value_name = "DAY", value_parser = read_day)]
        from: Option<i64>,
        /// The last day (UTC), less than 400 days after the first [default: today]
        #[arg(long, value_name = "DAY", value_parser = read_day)]
        to: Option<i64>,
    },
    /// Print a current key; the audit says who has seen it
    Reveal {
        /// The subscription's id
        id: String,
        /// Which of the two keys
        #[arg(long, value_enum, default_value_t = KeySlotArg::Primary)]
        slot: KeySlotArg,
    },
    /// Create a new key and print it
    Rotate {
        /// The subscription's id
        id: String,
        /// Which of the two keys to replace
        #[arg(long, value_enum, default_value_t = KeySlotArg::Primary)]
        slot: KeySlotArg,
        /// How long the old key stays valid
        #[arg(long, value_name = "DURATION", default_value = "24h")]
        overlap: String,
    },
}

/// The subscription's own quota, or none to use the configured one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuotaArg(pub(crate) Option<u64>);

fn quota(text: &str) -> Result<QuotaArg, String> {
    if text == "none" {
        return Ok(QuotaArg(None));
    }
    let calls = text.parse().ok().filter(|calls| (1..=DAILY_QUOTA_MAX).contains(calls));
    let calls =
        calls.ok_or_else(|| format!("must be a whole number from 1 to {DAILY_QUOTA_MAX}, or none"))?;
    Ok(QuotaArg(Some(calls)))
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KeySlotArg {
    Primary,
    Secondary,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SigningKeys {
    /// List the keys with their states
    List,
    /// Create the next key: it is published now and signs after 24 hours
    Rotate {
        /// Sign with it at once and revoke older keys with all tokens they signed (after a compromise)
        #[arg(long)]
        now: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Only entries of this kind
    #[arg(long, value_parser = PossibleValuesParser::new(AuditKind::ALL.map(AuditKind::as_str)))]
    pub(crate) kind: Option<String>,
    /// Only entries of this user (e-mail address or id)
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// Only entries of this tenant
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
    /// Only entries of this client
    #[arg(long, value_name = "ID")]
    pub(crate) client: Option<String>,
    /// Only what this actor did: service, anonymous, operator, token, cli, user, developer or client, or one of them as
    /// in cli:maria
    #[arg(long)]
    pub(crate) actor: Option<String>,
    /// Only entries since then: a duration (24h) or a time (2026-11-15T08:30:00Z)
    #[arg(long, value_name = "DURATION|TIME", value_parser = super::webhook_args::since)]
    pub(crate) since: Option<super::Since>,
    /// Only older entries: the cursor of an entry, as printed at the end of a page and in --json
    #[arg(long, value_name = "CURSOR")]
    pub(crate) before: Option<String>,
    /// The number of entries [default: 100; with --json, all]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
}
