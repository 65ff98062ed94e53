//! The command line.

mod desk;
mod hooks;
mod kit;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use desk::{Audit, Client, Key, PkceMode, SigningKeys, Slot, Tenant, User};
pub(crate) use hooks::{Deliveries, DeliveryList, Replay, Since, WebhookList, Webhooks};
pub(crate) use kit::{Listen, Trigger, Verify};

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
    /// Webhooks of all owners: how they stand and how they do
    #[command(subcommand)]
    Webhooks(Webhooks),
    /// What was sent to a webhook, and sending it again
    #[command(subcommand)]
    Deliveries(Deliveries),
    /// A receiver for your desk: answers handshakes, verifies, prints what comes
    Listen(Box<Listen>),
    /// Makes a change happen in a running service, so that its event is told
    Trigger(Trigger),
    /// Names the reason why a signature does not match
    Verify(Verify),
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
    /// Prints the OpenAPI document of the public APIs
    #[command(name = "openapi")]
    OpenApi(OpenApi),
    /// Prints the AsyncAPI document of all notifications
    #[command(name = "asyncapi")]
    AsyncApi(AsyncApi),
    /// Prints a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Dev {
    #[command(subcommand)]
    pub(crate) command: Option<DevCommand>,
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

#[derive(Debug, Subcommand)]
pub(crate) enum DevCommand {
    /// Prints an access token, through the real sign-in of the dev that runs
    ///
    /// It finds that dev by the export lines that it printed, or by its folder. As in:
    /// export ACCESS=$(aldaba dev token)
    Token(Token),
}

#[derive(Debug, Args)]
pub(crate) struct Token {
    /// The folder that a running dev keeps everything in [default: what was exported counts]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Who signs in [default: the first user of dev's]
    #[arg(long, value_name = "EMAIL")]
    pub(crate) user: Option<String>,
    /// The tenant that is chosen where the user has several
    #[arg(long, value_name = "ID", env = "TENANT")]
    pub(crate) tenant: Option<String>,
    /// Prints the code instead, as the application would be sent it; exchange it within five minutes
    #[arg(long)]
    pub(crate) code: bool,
    /// The identity provider's address
    #[arg(long, value_name = "URL", env = "AUTH")]
    pub(crate) auth_url: Option<String>,
    /// The application's client id
    #[arg(long, value_name = "ID", env = "CLIENT")]
    pub(crate) client: Option<String>,
    /// The application's secret
    #[arg(long, env = "SECRET", hide_env_values = true)]
    pub(crate) secret: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where the public side listens
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where the operator's side listens
    #[arg(long, value_name = "ADDR")]
    pub(crate) operator_listen: Option<SocketAddr>,
    /// Where everything is kept: sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OpenApi {
    /// The operator's API instead of the public ones
    #[arg(long)]
    pub(crate) operator: bool,
    /// Writes it into this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AsyncApi {
    /// Writes it into this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
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
    /// Where everything is kept: sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL", default_value = "sqlite:aldaba.db")]
    pub(crate) store: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Changes {
    /// Loads changes (NDJSON or a JSON array) into a tenant
    Apply {
        /// The file; - reads standard input
        file: PathBuf,
        /// The tenant that the records belong to
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
        /// Where chance starts from
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many companies
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
    Backup {
        /// The file to write
        file: PathBuf,
        /// Replaces a file that is there already
        #[arg(long)]
        force: bool,
    },
    /// Restores a backup into a new, empty store
    Restore {
        /// A file that `store backup` wrote
        file: PathBuf,
    },
}
