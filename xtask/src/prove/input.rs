//! Hostile input: runs the targets of the crate `fuzz` on the debug program, whose assertions and overflow checks are on.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use serde_json::Value;

use super::scenario;
use crate::failure::Failure;
use crate::workspace;

pub(super) const NAME: &str = "input";
const PROGRAM: &str = "aldaba-fuzz-drive";
/// For each target.
const SECONDS: u32 = 600;
const SECONDS_BOUNDED: &str = "3";
/// Other machines than ours are slower than the limit of a call.
const SLOW_MS_BOUNDED: &str = "2000";

/// What `cargo xtask prove input` takes.
#[derive(Debug, Clone, Args)]
pub(super) struct Options {
    /// How long for each target; the page is written only after the full length
    #[arg(long, value_name = "N", default_value_t = SECONDS, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Targets at once; as many as there are cores unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self { seconds: SECONDS, jobs: None }
    }
}

/// `prove input [--seconds N] [--jobs N]`: every target at its full length with a new seed; writes the section of the page.
pub(super) fn command(options: &Options) -> Result<(), Failure> {
    // All of the workspace, as for the tests: fewer packages would have other features and be built again.
    let build = ["build", "--workspace", "--bins", "--locked"];
    workspace::run("cargo build", &mut workspace::cargo(&build))?;
    let mut drive = Command::new(program_path());
    drive.args(["--seconds", &options.seconds.to_string(), "--seed", &seed()?, "--json"]);
    if let Some(jobs) = options.jobs {
        drive.args(["--jobs", &jobs.to_string()]);
    }
    let output = drive.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| Failure::work(format!("{PROGRAM} ended with {} and no report", output.status)))?;
    // A shorter run is a look, not a proof.
    if options.seconds == SECONDS {
        scenario::write_section(NAME, &report)?;
    }
    if output.status.success() { Ok(()) } else { Err(Failure::work("an input broke a target")) }
}

/// A short form with the same inputs each time, so that a failure comes from the change that is tested. The program is the one that
/// `cargo test --workspace` or `cargo build --workspace` built.
pub(crate) fn bounded() -> Result<(), Failure> {
    // A little behind the proofs beside it, which measure times.
    let mut drive = Command::new("nice");
    drive.args(["-n", "5"]).arg(program_path());
    drive.args(["--seconds", SECONDS_BOUNDED, "--seed", "1", "--slow-ms", SLOW_MS_BOUNDED]);
    workspace::run(PROGRAM, &mut drive)
}

fn program_path() -> PathBuf {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    workspace::target().join("debug").join(name)
}

/// Another one each second.
fn seed() -> Result<String, Failure> {
    let output = Command::new("date").arg("+%s").output().map_err(|error| format!("date: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
