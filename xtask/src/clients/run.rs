//! The clients, one after the other, each with a bound on its time; beside them the one that takes longest, which has a
//! service of its own.

use std::{path::Path, process::Command, thread, time::Duration};

use super::{
    Directories,
    prepare::Toolchain,
    process::{Process, now},
};
use crate::failure::Failure;

/// What a client is run by.
#[derive(Clone, Copy, Debug)]
enum Runner {
    Python,
    Node,
    Itself,
}

#[derive(Debug)]
struct Client {
    name: &'static str,
    by: Runner,
    /// Its source in the folder of its language.
    source: &'static str,
    seconds_max: u64,
}

const CLIENTS: [Client; 9] = [
    Client { name: "Authlib", by: Runner::Python, source: "with_authlib.py", seconds_max: 90 },
    Client {
        name: "requests-oauthlib",
        by: Runner::Python,
        source: "with_requests_oauthlib.py",
        seconds_max: 90,
    },
    Client {
        name: "Standard Webhooks",
        by: Runner::Python,
        source: "with_standardwebhooks.py",
        seconds_max: 90,
    },
    Client { name: "a receiver", by: Runner::Python, source: "with_receiver.py", seconds_max: 90 },
    Client { name: "openid-client", by: Runner::Node, source: "with_openid_client.mjs", seconds_max: 90 },
    Client { name: "oauth4webapi", by: Runner::Node, source: "with_oauth4webapi.mjs", seconds_max: 90 },
    Client { name: "validators", by: Runner::Node, source: "with_validators.mjs", seconds_max: 90 },
    Client { name: "openidconnect", by: Runner::Itself, source: "", seconds_max: 90 },
    Client { name: "Chromium", by: Runner::Node, source: "with_chromium.mjs", seconds_max: 300 },
];

/// By itself: it does whatever a document allows, and others would find what it leaves behind.
const SCHEMATHESIS: Client =
    Client { name: "Schemathesis", by: Runner::Python, source: "with_schemathesis.py", seconds_max: 600 };

/// Runs all of them, also after one has failed: a change that breaks one often breaks others, and how they
/// differ says what it was.
pub(super) fn all(
    toolchain: &Toolchain,
    directories: &Directories,
    environment: &Path,
    alone: &Path,
) -> Result<(), Failure> {
    let failed: Vec<&str> = thread::scope(|scope| {
        let beside = scope.spawn(|| passes(&SCHEMATHESIS, toolchain, directories, alone));
        let mut results: Vec<_> = CLIENTS
            .iter()
            .map(|client| (client.name, passes(client, toolchain, directories, environment)))
            .collect();
        results.push((SCHEMATHESIS.name, beside.join().unwrap_or(false)));
        results.into_iter().filter(|(_, passed)| !passed).map(|(name, _)| name).collect()
    });
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::work(format!("these clients failed: {}", failed.join(", "))))
}

/// Runs one, and tells how it went.
fn passes(client: &Client, toolchain: &Toolchain, directories: &Directories, environment: &Path) -> bool {
    let started = now();
    let mut said = String::new();
    let result = Process::start(client.name, &mut command(client, toolchain, directories, environment))
        .and_then(|mut process| {
            process.finish(Duration::from_secs(client.seconds_max))?;
            process.said().clone_into(&mut said);
            Ok(())
        });
    let seconds = started.elapsed().as_secs_f64();
    match &result {
        // A client's last line says what it has seen.
        Ok(()) => println!("{}: {} ({seconds:.1} s)", client.name, said.lines().last().unwrap_or_default()),
        Err(messages) => println!("{messages}\n{}: FAILED after {seconds:.1} s", client.name),
    }
    result.is_ok()
}

fn command(client: &Client, toolchain: &Toolchain, directories: &Directories, environment: &Path) -> Command {
    let mut command = match client.by {
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
        Runner::Itself => Command::new(&toolchain.rust),
    };
    // Whatever proxy this machine has, loopback is not behind it.
    command.arg(environment).env("NO_PROXY", "localhost,127.0.0.1").env("no_proxy", "localhost,127.0.0.1");
    command.env("ALDABA_TEST_CHROMIUM", &toolchain.chromium);
    command
}
