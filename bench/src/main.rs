//! The measurements themselves, built as a release: `cargo xtask bench` calls this and shows what it prints.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a tool for people")]
#![allow(clippy::disallowed_methods, reason = "it measures real time")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod bare;
mod bare_sender;
mod changes;
mod database;
mod deliveries;
mod dev;
mod load;
mod lone_query;
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

/// What xtask passes on.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// `sqlite` or `postgres`.
    pub(crate) store: String,
    pub(crate) seconds: u64,
    pub(crate) program: String,
    /// A server with the right to create databases, for the store `postgres`.
    pub(crate) postgres: Option<String>,
    /// One part of a measurement that has several; none: all of them.
    pub(crate) only: Option<String>,
}

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after =
        |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1)).cloned();
    if words.first().is_some_and(|word| word == "bare-handler") {
        return ended(bare::handler(after("--body").as_deref(), after("--database").as_deref()));
    }
    if words.first().is_some_and(|word| word == "raw-signing") {
        let seconds = after("--seconds").and_then(|seconds| seconds.parse().ok()).unwrap_or(1);
        return ended(signing::raw(seconds));
    }
    if words.first().is_some_and(|word| word == "bare-sender") {
        let in_flight = after("--in-flight").and_then(|text| text.parse().ok()).unwrap_or(8);
        let milliseconds = after("--milliseconds").and_then(|text| text.parse().ok()).unwrap_or(1000);
        let urls = after("--urls").unwrap_or_default();
        return ended(bare_sender::send(&urls, in_flight, milliseconds));
    }
    let options = Options {
        store: after("--store").unwrap_or_else(|| "sqlite".into()),
        seconds: after("--seconds").and_then(|seconds| seconds.parse().ok()).unwrap_or(20),
        program: after("--program").unwrap_or_default(),
        postgres: after("--postgres"),
        only: after("--only"),
    };
    let report = match words.first().map(String::as_str) {
        Some("changes") => changes::run(&options),
        Some("tokens") => tokens::run(&options),
        Some("reads") => reads::run(&options),
        Some("deliveries") => deliveries::run(&options),
        other => Err(format!("no bench {other:?}").into()),
    };
    ended(report.and_then(|report| {
        println!("{}", serde_json::to_string(&report)?);
        Ok(())
    }))
}

fn ended(done: Fallible<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
