//! `cargo xtask test`: everything that must pass, on any Debian machine, with one command.

use crate::{clients, failure::Failure, server::Server, steps::Steps, tidy, workspace};

pub fn command(arguments: &[&str]) -> Result<(), Failure> {
    let fast = match arguments {
        [] => false,
        ["--fast"] => true,
        _ => {
            return Err(Failure::usage(format!(
                "`test` takes --fast and nothing else, not `{}`",
                arguments.join(" ")
            )));
        }
    };
    let steps = Steps::start();
    let server = steps.step("PostgreSQL", Server::prepare)?;
    steps.step("formatting", || cargo(&["fmt", "--all", "--", "--check"], &server))?;
    if !fast {
        steps.step("clippy", || {
            cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], &server)
        })?;
    }
    steps.step("tidy", || tidy::command(&[]))?;
    steps.step("tests", || cargo(&["test", "--workspace", "--locked"], &server))?;
    if !fast {
        steps.step("fuzz targets", fuzz_targets)?;
        steps.step("clients", clients::stage)?;
    }
    server.stop()?;
    steps.finish();
    Ok(())
}

fn cargo(arguments: &[&str], server: &Server) -> Result<(), Failure> {
    let what = format!("cargo {}", arguments.join(" "));
    workspace::run(&what, server.set_environment(&mut workspace::cargo(arguments)))
}

/// They compile: without libFuzzer itself, which needs a C++ compiler and is linked only to run them.
fn fuzz_targets() -> Result<(), Failure> {
    // In the same folder as everything else, so that what both are made of is checked once.
    let target = workspace::target().display().to_string();
    let arguments = [
        "check",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target-dir",
        &target,
        "--no-default-features",
        "--locked",
    ];
    workspace::run("cargo check of the fuzz targets", &mut workspace::cargo(&arguments))
}
