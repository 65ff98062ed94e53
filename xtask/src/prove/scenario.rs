//! Runs the scenarios of the crate `proof`: builds the programs, starts a PostgreSQL server where one is needed, installs the
//! Debian packages, and writes what was seen to the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::page;
use crate::failure::Failure;
use crate::machine;
use crate::postgres::{Cluster, Settings};
use crate::server::Server;
use crate::steps::run_together;
use crate::workspace::{self, dist_program};

const PAGE: &str = "docs/reliability.md";

/// A scenario of the crate `proof`.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    needs_postgres: bool,
    /// A program or a library that it runs, and the Debian package that has it.
    packages: &'static [(&'static str, &'static str)],
}

const FAKETIME: (&str, &str) = ("/usr/bin/faketime", "faketime");
const HAPROXY: (&str, &str) = ("/usr/sbin/haproxy", "haproxy");
const IP: (&str, &str) = ("/usr/sbin/ip", "iproute2");
const NFT: (&str, &str) = ("/usr/sbin/nft", "nftables");
const SYSCTL: (&str, &str) = ("/usr/sbin/sysctl", "procps");

pub(super) const NODES: Scenario =
    Scenario { name: "nodes", needs_postgres: true, packages: &[HAPROXY, FAKETIME, IP, NFT, SYSCTL] };
pub(super) const DATABASE: Scenario = Scenario { name: "database", needs_postgres: true, packages: &[] };
pub(super) const FAILOVER: Scenario = Scenario {
    name: "failover",
    needs_postgres: true,
    packages: &[
        HAPROXY,
        ("/usr/bin/patroni", "patroni"),
        ("/usr/lib/python3/dist-packages/etcd", "python3-etcd"),
        ("/usr/bin/etcd", "etcd-server"),
        IP,
    ],
};
pub(super) const ONE_NODE: Scenario = Scenario {
    name: "one-node",
    needs_postgres: false,
    packages: &[FAKETIME, ("/usr/bin/sqlite3", "sqlite3")],
};
pub(super) const RECEIVERS: Scenario = Scenario { name: "receivers", needs_postgres: false, packages: &[IP] };
pub(super) const LOAD: Scenario = Scenario { name: "load", needs_postgres: false, packages: &[] };

/// All of them, in the order of the page.
pub(super) const SCENARIOS: [&Scenario; 6] = [&NODES, &DATABASE, &FAILOVER, &ONE_NODE, &RECEIVERS, &LOAD];

/// Runs a scenario at its full length on the release program, and writes its section of the page.
pub(super) fn prove(scenario: &Scenario, only: Option<&str>) -> Result<(), Failure> {
    let program = dist_program("aldaba")?;
    let proof = dist_program("aldaba-proof")?;
    let cluster = scenario.needs_postgres.then(|| Cluster::start(Settings { durable: true })).transpose()?;
    let mut command = command(scenario, &proof, &program)?;
    if let Some(cluster) = &cluster {
        command.args(["--postgres", &cluster.url(), "--postgres-programs"]).arg(cluster.programs());
    }
    if let Some(only) = only {
        command.args(["--only", only]);
    }
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
        Failure::work(format!("{} ended with {} and no report", scenario.name, output.status))
    })?;
    // A part alone is a look, not a proof.
    if only.is_none() {
        write_section(scenario.name, &report)?;
    }
    if output.status.success() {
        Ok(())
    } else {
        Err(Failure::work(format!("{}: something promised did not hold", scenario.name)))
    }
}

/// Runs the short form on the debug program.
pub(super) fn prove_bounded(scenario: &Scenario, server: &Server) -> Result<(), Failure> {
    workspace::run(scenario.name, &mut bounded(scenario, server)?)
}

/// The same for several scenarios at once, which wait most of their time.
pub(super) fn prove_bounded_together(scenarios: &[&Scenario], server: &Server) -> Result<(), Failure> {
    // The packages of one are installed before those of the next.
    let commands = scenarios.iter().map(|one| Ok((one.name, bounded(one, server)?)));
    let commands: Vec<(&str, Command)> = commands.collect::<Result<_, Failure>>()?;
    let runs = commands.into_iter().map(|(name, mut command)| move || workspace::run(name, &mut command));
    run_together(runs)
}

fn bounded(scenario: &Scenario, server: &Server) -> Result<Command, Failure> {
    let folder = workspace::target().join("debug");
    let mut command = command(scenario, &folder.join("aldaba-proof"), &folder.join("aldaba"))?;
    command.arg("--bounded").stdout(Stdio::null());
    if let Some((url, programs)) = server.url_and_programs().filter(|_| scenario.needs_postgres) {
        command.args(["--postgres", url]);
        if let Some(programs) = programs {
            command.args(["--postgres-programs", programs]);
        }
    }
    Ok(command)
}

fn command(scenario: &Scenario, proof: &Path, program: &Path) -> Result<Command, Failure> {
    for (installed, package) in scenario.packages {
        if !Path::new(installed).exists() {
            machine::install(package)?;
            machine::disable_services(package);
        }
    }
    let mut command = Command::new(proof);
    command.args([scenario.name, "--program"]).arg(program);
    Ok(command)
}

/// Writes what a run saw to the section of the page.
pub(super) fn write_section(name: &str, report: &Value) -> Result<(), Failure> {
    let path: PathBuf = workspace::root().join(PAGE);
    let text = fs::read_to_string(&path).map_err(|error| format!("{PAGE}: {error}"))?;
    let text = page::with_section(&text, name, report, &run_line())?;
    fs::write(&path, text).map_err(|error| format!("{PAGE}: {error}"))?;
    println!("{PAGE}: the section of {name} is written");
    Ok(())
}

/// When and on what the run was.
fn run_line() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let date = Command::new("date").arg("+%-d %B %Y").env("LC_ALL", "C").output();
    let date =
        date.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    format!("Run on {date}, on {cores} cores.")
}
