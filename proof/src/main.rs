//! The proofs: real processes under load while something breaks, and checkers that compare what the service acknowledged with
//! what it stored and what arrived. `cargo xtask prove` builds this program, runs it and writes `docs/reliability.md` from the
//! reports that it prints as JSON.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool prints")]
#![allow(clippy::disallowed_methods, reason = "it measures real time")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod access;
mod access_checker;
mod background;
mod balancer;
mod calls;
mod checker;
mod cleanup;
mod cores;
mod database;
mod http;
mod ledger;
mod load;
mod namespaces;
mod pauses;
mod postgres;
mod power_cut;
mod process;
mod proxy;
mod random;
mod receivers;
mod report;
mod scenarios;
mod service;
mod sign_in;
mod traffic;
mod trial;

use std::process::ExitCode;
use std::time::Duration;

pub(crate) use report::{Part, Report};

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The command line, as xtask passes it.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The program under proof.
    pub(crate) program: String,
    /// The url of a server where databases may be created.
    pub(crate) postgres: Option<String>,
    /// The folder with PostgreSQL's own programs.
    pub(crate) postgres_programs: Option<String>,
    /// One part of a scenario that has several; all parts if absent.
    pub(crate) only: Option<String>,
    /// The short form of `cargo xtask prove --bounded`.
    pub(crate) is_bounded: bool,
}

impl Options {
    /// A span at its full length, or the short one.
    pub(crate) fn span(&self, full: Duration, bounded: Duration) -> Duration {
        if self.is_bounded { bounded } else { full }
    }

    pub(crate) fn count(&self, full: usize, bounded: usize) -> usize {
        if self.is_bounded { bounded } else { full }
    }

    pub(crate) fn has_part(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only.split(',').any(|one| one == part))
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1)).cloned()
    };
    let options = Options {
        program: option("--program").unwrap_or_default(),
        postgres: option("--postgres"),
        postgres_programs: option("--postgres-programs"),
        only: option("--only"),
        is_bounded: arguments.iter().any(|argument| argument == "--bounded"),
    };
    let name = arguments.first().map(String::as_str).unwrap_or_default();
    match run(name, &options) {
        Ok(report) => {
            println!("{}", serde_json::to_string(&report).unwrap_or_default());
            if report.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(name: &str, options: &Options) -> Fallible<Report> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(scenarios::run(name, options))
}
