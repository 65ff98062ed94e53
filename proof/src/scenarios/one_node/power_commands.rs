//! A power cut right after a command has ended: what it reported as done must be on the disk.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::power_cut::{PowerCut, Survival};
use crate::process::NodeSettings;
use crate::random::Random;
use crate::{Fallible, Part};

/// Commands, and the files that they must have left.
const COMMANDS: &[(&[&str], &[&str])] = &[
    (
        &["init", "service", "--base-url", "http://127.0.0.1:8080", "--store", "sqlite:data/aldaba.db"],
        &["service/aldaba.toml", "service/master.key", "service/operator.token"],
    ),
    (&["--config", "service/aldaba.toml", "tenant", "add", "First", "--id", "first"], &[]),
    (&["--config", "service/aldaba.toml", "tenant", "add", "Second", "--id", "second"], &[]),
    (
        &["--config", "service/aldaba.toml", "store", "backup", "backup.ndjson"],
        &["backup.ndjson", "service/data/aldaba.db"],
    ),
];

/// Runs each command and cuts the power; nothing that was not synced survives.
pub(super) fn check(part: &mut Part, program: &str) -> Fallible<()> {
    let folder = tempfile::tempdir()?;
    let mut power = PowerCut::of(folder.path())?;
    let mut lost = Vec::new();
    for (arguments, files) in COMMANDS {
        if folder.path().join("service").exists() {
            std::fs::create_dir_all(folder.path().join("service/data"))?;
        }
        let settings = power.record(NodeSettings::default(), None)?;
        run(program, folder.path(), arguments, &settings)?;
        power.happen(Survival::Nothing, &mut Random::new(4))?;
        for file in *files {
            let is_there = std::fs::metadata(folder.path().join(file)).is_ok_and(|file| file.len() > 0);
            if !is_there {
                lost.push(format!("{file} after {}", arguments.join(" ")));
            }
        }
        if !lost.is_empty() {
            break;
        }
    }
    let list = ["--config", "service/aldaba.toml", "tenant", "list", "--json"];
    if lost.is_empty() {
        let tenants = run(program, folder.path(), &list, &NodeSettings::default())?;
        for tenant in ["first", "second"] {
            if !tenants.contains(&format!("\"{tenant}\"")) {
                lost.push(format!("the tenant {tenant}"));
            }
        }
    }
    let seen = if lost.is_empty() { "everything is there".to_owned() } else { lost.join(", ") };
    let name = "a cut right after `init`, `tenant add` and `store backup` have ended loses nothing";
    part.holds_that(name, lost.is_empty(), seen);
    Ok(())
}

fn run(program: &str, folder: &Path, arguments: &[&str], settings: &NodeSettings) -> Fallible<String> {
    let output = Command::new(program)
        .args(arguments)
        .envs(settings.environment.iter().cloned())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{} ended with {}: {why}", arguments.join(" "), output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
