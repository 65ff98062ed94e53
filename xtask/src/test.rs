//! `cargo xtask test`: everything that must pass, on any Debian machine, with one command.

use std::{env, process::Command};

use crate::{
    clients,
    failure::Failure,
    postgres::{self, Cluster, Settings},
    steps::Steps,
    tidy, workspace,
};

/// Where the tests find the server in which they may create databases.
const SERVER: &str = "ALDABA_TEST_POSTGRES";

pub fn command(words: &[&str]) -> Result<(), Failure> {
    let fast = match words {
        [] => false,
        ["--fast"] => true,
        _ => {
            return Err(Failure::usage(format!(
                "`test` takes --fast and nothing else, not `{}`",
                words.join(" ")
            )));
        }
    };
    let steps = Steps::start();
    let server = steps.step("PostgreSQL", Server::ready)?;
    steps.step("formatting", || cargo(&["fmt", "--all", "--", "--check"], &server))?;
    if !fast {
        steps.step("clippy", || {
            cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], &server)
        })?;
    }
    steps.step("tidy", || tidy::command(&[]))?;
    steps.step("tests", || cargo(&["test", "--workspace", "--locked"], &server))?;
    if !fast {
        steps.step("fuzz targets", fuzz_targets)?;
        steps.step("clients", clients::stage)?;
    }
    server.stop()?;
    steps.finish();
    Ok(())
}

fn cargo(arguments: &[&str], server: &Server) -> Result<(), Failure> {
    let what = format!("cargo {}", arguments.join(" "));
    workspace::run(&what, server.tell(&mut workspace::cargo(arguments)))
}

/// They compile: without libFuzzer itself, which needs a C++ compiler and is linked only to run them.
fn fuzz_targets() -> Result<(), Failure> {
    // In the same folder as everything else, so that what both are made of is checked once.
    let target = workspace::target().display().to_string();
    let arguments = [
        "check",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target-dir",
        &target,
        "--no-default-features",
        "--locked",
    ];
    workspace::run("cargo check of the fuzz targets", &mut workspace::cargo(&arguments))
}

/// The server of one run: somebody's, or a throwaway one that goes with this value.
struct Server {
    variables: Vec<(&'static str, String)>,
    cluster: Option<Cluster>,
}

impl Server {
    fn ready() -> Result<Self, Failure> {
        let given = env::var(SERVER).ok().filter(|url| !url.is_empty());
        if let Some(url) = given {
            println!("using the server that {SERVER} names");
            let programs = postgres::find_programs().ok();
            return Ok(Self::new(url, programs.map(|folder| folder.display().to_string()), None));
        }
        let cluster = Cluster::start(Settings::default())?;
        println!("throwaway server at {} (programs: {})", cluster.url(), cluster.programs().display());
        let programs = cluster.programs().display().to_string();
        Ok(Self::new(cluster.url(), Some(programs), Some(cluster)))
    }

    fn new(url: String, programs: Option<String>, cluster: Option<Cluster>) -> Self {
        let mut variables = vec![(SERVER, url)];
        variables.extend(programs.map(|folder| (postgres::PROGRAMS, folder)));
        Self { variables, cluster }
    }

    /// Lets a child process know: the server's url, and PostgreSQL's programs for a test that needs a
    /// server of its own to stop and start.
    fn tell<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.envs(self.variables.iter().map(|(name, value)| (name, value)))
    }

    fn stop(self) -> Result<(), String> {
        self.cluster.map_or(Ok(()), Cluster::stop)
    }
}
