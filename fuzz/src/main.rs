//! `aldaba-fuzz-drive`: runs the targets under hostile input, or repeats one input.

use std::process::ExitCode;
use std::time::Duration;

use aldaba_fuzz::{Finding, Limits, TARGETS, Target, TargetReport, decode_input, drive, repeat};
use serde_json::{Value, json};

const USAGE: &str = "\
Usage: aldaba-fuzz-drive [--target NAME]... [--seconds N] [--inputs N] [--seed N] [--jobs N] [--slow-ms N] [--json]
       aldaba-fuzz-drive --target NAME --input HEX     repeats one input
       aldaba-fuzz-drive --list                        prints the names of the targets

--seconds and --inputs are for each target; --jobs is the number of targets at once. The same seed makes the same inputs. Exits with 1 if
there is a finding, and prints each with the command that repeats it.";

const SECONDS_DEFAULT: f64 = 10.0;
const SLOW_MS_DEFAULT: u64 = 250;

struct Options {
    targets: Vec<Target>,
    limits: Limits,
    input: Option<Vec<u8>>,
    is_json: bool,
    is_list: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match parse(&arguments) {
        Ok(options) => run(&options),
        Err(why) => {
            print(&mut std::io::stderr(), &format!("{why}\n\n{USAGE}"));
            ExitCode::from(2)
        }
    }
}

/// A closed pipe is no reason to panic.
fn print(to: &mut impl std::io::Write, line: &str) {
    let _ = writeln!(to, "{line}");
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let mut options = Options {
        targets: Vec::new(),
        limits: Limits {
            seed: 1,
            span: Duration::from_secs_f64(SECONDS_DEFAULT),
            inputs: u64::MAX,
            slow: Duration::from_millis(SLOW_MS_DEFAULT),
            jobs: cores,
        },
        input: None,
        is_json: false,
        is_list: false,
    };
    let mut rest = arguments.iter();
    while let Some(name) = rest.next() {
        match name.as_str() {
            "--json" => options.is_json = true,
            "--list" => options.is_list = true,
            "--target" | "--seconds" | "--inputs" | "--seed" | "--jobs" | "--slow-ms" | "--input" => {
                let value = rest.next().ok_or_else(|| format!("{name} needs a value"))?;
                options.set(name, value).ok_or_else(|| format!("{name} cannot be {value:?}"))?;
            }
            other => return Err(format!("unknown argument {other:?}")),
        }
    }
    if options.input.is_some() && options.targets.len() != 1 {
        return Err("--input needs one --target".into());
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.to_vec();
    }
    Ok(options)
}

impl Options {
    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        let limits = &mut self.limits;
        match name {
            "--target" => self.targets.push(*TARGETS.iter().find(|target| target.name == value)?),
            "--seconds" => limits.span = Duration::try_from_secs_f64(value.parse().ok()?).ok()?,
            "--inputs" => limits.inputs = value.parse().ok()?,
            "--seed" => limits.seed = value.parse().ok()?,
            "--jobs" => limits.jobs = value.parse().ok()?,
            "--slow-ms" => limits.slow = Duration::from_millis(value.parse().ok()?),
            _ => self.input = Some(decode_input(value)?),
        }
        Some(())
    }
}

fn run(options: &Options) -> ExitCode {
    if options.is_list {
        for target in TARGETS {
            print(&mut std::io::stdout(), target.name);
        }
        return ExitCode::SUCCESS;
    }
    if let (Some(input), [target]) = (&options.input, &options.targets[..]) {
        let finding = repeat(target, input, options.limits.slow);
        finding.iter().for_each(told);
        return if finding.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    match drive(&options.targets, &options.limits, tell) {
        Ok(reports) => {
            let findings: usize = reports.iter().map(|report| report.findings.len()).sum();
            if options.is_json {
                print(&mut std::io::stdout(), &report_json(&reports, &options.limits).to_string());
            }
            if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(finding) => {
            told(&finding);
            ExitCode::FAILURE
        }
    }
}

fn tell(report: &TargetReport) {
    let TargetReport { target, inputs, outcomes, slowest, findings } = report;
    let figures = format!(
        "{target}: {inputs} inputs, {outcomes} outcomes, slowest {} ms, {} findings",
        slowest.as_millis(),
        findings.len()
    );
    print(&mut std::io::stderr(), &figures);
    findings.iter().for_each(told);
}

fn told(finding: &Finding) {
    print(&mut std::io::stderr(), &finding.to_string());
}

/// The report for `docs/reliability.md`, in the form of the crate `proof`.
fn report_json(reports: &[TargetReport], limits: &Limits) -> Value {
    let figures: Vec<Value> = TARGETS
        .iter()
        .filter_map(|target| Some((target, reports.iter().find(|report| report.target == target.name)?)))
        .map(|(target, report)| {
            let TargetReport { inputs, outcomes, slowest, findings, .. } = report;
            let value = format!(
                "{} inputs, {outcomes} outcomes, slowest {} ms, {} findings",
                thousands(*inputs),
                slowest.as_millis(),
                findings.len()
            );
            let name = format!("`{}`: {}", target.name, target.checks);
            json!({"name": name, "value": value, "bound": "0 findings", "is_met": findings.is_empty()})
        })
        .collect();
    let tried = format!(
        "{} targets for {} s each, {} at a time, with the seed {}; a call that needs more than {} ms of the processor is a finding, as is a panic.",
        reports.len(),
        limits.span.as_secs(),
        limits.jobs,
        limits.seed,
        limits.slow.as_millis()
    );
    json!({"scenario": "input", "parts": [{"name": "mutated input", "tried": tried, "figures": figures}]})
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
