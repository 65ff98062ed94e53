//! A running `aldaba listen --json` and its output.

use serde_json::Value;

use super::{ClientFixture, dev};
use crate::harness::{
    FinishedProcess, HttpRequest, HttpResponse, Program, RunningProcess, WAIT_MAX, poll_within, wait_for,
};

pub(super) struct ListenProcess {
    pub(super) process: RunningProcess,
    pub(super) url: String,
}

impl ListenProcess {
    /// A plain receiver.
    pub(super) fn start(arguments: &[&str]) -> Self {
        Self::run(Program::new(&["listen", "--json", "--listen", "127.0.0.1:0"]).with(arguments))
    }

    /// A command that subscribes at this URL of the service, with the variables that `dev` exports.
    pub(super) fn program(fixture: &ClientFixture, base_url: &str, arguments: &[&str]) -> Program {
        Program::new(&["listen", "--json", "--listen", "127.0.0.1:0"])
            .with(arguments)
            .variable("BASE", base_url)
            .variable("KEY", dev().ready["subscription"]["primary_key"].as_str().unwrap())
            .variable("ACCESS", fixture.signed_in().tokens.access_token.reveal())
    }

    /// The same, started and subscribed.
    pub(super) fn subscribed(fixture: &ClientFixture, base_url: &str, arguments: &[&str]) -> Self {
        let listener = Self::run(Self::program(fixture, base_url, arguments));
        listener.wait("ready", |_| true);
        listener
    }

    pub(super) fn run(program: Program) -> Self {
        let mut process = program.start();
        let url = wait_for("it to listen", || {
            assert!(!process.has_exited(), "the process exited: {}", process.stderr());
            let stdout = process.stdout();
            let first: Value = serde_json::from_str(stdout.split_once('\n')?.0).unwrap();
            Some(first["url"].as_str().unwrap().to_owned())
        });
        Self { process, url }
    }

    /// The lines printed so far whose `what` is this word.
    pub(super) fn lines_of_kind(&self, what: &str) -> Vec<Value> {
        let stdout = self.process.stdout();
        let whole = &stdout[..stdout.rfind('\n').map_or(0, |end| end + 1)];
        let lines = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["what"] == what).collect()
    }

    /// Waits for a line that matches.
    #[track_caller]
    pub(super) fn wait(&self, what: &str, matches: impl Fn(&Value) -> bool) -> Value {
        let found = poll_within(WAIT_MAX, || self.lines_of_kind(what).into_iter().find(&matches));
        found.unwrap_or_else(|| {
            let (stdout, stderr) = (self.process.stdout(), self.process.stderr());
            panic!("{what}: not within {} s; stdout: {stdout}stderr: {stderr}", WAIT_MAX.as_secs())
        })
    }

    #[track_caller]
    pub(super) fn wait_record(&self, what: &str, record: &str) -> Value {
        self.wait(what, |line| line["record"] == record)
    }

    pub(super) fn post(&self, signature: &str, body: &str) -> HttpResponse {
        HttpRequest::post(&self.url).header("ms-signature", signature).body(body.to_owned()).send()
    }

    #[track_caller]
    pub(super) fn stop(self) -> FinishedProcess {
        self.process.stop()
    }
}
