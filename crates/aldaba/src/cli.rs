//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::exit::CODES;

#[derive(Debug, Parser)]
#[command(name = "aldaba", version, about, after_help = CODES, propagate_version = true)]
/// Sign-in, APIs and webhooks over accounting, payroll and invoicing data.
pub(crate) struct Cli {
    /// The configuration file [default: aldaba.toml where there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Sets a configuration key, as in --set store.url=sqlite:data.db (repeatable)
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Prints results as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The first five minutes: everything on this machine, with sample data
    Dev(Dev),
    /// Runs the service
    Serve(Serve),
    /// Writes a production configuration with fresh secrets
    Init(Init),
    /// Checks the configuration and says what is wrong, where
    Check,
    /// Tenants: the sets of companies that users choose from
    #[command(subcommand)]
    Tenant(Tenant),
    /// Users who sign in
    #[command(subcommand)]
    User(User),
    /// OAuth clients: the applications
    #[command(subcommand)]
    Client(Client),
    /// Subscriptions and their keys
    #[command(subcommand)]
    Key(Key),
    /// Keys that sign tokens
    #[command(subcommand)]
    SigningKeys(SigningKeys),
    /// Who signed in, what was granted, refreshed, reused, revoked: newest first
    Audit(Audit),
    /// Records: loads them, or makes sample ones
    #[command(subcommand)]
    Changes(Changes),
    /// The store: schema, backup, restore
    #[command(subcommand)]
    Store(StoreCommand),
    /// Prints a completion script for a shell
    Completions { shell: clap_complete::Shell },
}

#[derive(Debug, Args)]
pub(crate) struct Dev {
    /// Where to listen, on this machine only; port 0 takes any [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Keeps everything in this folder [default: a temporary one, gone at the end]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Keeps everything in this store: sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// An address that both applications may be sent back to (repeatable)
    #[arg(long = "redirect-uri", value_name = "URI")]
    pub(crate) redirect_uris: Vec<String>,
    /// Tenants, users, clients and keys, but no records
    #[arg(long)]
    pub(crate) empty: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where the public side listens
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where the operator's side listens
    #[arg(long, value_name = "ADDR")]
    pub(crate) operator_listen: Option<SocketAddr>,
    /// sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder to write aldaba.toml, master.key and operator.token into
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The address under which clients will reach the service
    #[arg(long, value_name = "URL", default_value = "https://api.example.com")]
    pub(crate) base_url: String,
    /// The identity provider's address [default: the base url]
    #[arg(long, value_name = "URL")]
    pub(crate) auth_url: Option<String>,
    /// sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL", default_value = "sqlite:aldaba.db")]
    pub(crate) store: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tenant {
    /// Adds a tenant
    Add {
        name: String,
        /// [default: a new GUID]
        #[arg(long)]
        id: Option<String>,
        /// The short code that stands in tokens (svc.es.idcda)
        #[arg(long)]
        short_code: Option<String>,
    },
    /// Lists all tenants
    List,
    /// Nobody signs in to it any more
    Disable {
        id: String,
    },
    Enable {
        id: String,
    },
    /// Erases a tenant with all its records, for good
    Erase {
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
        email: String,
        #[arg(long, value_name = "NAME")]
        given_name: String,
        #[arg(long, default_value = "es", value_parser = ["es", "en"])]
        lang: String,
        /// A tenant that the user belongs to (repeatable)
        #[arg(long = "tenant", value_name = "ID")]
        tenants: Vec<String>,
    },
    /// Lists all users
    List,
    /// Signs in no more
    Disable {
        email: String,
    },
    Enable {
        email: String,
    },
    /// Sets a new password, read from standard input (one line)
    Password {
        email: String,
    },
    /// Adds the user to a tenant
    Join {
        email: String,
        tenant: String,
    },
    /// Takes the user out of a tenant
    Leave {
        email: String,
        tenant: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Client {
    /// Registers an application and prints its secret, once
    Add {
        name: String,
        /// [default: a new GUID]
        #[arg(long)]
        id: Option<String>,
        /// An address it may be sent back to (repeatable)
        #[arg(long = "redirect-uri", value_name = "URI", required = true)]
        redirect_uris: Vec<String>,
        /// An address it may be sent to after sign-out (repeatable)
        #[arg(long = "post-logout-uri", value_name = "URI")]
        post_logout_uris: Vec<String>,
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
    Disable {
        id: String,
    },
    Enable {
        id: String,
    },
    /// Adds addresses that it may be sent back to
    Redirect {
        id: String,
        #[arg(required = true)]
        uris: Vec<String>,
    },
    /// Changes how it signs users in; what is not named stays as it is
    Set {
        id: String,
        #[arg(long, value_enum)]
        pkce: Option<PkceMode>,
        /// Whether users are asked before it gets access
        #[arg(long, value_name = "true|false")]
        consent: Option<bool>,
        /// Whether the callback carries an id_token
        #[arg(long, value_name = "true|false")]
        callback_id_token: Option<bool>,
        /// An address it may be sent to after sign-out (repeatable; replaces all)
        #[arg(long = "post-logout-uri", value_name = "URI")]
        post_logout_uris: Vec<String>,
    },
    /// Makes a new secret and prints it, once
    Rotate {
        id: String,
        /// How long the old secret stays valid
        #[arg(long, value_name = "DURATION", default_value = "24h")]
        overlap: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PkceMode {
    Required,
    IfSent,
    Ignore,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Makes a subscription and prints its two keys, once
    Add {
        name: String,
        /// What the keys open (repeatable) [default: all]
        #[arg(long = "product", value_name = "PRODUCT", value_parser = ["accounting", "payroll", "invoicing"])]
        products: Vec<String>,
    },
    /// Lists all subscriptions
    List,
    /// Its keys open nothing until it is resumed
    Suspend {
        id: String,
    },
    Resume {
        id: String,
    },
    /// Makes a new key and prints it, once
    Rotate {
        id: String,
        #[arg(long, value_enum, default_value_t = Slot::Primary)]
        slot: Slot,
        /// How long the old key stays valid
        #[arg(long, value_name = "DURATION", default_value = "24h")]
        overlap: String,
    },
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
    /// Only this kind, as in signed_in, sign_in_failed, granted, refreshed, refresh_reused, revoked
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Only this user: e-mail address or id
    #[arg(long)]
    pub(crate) user: Option<String>,
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
    #[arg(long, value_name = "ID")]
    pub(crate) client: Option<String>,
    /// Only what is older: the `next` of an earlier page
    #[arg(long, value_name = "MARK")]
    pub(crate) before: Option<String>,
    /// How many records, 1000 at most
    #[arg(long, default_value_t = 100)]
    pub(crate) limit: usize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Changes {
    /// Loads changes (NDJSON or a JSON array) into a tenant
    Apply {
        /// The file; - reads standard input
        file: PathBuf,
        #[arg(long, value_name = "ID")]
        tenant: String,
        /// Sends them to a running service instead of the store: its operator's address
        #[arg(long, value_name = "URL", requires = "token")]
        url: Option<String>,
        /// The operator's token, with --url
        #[arg(long, env = "ALDABA_OPERATOR_TOKEN", hide_env_values = true)]
        token: Option<String>,
        /// A name for this load, so that it can be run again and only the rest is applied
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<String>,
    },
    /// Prints sample changes as NDJSON, the same for the same seed
    Generate {
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=100_000))]
        companies: u32,
        /// Customers in each company
        #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
        customers: u32,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Brings the schema up to date
    Migrate,
    /// Writes a backup and reads it back to check it
    Backup { file: PathBuf },
    /// Restores a backup into a new, empty store
    Restore { file: PathBuf },
}
