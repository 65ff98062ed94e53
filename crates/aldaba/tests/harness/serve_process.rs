//! A running `aldaba serve`, for what only a process of its own can show.

use std::ops::Deref;

use serde_json::Value;

use super::server::COMMON_SETTINGS;
use super::{FinishedProcess, Installation, RunningProcess, Server, wait_for};

pub(crate) struct ServeProcess {
    // Ends before the server's folder is deleted.
    pub(crate) process: RunningProcess,
    server: Server,
}

impl ServeProcess {
    /// Starts on free ports, with settings as `key=value`, and waits for the log line with its addresses.
    #[track_caller]
    pub(crate) fn start(installation: Installation, settings: &[&str]) -> Self {
        let any = "127.0.0.1:0";
        let settings = COMMON_SETTINGS.iter().chain(settings);
        let arguments: Vec<&str> = settings.flat_map(|&setting| ["--set", setting]).collect();
        let serve = ["serve", "--listen", any, "--operator-listen", any];
        Self::running(installation.program(&serve).with(&arguments).start(), installation)
    }

    /// Waits for the log line with the addresses of a process that was started.
    #[track_caller]
    pub(crate) fn running(mut process: RunningProcess, installation: Installation) -> Self {
        let line = wait_for("the log line `serving`", || {
            assert!(!process.has_exited(), "the process exited: {}", process.stderr());
            find_log_line(&process.stderr(), "serving")
        });
        let url = |member: &str| format!("http://{}", line[member].as_str().unwrap());
        let log = process.stderr_file();
        let panics = Box::new(move || {
            let log = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
            log.lines().filter(|line| line.contains("panicked")).map(str::to_owned).collect()
        });
        let server = Server::new(installation, url("public"), url("operator"), panics);
        Self { process, server }
    }

    /// The first log line with this message.
    pub(crate) fn log_line(&self, message: &str) -> Option<Value> {
        find_log_line(&self.process.stderr(), message)
    }

    /// Waits until it exits by itself. Returns its installation too.
    #[track_caller]
    pub(crate) fn wait_for_exit(self) -> (FinishedProcess, Installation) {
        (self.process.wait_for_exit(), self.server.installation)
    }

    /// Stops it, expects exit code 0 and returns its installation.
    #[track_caller]
    pub(crate) fn stop(self) -> Installation {
        let finished = self.process.stop();
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), ""), "{}", finished.stderr);
        self.server.installation
    }

    /// The installation of a process that has ended, or ends now.
    pub(crate) fn into_installation(self) -> Installation {
        drop(self.process);
        self.server.installation
    }
}

impl Deref for ServeProcess {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// The first line of a log with this message.
fn find_log_line(log: &str, message: &str) -> Option<Value> {
    let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.find(|line| line["message"] == message)
}
