//! Arguments of the administration commands: tenant, user, client, key, signing-keys, audit.

use clap::{Args, Subcommand, ValueEnum};
use operator::admin::{DAILY_QUOTA_MAX, read_day};

use super::account_args::InvitedArgs;

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
pub(crate) enum User {
    /// Add a user and print its id; the password is one line of standard input
    Add {
        /// The e-mail address, used to sign in
        email: String,
        /// The user's name, shown by pages and applications
        #[arg(long, value_name = "NAME")]
        given_name: String,
        /// The language of the pages for this user
        #[arg(long, default_value = "es", value_parser = ["es", "en"])]
        lang: String,
        /// The id of a tenant that the user is a member of (repeatable)
        #[arg(long = "tenant", value_name = "ID")]
        tenants: Vec<String>,
    },
    /// Invite a user; prints the one-time link if no mail server is configured
    Invite {
        #[command(flatten)]
        person: InvitedArgs,
        /// The id of a tenant that the user becomes a member of (repeatable)
        #[arg(long = "tenant", value_name = "ID")]
        tenants: Vec<String>,
    },
    /// List all users
    List,
    /// Disable a user: sign-in and all tokens of the user are refused
    Disable {
        /// The user's e-mail address
        email: String,
    },
    /// Enable a disabled user: tokens that have not expired work again
    Enable {
        /// The user's e-mail address
        email: String,
    },
    /// Set a new password, read from one line of standard input
    Password {
        /// The user's e-mail address
        email: String,
    },
    /// Add the user to a tenant
    Join {
        /// The user's e-mail address
        email: String,
        /// The tenant's id
        tenant: String,
    },
    /// Make a member an administrator of the tenant: who sees and ends applications' access for the whole tenant
    Admin {
        /// The user's e-mail address
        email: String,
        /// The tenant's id
        tenant: String,
        /// The user is no longer an administrator
        #[arg(long)]
        remove: bool,
    },
    /// Remove the second factors of a user who has lost them; the password alone signs in again
    ResetSecondFactors {
        /// The user's e-mail address
        email: String,
    },
    /// Remove the user from a tenant
    Leave {
        /// The user's e-mail address
        email: String,
        /// The tenant's id
        tenant: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Client {
    /// Register a client and print its secret, which cannot be shown again
    Add(ClientAdd),
    /// List clients
    List {
        /// Only those of this team
        #[arg(long, value_name = "TEAM")]
        team: Option<String>,
    },
    /// Show all settings of a client
    Show {
        /// The client id
        id: String,
    },
    /// Disable a client: sign-in through it and its tokens are refused
    Disable {
        /// The client id
        id: String,
    },
    /// Enable a disabled client: its tokens that have not expired work again
    Enable {
        /// The client id
        id: String,
    },
    /// Add redirect URIs
    Redirect {
        /// The client id
        id: String,
        /// The URIs to add
        #[arg(required = true, value_name = "URI")]
        uris: Vec<String>,
    },
    /// Remove redirect URIs; at least one must remain
    Unredirect {
        /// The client id
        id: String,
        /// The URIs to remove, exactly as `client show` prints them
        #[arg(required = true, value_name = "URI")]
        uris: Vec<String>,
    },
    /// Change the settings of a client; settings that are not given stay unchanged
    Set {
        /// The client id
        id: String,
        /// How to treat PKCE
        #[arg(long, value_enum)]
        pkce: Option<PkceMode>,
        /// Whether users are asked for consent
        #[arg(long, value_name = "true|false")]
        consent: Option<bool>,
        /// When the callback carries an id_token
        #[arg(long, value_enum)]
        callback_id_token: Option<CallbackIdTokenMode>,
        /// A product whose data the client may read (repeatable; replaces all of them)
        #[arg(long = "product", value_name = "PRODUCT", value_parser = ["accounting", "payroll", "invoicing"])]
        products: Vec<String>,
        /// A post-logout redirect URI (repeatable; replaces all of them; '' removes all)
        #[arg(long = "post-logout-uri", value_name = "URI")]
        post_logout_uris: Vec<String>,
        /// Where the client is told that a session has ended (OpenID Connect Back-Channel Logout); '' removes it
        #[arg(long, value_name = "URI")]
        backchannel_logout_uri: Option<String>,
        /// The id of the team that owns the client; '' takes it out of its team
        #[arg(long)]
        team: Option<String>,
        /// Whether the client is for sandbox tenants alone
        #[arg(long, value_name = "true|false")]
        sandbox: Option<bool>,
    },
    /// Create a new secret and print it; it cannot be shown again
    Rotate {
        /// The client id
        id: String,
        /// How long the old secret stays valid
        #[arg(long, value_name = "DURATION", default_value = "24h")]
        overlap: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ClientAdd {
    /// The name that users see
    pub(crate) name: String,
    /// The client id, which cannot be changed later [default: a new GUID]
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// A redirect URI (repeatable)
    #[arg(long = "redirect-uri", value_name = "URI", required = true)]
    pub(crate) redirect_uris: Vec<String>,
    /// A post-logout redirect URI (repeatable)
    #[arg(long = "post-logout-uri", value_name = "URI")]
    pub(crate) post_logout_uris: Vec<String>,
    /// Where the client is told that a session has ended (OpenID Connect Back-Channel Logout)
    #[arg(long, value_name = "URI")]
    pub(crate) backchannel_logout_uri: Option<String>,
    /// How to treat PKCE
    #[arg(long, value_enum, default_value_t = PkceMode::IfSent)]
    pub(crate) pkce: PkceMode,
    /// Ask users for consent before the client gets access
    #[arg(long)]
    pub(crate) consent: bool,
    /// A product whose data the client may read (repeatable) [default: all]
    #[arg(long = "product", value_name = "PRODUCT", value_parser = ["accounting", "payroll", "invoicing"])]
    pub(crate) products: Vec<String>,
    /// The id of the team that owns the client
    #[arg(long)]
    pub(crate) team: Option<String>,
    /// When the callback carries an id_token
    #[arg(long, value_enum, default_value_t = CallbackIdTokenMode::Auto)]
    pub(crate) callback_id_token: CallbackIdTokenMode,
    /// The same as --callback-id-token never
    #[arg(long, conflicts_with = "callback_id_token")]
    pub(crate) no_callback_id_token: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PkceMode {
    /// Refuse authorization requests without a code challenge
    Required,
    /// Verify PKCE if the authorization request has a code challenge
    IfSent,
    /// Never verify PKCE
    Ignore,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CallbackIdTokenMode {
    /// With the scope openid and a nonce, if the authorization request has no PKCE challenge
    #[value(alias = "true")]
    Auto,
    /// Whenever the authorization request has the scope openid
    Always,
    /// Never, for strict code-flow libraries without PKCE
    #[value(alias = "false")]
    Never,
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
