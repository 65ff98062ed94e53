//! `aldaba listen` as a plain receiver: its responses, its output, and simulated failures.

use std::time::Duration;

use aldaba_client::webhooks::Subscription;
use aldaba_client::{Guid, Resource, Secret};
use domain::signature::Signer;

use super::ClientFixture;
use super::listen_process::ListenProcess;
use crate::harness::{HttpRequest, Program, Receiver, customer, wait_for};

const SECRET: &str = "un secreto ñ";
const BODY: &str = r#"{"Entity":"Bank","EntityId":"7","TenantId":"t","User":"eva","Changes":[]}"#;

fn right() -> String {
    Signer::new(&Secret::new(SECRET), None).contract_signature(BODY.as_bytes())
}

/// Subscribes the receiver to customers and waits until the webhook is active.
fn subscribe(fixture: &ClientFixture, listener: &ListenProcess) -> Guid {
    let hooks = fixture.api().webhooks(Resource::customers());
    let secret = Secret::new(SECRET);
    let subscription = Subscription::to_all(Resource::customers(), "Desk", &listener.url, secret);
    let id = fixture.run(hooks.subscribe(&subscription)).unwrap();
    fixture.run(hooks.wait_active(id, Duration::from_secs(30))).unwrap();
    id
}

fn delete(fixture: &ClientFixture, id: Guid) {
    fixture.run(fixture.api().webhooks(Resource::customers()).delete(id)).unwrap();
}

#[test]
fn delivery_is_verified_and_printed() {
    let (fixture, listener) = (ClientFixture::new(), ListenProcess::start(&["--secret", SECRET]));
    let id = subscribe(&fixture, &listener);
    let hello = listener.wait("acknowledge", |_| true);
    assert_eq!((&hello["answered"], &hello["signature"]["valid"]), (&200.into(), &true.into()));
    let company = fixture.company();
    fixture.ingest_client().send_lines(&[customer(&company, "ñ 1", "Uno")]);
    let event = listener.wait("event", |line| line["company"] == company.as_str());
    assert_eq!(event["event"], "Svc.ACC.Customers.CustomerCreated");
    assert_eq!(
        (&event["record"], &event["attempt"], &event["answered"]),
        (&"ñ 1".into(), &1.into(), &200.into())
    );
    assert_eq!(event["signature"]["header"], "svc-webhook-signature");
    assert!(event["body"].as_str().unwrap().contains("CustomerCreated"));
    delete(&fixture, id);
    let finished = listener.stop().code(0);
    assert_eq!(finished.stderr, "");
}

#[test]
fn wrong_signature_gets_401_and_a_reason() {
    let listener = ListenProcess::start(&["--secret", "otro", "--secret", SECRET]);
    assert_eq!(listener.post(&right(), BODY).status, 200);
    assert_eq!(listener.post(&right(), &BODY.replace('7', "8")).status, 401);
    assert_eq!(listener.post(&right().to_lowercase(), BODY).status, 401);
    let reasons: Vec<_> = listener
        .lines_of_kind("refused")
        .iter()
        .map(|line| line["signature"]["reasons"][0]["code"].clone())
        .collect();
    assert_eq!(reasons, ["wrong_secret", "lower_case_hex"]);

    // A valid signature of the other scheme is enough.
    let now = std::fs::metadata("/proc/self").unwrap().modified().unwrap();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string();
    let standard = Signer::new(&Secret::new(SECRET), None).standard_signature("id", &now, BODY.as_bytes());
    let request =
        HttpRequest::post(&listener.url).header("webhook-id", "id").header("webhook-timestamp", &now);
    assert_eq!(request.header("webhook-signature", &standard).body(BODY.to_owned()).send().status, 200);
    assert_eq!(listener.lines_of_kind("event").last().unwrap()["signature"]["header"], "webhook-signature");

    let guid = "7e9f1a9e-4c3c-4f7b-9d0e-0a4f4b8f3a10";
    assert_eq!(HttpRequest::get(&format!("{}/?echo={guid}", listener.url)).send().text(), guid);
    let markup = HttpRequest::get(&format!("{}/?echo=%3Cscript%3E", listener.url)).send();
    assert!(markup.status == 400 && !markup.text().contains("script"), "{markup:?}");
    assert_eq!(HttpRequest::post(&listener.url).body("{}".to_owned()).send().status, 401);
    listener.stop().code(0);
}

#[test]
fn without_a_secret_signatures_are_not_checked_and_the_output_says_so() {
    let mut process = Program::new(&["listen", "--listen", "127.0.0.1:0"]).start();
    let url = wait_for("it to listen", || {
        assert!(!process.has_exited(), "{}", process.stderr());
        let stderr = process.stderr();
        Some(stderr.split_once("listening on ")?.1.split_once(' ')?.0.to_owned())
    });
    let request =
        HttpRequest::post(&url).body(BODY.replace("eva", "e\\u001bva").replace('7', "a\\u001b[31mb"));
    assert_eq!(request.send().status, 200);
    assert_eq!(HttpRequest::post(&url).body("no".to_owned()).send().status, 400);
    let finished = process.stop().code(0);
    assert!(
        finished.stdout.contains("signature not checked") && finished.stdout.contains("Bank"),
        "{finished:?}"
    );
    assert!(
        !finished.stdout.contains('\u{1b}'),
        "control characters of a request do not reach the terminal: {finished:?}"
    );
    assert!(finished.stderr.contains("signatures are not verified"), "{finished:?}");
}

#[test]
fn simulated_failures_are_retried() {
    let fixture = ClientFixture::new();
    for how in [&["--status", "500"][..], &["--cookie"], &["--delay", "3s"]] {
        let listener = ListenProcess::start(&[&["--secret", SECRET], how].concat());
        let id = subscribe(&fixture, &listener);
        let company = fixture.company();
        fixture.ingest_client().send_lines(&[customer(&company, "1", "Uno")]);
        let again = listener
            .wait("event", |line| line["company"] == company.as_str() && line["attempt"].as_u64() > Some(1));
        assert_eq!(again["answered"], if how[0] == "--status" { 500 } else { 200 }, "{how:?}");
        delete(&fixture, id);
        listener.stop().code(0);
    }
}

#[test]
fn requests_are_forwarded_and_the_response_returned() {
    let target = Receiver::open();
    let to = target.url("/mine?a=b");
    let listener = ListenProcess::start(&["--secret", SECRET, "--forward-to", &to]);
    target.respond_with(|_| Some((418, "x-mine: yes\r\n")));
    let answer = listener.post(&right(), BODY);
    assert_eq!((answer.status, answer.header("x-mine")), (418, "yes"));
    let request = target.wait_for(1).remove(0);
    assert_eq!((request.body.as_str(), request.target.as_str()), (BODY, "/mine?a=b"));
    assert_eq!(request.headers["ms-signature"], right());
    assert_eq!(request.headers["host"], target.address.to_string());
    // A forged request is not forwarded.
    assert_eq!(listener.post("sha256=00", BODY).status, 401);
    assert_eq!(target.requests().len(), 1);
    listener.stop().code(0);

    let listener = ListenProcess::start(&["--forward-to", "http://127.0.0.1:1/"]);
    assert_eq!(listener.post(&right(), BODY).status, 502);
    let event = listener.wait("event", |_| true);
    assert!(event["trouble"].as_str().unwrap().contains("http://127.0.0.1:1/"), "{event}");
    listener.stop().code(0);
}

#[test]
fn invalid_arguments_are_refused() {
    let refused = |arguments: &[&str], code: i32, message: &str| {
        Program::new(&["listen", "--listen", "127.0.0.1:0"])
            .with(arguments)
            .run()
            .expect_failure(code, message);
    };
    refused(&["--forward-to", "localhost"], 2, "--forward-to localhost");
    refused(&["--resource", "custmers"], 2, "must be one of");
    refused(&["--resource", "customers"], 2, "--url");
    refused(&["--status", "99"], 2, "99");
    refused(&["--delay", "soon"], 2, "must be a duration");
    let occupied = Receiver::open().address.to_string();
    Program::new(&["listen", "--listen", &occupied])
        .run()
        .expect_failure(1, "choose another address with --listen");
}
