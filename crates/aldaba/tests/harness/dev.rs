//! A running `aldaba dev --json` and its ready line.

use serde_json::Value;

use super::{FinishedProcess, IngestClient, Program, RunningProcess, wait_for};

pub(crate) struct Dev {
    pub(crate) process: RunningProcess,
    pub(crate) ready: Value,
}

impl Dev {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::run(Self::program(arguments))
    }

    pub(crate) fn program(arguments: &[&str]) -> Program {
        Program::new(&["dev", "--json", "--listen", "127.0.0.1:0"]).with(arguments)
    }

    pub(crate) fn run(program: Program) -> Self {
        let mut process = program.start();
        let line = wait_for("the ready line", || {
            assert!(!process.has_exited(), "the process exited: {}", process.stderr());
            process.stdout().strip_suffix('\n').map(str::to_owned)
        });
        Self { process, ready: serde_json::from_str(&line).unwrap() }
    }

    pub(crate) fn text(&self, member: &str) -> &str {
        self.ready[member].as_str().unwrap()
    }

    /// The ids of the sample tenants.
    pub(crate) fn tenants(&self) -> Vec<&str> {
        let tenants = self.ready["tenants"].as_array().unwrap();
        tenants.iter().map(|tenant| tenant["id"].as_str().unwrap()).collect()
    }

    pub(crate) fn ingest_client(&self, tenant: usize) -> IngestClient {
        IngestClient::new(self.text("operator_url"), self.text("operator_token"), self.tenants()[tenant])
    }

    #[track_caller]
    pub(crate) fn stop(self) -> FinishedProcess {
        self.process.stop()
    }
}
