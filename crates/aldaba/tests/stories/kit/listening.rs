//! `aldaba listen --json` that runs, and what it has told so far.

use serde_json::Value;

use super::{Stage, dev};
use crate::harness::{BOUND, Call, Done, Program, Reply, Running, until, within};

pub(super) struct Listening {
    pub(super) running: Running,
    pub(super) url: String,
}

impl Listening {
    /// A plain receiver.
    pub(super) fn start(arguments: &[&str]) -> Self {
        Self::run(Program::new(&["listen", "--json", "--listen", "127.0.0.1:0"]).with(arguments))
    }

    /// One that subscribes at this address of the service, with the variables that `dev` prints for a shell.
    pub(super) fn program(stage: &Stage, base_url: &str, arguments: &[&str]) -> Program {
        Program::new(&["listen", "--json", "--listen", "127.0.0.1:0"])
            .with(arguments)
            .variable("BASE", base_url)
            .variable("KEY", dev().ready["subscription"]["primary_key"].as_str().unwrap())
            .variable("ACCESS", stage.signed_in().tokens.access_token.reveal())
    }

    /// The same, ready.
    pub(super) fn subscribed(stage: &Stage, base_url: &str, arguments: &[&str]) -> Self {
        let listening = Self::run(Self::program(stage, base_url, arguments));
        listening.wait("ready", |_| true);
        listening
    }

    pub(super) fn run(program: Program) -> Self {
        let mut running = program.start();
        let url = until("it to listen", || {
            assert!(!running.has_ended(), "it ended: {}", running.stderr());
            let said = running.stdout();
            let first: Value = serde_json::from_str(said.split_once('\n')?.0).unwrap();
            Some(first["url"].as_str().unwrap().to_owned())
        });
        Self { running, url }
    }

    /// Everything told so far under this word.
    pub(super) fn told(&self, what: &str) -> Vec<Value> {
        let said = self.running.stdout();
        let whole = &said[..said.rfind('\n').map_or(0, |end| end + 1)];
        let lines = whole.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["what"] == what).collect()
    }

    /// Waits for a line that is meant.
    #[track_caller]
    pub(super) fn wait(&self, what: &str, is_meant: impl Fn(&Value) -> bool) -> Value {
        let found = within(BOUND, || self.told(what).into_iter().find(&is_meant));
        found.unwrap_or_else(|| {
            let (told, said) = (self.running.stdout(), self.running.stderr());
            panic!("{what}: not within {} s; it told {told}and said {said}", BOUND.as_secs())
        })
    }

    #[track_caller]
    pub(super) fn wait_record(&self, what: &str, record: &str) -> Value {
        self.wait(what, |line| line["record"] == record)
    }

    pub(super) fn post(&self, signature: &str, body: &str) -> Reply {
        Call::post(&self.url).header("ms-signature", signature).body(body.to_owned()).send()
    }

    #[track_caller]
    pub(super) fn stop(self) -> Done {
        self.running.stop()
    }
}
