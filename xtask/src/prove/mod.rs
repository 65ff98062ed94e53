//! `cargo xtask prove`: long checks that `cargo xtask test` runs only in part, or not at all.

pub(crate) mod input;
mod page;
mod scenario;

use clap::{Args, Subcommand};

use crate::{clients, failure::Failure, server::Server, steps::Steps, supply_chain, workspace};
use scenario::Scenario;

/// How often the program is killed on each store. `cargo xtask test` does it three times.
const CRASH_ROUNDS: u32 = 20;

/// The test, and the environment variable with its number of rounds.
const CRASH: [&str; 7] = ["test", "--package", "aldaba", "--locked", "--test", "main", "webhooks::crash::"];
const ROUNDS: &str = "ALDABA_CRASH_ROUNDS";

/// Step, package, tests, and the environment variable with their full length in seconds.
const NODE_FAULTS: [(&str, &str, &str, (&str, &str)); 2] = [
    ("packets dropped for a minute, and a new primary", "aldaba-store", "postgres_network::", (OUTAGE, "60")),
    ("crash loop and rolling restart", "aldaba", "webhooks::node_restarts::", (TIMEOUT, "5")),
];
const OUTAGE: &str = "ALDABA_TEST_OUTAGE_SECONDS";
const TIMEOUT: &str = "ALDABA_TEST_DELIVERY_TIMEOUT";

/// The scenarios whose short forms are part of `cargo xtask test`.
const IN_TESTS: [&Scenario; 2] = [&scenario::NODES, &scenario::ONE_NODE];

/// A part of the proofs that is short enough for `cargo xtask test`, on the programs that its tests have built.
pub(crate) fn in_tests(server: &Server) -> Result<(), Failure> {
    scenario::prove_bounded_together(&IN_TESTS, server)
}

/// What `cargo xtask prove` takes.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    proof: Option<Proof>,
    /// Run a short form of some minutes on the debug program; writes nothing
    #[arg(long)]
    bounded: bool,
}

#[derive(Debug, Subcommand)]
enum Proof {
    /// Three nodes over one database: crashes, pauses, restarts, wrong clocks, a bad network, ends of access
    Nodes(Part),
    /// The database server restarts, crashes, pauses, is full, read-only, or out of connections
    Database(Part),
    /// The leader of a replicated database changes
    Failover(Part),
    /// One node on SQLite: crashes, power cuts, a full disk, limits, jumps of the clock, backups
    OneNode(Part),
    /// Receivers and name servers that misbehave
    Receivers(Part),
    /// Sustained load, overload, many connections and webhooks, a tenant that floods
    Load(Part),
    /// Hostile input to every parser of outside text; `test` takes 3 s for each
    Input(input::Options),
    /// Sign in with the applications of docs/your-library.md that are too heavy for `test`
    ///
    /// They are Apache mod_auth_openidc, OmniAuth, Spring Security and Nimbus. As root on Debian it installs what they need.
    Clients,
    /// Kill the program with `kill -9` under load, 20 rounds on each store; `test` runs 3
    Crash,
    /// Drop packets to the database for a minute, change its primary, crash and restart nodes; prints the longest silences
    Outages,
    /// Check licences, bans and sources of all dependencies (deny.toml); write an SBOM to target/
    SupplyChain,
}

#[derive(Debug, Args)]
struct Part {
    /// The part to run alone; writes nothing
    #[arg(long, value_name = "PART")]
    only: Option<String>,
}

pub(crate) fn command(arguments: &Arguments) -> Result<(), Failure> {
    let scenario = |scenario: &Scenario, part: &Part| scenario::prove(scenario, part.only.as_deref());
    match &arguments.proof {
        None if arguments.bounded => bounded(),
        None => all(),
        Some(Proof::Nodes(part)) => scenario(&scenario::NODES, part),
        Some(Proof::Database(part)) => scenario(&scenario::DATABASE, part),
        Some(Proof::Failover(part)) => scenario(&scenario::FAILOVER, part),
        Some(Proof::OneNode(part)) => scenario(&scenario::ONE_NODE, part),
        Some(Proof::Receivers(part)) => scenario(&scenario::RECEIVERS, part),
        Some(Proof::Load(part)) => scenario(&scenario::LOAD, part),
        Some(Proof::Input(options)) => input::command(options),
        Some(Proof::Clients) => clients::prove(),
        Some(Proof::Crash) => crash(),
        Some(Proof::Outages) => outages(),
        Some(Proof::SupplyChain) => supply_chain::check(),
    }
}

/// Every scenario, one after the other; each writes its section of the page.
fn all() -> Result<(), Failure> {
    let steps = Steps::start();
    for scenario in scenario::SCENARIOS {
        steps.step(scenario.name, || scenario::prove(scenario, None))?;
    }
    steps.step(input::NAME, || input::command(&input::Options::default()))?;
    steps.finish();
    Ok(())
}

/// The short form of every scenario, on the debug program.
fn bounded() -> Result<(), Failure> {
    let steps = Steps::start();
    let server = steps.step("PostgreSQL", Server::prepare)?;
    // All of the workspace, as for the tests: fewer packages would have other features and be built again.
    let build = ["build", "--workspace", "--bins", "--locked"];
    steps.step("programs", || workspace::run("cargo build", &mut workspace::cargo(&build)))?;
    for scenario in scenario::SCENARIOS {
        steps.step(scenario.name, || scenario::prove_bounded(scenario, &server))?;
    }
    steps.step(input::NAME, input::bounded)?;
    server.stop()?;
    steps.finish();
    Ok(())
}

/// Faults of nodes, of the network and of the database at their full length; prints the longest silences.
fn outages() -> Result<(), Failure> {
    let steps = Steps::start();
    let server = steps.step("PostgreSQL", Server::prepare)?;
    for (step, package, test, variable) in NODE_FAULTS {
        steps.step(step, || {
            let arguments =
                ["test", "--package", package, "--locked", "--test", "main", test, "--", "--nocapture"];
            let mut cargo = workspace::cargo(&arguments);
            cargo.env(variable.0, variable.1);
            workspace::run("cargo test", server.set_environment(&mut cargo))
        })?;
    }
    server.stop()?;
    steps.finish();
    Ok(())
}

/// `kill -9` under load on both stores: no accepted change is lost, and every event is delivered.
fn crash() -> Result<(), Failure> {
    let steps = Steps::start();
    let server = steps.step("PostgreSQL", Server::prepare)?;
    steps.step(&format!("crash, {CRASH_ROUNDS} rounds on each store"), || {
        let mut cargo = workspace::cargo(&CRASH);
        cargo.env(ROUNDS, CRASH_ROUNDS.to_string());
        workspace::run("cargo test", server.set_environment(&mut cargo))
    })?;
    server.stop()?;
    steps.finish();
    Ok(())
}
