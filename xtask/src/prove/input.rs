//! Hostile input: runs the targets of the crate `fuzz` on the debug program, whose assertions and overflow checks are on.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::scenario;
use crate::failure::Failure;
use crate::workspace;

pub(super) const NAME: &str = "input";
const PROGRAM: &str = "aldaba-fuzz-drive";
/// For each target.
const SECONDS: &str = "600";
const SECONDS_BOUNDED: &str = "3";
/// Other machines than ours are slower than the limit of a call.
const SLOW_MS_BOUNDED: &str = "2000";

/// What `prove input` takes.
#[derive(Debug, PartialEq, Eq)]
struct Options<'a> {
    seconds: &'a str,
    /// Targets at once; as many as there are cores unless given.
    jobs: Option<&'a str>,
}

impl<'a> Options<'a> {
    fn parse(arguments: &[&'a str]) -> Result<Self, Failure> {
        let mut options = Self { seconds: SECONDS, jobs: None };
        for pair in arguments.chunks(2) {
            match pair {
                ["--seconds", number] if is_positive(number) => options.seconds = number,
                ["--jobs", number] if is_positive(number) => options.jobs = Some(number),
                _ => {
                    let given = arguments.join(" ");
                    let message = format!("`prove input` takes only --seconds N and --jobs N, not `{given}`");
                    return Err(Failure::usage(message));
                }
            }
        }
        Ok(options)
    }
}

fn is_positive(number: &str) -> bool {
    number.parse::<u32>().is_ok_and(|number| number > 0)
}

/// `prove input [--seconds N] [--jobs N]`: every target at its full length with a new seed; writes the section of the page.
pub(super) fn command(arguments: &[&str]) -> Result<(), Failure> {
    let Options { seconds, jobs } = Options::parse(arguments)?;
    // All of the workspace, as for the tests: fewer packages would have other features and be built again.
    let build = ["build", "--workspace", "--bins", "--locked"];
    workspace::run("cargo build", &mut workspace::cargo(&build))?;
    let mut drive = program();
    drive.args(["--seconds", seconds, "--seed", &seed()?, "--json"]);
    drive.args(jobs.iter().flat_map(|jobs| ["--jobs", jobs]));
    let output = drive.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| Failure::work(format!("{PROGRAM} ended with {} and no report", output.status)))?;
    // A shorter run is a look, not a proof.
    if seconds == SECONDS {
        scenario::write_section(NAME, &report)?;
    }
    if output.status.success() { Ok(()) } else { Err(Failure::work("an input broke a target")) }
}

/// A short form with the same inputs each time, so that a failure comes from the change that is tested. The program is the one that
/// `cargo test --workspace` or `cargo build --workspace` built.
pub(crate) fn bounded() -> Result<(), Failure> {
    let mut drive = program();
    drive.args(["--seconds", SECONDS_BOUNDED, "--seed", "1", "--slow-ms", SLOW_MS_BOUNDED]);
    workspace::run(PROGRAM, &mut drive)
}

fn program() -> Command {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    Command::new(workspace::target().join("debug").join(name))
}

/// Another one each second.
fn seed() -> Result<String, Failure> {
    let output = Command::new("date").arg("+%s").output().map_err(|error| format!("date: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_of_seconds_and_jobs_are_taken() {
        let all = Options::parse(&["--jobs", "4", "--seconds", "20"]).unwrap();
        assert_eq!(all, Options { seconds: "20", jobs: Some("4") });
        for wrong in [&["--seconds"][..], &["--seconds", "0"], &["--jobs", "x"], &["--only", "json"]] {
            assert_eq!(command(wrong).unwrap_err().code, 2, "{wrong:?}");
        }
    }
}
