//! `aldaba listen` that subscribes: follows the log across restarts, and knows when the service is gone.

use std::path::PathBuf;

use aldaba_client::Resource;
use serde_json::Value;
use tempfile::TempDir;

use super::listening::Listening;
use super::proxy::Proxy;
use super::{Stage, dev};
use crate::harness::{bank, customer, until};

struct State(TempDir);

impl State {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("state.json")
    }

    fn start(&self, stage: &Stage, arguments: &[&str]) -> Listening {
        let file = self.file();
        let state = ["--state", file.to_str().unwrap()];
        Listening::subscribed(stage, dev().text("base_url"), &[&state, arguments].concat())
    }
}

#[test]
fn what_happened_between_two_starts_is_told_once_as_missed() {
    let (stage, state) = (Stage::new(), State::new());
    let company = stage.company();
    let both = ["--resource", "customers", "--resource", "Bank"];
    let id = |name: &str| format!("{name} {company}");
    let first = state.start(&stage, &both);
    assert_eq!(first.told("subscribed").len(), 4, "customers, and three things that happen to a bank");
    stage.door().send_lines(&[customer(&company, &id("seen"), "Uno"), bank(&id("banco"), "Caja")]);
    let told = first.wait_record("event", &id("seen"));
    assert_eq!((&told["signature"]["valid"], &told["company"]), (&true.into(), &company.as_str().into()));
    first.wait_record("event", &id("banco"));
    let hook = first.told("subscribed")[0]["webhookId"].as_str().unwrap().to_owned();
    let done = first.stop().code(0);
    assert!(done.stdout.contains("\"unsubscribed\""), "{done:?}");
    let hook = stage.run(stage.api().webhooks(Resource::customers()).get(hook.parse_guid())).unwrap();
    assert!(hook.unwrap().is_deleted);

    stage.door().send_lines(&[customer(&company, &id("missed"), "Dos"), bank(&id("otro"), "Caja")]);
    let second = state.start(&stage, &both);
    let missed = second.told("missed");
    let find = |record: &str| missed.iter().find(|line| line["record"] == record);
    let told = find(&id("missed")).unwrap();
    assert_eq!(told["event"], "Svc.ACC.Customers.CustomerCreated");
    assert_eq!(told["company"], company.as_str());
    assert_eq!(find(&id("otro")).unwrap()["event"], "Bank.Created");
    assert!(find(&id("seen")).is_none() && find(&id("banco")).is_none(), "{missed:?}");
    second.stop().code(0);

    let third = state.start(&stage, &both);
    let again = third.told("missed");
    assert!(!again.iter().any(|line| line["record"] == id("missed").as_str()), "{again:?}");
    third.stop().code(0);
}

#[test]
fn a_crash_forgets_nothing_and_who_stays_is_still_subscribed() {
    let (stage, state) = (Stage::new(), State::new());
    let company = stage.company();
    let id = |name: &str| format!("{name} {company}");
    let stay = ["--resource", "customers", "--secret", "s3cret", "--stay"];
    let mut first = state.start(&stage, &stay);
    stage.door().send_lines(&[customer(&company, &id("seen"), "Uno")]);
    let seen = first.wait_record("event", &id("seen"));
    let sequence: u64 = seen["sequenceVersion"].as_str().unwrap().parse().unwrap();
    until("it to be remembered", || {
        let kept: Value = serde_json::from_slice(&std::fs::read(state.file()).unwrap()).unwrap();
        kept["sequences"].as_array().unwrap().contains(&sequence.into()).then_some(())
    });
    let hook = first.told("subscribed")[0]["webhookId"].as_str().unwrap().to_owned();
    first.running.kill();
    stage.door().send_lines(&[customer(&company, &id("missed"), "Dos")]);
    let second = state.start(&stage, &["--resource", "customers", "--secret", "s3cret", "--stay"]);
    second.wait_record("missed", &id("missed"));
    assert!(!second.told("missed").iter().any(|line| line["record"] == id("seen").as_str()));
    let other = second.told("subscribed")[0]["webhookId"].as_str().unwrap().to_owned();
    second.stop().code(0);
    for hook in [hook, other] {
        let hooks = stage.api().webhooks(Resource::customers());
        let id = hook.parse_guid();
        assert!(!stage.run(hooks.get(id)).unwrap().unwrap().is_deleted);
        stage.run(hooks.delete(id)).unwrap();
    }
}

#[test]
fn a_service_that_comes_back_is_followed_on_and_one_that_is_gone_for_good_ends_it_with_8() {
    let (stage, state) = (Stage::new(), State::new());
    let (company, line) = (stage.company(), Proxy::to(dev().text("base_url")));
    let file = state.file();
    let arguments = ["--resource", "customers", "--state", file.to_str().unwrap(), "--patience", "4s"];
    let listening = Listening::subscribed(&stage, &line.url(), &arguments);
    line.cut();
    listening.wait("silent", |_| true);
    line.mend();
    listening.wait("back", |_| true);
    let record = format!("back {company}");
    stage.door().send_lines(&[customer(&company, &record, "Uno")]);
    listening.wait_record("event", &record);

    let hook = listening.told("subscribed")[0]["webhookId"].as_str().unwrap().to_owned();
    line.cut();
    let done = listening.running.ended().code(8);
    assert!(done.stderr.contains("the service is lost") && done.stderr.contains("start again"), "{done:?}");
    stage.run(stage.api().webhooks(Resource::customers()).delete(hook.parse_guid())).unwrap();

    // Nothing is missed: the next start has it.
    let record = format!("while gone {company}");
    stage.door().send_lines(&[customer(&company, &record, "Dos")]);
    line.mend();
    let again = Listening::subscribed(&stage, &line.url(), &arguments);
    again.wait_record("missed", &record);
    again.stop().code(0);
}

#[test]
fn a_service_that_takes_calls_and_says_nothing_is_silent_too() {
    let (stage, state) = (Stage::new(), State::new());
    let (line, file) = (Proxy::to(dev().text("base_url")), state.file());
    let arguments = ["--resource", "customers", "--state", file.to_str().unwrap(), "--patience", "2s"];
    let arguments = [&arguments[..], &["--secret", "s3cret", "--stay"]].concat();
    let listening = Listening::subscribed(&stage, &line.url(), &arguments);
    let hook = listening.told("subscribed")[0]["webhookId"].as_str().unwrap().to_owned();
    line.go_dead();
    let said = listening.wait("silent", |_| true);
    assert!(said["reason"].as_str().unwrap().contains("no complete response within 2 s"), "{said}");
    let done = listening.running.ended().code(8);
    assert!(done.stderr.contains("the service is lost"), "{done:?}");
    stage.run(stage.api().webhooks(Resource::customers()).delete(hook.parse_guid())).unwrap();
}

#[test]
fn a_token_that_is_refused_ends_it_at_once_and_says_so() {
    let (stage, state) = (Stage::new(), State::new());
    let file = state.file();
    let arguments = ["--resource", "customers", "--state", file.to_str().unwrap()];
    let program =
        Listening::program(&stage, dev().text("base_url"), &arguments).variable("ACCESS", "nonsense");
    let done = program.run().code(8);
    assert!(done.stderr.contains("access token was refused"), "{done:?}");
}

trait ParseGuid {
    fn parse_guid(&self) -> aldaba_client::Guid;
}

impl ParseGuid for String {
    fn parse_guid(&self) -> aldaba_client::Guid {
        aldaba_client::Guid::parse(self).unwrap()
    }
}
