//! The workspace's root, calls of cargo in it, and the paths of its programs.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use crate::failure::Failure;

/// The workspace's root: the folder above this crate's. Cargo sets it at run time; without cargo, the path from compile time
/// is used.
pub fn root() -> PathBuf {
    let manifest_dir =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest_dir.parent().map_or(manifest_dir.clone(), Path::to_path_buf)
}

/// A command for the cargo that runs this program, in the workspace's root.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command whose output goes to the terminal.
pub fn run(what: &str, command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| format!("{what} cannot be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(Failure::child(what, status)) }
}

/// Builds a program with the profile `dist` and returns its path. Cargo writes only to standard error, so standard output
/// holds only the benchmark's data.
pub fn dist_program(name: &str) -> Result<PathBuf, Failure> {
    run("cargo build --profile dist", &mut cargo(&["build", "--profile", "dist", "--locked", "-p", name]))?;
    let program = target().join("dist").join(format!("{name}{}", env::consts::EXE_SUFFIX));
    if program.is_file() {
        Ok(program)
    } else {
        Err(Failure::work(format!("cargo built the program, but {} does not exist", program.display())))
    }
}

/// Cargo's target folder.
pub fn target() -> PathBuf {
    target_folder(env::var_os("CARGO_TARGET_DIR"), &root())
}

fn target_folder(set: Option<OsString>, root: &Path) -> PathBuf {
    // A relative CARGO_TARGET_DIR is relative to cargo's working directory, which is the root.
    root.join(set.filter(|set| !set.is_empty()).unwrap_or_else(|| "target".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_folder_follows_the_environment() {
        let root = Path::new("/repo");
        assert_eq!(target_folder(None, root), Path::new("/repo/target"));
        assert_eq!(target_folder(Some("".into()), root), Path::new("/repo/target"));
        assert_eq!(target_folder(Some("out".into()), root), Path::new("/repo/out"));
        assert_eq!(target_folder(Some("/elsewhere".into()), root), Path::new("/elsewhere"));
    }

    #[test]
    fn root_contains_this_crate() {
        assert!(root().join("xtask/Cargo.toml").is_file());
    }
}
