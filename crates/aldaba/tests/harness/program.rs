//! A command line of the program: arguments, environment and input.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::RunningProcess;

/// The program with these arguments. It gets none of this process's `ALDABA_` variables, and starts in `/`, where
/// there is no `aldaba.toml`. A dev server and the commands of other tests do not find each other.
pub(crate) struct Program {
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    input: Option<Vec<u8>>,
    folder: PathBuf,
    open_files_max: Option<u32>,
}

/// The exit code and output of a process.
#[derive(Debug)]
pub(crate) struct FinishedProcess {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    pub(crate) fn new(arguments: &[&str]) -> Self {
        Self {
            arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
            variables: Vec::new(),
            input: None,
            folder: PathBuf::from("/"),
            open_files_max: None,
        }
    }

    pub(crate) fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// Finds the dev servers that were started with the same folder, and is found by their commands.
    pub(crate) fn runtime_folder(self, folder: &Path) -> Self {
        self.variable("XDG_RUNTIME_DIR", folder.to_str().unwrap())
    }

    /// Sets the working directory.
    pub(crate) fn inside(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// Lets it open only so many files at once, whatever it asks for.
    pub(crate) fn open_files_max(mut self, open_files_max: u32) -> Self {
        self.open_files_max = Some(open_files_max);
        self
    }

    pub(crate) fn start(self) -> RunningProcess {
        RunningProcess::start(self.command())
    }

    /// Runs it until it exits.
    #[track_caller]
    pub(crate) fn run(self) -> FinishedProcess {
        self.start().wait_for_exit()
    }

    fn command(self) -> Command {
        let program = env!("CARGO_BIN_EXE_aldaba");
        let mut command = match self.open_files_max {
            None => Command::new(program),
            Some(limit) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("ulimit -n {limit} && exec \"$0\" \"$@\""), program]);
                shell
            }
        };
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ALDABA_")) {
            command.env_remove(name);
        }
        command.env("XDG_RUNTIME_DIR", "/nonexistent");
        let input = self.input.map_or_else(Stdio::null, |bytes| Stdio::from(file_of(&bytes)));
        command.args(self.arguments).envs(self.variables).current_dir(self.folder).stdin(input);
        command
    }
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

impl FinishedProcess {
    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, Some(expected), "{self:?}");
        self
    }

    /// Expects success and one line of JSON.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let finished = self.code(0);
        assert_eq!(finished.stderr, "", "with --json, standard error stays empty");
        finished.only_line()
    }

    /// The only line of standard output, as JSON.
    #[track_caller]
    pub(crate) fn only_line(&self) -> Value {
        assert_eq!(self.stdout.matches('\n').count(), 1, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Expects this exit code, this message on standard error, and no standard output.
    #[track_caller]
    pub(crate) fn expect_failure(self, code: i32, message: &str) {
        assert!(self.stderr.contains(message), "{message:?} is not in {self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        self.code(code);
    }
}
