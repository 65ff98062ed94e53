//! Installs what the kits' tests need, with pinned versions and below the target folder, and says which commands run them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{Kit, Language, Setup, folder::mirror};
use crate::clients::{Process, Stamp, create_venv, find, install, text, version, with_path};

/// Generous, because downloads may be slow.
const INSTALL_MAX: Duration = Duration::from_secs(600);

/// The files that `npm ci` reads.
const MANIFESTS: [&str; 3] = [".npmrc", "package.json", "package-lock.json"];

/// What npm, TypeScript and Maven write beside the sources.
const BUILT: [&str; 4] = ["node_modules", "dist", "dist-test", "target"];

/// The tests of one kit, ready to run: commands, one after the other.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) kit: &'static Kit,
    pub(super) commands: Vec<Command>,
}

pub(super) fn prepare(kit: &'static Kit, setup: &Setup) -> Result<Suite, String> {
    let commands = match kit.language {
        Language::TypeScript => {
            let mut npm = Command::new("npm");
            npm.args(["test", "--silent"]).current_dir(typescript(setup)?);
            vec![without_notices(npm)]
        }
        Language::Python => python_tests(setup, &python(setup)?),
        Language::Go => vec![go(kit, setup)?],
        Language::Java => vec![java(kit, setup)?],
        Language::Php => {
            debian("php", "php-cli", "the PHP receiver")?;
            let mut python = Command::new("python3");
            python.arg("-B").arg(setup.root.join(kit.source)).current_dir(&setup.root);
            vec![python]
        }
    };
    Ok(Suite { kit, commands })
}

/// A copy of the TypeScript kit with its libraries; the source tree stays unchanged.
pub(super) fn typescript(setup: &Setup) -> Result<PathBuf, String> {
    let (sources, folder) = (setup.root.join("kits/typescript"), setup.cache.join("typescript"));
    let mut pins = vec![version("node", "Node 20 or newer")?];
    for name in MANIFESTS {
        pins.push(text(&sources.join(name))?);
    }
    let stamp = Stamp::new(&folder, &pins);
    if !stamp.is_current() {
        println!("installing the libraries of the TypeScript kit into {}", folder.display());
        stamp.clear()?;
        mirror(&sources, &folder, &BUILT)?;
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&folder);
        finish("npm ci", &mut without_notices(npm))?;
        stamp.write()?;
    }
    mirror(&sources, &folder, &BUILT)?;
    Ok(folder)
}

fn without_notices(mut npm: Command) -> Command {
    npm.env("NPM_CONFIG_UPDATE_NOTIFIER", "false");
    npm
}

/// A virtual environment with the pinned packages of the Python kit's tests, checked against their hashes.
fn python(setup: &Setup) -> Result<PathBuf, String> {
    let (pins, folder) =
        (setup.root.join("kits/python/requirements-test.txt"), setup.cache.join("python-venv"));
    let program = folder.join("bin/python");
    let stamp = Stamp::new(&folder, &[version("python3", "Python 3.10 or newer")?, text(&pins)?]);
    if !stamp.is_current() {
        println!("installing the libraries of the Python kit into {}", folder.display());
        stamp.clear()?;
        create_venv(&folder)?;
        let mut pip = Command::new(&program);
        pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]);
        finish("pip install", pip.args(["--require-hashes", "--requirement"]).arg(&pins))?;
        stamp.write()?;
    }
    Ok(program)
}

/// The wheel is built and installed as an integrator does it, then its types are checked, then its tests run with it.
fn python_tests(setup: &Setup, program: &Path) -> Vec<Command> {
    let sources = setup.root.join("kits/python");
    let python = |arguments: &[&str]| {
        let mut python = Command::new(program);
        python.args(arguments).current_dir(&sources).env("PYTHONDONTWRITEBYTECODE", "1");
        python
    };
    let mut pip = python(&["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]);
    pip.args(["--no-deps", "--no-build-isolation", "--no-index", "--force-reinstall", "."]);
    let mut mypy = python(&["-m", "mypy", "--cache-dir"]);
    mypy.arg(setup.cache.join("mypy"));
    vec![pip, mypy, python(&["-m", "pytest", "--quiet", "-p", "no:cacheprovider"])]
}

fn go(kit: &Kit, setup: &Setup) -> Result<Command, String> {
    debian("go", "golang-go", "the Go kit")?;
    let mut go = Command::new("go");
    go.args(["test", "-count=1", "./..."]).current_dir(setup.root.join(kit.source));
    // The module's own list of dependencies decides, and nothing downloads another compiler.
    go.env("GOFLAGS", "-mod=readonly").env("GOTOOLCHAIN", "local");
    go.env("GOCACHE", setup.cache.join("go-build")).env("GOPATH", setup.cache.join("go-path"));
    Ok(go)
}

/// Maven writes beside the sources, so it works in a copy.
fn java(kit: &Kit, setup: &Setup) -> Result<Command, String> {
    debian("javac", "default-jdk-headless", "the Java kit")?;
    debian("mvn", "maven", "the Java kit")?;
    let folder = setup.cache.join("java");
    mirror(&setup.root.join(kit.source), &folder, &BUILT)?;
    let mut maven = Command::new("mvn");
    let repository = format!("-Dmaven.repo.local={}", setup.cache.join("maven").display());
    maven.args(["-q", "-B", &repository, "test"]).current_dir(folder);
    Ok(maven)
}

/// Installs a Debian package unless the path has its program.
fn debian(program: &str, package: &str, needed_by: &str) -> Result<(), String> {
    if find(program).is_none() {
        install(package, &format!("because {needed_by} needs the program `{program}`"))?;
    }
    find(program).map(drop).ok_or_else(|| {
        format!("{needed_by} needs `{program}`, which Debian's package {package} did not install")
    })
}

pub(super) fn finish(what: &str, command: &mut Command) -> Result<(), String> {
    Process::start(what, command)?.finish(INSTALL_MAX)
}

/// Makes a folder, without what an earlier run left in it.
pub(super) fn empty_folder(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(with_path(folder))?;
    }
    fs::create_dir_all(folder).map_err(with_path(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn pins_have_hashes_and_no_registry_urls() {
        let kits = workspace::root().join("kits");
        let lock = fs::read_to_string(kits.join("typescript/package-lock.json")).unwrap();
        assert!(!lock.contains("\"resolved\""), "npm install --omit-lockfile-registry-resolved");
        assert!(lock.contains("\"integrity\": \"sha512-"));
        let pins = fs::read_to_string(kits.join("python/requirements-test.txt")).unwrap();
        assert!(pins.contains("--hash=sha256:") && !pins.contains("://"));
    }
}
