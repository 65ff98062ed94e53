//! The command line of the operator's desk: tenants, users, applications, keys, the audit.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use operator::admin::{DAILY_QUOTA_MAX, read_day};
use store::AuditKind;

#[derive(Debug, Subcommand)]
pub(crate) enum Tenant {
    /// Adds a tenant
    Add {
        /// The name that users see
        name: String,
        /// Its id, for good [default: a new GUID]
        #[arg(long)]
        id: Option<String>,
        /// The short code that stands in tokens (svc.es.idcda)
        #[arg(long)]
        short_code: Option<String>,
    },
    /// Lists all tenants
    List,
    /// Nobody signs in to it any more, and no token for it counts
    Disable {
        /// The tenant's id
        id: String,
    },
    /// Undoes disable: users sign in again, and tokens that have not ended count again
    Enable {
        /// The tenant's id
        id: String,
    },
    /// Erases a tenant with all its records, for good
    Erase {
        /// The tenant's id
        id: String,
        /// The tenant's id again, to be sure
        #[arg(long, value_name = "ID")]
        confirm: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum User {
    /// Adds a user; the password is read from standard input (one line)
    Add {
        /// The e-mail address that the user signs in with
        email: String,
        /// The name that pages and applications show
        #[arg(long, value_name = "NAME")]
        given_name: String,
        /// The language of the user's pages
        #[arg(long, default_value = "es", value_parser = ["es", "en"])]
        lang: String,
        /// A tenant that the user belongs to (repeatable)
        #[arg(long = "tenant", value_name = "ID")]
        tenants: Vec<String>,
    },
    /// Lists all users
    List,
    /// Signs in no more, and no token of theirs counts
    Disable {
        /// The user's e-mail address
        email: String,
    },
    /// Undoes disable: signs in again, and tokens that have not ended count again
    Enable {
        /// The user's e-mail address
        email: String,
    },
    /// Sets a new password, read from standard input (one line)
    Password {
        /// The user's e-mail address
        email: String,
    },
    /// Adds the user to a tenant
    Join {
        /// The user's e-mail address
        email: String,
        /// The tenant's id
        tenant: String,
    },
    /// Takes the user out of a tenant
    Leave {
        /// The user's e-mail address
        email: String,
        /// The tenant's id
        tenant: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Client {
    /// Registers an application and prints its secret, once
    Add {
        /// The name that users see
        name: String,
        /// Its client id, for good [default: a new GUID]
        #[arg(long)]
        id: Option<String>,
        /// An address it may be sent back to (repeatable)
        #[arg(long = "redirect-uri", value_name = "URI", required = true)]
        redirect_uris: Vec<String>,
        /// An address it may be sent to after sign-out (repeatable)
        #[arg(long = "post-logout-uri", value_name = "URI")]
        post_logout_uris: Vec<String>,
        /// What is done about PKCE
        #[arg(long, value_enum, default_value_t = PkceMode::IfSent)]
        pkce: PkceMode,
        /// Asks the user before the application gets access
        #[arg(long)]
        consent: bool,
        /// Leaves the id_token out of the callback, for strict code-flow libraries
        #[arg(long)]
        no_callback_id_token: bool,
    },
    /// Lists all applications
    List,
    /// Shows all settings of an application
    Show {
        /// The client id
        id: String,
    },
    /// Nobody signs in through it any more, and no token of it counts
    Disable {
        /// The client id
        id: String,
    },
    /// Undoes disable: it signs users in again, and tokens that have not ended count again
    Enable {
        /// The client id
        id: String,
    },
    /// Adds addresses that it may be sent back to
    Redirect {
        /// The client id
        id: String,
        /// The addresses
        #[arg(required = true, value_name = "URI")]
        uris: Vec<String>,
    },
    /// Takes back addresses that it might be sent back to; one must stay
    Unredirect {
        /// The client id
        id: String,
        /// The addresses, as `client show` writes them
        #[arg(required = true, value_name = "URI")]
        uris: Vec<String>,
    },
    /// Changes how it signs users in; what is not named stays as it is
    Set {
        /// The client id
        id: String,
        /// What is done about PKCE
        #[arg(long, value_enum)]
        pkce: Option<PkceMode>,
        /// Whether users are asked before it gets access
        #[arg(long, value_name = "true|false")]
        consent: Option<bool>,
        /// Whether the callback carries an id_token
        #[arg(long, value_name = "true|false")]
        callback_id_token: Option<bool>,
        /// An address it may be sent to after sign-out (repeatable; replaces all; '' for none)
        #[arg(long = "post-logout-uri", value_name = "URI")]
        post_logout_uris: Vec<String>,
    },
    /// Makes a new secret and prints it, once
    Rotate {
        /// The client id
        id: String,
        /// How long the old secret stays valid
        #[arg(long, value_name = "DURATION", default_value = "24h")]
        overlap: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PkceMode {
    /// Who sends no challenge is refused
    Required,
    /// Checked where a challenge was sent
    IfSent,
    /// Never checked
    Ignore,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Makes a subscription and prints its two keys, once
    Add {
        /// A name to know it by
        name: String,
        /// What the keys open (repeatable) [default: all]
        #[arg(long = "product", value_name = "PRODUCT", value_parser = ["accounting", "payroll", "invoicing"])]
        products: Vec<String>,
    },
    /// Lists all subscriptions
    List,
    /// Shows a subscription, with its quota and what is known of its keys
    Show {
        /// The subscription's id
        id: String,
    },
    /// Its keys open nothing until it is resumed
    Suspend {
        /// The subscription's id
        id: String,
    },
    /// Undoes suspend: its keys open again
    Resume {
        /// The subscription's id
        id: String,
    },
    /// Ends it for good: its keys are gone, and nothing brings them back
    Cancel {
        /// The subscription's id
        id: String,
        /// To be sure
        #[arg(long)]
        yes: bool,
    },
    /// Says how many calls it may make a day
    Quota {
        /// The subscription's id
        id: String,
        /// The number of calls, or none: as many as gateway.quota_per_day says
        #[arg(value_name = "N|none", value_parser = quota)]
        calls: Quota,
    },
    /// Shows how often it called, by day and route
    Usage {
        /// The subscription's id
        id: String,
        /// The first day, as in 2026-11-01 (UTC) [default: 30 days up to the last]
        #[arg(long, value_name = "DAY", value_parser = read_day)]
        from: Option<i64>,
        /// The last day, less than 400 days later [default: today]
        #[arg(long, value_name = "DAY", value_parser = read_day)]
        to: Option<i64>,
    },
    /// Makes a new key and prints it, once
    Rotate {
        /// The subscription's id
        id: String,
        /// Which of its two keys
        #[arg(long, value_enum, default_value_t = Slot::Primary)]
        slot: Slot,
        /// How long the old key stays valid
        #[arg(long, value_name = "DURATION", default_value = "24h")]
        overlap: String,
    },
}

/// A quota of one's own, or the configuration's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quota(pub(crate) Option<u64>);

fn quota(text: &str) -> Result<Quota, String> {
    if text == "none" {
        return Ok(Quota(None));
    }
    let calls = text.parse().ok().filter(|calls| (1..=DAILY_QUOTA_MAX).contains(calls));
    let calls =
        calls.ok_or_else(|| format!("a quota is a whole number from 1 to {DAILY_QUOTA_MAX}, or none"))?;
    Ok(Quota(Some(calls)))
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Slot {
    Primary,
    Secondary,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SigningKeys {
    /// Lists the keys and what each is good for
    List,
    /// Makes the next key: published now, signing 24 hours later
    Rotate {
        /// For a compromise: signs at once; older keys end, and with them every token they signed
        #[arg(long)]
        now: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Only this kind
    #[arg(long, value_parser = PossibleValuesParser::new(AuditKind::ALL.map(AuditKind::as_str)))]
    pub(crate) kind: Option<String>,
    /// Only this user: e-mail address or id
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// Only this tenant
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
    /// Only this application
    #[arg(long, value_name = "ID")]
    pub(crate) client: Option<String>,
    /// Only what is older: the `next` of an earlier page
    #[arg(long, value_name = "MARK")]
    pub(crate) before: Option<String>,
    /// How many records, 1000 at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
}
