//! The command line: commands, flags and their help texts.

mod account_args;
mod admin_args;
mod client_args;
mod integrator_args;
mod operator_args;
mod team_args;
mod user_args;
mod webhook_args;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use account_args::{Invitation, InvitedArgs};
pub(crate) use admin_args::{Audit, Key, KeySlotArg, SigningKeys, Tenant};
pub(crate) use client_args::{CallbackIdTokenMode, Client, ClientAdd, ClientKindArg, PkceMode};
pub(crate) use integrator_args::{Listen, Trigger, Verify};
pub(crate) use operator_args::{Operator, OperatorToken};
pub(crate) use team_args::{Developer, Request, RequestStateArg, Team};
pub(crate) use user_args::User;
pub(crate) use webhook_args::{Deliveries, DeliveryList, Replay, Since, WebhookList, Webhooks};

use crate::exit::CODES;

/// The package version and the git commit; `build.rs` sets it.
const VERSION: &str = env!("ALDABA_VERSION");

#[derive(Debug, Parser)]
#[command(name = "aldaba", version = VERSION, about, after_help = CODES, propagate_version = true)]
/// Sign-in, APIs and webhooks over accounting, payroll and invoicing data.
pub(crate) struct Cli {
    /// The configuration file [default: aldaba.toml, if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Set a configuration key, for example --set store.url=sqlite:data.db (repeatable)
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print results as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run everything on this machine with sample data, for development
    Dev(Dev),
    /// Run the service
    Serve(Serve),
    /// Write a production configuration with new secrets
    Init(Init),
    /// Check the configuration and report every error with its location
    Check,
    /// Examine the installation: clock, disk, addresses, certificates, DNS, store, each with a verdict and what to do
    Doctor,
    /// Manage tenants: each owns a set of companies and their records
    #[command(subcommand)]
    Tenant(Tenant),
    /// Manage users
    #[command(subcommand)]
    User(User),
    /// List invitations, send them again, revoke them
    #[command(subcommand)]
    Invitation(Invitation),
    /// Manage operators and their roles
    #[command(subcommand)]
    Operator(Operator),
    /// Manage the named tokens of the operator API
    #[command(subcommand)]
    Token(OperatorToken),
    /// Manage OAuth clients: the applications that users sign in to
    #[command(subcommand)]
    Client(Client),
    /// Manage API subscriptions and their keys
    #[command(subcommand)]
    Key(Key),
    /// Manage teams of developers: they own clients and subscriptions
    #[command(subcommand)]
    Team(Team),
    /// Manage developers: the people who build applications
    #[command(subcommand)]
    Developer(Developer),
    /// Decide on what teams ask for
    #[command(subcommand)]
    Request(Request),
    /// Inspect and manage the webhooks of all tenants and clients
    #[command(subcommand)]
    Webhooks(Webhooks),
    /// Inspect the deliveries of a webhook and replay them
    #[command(subcommand)]
    Deliveries(Deliveries),
    /// Receive webhooks locally: answer handshakes, verify signatures, print events
    Listen(Box<Listen>),
    /// Write a test change to a running service, which then sends the event
    Trigger(Trigger),
    /// Verify a webhook signature and explain why it does not match
    Verify(Verify),
    /// List and rotate the keys that sign tokens
    #[command(subcommand)]
    SigningKeys(SigningKeys),
    /// Show the audit log: who changed what, when and from where (newest first; --json prints one entry per line)
    Audit(Audit),
    /// Load records into a tenant, or generate sample records
    #[command(subcommand)]
    Changes(Changes),
    /// Migrate, back up or restore the store
    #[command(subcommand)]
    Store(StoreCommand),
    /// Print the OpenAPI document of the public APIs
    #[command(name = "openapi")]
    OpenApi(OpenApi),
    /// Print the AsyncAPI document of all notifications
    #[command(name = "asyncapi")]
    AsyncApi(AsyncApi),
    /// Print a completion script for a shell
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
    /// The loopback address to listen on; port 0 picks a free port [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Store all data in this folder [default: a temporary folder, deleted at exit]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Use this store: sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// A further redirect URI of both clients (repeatable)
    #[arg(long = "redirect-uri", value_name = "URI")]
    pub(crate) redirect_uris: Vec<String>,
    /// Create tenants, users, clients and keys, but no records
    #[arg(long)]
    pub(crate) empty: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DevCommand {
    /// Sign in to a running dev server and print an access token
    ///
    /// The command finds the server by the variables of the export lines that it printed, or by its --data folder.
    /// Example: export ACCESS=$(aldaba dev token)
    Token(Token),
}

#[derive(Debug, Args)]
pub(crate) struct Token {
    /// The --data folder of the running dev server [default: use the exported variables]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// The user who signs in [default: the first user of the dev server]
    #[arg(long, value_name = "EMAIL")]
    pub(crate) user: Option<String>,
    /// The tenant to choose if the user has several
    #[arg(long, value_name = "ID", env = "TENANT")]
    pub(crate) tenant: Option<String>,
    /// Print the authorization code instead of a token; it is valid for five minutes
    #[arg(long)]
    pub(crate) code: bool,
    /// The URL of the identity provider
    #[arg(long, value_name = "URL", env = "AUTH")]
    pub(crate) auth_url: Option<String>,
    /// The client id
    #[arg(long, value_name = "ID", env = "CLIENT")]
    pub(crate) client: Option<String>,
    /// The client secret
    #[arg(long, env = "SECRET", hide_env_values = true)]
    pub(crate) secret: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The address of the public listener
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// The address of the operator listener
    #[arg(long, value_name = "ADDR")]
    pub(crate) operator_listen: Option<SocketAddr>,
    /// The store: sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OpenApi {
    /// Print the document of the operator API instead
    #[arg(long)]
    pub(crate) operator: bool,
    /// Print only the operations of this tag and what they need, for example Customers (repeatable)
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Write to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AsyncApi {
    /// Write to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder for aldaba.toml, master.key and operator.token
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The public URL of the APIs
    #[arg(long, value_name = "URL", default_value = "https://api.example.com")]
    pub(crate) base_url: String,
    /// The URL of the identity provider [default: the base URL]
    #[arg(long, value_name = "URL")]
    pub(crate) auth_url: Option<String>,
    /// The store: sqlite:PATH or postgres://…
    #[arg(long, value_name = "URL", default_value = "sqlite:aldaba.db")]
    pub(crate) store: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Changes {
    /// Load changes (NDJSON or a JSON array) into a tenant
    Apply {
        /// The file to read; - reads standard input
        file: PathBuf,
        /// The id of the tenant that owns the records
        #[arg(long, value_name = "ID")]
        tenant: String,
        /// Send the changes to a running service instead of the store: the URL of its operator API
        #[arg(long, value_name = "URL", requires = "token")]
        url: Option<String>,
        /// The operator token, for --url
        #[arg(long, env = "ALDABA_OPERATOR_TOKEN", hide_env_values = true)]
        token: Option<String>,
        /// A unique name for this load: repeating the command with it applies only what is missing
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<String>,
    },
    /// Print sample changes as NDJSON; the same seed gives the same changes
    Generate {
        /// The seed of the random numbers
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The number of companies
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=100_000))]
        companies: u32,
        /// The number of customers of each company
        #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
        customers: u32,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Migrate the schema to the newest version
    Migrate,
    /// Write a backup and verify it
    Backup(BackupArgs),
    /// Restore a backup into an empty store
    Restore(RestoreArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The file to write [default: a new one in backup.directory, where the newest backup.keep are kept]
    pub(crate) file: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "file")]
    pub(crate) force: bool,
    /// Encrypt the backup for this age public key (age1…); repeat it for several [default: backup.recipients]
    #[arg(long, value_name = "KEY")]
    pub(crate) recipient: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// A file written by `store backup`
    pub(crate) file: PathBuf,
    /// What becomes of the access that users had given to applications when the backup was made (required)
    #[arg(long, value_enum)]
    pub(crate) access: Option<AccessChoice>,
    /// Repeat the ends of access (withdrawn, revoked, disabled, removed) that this audit shows after the backup; a file
    /// that `aldaba audit --json` printed
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// The file with the age secret key that decrypts the backup
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AccessChoice {
    /// It stands at once as in the backup, even what was withdrawn or revoked after the backup was made
    Keep,
    /// It is valid again, user by user, when they sign in; until then no token, refresh or webhook of theirs works
    Confirm,
}
