//! `cargo xtask prove`: long checks that `cargo xtask test` runs only in part, or not at all.

pub(crate) mod input;
mod page;
mod scenario;

use crate::{clients, failure::Failure, server::Server, steps::Steps, supply_chain, workspace};

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
const IN_TESTS: [&str; 2] = ["nodes", "one-node"];

/// A part of the proofs that is short enough for `cargo xtask test`, on the programs that its tests have built.
pub(crate) fn in_tests(server: &Server) -> Result<(), Failure> {
    scenario::prove_bounded_together(&IN_TESTS, server)
}

pub fn command(arguments: &[&str]) -> Result<(), Failure> {
    match arguments {
        [] => all(),
        ["--bounded"] => bounded(),
        ["crash"] => crash(),
        [input::NAME, rest @ ..] => input::command(rest),
        ["outages"] => outages(),
        ["clients"] => clients::prove(),
        ["supply-chain"] => supply_chain::check(),
        [name] | [name, "--only", _] if let Some(scenario) = scenario::find(name) => {
            scenario::prove(scenario, arguments.get(2).copied())
        }
        _ => Err(Failure::usage(format!(
            "`prove` takes clients, crash, input, outages, supply-chain or a scenario ({}), not `{}`",
            scenario::SCENARIOS.iter().map(|scenario| scenario.name).collect::<Vec<_>>().join(", "),
            arguments.join(" ")
        ))),
    }
}

/// Every scenario, one after the other; each writes its section of the page.
fn all() -> Result<(), Failure> {
    let steps = Steps::start();
    for scenario in scenario::SCENARIOS {
        steps.step(scenario.name, || scenario::prove(scenario, None))?;
    }
    steps.step(input::NAME, || input::command(&[]))?;
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
