//! Installs the clients' dependencies: their libraries with pinned versions, and a browser. An installation with the same pins
//! is reused.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{Directories, debian, libraries, process::Process, with_path};
use crate::workspace;

/// Generous, because downloads may be slow.
const INSTALL_MAX: Duration = Duration::from_secs(600);

/// The files that `npm ci` reads.
const MANIFESTS: [&str; 3] = [".npmrc", "package.json", "package-lock.json"];

/// The installed programs and folders.
#[derive(Debug)]
pub(super) struct Toolchain {
    pub(super) python: PathBuf,
    /// The folder with Node's libraries and, beside them, the clients that use them.
    pub(super) node: PathBuf,
    pub(super) rust: PathBuf,
    pub(super) chromium: PathBuf,
    pub(super) promtool: PathBuf,
    /// What the applications in `clients/libraries` use.
    pub(super) libraries: PathBuf,
}

impl Toolchain {
    pub(super) fn prepare(directories: &Directories) -> Result<Self, String> {
        fs::create_dir_all(&directories.cache).map_err(with_path(&directories.cache))?;
        Ok(Self {
            python: python(&directories.sources.join("python"), &directories.cache.join("venv"))?,
            node: node(&directories.sources.join("node"), &directories.cache.join("node"))?,
            rust: rust(directories)?,
            chromium: debian::chromium()?,
            promtool: debian::promtool(&directories.cache.join("prometheus"))?,
            libraries: libraries::prepare(directories)?,
        })
    }
}

/// A virtual environment with the packages of `requirements.txt`, checked against their hashes.
pub(super) fn python(sources: &Path, folder: &Path) -> Result<PathBuf, String> {
    let (pins, program) = (sources.join("requirements.txt"), folder.join("bin/python"));
    let stamp = Stamp::new(folder, &[version("python3", "Python 3.11 or newer")?, text(&pins)?]);
    if !stamp.is_current() {
        println!("installing Python's libraries into {}", folder.display());
        stamp.clear()?;
        create_venv(folder)?;
        let mut pip = Command::new(&program);
        pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]);
        finish("pip install", pip.args(["--require-hashes", "--requirement"]).arg(&pins))?;
        stamp.write()?;
    }
    Ok(program)
}

/// Debian's Python needs another package for virtual environments.
pub(crate) fn create_venv(folder: &Path) -> Result<(), String> {
    let create = || finish("python3 -m venv", Command::new("python3").args(["-m", "venv"]).arg(folder));
    let Err(reason) = create() else {
        return Ok(());
    };
    debian::install("python3-venv", &format!("because `python3 -m venv` failed:\n{reason}"))?;
    create()
}

/// The libraries of `package-lock.json`, with copies of the clients' sources.
pub(super) fn node(sources: &Path, folder: &Path) -> Result<PathBuf, String> {
    let mut pins = vec![version("node", "Node 20 or newer")?];
    for name in MANIFESTS {
        pins.push(text(&sources.join(name))?);
    }
    let stamp = Stamp::new(folder, &pins);
    if !stamp.is_current() {
        println!("installing Node's libraries into {}", folder.display());
        stamp.clear()?;
        copy(sources, folder)?;
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
        finish("npm ci", npm.env("NPM_CONFIG_UPDATE_NOTIFIER", "false").current_dir(folder))?;
        stamp.write()?;
    }
    // Node looks for libraries next to the source; the source tree stays unchanged.
    copy(sources, folder)?;
    Ok(folder.to_owned())
}

/// The client in Rust: a separate workspace, so that its dependencies are not the product's.
fn rust(directories: &Directories) -> Result<PathBuf, String> {
    let (source, target) = (directories.sources.join("rust"), directories.cache.join("rust"));
    if !target.exists() {
        println!("building the client in Rust into {}", target.display());
    }
    let mut cargo = workspace::cargo(&["build", "--quiet", "--locked", "--target-dir"]);
    finish("cargo build", cargo.arg(&target).current_dir(&source))?;
    Ok(target.join("debug/openidconnect-client"))
}

pub(super) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(with_path(to))?;
    for entry in fs::read_dir(from).map_err(with_path(from))?.flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).map_err(with_path(&entry.path()))?;
        }
    }
    Ok(())
}

pub(crate) fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(with_path(path))
}

/// What a program says of its version; without the program nothing can go on.
pub(crate) fn version(program: &str, needed: &str) -> Result<String, String> {
    let missing = |reason: &str| format!("{needed} is needed: `{program} --version` {reason}");
    let output = Command::new(program).arg("--version").output();
    let output = output.map_err(|error| missing(&format!("cannot be run: {error}")))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(missing(&output.status.to_string()))
    }
}

pub(super) fn finish(what: &str, command: &mut Command) -> Result<(), String> {
    Process::start(what, command)?.finish(INSTALL_MAX)
}

/// The pins that a folder was installed from, in a file that is written once the folder is complete.
#[derive(Debug)]
pub(crate) struct Stamp {
    folder: PathBuf,
    file: PathBuf,
    pins: String,
}

impl Stamp {
    pub(crate) fn new(folder: &Path, pins: &[String]) -> Self {
        Self { folder: folder.to_owned(), file: folder.with_extension("stamp"), pins: pins.join("\n") }
    }

    pub(crate) fn is_current(&self) -> bool {
        self.folder.is_dir() && fs::read_to_string(&self.file).is_ok_and(|made| made == self.pins)
    }

    pub(crate) fn clear(&self) -> Result<(), String> {
        let _ = fs::remove_file(&self.file);
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).map_err(with_path(&self.folder))?;
        }
        Ok(())
    }

    pub(crate) fn write(&self) -> Result<(), String> {
        fs::write(&self.file, &self.pins).map_err(with_path(&self.file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_dir::TempDir;

    #[test]
    fn stamp_is_current_only_when_complete_and_with_the_same_pins() {
        let cache = TempDir::new("stamp").unwrap();
        let folder = cache.path().join("venv");
        let stamp = |pins: &str| Stamp::new(&folder, &[pins.to_owned()]);
        fs::create_dir(&folder).unwrap();
        assert!(!stamp("1").is_current(), "the installation was interrupted");
        stamp("1").write().unwrap();
        assert!(stamp("1").is_current());
        assert!(!stamp("2").is_current(), "other pins");
        stamp("2").clear().unwrap();
        assert!(!folder.exists() && !stamp("1").is_current());
    }

    #[test]
    fn lock_file_contains_no_registry_urls() {
        for folder in ["node", "libraries"] {
            let lock = workspace::root().join("clients").join(folder).join("package-lock.json");
            let lock = fs::read_to_string(lock).unwrap();
            assert!(!lock.contains("\"resolved\""), "npm install --omit-lockfile-registry-resolved");
            assert!(lock.contains("\"integrity\": \"sha512-"));
        }
    }

    #[test]
    fn missing_program_is_named() {
        let message = version("no-such-program", "Cobol").unwrap_err();
        assert!(
            message.starts_with("Cobol is needed: `no-such-program --version` cannot be run"),
            "{message}"
        );
    }
}
