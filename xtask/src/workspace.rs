//! Where the workspace lies, how cargo is called in it, and where its programs end up.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use crate::failure::Failure;

/// The workspace's root: the folder above this crate's. Cargo says at run time where that is; the place
/// known at compile time serves when the program is called without cargo.
pub fn root() -> PathBuf {
    let here =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().map_or(here.clone(), Path::to_path_buf)
}

/// A call of the same cargo that called us, in the workspace's root.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command whose words go straight to the terminal.
pub fn run(what: &str, command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| format!("{what}: cannot be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(Failure::child(what, status)) }
}

/// Builds a program with the profile of packages and returns its path. Cargo writes to standard error only, so that
/// standard output holds nothing but the benchmark's data.
pub fn dist_program(name: &str) -> Result<PathBuf, Failure> {
    run("cargo build --profile dist", &mut cargo(&["build", "--profile", "dist", "--locked", "-p", name]))?;
    let program = target().join("dist").join(format!("{name}{}", env::consts::EXE_SUFFIX));
    if program.is_file() {
        Ok(program)
    } else {
        Err(Failure::work(format!("cargo built the program, but {} is not there", program.display())))
    }
}

/// Where cargo puts what it builds.
pub fn target() -> PathBuf {
    target_folder(env::var_os("CARGO_TARGET_DIR"), &root())
}

fn target_folder(set: Option<OsString>, root: &Path) -> PathBuf {
    // A relative CARGO_TARGET_DIR counts from where cargo runs, which is the root.
    root.join(set.filter(|set| !set.is_empty()).unwrap_or_else(|| "target".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_folder_follows_the_environment() {
        let root = Path::new("/repo");
        assert_eq!(target_folder(None, root), Path::new("/repo/target"));
        assert_eq!(target_folder(Some("".into()), root), Path::new("/repo/target"));
        assert_eq!(target_folder(Some("out".into()), root), Path::new("/repo/out"));
        assert_eq!(target_folder(Some("/elsewhere".into()), root), Path::new("/elsewhere"));
    }

    #[test]
    fn the_root_holds_this_crate() {
        assert!(root().join("xtask/Cargo.toml").is_file());
    }
}
