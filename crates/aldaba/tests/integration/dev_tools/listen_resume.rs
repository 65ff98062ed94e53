//! `aldaba listen` with a subscription: it resumes after restarts, and detects that the service is gone.

use std::path::PathBuf;

use aldaba_client::Resource;
use serde_json::Value;
use tempfile::TempDir;

use super::listen_process::ListenProcess;
use super::proxy::Proxy;
use super::{ClientFixture, dev};
use crate::harness::{bank, customer, wait_for};

struct State(TempDir);

impl State {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("state.json")
    }

    fn start(&self, fixture: &ClientFixture, arguments: &[&str]) -> ListenProcess {
        let file = self.file();
        let state = ["--state", file.to_str().unwrap()];
        ListenProcess::subscribed(fixture, dev().text("base_url"), &[&state, arguments].concat())
    }
}

#[test]
fn events_between_two_starts_are_reported_once_as_missed() {
    let (fixture, state) = (ClientFixture::new(), State::new());
    let company = fixture.company();
    let both = ["--resource", "customers", "--resource", "Bank"];
    let id = |name: &str| format!("{name} {company}");
    let first = state.start(&fixture, &both);
    assert_eq!(first.lines_of_kind("subscribed").len(), 4, "customers, and three events of a bank");
    fixture.ingest_client().send_lines(&[customer(&company, &id("seen"), "Uno"), bank(&id("banco"), "Caja")]);
    let event = first.wait_record("event", &id("seen"));
    assert_eq!((&event["signature"]["valid"], &event["company"]), (&true.into(), &company.as_str().into()));
    first.wait_record("event", &id("banco"));
    let hook = first.lines_of_kind("subscribed")[0]["webhookId"].as_str().unwrap().to_owned();
    let finished = first.stop().code(0);
    assert!(finished.stdout.contains("\"unsubscribed\""), "{finished:?}");
    let hook = fixture.run(fixture.api().webhooks(Resource::customers()).get(hook.parse_guid())).unwrap();
    assert!(hook.unwrap().is_deleted);

    fixture
        .ingest_client()
        .send_lines(&[customer(&company, &id("missed"), "Dos"), bank(&id("otro"), "Caja")]);
    let second = state.start(&fixture, &both);
    let missed = second.lines_of_kind("missed");
    let find = |record: &str| missed.iter().find(|line| line["record"] == record);
    let event = find(&id("missed")).unwrap();
    assert_eq!(event["event"], "Svc.ACC.Customers.CustomerCreated");
    assert_eq!(event["company"], company.as_str());
    assert_eq!(find(&id("otro")).unwrap()["event"], "Bank.Created");
    assert!(find(&id("seen")).is_none() && find(&id("banco")).is_none(), "{missed:?}");
    second.stop().code(0);

    let third = state.start(&fixture, &both);
    let again = third.lines_of_kind("missed");
    assert!(!again.iter().any(|line| line["record"] == id("missed").as_str()), "{again:?}");
    third.stop().code(0);
}

#[test]
fn crash_loses_nothing_and_the_subscription_stays() {
    let (fixture, state) = (ClientFixture::new(), State::new());
    let company = fixture.company();
    let id = |name: &str| format!("{name} {company}");
    let stay = ["--resource", "customers", "--secret", "s3cret", "--stay"];
    let mut first = state.start(&fixture, &stay);
    fixture.ingest_client().send_lines(&[customer(&company, &id("seen"), "Uno")]);
    let seen = first.wait_record("event", &id("seen"));
    let sequence: u64 = seen["sequenceVersion"].as_str().unwrap().parse().unwrap();
    wait_for("the state to be saved", || {
        let saved: Value = serde_json::from_slice(&std::fs::read(state.file()).unwrap()).unwrap();
        saved["sequences"].as_array().unwrap().contains(&sequence.into()).then_some(())
    });
    let hook = first.lines_of_kind("subscribed")[0]["webhookId"].as_str().unwrap().to_owned();
    first.process.kill();
    fixture.ingest_client().send_lines(&[customer(&company, &id("missed"), "Dos")]);
    let second = state.start(&fixture, &["--resource", "customers", "--secret", "s3cret", "--stay"]);
    second.wait_record("missed", &id("missed"));
    assert!(!second.lines_of_kind("missed").iter().any(|line| line["record"] == id("seen").as_str()));
    let other = second.lines_of_kind("subscribed")[0]["webhookId"].as_str().unwrap().to_owned();
    second.stop().code(0);
    for hook in [hook, other] {
        let hooks = fixture.api().webhooks(Resource::customers());
        let id = hook.parse_guid();
        assert!(!fixture.run(hooks.get(id)).unwrap().unwrap().is_deleted);
        fixture.run(hooks.delete(id)).unwrap();
    }
}

#[test]
fn listen_reconnects_to_a_returning_service_and_exits_with_8_without_one() {
    let (fixture, state) = (ClientFixture::new(), State::new());
    let (company, line) = (fixture.company(), Proxy::to(dev().text("base_url")));
    let file = state.file();
    let arguments = ["--resource", "customers", "--state", file.to_str().unwrap(), "--patience", "4s"];
    let listener = ListenProcess::subscribed(&fixture, &line.url(), &arguments);
    line.close();
    listener.wait("silent", |_| true);
    line.restore();
    listener.wait("back", |_| true);
    let record = format!("back {company}");
    fixture.ingest_client().send_lines(&[customer(&company, &record, "Uno")]);
    listener.wait_record("event", &record);

    let hook = listener.lines_of_kind("subscribed")[0]["webhookId"].as_str().unwrap().to_owned();
    line.close();
    let finished = listener.process.wait_for_exit().code(8);
    assert!(
        finished.stderr.contains("the service stopped responding") && finished.stderr.contains("start again"),
        "{finished:?}"
    );
    fixture.run(fixture.api().webhooks(Resource::customers()).delete(hook.parse_guid())).unwrap();

    // Nothing is lost: the next start reports it.
    let record = format!("while gone {company}");
    fixture.ingest_client().send_lines(&[customer(&company, &record, "Dos")]);
    line.restore();
    let again = ListenProcess::subscribed(&fixture, &line.url(), &arguments);
    again.wait_record("missed", &record);
    again.stop().code(0);
}

#[test]
fn service_that_does_not_respond_counts_as_lost() {
    let (fixture, state) = (ClientFixture::new(), State::new());
    let (line, file) = (Proxy::to(dev().text("base_url")), state.file());
    let arguments = ["--resource", "customers", "--state", file.to_str().unwrap(), "--patience", "2s"];
    let arguments = [&arguments[..], &["--secret", "s3cret", "--stay"]].concat();
    let listener = ListenProcess::subscribed(&fixture, &line.url(), &arguments);
    let hook = listener.lines_of_kind("subscribed")[0]["webhookId"].as_str().unwrap().to_owned();
    line.stall();
    let silent = listener.wait("silent", |_| true);
    assert!(silent["reason"].as_str().unwrap().contains("no whole answer within 2 s"), "{silent}");
    let finished = listener.process.wait_for_exit().code(8);
    assert!(finished.stderr.contains("the service stopped responding"), "{finished:?}");
    fixture.run(fixture.api().webhooks(Resource::customers()).delete(hook.parse_guid())).unwrap();
}

#[test]
fn refused_token_ends_listen_with_a_message() {
    let (fixture, state) = (ClientFixture::new(), State::new());
    let file = state.file();
    let arguments = ["--resource", "customers", "--state", file.to_str().unwrap()];
    let program =
        ListenProcess::program(&fixture, dev().text("base_url"), &arguments).variable("ACCESS", "nonsense");
    let finished = program.run().code(8);
    assert!(finished.stderr.contains("access token was refused"), "{finished:?}");
}

trait ParseGuid {
    fn parse_guid(&self) -> aldaba_client::Guid;
}

impl ParseGuid for String {
    fn parse_guid(&self) -> aldaba_client::Guid {
        aldaba_client::Guid::parse(self).unwrap()
    }
}
