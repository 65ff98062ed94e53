//! `cargo xtask prove supply-chain`: checks licences, bans and sources of all dependencies against `deny.toml`, and writes a
//! software bill of materials (CycloneDX).

use std::{env, fs, path::PathBuf, process::Command};

use crate::{failure::Failure, steps::Steps, workspace};

/// The tools, at the versions that this was written for.
const DENY: Tool = Tool { package: "cargo-deny", version: "0.20.2" };
const CYCLONEDX: Tool = Tool { package: "cargo-cyclonedx", version: "0.5.9" };

/// The manifest of the program, and where its SBOM goes below the target folder.
const PROGRAM: &str = "crates/aldaba/Cargo.toml";
const SBOM_NAME: &str = "aldaba.cdx";

struct Tool {
    package: &'static str,
    version: &'static str,
}

impl Tool {
    /// Installs the tool below the target folder unless this version is there, and returns its path.
    fn install(&self) -> Result<PathBuf, Failure> {
        let Self { package, version } = self;
        let root = workspace::target().join("tools").join(format!("{package}-{version}"));
        let program = root.join("bin").join(format!("{package}{}", env::consts::EXE_SUFFIX));
        if !program.is_file() {
            let mut install =
                workspace::cargo(&["install", "--locked", "--version", version, package, "--root"]);
            // The tools have a target folder of their own: their features differ from the workspace's.
            install.arg(&root).env("CARGO_TARGET_DIR", workspace::target().join("tools/build"));
            // A tool runs for seconds and builds for minutes.
            install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_PROFILE_RELEASE_LTO", "off");
            workspace::run("cargo install", &mut install)?;
        }
        Ok(program)
    }
}

pub(crate) fn check() -> Result<(), Failure> {
    let steps = Steps::start();
    let deny = steps.step("install cargo-deny", || DENY.install())?;
    steps.step("licences, bans, sources", || {
        let mut check = Command::new(deny);
        check.args(["--all-features", "check", "licenses", "bans", "sources"]).current_dir(workspace::root());
        workspace::run("cargo deny", &mut check)
    })?;
    let cyclonedx = steps.step("install cargo-cyclonedx", || CYCLONEDX.install())?;
    steps.step("SBOM", || write_sbom(cyclonedx))?;
    steps.finish();
    Ok(())
}

fn write_sbom(cyclonedx: PathBuf) -> Result<(), Failure> {
    let root = workspace::root();
    let mut write = Command::new(cyclonedx);
    write.args([
        "cyclonedx",
        "--format",
        "json",
        "--override-filename",
        SBOM_NAME,
        "--manifest-path",
        PROGRAM,
    ]);
    workspace::run("cargo cyclonedx", write.current_dir(&root))?;
    let file = format!("{SBOM_NAME}.json");
    let (written, destination) = (root.join("crates/aldaba").join(&file), workspace::target().join(&file));
    let result = fs::copy(&written, &destination).and_then(|_| fs::remove_file(&written));
    result.map_err(|error| Failure::work(format!("{}: {error}", written.display())))?;
    remove_other_sboms(&file);
    println!("wrote {}", destination.display());
    Ok(())
}

/// cargo-cyclonedx writes one file beside the manifest of every member of the workspace.
fn remove_other_sboms(file: &str) {
    let members =
        ["crates", "examples"].iter().flat_map(|folder| fs::read_dir(workspace::root().join(folder)));
    let folders = members.flatten().flatten().map(|entry| entry.path());
    for folder in folders.chain(["bench", "xtask"].map(|member| workspace::root().join(member))) {
        let _ = fs::remove_file(folder.join(file));
    }
}
