//! `cargo xtask test`: every check that must pass, with one command, on any Debian machine.

use crate::failure::Failure;
use crate::server::Server;
use crate::steps::Steps;
use crate::{clients, kits, prove, tidy, workspace};

const THREADS_PER_CORE: usize = 3;

pub(crate) fn command(fast: bool) -> Result<(), Failure> {
    let steps = Steps::start();
    let server = steps.step("PostgreSQL", Server::prepare)?;
    steps.step("formatting", || cargo(&["fmt", "--all", "--", "--check"], &server))?;
    steps.step("tidy", tidy::command)?;
    if !fast {
        steps.together(&[("clippy", &|| clippy(&server)), ("installation", &install)])?;
    }
    steps.step("tests", || run_tests(&server))?;
    if !fast {
        steps.together(&[("proofs", &|| prove::in_tests(&server)), ("fuzz", &prove::input::bounded)])?;
        steps.together(&[("clients", &clients::run_all), ("kits", &kits::run_all)])?;
    }
    server.stop()?;
    steps.finish();
    Ok(())
}

fn clippy(server: &Server) -> Result<(), Failure> {
    cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], server)
}

/// What the clients and the kits need from elsewhere, but for what Maven and Go fetch by themselves.
fn install() -> Result<(), Failure> {
    clients::install_all()?;
    kits::install_all()
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
