//! Runs the clients one after the other, each with a time limit. Schemathesis takes longest and runs in parallel, against its
//! own server.

use std::{path::Path, process::Command, thread, time::Duration};

use super::{
    Depth, Directories,
    environment::Environments,
    prepare::Toolchain,
    process::{Process, now},
};
use crate::failure::Failure;

/// What runs a client.
#[derive(Clone, Copy, Debug)]
enum Runner {
    Python,
    Node,
    Binary,
}

#[derive(Debug)]
pub(super) struct Client {
    name: &'static str,
    runner: Runner,
    /// Its source in the folder of its language.
    source: &'static str,
    seconds_max: u64,
}

const CLIENTS: [Client; 16] = [
    Client { name: "Authlib", runner: Runner::Python, source: "with_authlib.py", seconds_max: 90 },
    Client {
        name: "requests-oauthlib",
        runner: Runner::Python,
        source: "with_requests_oauthlib.py",
        seconds_max: 90,
    },
    Client {
        name: "Standard Webhooks",
        runner: Runner::Python,
        source: "with_standardwebhooks.py",
        seconds_max: 90,
    },
    Client { name: "a receiver", runner: Runner::Python, source: "with_receiver.py", seconds_max: 90 },
    Client { name: "aiosmtpd", runner: Runner::Python, source: "with_aiosmtpd.py", seconds_max: 90 },
    Client { name: "openid-client", runner: Runner::Node, source: "with_openid_client.mjs", seconds_max: 90 },
    Client { name: "oauth4webapi", runner: Runner::Node, source: "with_oauth4webapi.mjs", seconds_max: 90 },
    Client {
        name: "oidc-client-ts",
        runner: Runner::Node,
        source: "with_oidc_client_ts.mjs",
        seconds_max: 120,
    },
    Client { name: "validators", runner: Runner::Node, source: "with_validators.mjs", seconds_max: 90 },
    // Eight applications.
    Client { name: "Libraries", runner: Runner::Python, source: "with_libraries.py", seconds_max: 180 },
    Client { name: "generators", runner: Runner::Node, source: "with_generators.mjs", seconds_max: 180 },
    Client {
        name: "openapi-python-client",
        runner: Runner::Python,
        source: "with_openapi_python_client.py",
        seconds_max: 180,
    },
    Client { name: "openidconnect", runner: Runner::Binary, source: "", seconds_max: 90 },
    Client { name: "Chromium", runner: Runner::Node, source: "with_chromium.mjs", seconds_max: 900 },
    PORTAL,
    // Last: the others have filled the metrics.
    Client { name: "promtool", runner: Runner::Python, source: "with_promtool.py", seconds_max: 90 },
];

/// For `cargo xtask prove clients` alone.
pub(super) const HEAVY_LIBRARIES: &Client = &Client {
    name: "heavy libraries",
    runner: Runner::Python,
    source: "with_heavy_libraries.py",
    seconds_max: 300,
};

/// It has its own server, which approves what the sandbox needs.
const PORTAL: Client =
    Client { name: "Portal", runner: Runner::Node, source: "with_portal.mjs", seconds_max: 600 };

/// It has its own server: it disables, rotates and edits.
const CONSOLE: Client =
    Client { name: "Console", runner: Runner::Node, source: "with_console.mjs", seconds_max: 900 };

/// It has its own server: it calls everything that the document allows, and the other clients would see the results.
const SCHEMATHESIS: Client =
    Client { name: "Schemathesis", runner: Runner::Python, source: "with_schemathesis.py", seconds_max: 900 };

/// They run beside the others, one after the other.
const APART: [&Client; 2] = [&CONSOLE, &SCHEMATHESIS];

pub(super) fn all() -> Vec<&'static Client> {
    CLIENTS.iter().chain(APART).collect()
}

/// The named clients, or all of them; the error lists the names.
pub(super) fn chosen(names: &[String]) -> Result<Vec<&'static Client>, String> {
    let all = all();
    let is_named = |name: &str, client: &Client| client.name.eq_ignore_ascii_case(name);
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|client| is_named(name, client))) {
        let known: Vec<&str> = all.iter().map(|client| client.name).collect();
        return Err(format!("there is no client `{unknown}`; the clients are {}", known.join(", ")));
    }
    if names.is_empty() {
        return Ok(all);
    }
    let is_chosen = |client: &&Client| names.iter().any(|name| is_named(name, client));
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// What all clients of a run share.
#[derive(Clone, Copy)]
pub(super) struct Setup<'a> {
    pub(super) toolchain: &'a Toolchain,
    pub(super) directories: &'a Directories,
    pub(super) depth: Depth,
}

/// Runs the chosen clients, also after a failure: which of them fail helps to find the cause.
pub(super) fn run(
    chosen: &[&'static Client],
    setup: Setup<'_>,
    environments: &Environments,
) -> Result<(), Failure> {
    let (apart, others): (Vec<&'static Client>, Vec<&'static Client>) =
        chosen.iter().partition(|client| APART.iter().any(|one| one.name == client.name));
    let with_environment = |clients: Vec<&'static Client>| -> Vec<(&'static Client, &Path)> {
        clients.into_iter().map(|client| (client, environment(client, environments))).collect()
    };
    let (apart, others) = (with_environment(apart), with_environment(others));
    let failed_of = |clients: &[(&'static Client, &Path)]| -> Vec<&'static str> {
        let is_failed = |(client, environment): &&(&Client, &Path)| !passes(client, setup, environment);
        clients.iter().filter(is_failed).map(|(client, _)| client.name).collect()
    };
    let failed: Vec<&str> = thread::scope(|scope| {
        let beside = scope.spawn(|| failed_of(&apart));
        let mut failed = failed_of(&others);
        failed.extend(beside.join().unwrap_or_else(|_| vec!["those that run beside the others"]));
        failed
    });
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::work(format!("failed clients: {}", failed.join(", "))))
}

/// The file about the servers of a client.
fn environment<'a>(client: &Client, environments: &'a Environments) -> &'a Path {
    match client.name {
        name if name == PORTAL.name => environments.portal(),
        name if name == CONSOLE.name => environments.console(),
        name if name == SCHEMATHESIS.name => environments.schemathesis(),
        _ => environments.shared(),
    }
}

/// Runs one client and prints its result.
fn passes(client: &Client, setup: Setup<'_>, environment: &Path) -> bool {
    let started = now();
    let mut output = String::new();
    let result =
        Process::start(client.name, &mut command(client, setup, environment)).and_then(|mut process| {
            process.finish(Duration::from_secs(client.seconds_max))?;
            process.output().clone_into(&mut output);
            Ok(())
        });
    let seconds = started.elapsed().as_secs_f64();
    match &result {
        // A client's last line is its summary.
        Ok(()) => println!("{}: {} ({seconds:.1} s)", client.name, output.lines().last().unwrap_or_default()),
        Err(failure) => println!("{failure}\n{}: FAILED after {seconds:.1} s", client.name),
    }
    result.is_ok()
}

fn command(client: &Client, setup: Setup<'_>, environment: &Path) -> Command {
    let Setup { toolchain, directories, depth } = setup;
    let mut command = match client.runner {
        Runner::Python => {
            let mut python = Command::new(&toolchain.python);
            python.arg("-B").arg(directories.sources.join("python").join(client.source));
            python
        }
        Runner::Node => {
            let mut node = Command::new("node");
            node.arg(toolchain.node.join(client.source));
            node
        }
        Runner::Binary => Command::new(&toolchain.rust),
    };
    // A proxy of this machine must not be used for loopback.
    command.arg(environment).env("NO_PROXY", "localhost,127.0.0.1").env("no_proxy", "localhost,127.0.0.1");
    command.env("ALDABA_TEST_DEPTH", depth.name()).env("ALDABA_TEST_LIBRARIES", &toolchain.libraries);
    command.env("ALDABA_TEST_CHROMIUM", &toolchain.chromium).env("ALDABA_TEST_PROMTOOL", &toolchain.promtool);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_chosen_by_name() {
        let names = |wanted: &[&str]| -> Vec<&str> {
            chosen(&wanted.iter().map(ToString::to_string).collect::<Vec<_>>())
                .unwrap()
                .iter()
                .map(|client| client.name)
                .collect()
        };
        assert_eq!(names(&["schemathesis", "Chromium"]), ["Chromium", "Schemathesis"]);
        assert_eq!(names(&[]).len(), CLIENTS.len() + APART.len());
        let unknown = chosen(&["lynx".to_owned()]).unwrap_err();
        assert!(
            unknown.contains("`lynx`")
                && unknown.contains("Chromium, Portal, promtool, Console, Schemathesis"),
            "{unknown}"
        );
    }
}
