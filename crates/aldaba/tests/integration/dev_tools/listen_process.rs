//! `aldaba listen --json` that runs, and what it has told so far.

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

    /// One that subscribes at this address of the service, with the variables that `dev` prints for a shell.
    pub(super) fn program(fixture: &ClientFixture, base_url: &str, arguments: &[&str]) -> Program {
        Program::new(&["listen", "--json", "--listen", "127.0.0.1:0"])
            .with(arguments)
            .variable("BASE", base_url)
            .variable("KEY", dev().ready["subscription"]["primary_key"].as_str().unwrap())
            .variable("ACCESS", fixture.signed_in().tokens.access_token.reveal())
    }

    /// The same, ready.
    pub(super) fn subscribed(fixture: &ClientFixture, base_url: &str, arguments: &[&str]) -> Self {
        let listener = Self::run(Self::program(fixture, base_url, arguments));
        listener.wait("ready", |_| true);
        listener
    }

    pub(super) fn run(program: Program) -> Self {
        let mut process = program.start();
        let url = wait_for("it to listen", || {
            assert!(!process.has_exited(), "it ended: {}", process.stderr());
            let said = process.stdout();
            let first: Value = serde_json::from_str(said.split_once('\n')?.0).unwrap();
            Some(first["url"].as_str().unwrap().to_owned())
        });
        Self { process, url }
    }

    /// Everything told so far under this word.
    pub(super) fn lines_of_kind(&self, what: &str) -> Vec<Value> {
        let said = self.process.stdout();
        let whole = &said[..said.rfind('\n').map_or(0, |end| end + 1)];
        let lines = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["what"] == what).collect()
    }

    /// Waits for a line that is meant.
    #[track_caller]
    pub(super) fn wait(&self, what: &str, is_meant: impl Fn(&Value) -> bool) -> Value {
        let found = poll_within(WAIT_MAX, || self.lines_of_kind(what).into_iter().find(&is_meant));
        found.unwrap_or_else(|| {
            let (lines_of_kind, said) = (self.process.stdout(), self.process.stderr());
            panic!("{what}: not within {} s; it told {lines_of_kind}and said {said}", WAIT_MAX.as_secs())
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
