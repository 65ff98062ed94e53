//! The program as a library: command line, configuration, wiring, and the service that `main` and in-process tests run.

mod backup;
mod built_in_receiver;
mod cli;
mod clock_watch;
mod commands;
mod config;
mod descriptors;
mod dev;
mod doctor;
mod documents;
mod durable;
pub mod embedded;
mod exit;
mod figures;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gauges;
mod health;
mod listen;
mod logging;
mod mail;
mod maintenance;
mod notices;
mod output;
mod overview;
mod running_service;
mod serve;
mod service;
mod signals;
mod signature_check;
mod supervisor;
mod wiring;

use std::process::ExitCode;

use clap::Parser as _;

use cli::{Cli, Command};
use config::Sources;
use dev::running::DevSelector;
use exit::{CommandResult, Failure};
use output::Output;

pub use supervisor::{FailureCause, Supervisor, TaskFailure};
pub use wiring::{BasePorts, NodeClock};

const MASTER_KEY: &str = "store.master_key";
const MASTER_KEY_REFUSED: &str = "store.master_key cannot be given on the command line, where every user of this \
                                  machine can read it; write it to a file and give store.master_key_file, or set \
                                  ALDABA__STORE__MASTER_KEY or ALDABA__STORE__MASTER_KEY_FILE";

/// Runs the program: parses the command line, runs the command, and returns its exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let output = Output { json: cli.json };
    match run(cli, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.is_already_printed() {
                output::print_message(&format!("aldaba: {}", failure.message()));
            }
            ExitCode::from(failure.code())
        }
    }
}

fn run(cli: Cli, output: Output) -> CommandResult {
    let sources = sources(&cli)?;
    if cli.dev.is_some() && !cli.command.works_beside_dev() {
        return Err(Failure::Usage("--dev is for commands that work beside a running dev".into()));
    }
    let running = DevSelector { wanted: cli.dev.clone(), is_configured: !sources.is_empty() };
    let sources = if cli.command.uses_store() { beside_dev(sources, &running, output)? } else { sources };
    match cli.command {
        Command::Completions { shell } => {
            commands::completions(shell);
            Ok(())
        }
        Command::OpenApi(openapi) => commands::openapi::run(&openapi, &sources),
        Command::AsyncApi(asyncapi) => commands::openapi::notifications(&asyncapi),
        Command::Verify(verify) => commands::verify::run(&verify, output),
        Command::Init(init) => commands::init::run(&init, &cli.set, output),
        Command::Changes(cli::Changes::Generate { seed, companies, customers }) => {
            commands::changes::generate(seed, companies, customers)
        }
        command => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            let done = runtime.block_on(dispatch(command, sources, &running, output));
            runtime.shutdown_timeout(std::time::Duration::from_secs(1));
            done
        }
    }
}

/// The configuration of a running dev for a command that has none of its own.
fn beside_dev(sources: Sources, running: &DevSelector, output: Output) -> Result<Sources, Failure> {
    if let Some(dev) = running.find()? {
        let text = format!("no configuration given: using the running dev at {}", dev.description());
        output.print_message(&text);
        return Ok(dev.sources());
    }
    if !running.is_configured {
        output.print_message("no configuration given, and no `aldaba dev` of this user is running");
    }
    Ok(sources)
}

async fn dispatch(
    command: Command,
    sources: Sources,
    running: &DevSelector,
    output: Output,
) -> CommandResult {
    match command {
        Command::Dev(dev) => dev::run(&dev, sources, running, output).await,
        Command::Serve(serve) => serve::run(&serve, sources).await,
        Command::Check => commands::check::run(&sources, output).await,
        Command::Doctor => commands::doctor::run(&sources, output).await,
        Command::Tenant(tenant) => commands::tenant::run(tenant, &sources, output).await,
        Command::User(user) => commands::user::run(user, &sources, output).await,
        Command::Invitation(one) => commands::invitation::run(one, &sources, output).await,
        Command::Operator(operator) => commands::operator::run(operator, &sources, output).await,
        Command::Token(token) => commands::token::run(token, &sources, output).await,
        Command::Client(client) => commands::client::run(client, &sources, output).await,
        Command::Key(key) => commands::key::run(key, &sources, output).await,
        Command::Team(team) => commands::team::run(team, &sources, output).await,
        Command::Developer(developer) => commands::developer::run(developer, &sources, output).await,
        Command::Request(request) => commands::request::run(request, &sources, output).await,
        Command::Webhooks(webhooks) => commands::webhooks::run(webhooks, &sources, output).await,
        Command::Deliveries(some) => commands::deliveries::run(some, &sources, output).await,
        Command::SigningKeys(keys) => commands::signing_keys::run(keys, &sources, output).await,
        Command::Audit(audit) => commands::audit::run(audit, &sources, output).await,
        Command::Changes(changes) => commands::changes::run(changes, &sources, output).await,
        Command::Listen(args) => listen::run(*args, running, output).await,
        Command::Trigger(trigger) => commands::trigger::run(&trigger, running, output).await,
        Command::Store(store) => commands::store::run(store, &sources, output).await,
        Command::Init(_)
        | Command::OpenApi(_)
        | Command::AsyncApi(_)
        | Command::Completions { .. }
        | Command::Verify(_) => Ok(()),
    }
}

fn sources(cli: &Cli) -> Result<Sources, Failure> {
    let mut flags = Vec::new();
    for pair in &cli.set {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| Failure::Usage(format!("--set must be KEY=VALUE, not {pair:?}")))?;
        if key.trim().eq_ignore_ascii_case(MASTER_KEY) {
            return Err(Failure::Usage(MASTER_KEY_REFUSED.into()));
        }
        flags.push((key.to_owned(), value.to_owned()));
    }
    Ok(Sources { file: cli.config.clone(), environment: environment(), flags })
}

/// The environment variables that are valid Unicode.
fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
