//! Runs a benchmark: builds the program and the crate `bench` with the profile `dist`, starts a durable PostgreSQL server if
//! needed, and parses the figures that the benchmark prints.

use std::process::{Command, Stdio};

use super::{Options, Report, Store};
use crate::postgres::{Cluster, Settings};
use crate::workspace::dist_program;

pub(super) fn run(name: &str, options: &Options) -> Result<Report, String> {
    let program = dist_program("aldaba").map_err(|failure| failure.message)?;
    let bench = dist_program("aldaba-bench").map_err(|failure| failure.message)?;
    let cluster = match options.store {
        Store::Sqlite => None,
        Store::Postgres => Some(Cluster::start(Settings { durable: true })?),
    };
    let mut command = Command::new(bench);
    command.args([name, "--store", options.store.name(), "--seconds", &options.seconds.to_string()]);
    if let Some(only) = &options.only {
        command.args(["--only", only]);
    }
    command.arg("--program").arg(program).stderr(Stdio::inherit());
    if let Some(cluster) = &cluster {
        command.args(["--postgres", &cluster.url()]);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("the benchmark ended with {}", output.status));
    }
    Report::parse(&String::from_utf8_lossy(&output.stdout))
}
