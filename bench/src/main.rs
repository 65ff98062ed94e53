//! The benchmark program. `cargo xtask bench` builds it, runs it and renders the figures that it prints as JSON.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool prints")]
#![allow(clippy::disallowed_methods, reason = "it measures real time")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod bare;
mod bare_sender;
mod changes;
mod database;
mod deliveries;
mod dev;
mod load;
mod page_query;
mod pages;
mod program;
mod reads;
mod report;
mod rows;
mod sign_in;
mod signing;
mod sink;
mod tokens;
mod wire;

use std::process::ExitCode;

/// The command line, as xtask passes it.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// `sqlite` or `postgres`.
    pub(crate) store: String,
    pub(crate) seconds: u64,
    pub(crate) program: String,
    /// The url of a server where databases may be created, for the store `postgres`.
    pub(crate) postgres: Option<String>,
    /// One part of a benchmark that has several; all parts if absent.
    pub(crate) only: Option<String>,
}

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1)).cloned()
    };
    if arguments.first().is_some_and(|argument| argument == "bare-handler") {
        return exit_code(bare::handler(option("--body").as_deref(), option("--database").as_deref()));
    }
    if arguments.first().is_some_and(|argument| argument == "raw-signing") {
        let seconds = option("--seconds").and_then(|seconds| seconds.parse().ok()).unwrap_or(1);
        return exit_code(signing::raw(seconds));
    }
    if arguments.first().is_some_and(|argument| argument == "bare-sender") {
        let in_flight = option("--in-flight").and_then(|text| text.parse().ok()).unwrap_or(8);
        let milliseconds = option("--milliseconds").and_then(|text| text.parse().ok()).unwrap_or(1000);
        let urls = option("--urls").unwrap_or_default();
        return exit_code(bare_sender::send(&urls, in_flight, milliseconds));
    }
    let options = Options {
        store: option("--store").unwrap_or_else(|| "sqlite".into()),
        seconds: option("--seconds").and_then(|seconds| seconds.parse().ok()).unwrap_or(20),
        program: option("--program").unwrap_or_default(),
        postgres: option("--postgres"),
        only: option("--only"),
    };
    let report = match arguments.first().map(String::as_str) {
        Some("changes") => changes::run(&options),
        Some("tokens") => tokens::run(&options),
        Some("reads") => reads::run(&options),
        Some("deliveries") => deliveries::run(&options),
        Some("pages") => pages::run(&options),
        other => Err(format!("no bench {other:?}").into()),
    };
    exit_code(report.and_then(|report| {
        println!("{}", serde_json::to_string(&report)?);
        Ok(())
    }))
}

fn exit_code(done: Fallible<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
