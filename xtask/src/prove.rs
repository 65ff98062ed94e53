//! `cargo xtask prove`: long checks that `cargo xtask test` runs only in part, or not at all.

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

pub fn command(arguments: &[&str]) -> Result<(), Failure> {
    match arguments {
        ["crash"] => crash(),
        ["nodes"] => nodes(),
        ["clients"] => clients::prove(),
        ["supply-chain"] => supply_chain::check(),
        _ => Err(Failure::usage(format!(
            "`prove` takes clients, crash, nodes or supply-chain, not `{}`",
            arguments.join(" ")
        ))),
    }
}

/// Faults of nodes, of the network and of the database at their full length; prints the longest silences.
fn nodes() -> Result<(), Failure> {
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
