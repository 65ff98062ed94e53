//! A network of one's own, in which every address of the world, public or private, is this machine: so the service needs no
//! exception to be watched, and nothing leaves the machine.

use std::process::{Command, Stdio};

use crate::{Fallible, Options, Part, Report};

/// Namespaces for the network, and for mounts so that the name server can be another one.
const NAMESPACES: [&str; 2] = ["--net", "--mount"];
/// Without the rights of root, a user namespace gives them inside.
const AS_USER: [&str; 2] = ["--user", "--map-root-user"];

/// Starts this program again in such a network, and returns what it saw. None where this machine gives no network.
pub(super) fn run(options: &Options, scenario: &str) -> Fallible<Option<Vec<Part>>> {
    let Some(arguments) = possible() else { return Ok(None) };
    let mut command = Command::new("unshare");
    command.args(arguments).arg(std::env::current_exe()?).args([scenario, "--program", &options.program]);
    if options.is_bounded {
        command.arg("--bounded");
    }
    let output = command.stderr(Stdio::inherit()).output()?;
    let report: Report = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("{scenario} ended with {} and no report", output.status))?;
    Ok(Some(report.parts))
}

/// The arguments with which `unshare` works here.
fn possible() -> Option<Vec<&'static str>> {
    [NAMESPACES.to_vec(), [AS_USER, NAMESPACES].concat()].into_iter().find(|arguments| {
        let status = Command::new("unshare").args(arguments).arg("true").stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    })
}

/// Inside: makes every address one of this machine, and the file with the name servers another one.
pub(super) fn prepare(name_servers: &std::path::Path) -> Fallible<()> {
    let all = ["add", "local", "default", "dev", "lo"];
    call("ip", &["link", "set", "lo", "up"])?;
    call("ip", &[&["route"], &all[..]].concat())?;
    call("ip", &[&["-6", "route"], &all[..]].concat())?;
    let path = name_servers.to_str().ok_or("the folder's name is not UTF-8")?;
    call("mount", &["--bind", path, "/etc/resolv.conf"])
}

fn call(program: &str, arguments: &[&str]) -> Fallible<()> {
    let output =
        Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)).into())
}
