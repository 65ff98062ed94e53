//! `cargo xtask kits`: tests the kits for integrators against the program, each with a server of its own, and generates the
//! parts of them that come from the program's documents.

mod folder;
mod generate;
mod prepare;
mod run;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::{clients, failure::Failure, steps::Steps, workspace};

/// What a kit is written in. It decides how its dependencies are installed and its tests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    TypeScript,
    Python,
    Go,
    Java,
    Php,
}

#[derive(Debug, PartialEq, Eq)]
struct Kit {
    name: &'static str,
    language: Language,
    /// The folder or file that must exist, from the root.
    source: &'static str,
    /// How long its tests may take.
    seconds_max: u64,
}

const KITS: [Kit; 5] = [
    // Those that take longest come first, because several run at the same time.
    Kit { name: "java", language: Language::Java, source: "kits/java", seconds_max: 300 },
    Kit { name: "go", language: Language::Go, source: "kits/go", seconds_max: 300 },
    Kit { name: "typescript", language: Language::TypeScript, source: "kits/typescript", seconds_max: 150 },
    Kit { name: "python", language: Language::Python, source: "kits/python", seconds_max: 150 },
    Kit { name: "php", language: Language::Php, source: "docs/receivers/test_php.py", seconds_max: 90 },
];

/// The folders and the program of one run.
#[derive(Debug)]
struct Setup {
    root: PathBuf,
    /// Installed dependencies, copies and caches, reused by later runs.
    cache: PathBuf,
    /// The debug program.
    program: PathBuf,
}

/// What `cargo xtask kits` takes.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
    /// The kits to test: typescript, python, go, java, php; all of them unless some are named
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Write the kits' generated types from the program's OpenAPI and AsyncAPI documents
    Generate,
}

pub(crate) fn command(arguments: &Arguments) -> Result<(), Failure> {
    let steps = Steps::start();
    if let Some(Task::Generate) = arguments.task {
        steps.step("build", clients::build)?;
        steps.step("generated types", || Ok(generate::write(&Setup::of_workspace()?)?))?;
        steps.finish();
        return Ok(());
    }
    let chosen = chosen(&arguments.names, &workspace::root()).map_err(Failure::usage)?;
    steps.step("build", clients::build)?;
    steps.step("kits", || run_kits(&chosen))?;
    steps.finish();
    Ok(())
}

/// Tests every kit with the debug program, which must have been built.
pub fn run_all() -> Result<(), Failure> {
    run_kits(&chosen(&[], &workspace::root())?)
}

/// Installs what the tests of the kits need, but for what Maven and Go fetch by themselves; [`run_all`] does so too, unless it is
/// there.
pub fn install_all() -> Result<(), Failure> {
    let setup = Setup::of_workspace()?;
    for kit in chosen(&[], &setup.root)? {
        prepare::prepare(kit, &setup)?;
    }
    Ok(())
}

fn run_kits(kits: &[&'static Kit]) -> Result<(), Failure> {
    let setup = Setup::of_workspace()?;
    let suites = kits.iter().map(|&kit| prepare::prepare(kit, &setup)).collect::<Result<Vec<_>, _>>()?;
    setup.require_program()?;
    generate::check(kits, &setup)?;
    run::run(&suites, &setup)
}

impl Setup {
    fn of_workspace() -> Result<Self, String> {
        let target = workspace::target();
        let cache = target.join("kits");
        std::fs::create_dir_all(&cache).map_err(clients::with_path(&cache))?;
        Ok(Self { root: workspace::root(), cache, program: target.join("debug").join("aldaba") })
    }

    fn require_program(&self) -> Result<(), String> {
        if self.program.is_file() {
            return Ok(());
        }
        Err(format!("{} does not exist: build it first", self.program.display()))
    }
}

/// The named kits, or all of them. A kit that is missing is an error, whoever asks for it: a test that is left out proves nothing.
fn chosen(names: &[String], root: &Path) -> Result<Vec<&'static Kit>, String> {
    if let Some(unknown) = names.iter().find(|name| !KITS.iter().any(|kit| kit.name == **name)) {
        let known: Vec<&str> = KITS.iter().map(|kit| kit.name).collect();
        return Err(format!("there is no kit `{unknown}`; the kits are {}", known.join(", ")));
    }
    let is_named = |kit: &&Kit| names.is_empty() || names.iter().any(|name| name == kit.name);
    let chosen: Vec<&'static Kit> = KITS.iter().filter(is_named).collect();
    if let Some(missing) = chosen.iter().find(|kit| !root.join(kit.source).exists()) {
        return Err(format!("the kit {} is missing: {} does not exist", missing.name, missing.source));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::temp_dir::TempDir;

    fn names(wanted: &[&str], root: &Path) -> Result<Vec<&'static str>, String> {
        chosen(&wanted.iter().map(ToString::to_string).collect::<Vec<_>>(), root)
            .map(|kits| kits.iter().map(|kit| kit.name).collect())
    }

    #[test]
    fn kits_are_chosen_by_name_and_must_exist() {
        let root = TempDir::new("kits").unwrap();
        for kit in &KITS {
            fs::create_dir_all(root.path().join(kit.source)).unwrap();
        }
        assert_eq!(names(&["python", "go"], root.path()).unwrap(), ["go", "python"]);
        assert_eq!(names(&[], root.path()).unwrap().len(), KITS.len());
        let unknown = names(&["cobol"], root.path()).unwrap_err();
        assert!(unknown.contains("`cobol`") && unknown.contains("java, go, typescript"), "{unknown}");
        fs::remove_dir(root.path().join("kits/go")).unwrap();
        assert!(names(&["python"], root.path()).is_ok());
        for wanted in [&["go"][..], &[]] {
            assert_eq!(
                names(wanted, root.path()).unwrap_err(),
                "the kit go is missing: kits/go does not exist"
            );
        }
    }
}
