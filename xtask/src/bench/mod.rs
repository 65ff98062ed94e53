//! `cargo xtask bench`: the registry of benchmarks. A bench is a function from options to a report; this module chooses the
//! stores and renders the figures.

mod measure;
mod options;
mod report;

use std::io::{self, Write};

pub(crate) use options::Arguments;
pub use options::{Options, Store};
pub use report::{Figure, Report};

use crate::failure::Failure;

/// A benchmark.
#[derive(Debug)]
pub struct Bench {
    pub name: &'static str,
    /// One line for the list of benches.
    pub about: &'static str,
    pub run: fn(&Options) -> Result<Report, String>,
    /// Whether a missed goal is a failure. Goals that are ratios to what the machine can do are met in most runs, not in all.
    pub must_meet_goals: bool,
}

/// Every benchmark. The crate `bench` implements them.
pub const BENCHES: &[Bench] = &[
    Bench {
        name: "changes",
        about: "durable changes per second through the ingest API",
        run: |options| measure::run("changes", options),
        must_meet_goals: false,
    },
    Bench {
        name: "tokens",
        about: "code exchanges and refreshes per second, beside raw signing on the same core",
        run: |options| measure::run("tokens", options),
        must_meet_goals: false,
    },
    Bench {
        name: "reads",
        about: "reads per second through the gateway, beside a bare handler that returns the same bytes",
        run: |options| measure::run("reads", options),
        must_meet_goals: false,
    },
    Bench {
        name: "deliveries",
        about: "deliveries per second from the change to its receiver, beside a bare sender",
        run: |options| measure::run("deliveries", options),
        must_meet_goals: false,
    },
    Bench {
        name: "pages",
        about: "latency of every page of the developer portal with a million records and deliveries",
        run: |options| measure::run("pages", options),
        must_meet_goals: true,
    },
];

pub(crate) fn command(arguments: &Arguments) -> Result<(), Failure> {
    run(BENCHES, arguments, &mut io::stdout())
}

fn run(benches: &[Bench], request: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(bench) = benches.iter().find(|bench| bench.name == request.name) else {
        return Err(Failure::usage(format!("no bench `{}`\n{}", request.name, list(benches))));
    };
    let mut missed = Vec::new();
    for store in request.stores() {
        let name = format!("{} on {}", bench.name, store.name());
        eprintln!("{name}: {} s", request.seconds);
        let options = Options { store, seconds: request.seconds, only: request.only.clone() };
        let report = (bench.run)(&options).map_err(|reason| Failure::work(format!("{name}: {reason}")))?;
        let text = if request.json { report.json() } else { report.table() };
        writeln!(out, "{text}")
            .map_err(|error| Failure::work(format!("the report cannot be written: {error}")))?;
        missed.extend(
            report.missed().filter(|_| bench.must_meet_goals).map(|figure| format!("{name}: {figure}")),
        );
    }
    if missed.is_empty() {
        Ok(())
    } else {
        Err(Failure::work(format!("goals missed: {}", missed.join("; "))))
    }
}

fn list(benches: &[Bench]) -> String {
    if benches.is_empty() {
        return "there are no benches".to_owned();
    }
    let width = benches.iter().map(|bench| bench.name.len()).max().unwrap_or_default();
    let lines = benches.iter().map(|bench| format!("\n  {:width$}  {}", bench.name, bench.about));
    lines.fold("benches:".to_owned(), |list, line| list + &line)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    const SAMPLES: &[Bench] = &[
        Bench {
            name: "reads",
            about: "pages per second",
            run: |options| Ok(seconds_as_report(options)),
            must_meet_goals: false,
        },
        Bench {
            name: "strict",
            about: "must meet its goals",
            run: |options| Ok(seconds_as_report(options)),
            must_meet_goals: true,
        },
        Bench {
            name: "broken",
            about: "always fails",
            run: |_| Err("no server".to_owned()),
            must_meet_goals: false,
        },
    ];

    /// Meets its goal in 3 seconds and more.
    fn seconds_as_report(options: &Options) -> Report {
        let (value, met) = (f64::from(options.seconds), Some(options.seconds >= 3));
        let figures = vec![Figure { name: "seconds".into(), value, met, ..Figure::default() }];
        Report { bench: "reads".into(), store: options.store.name().into(), figures }
    }

    fn output_of(arguments: &[&str]) -> Result<String, Failure> {
        let mut out = Vec::new();
        let request = Line::try_parse_from(std::iter::once(&"bench").chain(arguments)).unwrap().arguments;
        run(SAMPLES, &request, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn both_stores_run_unless_one_is_named() {
        let both = output_of(&["reads", "--json"]).unwrap();
        let stores: Vec<bool> = both.lines().map(|line| line.contains(r#""store":"sqlite""#)).collect();
        assert_eq!(stores, [true, false], "one object per line, one line per store");
        let one = output_of(&["reads", "--json", "--store", "postgres", "--seconds", "3"]).unwrap();
        assert_eq!(one.lines().count(), 1);
        assert!(one.contains(r#""store":"postgres""#) && one.contains(r#""value":3.0"#), "{one}");
    }

    #[test]
    fn unknown_bench_exits_with_2_and_lists_the_names() {
        let failure = output_of(&["writes"]).unwrap_err();
        assert_eq!(failure.code, 2);
        assert!(
            failure.message.contains("no bench `writes`\nbenches:\n  reads   pages per second\n  strict")
        );
    }

    #[test]
    fn failing_bench_exits_with_1() {
        let failure = output_of(&["broken", "--store", "sqlite"]).unwrap_err();
        assert_eq!(failure, Failure { code: 1, message: "broken on sqlite: no server".into() });
    }

    #[test]
    fn missed_goal_exits_with_1_where_goals_must_be_met() {
        assert!(output_of(&["reads", "--seconds", "1"]).is_ok());
        assert!(output_of(&["strict", "--seconds", "3"]).is_ok());
        let failure = output_of(&["strict", "--seconds", "1", "--store", "sqlite"]).unwrap_err();
        assert_eq!(failure, Failure { code: 1, message: "goals missed: strict on sqlite: seconds".into() });
    }

    #[test]
    fn bench_names_are_unique() {
        let mut names: Vec<&str> = BENCHES.iter().map(|bench| bench.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), BENCHES.len());
    }
}
