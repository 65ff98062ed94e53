//! `cargo xtask prove`: what the tests show in a few rounds, shown in many; for whoever wants to be surer than
//! a change's tests can be in their time.

use crate::{failure::Failure, server::Server, steps::Steps, workspace};

/// How often the program is killed on each store; the tests do it three times.
const CRASH_ROUNDS: u32 = 20;

/// The story that is told, and the variable that says for how many rounds.
const CRASH: [&str; 7] = ["test", "--package", "aldaba", "--locked", "--test", "main", "webhooks::crash::"];
const ROUNDS: &str = "ALDABA_CRASH_ROUNDS";

pub fn command(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["crash"] => crash(),
        _ => Err(Failure::usage(format!("`prove` takes the word crash, not `{}`", words.join(" ")))),
    }
}

/// `kill -9` under load: nothing that was accepted is lost, and everything is delivered, on both stores.
fn crash() -> Result<(), Failure> {
    let steps = Steps::start();
    let server = steps.step("PostgreSQL", Server::ready)?;
    steps.step(&format!("crash, {CRASH_ROUNDS} rounds on each store"), || {
        let mut cargo = workspace::cargo(&CRASH);
        cargo.env(ROUNDS, CRASH_ROUNDS.to_string());
        workspace::run("cargo test", server.tell(&mut cargo))
    })?;
    server.stop()?;
    steps.finish();
    Ok(())
}
