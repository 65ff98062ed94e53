//! `cargo xtask test`: every check that must pass, with one command, on any Debian machine.

use crate::{clients, failure::Failure, kits, prove, server::Server, steps::Steps, tidy, workspace};

const THREADS_PER_CORE: usize = 3;

pub(crate) fn command(fast: bool) -> Result<(), Failure> {
    let steps = Steps::start();
    let server = steps.step("PostgreSQL", Server::prepare)?;
    steps.step("formatting", || cargo(&["fmt", "--all", "--", "--check"], &server))?;
    if !fast {
        steps.step("clippy", || {
            cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], &server)
        })?;
    }
    steps.step("tidy", tidy::command)?;
    steps.step("tests", || run_tests(&server))?;
    if !fast {
        steps.step("proofs", || prove::in_tests(&server))?;
        steps.step("fuzz", prove::input::bounded)?;
        steps.step("clients", clients::run_all)?;
        steps.step("kits", kits::run_all)?;
    }
    server.stop()?;
    steps.finish();
    Ok(())
}

/// More threads than cores: most tests wait for a timer, a process or a database.
fn run_tests(server: &Server) -> Result<(), Failure> {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let mut tests = workspace::cargo(&["test", "--workspace", "--locked"]);
    tests.env("RUST_TEST_THREADS", (cores * THREADS_PER_CORE).to_string());
    workspace::run("cargo test", server.set_environment(&mut tests))
}

fn cargo(arguments: &[&str], server: &Server) -> Result<(), Failure> {
    let what = format!("cargo {}", arguments.join(" "));
    workspace::run(&what, server.set_environment(&mut workspace::cargo(arguments)))
}
