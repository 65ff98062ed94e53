//! Sets `ALDABA_VERSION`, the text of `aldaba --version`: the package version and, if git is available, the commit.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A checkout changes HEAD, a commit changes the branch's ref, and both change the log of HEAD.
    let branch = git(&["symbolic-ref", "-q", "HEAD"]);
    for name in ["HEAD", "logs/HEAD"].into_iter().chain(branch.as_deref()) {
        let path = git(&["rev-parse", "--git-path", name]);
        // Cargo runs the script on every build if a watched file does not exist.
        if let Some(path) = path.filter(|path| Path::new(path).exists()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).map(|commit| format!(" ({commit})"));
    println!("cargo:rustc-env=ALDABA_VERSION={}{}", env!("CARGO_PKG_VERSION"), commit.unwrap_or_default());
}

/// The output of a git command, or none without git or outside a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}
