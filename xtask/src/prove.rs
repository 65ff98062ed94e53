//! `cargo xtask prove`: long checks that `cargo xtask test` runs only in part, or not at all.

use crate::{failure::Failure, server::Server, steps::Steps, supply_chain, workspace};

/// How often the program is killed on each store. `cargo xtask test` does it three times.
const CRASH_ROUNDS: u32 = 20;

/// The test, and the environment variable with its number of rounds.
const CRASH: [&str; 7] = ["test", "--package", "aldaba", "--locked", "--test", "main", "webhooks::crash::"];
const ROUNDS: &str = "ALDABA_CRASH_ROUNDS";

pub fn command(arguments: &[&str]) -> Result<(), Failure> {
    match arguments {
        ["crash"] => crash(),
        ["supply-chain"] => supply_chain::check(),
        _ => {
            Err(Failure::usage(format!("`prove` takes crash or supply-chain, not `{}`", arguments.join(" "))))
        }
    }
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
