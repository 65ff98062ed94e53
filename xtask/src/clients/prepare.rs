//! What the clients need on this machine: their libraries, exactly as pinned, and a browser. What is there
//! already and was made from the same pins is used again.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{Directories, about, debian, process::Process};
use crate::workspace;

/// Downloads may be slow; nothing may last for ever.
const BOUND: Duration = Duration::from_secs(600);

/// What `npm ci` reads.
const MANIFESTS: [&str; 3] = [".npmrc", "package.json", "package-lock.json"];

/// Everything ready.
#[derive(Debug)]
pub(super) struct Toolchain {
    pub(super) python: PathBuf,
    /// The folder with Node's libraries and, beside them, the clients that use them.
    pub(super) node: PathBuf,
    pub(super) rust: PathBuf,
    pub(super) chromium: PathBuf,
}

impl Toolchain {
    pub(super) fn prepare(directories: &Directories) -> Result<Self, String> {
        fs::create_dir_all(&directories.kept).map_err(about(&directories.kept))?;
        Ok(Self {
            python: python(directories)?,
            node: node(directories)?,
            rust: rust(directories)?,
            chromium: debian::chromium()?,
        })
    }
}

/// A virtual environment with the packages of `requirements.txt`, held to their hashes.
fn python(directories: &Directories) -> Result<PathBuf, String> {
    let (pins, folder) = (directories.sources.join("python/requirements.txt"), directories.kept.join("venv"));
    let program = folder.join("bin/python");
    let wanted = Stamp::new(&folder, &[version("python3", "Python 3.11 or newer")?, text(&pins)?]);
    if !wanted.is_there() {
        println!("installing Python's libraries into {}", folder.display());
        wanted.clear()?;
        make_environment(&folder)?;
        let mut pip = Command::new(&program);
        pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]);
        finish("pip install", pip.args(["--require-hashes", "--requirement"]).arg(&pins))?;
        wanted.write()?;
    }
    Ok(program)
}

/// Debian's Python comes without what a virtual environment is made from.
fn make_environment(folder: &Path) -> Result<(), String> {
    let make = || finish("python3 -m venv", Command::new("python3").args(["-m", "venv"]).arg(folder));
    let Err(reason) = make() else {
        return Ok(());
    };
    debian::install("python3-venv", &format!("since `python3 -m venv` said:\n{reason}"))?;
    make()
}

/// The libraries that `package-lock.json` names, and the clients' sources beside them.
fn node(directories: &Directories) -> Result<PathBuf, String> {
    let (sources, folder) = (directories.sources.join("node"), directories.kept.join("node"));
    let mut pins = vec![version("node", "Node 20 or newer")?];
    for name in MANIFESTS {
        pins.push(text(&sources.join(name))?);
    }
    let wanted = Stamp::new(&folder, &pins);
    if !wanted.is_there() {
        println!("installing Node's libraries into {}", folder.display());
        wanted.clear()?;
        copy(&sources, &folder)?;
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
        finish("npm ci", npm.env("NPM_CONFIG_UPDATE_NOTIFIER", "false").current_dir(&folder))?;
        wanted.write()?;
    }
    // Node looks for libraries beside the source, and the source tree stays as it is.
    copy(&sources, &folder)?;
    Ok(folder)
}

/// The client in Rust: a workspace of its own, so that its libraries are none of the product's.
fn rust(directories: &Directories) -> Result<PathBuf, String> {
    let (source, target) = (directories.sources.join("rust"), directories.kept.join("rust"));
    if !target.exists() {
        println!("building the client in Rust into {}", target.display());
    }
    let mut cargo = workspace::cargo(&["build", "--quiet", "--locked", "--target-dir"]);
    finish("cargo build", cargo.arg(&target).current_dir(&source))?;
    Ok(target.join("debug/openidconnect-client"))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(about(to))?;
    for entry in fs::read_dir(from).map_err(about(from))?.flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).map_err(about(&entry.path()))?;
        }
    }
    Ok(())
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(about(path))
}

/// What a program says of its version; without the program nothing can go on.
fn version(program: &str, needed: &str) -> Result<String, String> {
    let missing = |reason: &str| format!("{needed} is needed: `{program} --version` {reason}");
    let output = Command::new(program).arg("--version").output();
    let output = output.map_err(|error| missing(&format!("cannot be run: {error}")))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(missing(&output.status.to_string()))
    }
}

fn finish(what: &str, command: &mut Command) -> Result<(), String> {
    Process::start(what, command)?.finish(BOUND)
}

/// What a folder was made from, written beside it once it is complete.
#[derive(Debug)]
struct Stamp {
    folder: PathBuf,
    file: PathBuf,
    pins: String,
}

impl Stamp {
    fn new(folder: &Path, pins: &[String]) -> Self {
        Self { folder: folder.to_owned(), file: folder.with_extension("stamp"), pins: pins.join("\n") }
    }

    fn is_there(&self) -> bool {
        self.folder.is_dir() && fs::read_to_string(&self.file).is_ok_and(|made| made == self.pins)
    }

    fn clear(&self) -> Result<(), String> {
        let _ = fs::remove_file(&self.file);
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).map_err(about(&self.folder))?;
        }
        Ok(())
    }

    fn write(&self) -> Result<(), String> {
        fs::write(&self.file, &self.pins).map_err(about(&self.file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_dir::TempDir;

    #[test]
    fn a_folder_counts_once_it_is_complete_and_from_the_same_pins() {
        let kept = TempDir::new("stamp").unwrap();
        let folder = kept.path().join("venv");
        let stamp = |pins: &str| Stamp::new(&folder, &[pins.to_owned()]);
        fs::create_dir(&folder).unwrap();
        assert!(!stamp("1").is_there(), "broken off");
        stamp("1").write().unwrap();
        assert!(stamp("1").is_there());
        assert!(!stamp("2").is_there(), "other pins");
        stamp("2").clear().unwrap();
        assert!(!folder.exists() && !stamp("1").is_there());
    }

    #[test]
    fn the_lock_names_no_place_of_one_registry() {
        let lock = workspace::root().join("clients/node/package-lock.json");
        let lock = fs::read_to_string(lock).unwrap();
        assert!(!lock.contains("\"resolved\""), "npm install --omit-lockfile-registry-resolved");
        assert!(lock.contains("\"integrity\": \"sha512-"));
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let messages = version("no-such-program", "Cobol").unwrap_err();
        assert!(
            messages.starts_with("Cobol is needed: `no-such-program --version` cannot be run"),
            "{messages}"
        );
    }
}
