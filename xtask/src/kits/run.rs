//! Runs the kits' tests, each against its own `aldaba dev`. As many kits as there are cores run at the same time, at most three.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
    thread,
    time::Duration,
};

use super::{Setup, prepare::Suite};
use crate::{
    clients::{Process, aldaba, now, with_path},
    failure::Failure,
    temp_dir::TempDir,
};

/// How long the server may take to become ready.
const READY_MAX: Duration = Duration::from_secs(60);

const AT_ONCE_MAX: usize = 3;

/// The environment variable with the path of a file that has the server's ready line.
const DEV: &str = "ALDABA_DEV";

/// Runs all suites, also after a failure: which of them fail helps to find the cause.
pub(super) fn run(suites: &[Suite], setup: &Setup) -> Result<(), Failure> {
    let waiting = Mutex::new(suites.iter());
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let at_once = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(AT_ONCE_MAX);
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(suite) = next() {
                    if !passes(suite, setup) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).push(suite.kit.name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::work(format!("failed kits: {}", failed.join(", "))))
}

/// Runs one suite and prints its result.
fn passes(suite: &Suite, setup: &Setup) -> bool {
    let started = now();
    let result = Server::start(setup).and_then(|server| {
        let deadline = Duration::from_secs(suite.kit.seconds_max);
        let result = suite.commands.iter().try_for_each(|command| {
            let left = deadline.saturating_sub(started.elapsed());
            run_command(suite.kit.name, command, &server.file, left)
        });
        let stopped = server.process.stop();
        result.and(stopped)
    });
    let seconds = started.elapsed().as_secs_f64();
    match &result {
        Ok(()) => println!("{}: passed ({seconds:.1} s)", suite.kit.name),
        Err(failure) => println!("{failure}\n{}: FAILED after {seconds:.1} s", suite.kit.name),
    }
    result.is_ok()
}

fn run_command(name: &str, prepared: &Command, dev: &Path, bound: Duration) -> Result<(), String> {
    let mut command = Command::new(prepared.get_program());
    command.args(prepared.get_args());
    if let Some(folder) = prepared.get_current_dir() {
        command.current_dir(folder);
    }
    command.envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // A proxy of this machine must not be used for loopback.
    command.env("NO_PROXY", "localhost,127.0.0.1").env("no_proxy", "localhost,127.0.0.1").env(DEV, dev);
    Process::start(name, &mut command)?.finish(bound)
}

/// `aldaba dev` with its sample data, and the file about it.
struct Server {
    process: Process,
    file: PathBuf,
    _folder: TempDir,
}

impl Server {
    fn start(setup: &Setup) -> Result<Self, String> {
        let folder = TempDir::new("kits").map_err(|error| format!("no temporary folder: {error}"))?;
        let mut command = aldaba(&setup.program);
        let mut process =
            Process::start("aldaba dev", command.args(["dev", "--json", "--listen", "127.0.0.1:0"]))?;
        let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
        let ready = process.line(READY_MAX, |line| is_json(line).then(|| line.to_owned()))?;
        let file = folder.path().join("dev.json");
        fs::write(&file, ready).map_err(with_path(&file))?;
        Ok(Self { process, file, _folder: folder })
    }
}
