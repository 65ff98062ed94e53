//! `aldaba listen` as a plain receiver: what it answers, what it says, and how it fails on purpose.

use std::time::Duration;

use aldaba_client::webhooks::Subscription;
use aldaba_client::{Guid, Resource, Secret};
use domain::signature::Signer;

use super::Stage;
use super::listening::Listening;
use crate::harness::{Call, Program, Receiver, customer, until};

const SECRET: &str = "un secreto ñ";
const BODY: &str = r#"{"Entity":"Bank","EntityId":"7","TenantId":"t","User":"eva","Changes":[]}"#;

fn right() -> String {
    Signer::new(&Secret::new(SECRET), None).contract_signature(BODY.as_bytes())
}

/// Subscribes the receiver to customers, active.
fn subscribe(stage: &Stage, listening: &Listening) -> Guid {
    let hooks = stage.api().webhooks(Resource::customers());
    let secret = Secret::new(SECRET);
    let wanted = Subscription::to_all(Resource::customers(), "Desk", &listening.url, secret);
    let id = stage.run(hooks.subscribe(&wanted)).unwrap();
    stage.run(hooks.wait_until_active(id, Duration::from_secs(30))).unwrap();
    id
}

fn delete(stage: &Stage, id: Guid) {
    stage.run(stage.api().webhooks(Resource::customers()).delete(id)).unwrap();
}

#[test]
fn a_real_delivery_is_verified_and_told() {
    let (stage, listening) = (Stage::new(), Listening::start(&["--secret", SECRET]));
    let id = subscribe(&stage, &listening);
    let hello = listening.wait("acknowledge", |_| true);
    assert_eq!((&hello["answered"], &hello["signature"]["valid"]), (&200.into(), &true.into()));
    let company = stage.company();
    stage.door().send_lines(&[customer(&company, "ñ 1", "Uno")]);
    let told = listening.wait("event", |line| line["company"] == company.as_str());
    assert_eq!(told["event"], "Svc.ACC.Customers.CustomerCreated");
    assert_eq!(
        (&told["record"], &told["attempt"], &told["answered"]),
        (&"ñ 1".into(), &1.into(), &200.into())
    );
    assert_eq!(told["signature"]["header"], "svc-webhook-signature");
    assert!(told["body"].as_str().unwrap().contains("CustomerCreated"));
    delete(&stage, id);
    let done = listening.stop().code(0);
    assert_eq!(done.stderr, "");
}

#[test]
fn what_is_not_signed_right_is_answered_401_and_named() {
    let listening = Listening::start(&["--secret", "otro", "--secret", SECRET]);
    assert_eq!(listening.post(&right(), BODY).status, 200);
    assert_eq!(listening.post(&right(), &BODY.replace('7', "8")).status, 401);
    assert_eq!(listening.post(&right().to_lowercase(), BODY).status, 401);
    let reasons: Vec<_> = listening
        .told("refused")
        .iter()
        .map(|line| line["signature"]["reasons"][0]["code"].clone())
        .collect();
    assert_eq!(reasons, ["wrong_secret", "lower_case_hex"]);

    // The other scheme is enough, too.
    let now = std::fs::metadata("/proc/self").unwrap().modified().unwrap();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string();
    let standard = Signer::new(&Secret::new(SECRET), None).standard_signature("id", &now, BODY.as_bytes());
    let call = Call::post(&listening.url).header("webhook-id", "id").header("webhook-timestamp", &now);
    assert_eq!(call.header("webhook-signature", &standard).body(BODY.to_owned()).send().status, 200);
    assert_eq!(listening.told("event").last().unwrap()["signature"]["header"], "webhook-signature");

    let guid = "7e9f1a9e-4c3c-4f7b-9d0e-0a4f4b8f3a10";
    assert_eq!(Call::get(&format!("{}/?echo={guid}", listening.url)).send().text(), guid);
    let odd = Call::get(&format!("{}/?echo=%3Cscript%3E", listening.url)).send();
    assert!(odd.status == 400 && !odd.text().contains("script"), "{odd:?}");
    assert_eq!(Call::post(&listening.url).body("{}".to_owned()).send().status, 401);
    listening.stop().code(0);
}

#[test]
fn without_a_secret_nothing_is_checked_and_people_are_told_so() {
    let mut running = Program::new(&["listen", "--listen", "127.0.0.1:0"]).start();
    let url = until("it to listen", || {
        assert!(!running.has_ended(), "{}", running.stderr());
        let said = running.stderr();
        Some(said.split_once("listening on ")?.1.split_once(' ')?.0.to_owned())
    });
    let call = Call::post(&url).body(BODY.replace("eva", "e\\u001bva").replace('7', "a\\u001b[31mb"));
    assert_eq!(call.send().status, 200);
    assert_eq!(Call::post(&url).body("no".to_owned()).send().status, 400);
    let done = running.stop().code(0);
    assert!(done.stdout.contains("signature not checked") && done.stdout.contains("Bank"), "{done:?}");
    assert!(!done.stdout.contains('\u{1b}'), "nothing that came commands the terminal: {done:?}");
    assert!(done.stderr.contains("nothing is verified"), "{done:?}");
}

#[test]
fn it_fails_on_purpose_and_the_service_tries_again() {
    let stage = Stage::new();
    for how in [&["--status", "500"][..], &["--cookie"], &["--delay", "3s"]] {
        let listening = Listening::start(&[&["--secret", SECRET], how].concat());
        let id = subscribe(&stage, &listening);
        let company = stage.company();
        stage.door().send_lines(&[customer(&company, "1", "Uno")]);
        let again = listening
            .wait("event", |line| line["company"] == company.as_str() && line["attempt"].as_u64() > Some(1));
        assert_eq!(again["answered"], if how[0] == "--status" { 500 } else { 200 }, "{how:?}");
        delete(&stage, id);
        listening.stop().code(0);
    }
}

#[test]
fn what_comes_is_handed_on_and_the_answer_brought_back() {
    let target = Receiver::open();
    let to = target.url("/mine?a=b");
    let listening = Listening::start(&["--secret", SECRET, "--forward-to", &to]);
    target.answers(|_| Some((418, "x-mine: yes\r\n")));
    let answer = listening.post(&right(), BODY);
    assert_eq!((answer.status, answer.header("x-mine")), (418, "yes"));
    let letter = target.wait_for(1).remove(0);
    assert_eq!((letter.body.as_str(), letter.target.as_str()), (BODY, "/mine?a=b"));
    assert_eq!(letter.headers["ms-signature"], right());
    assert_eq!(letter.headers["host"], target.address.to_string());
    // What is forged goes no further.
    assert_eq!(listening.post("sha256=00", BODY).status, 401);
    assert_eq!(target.letters().len(), 1);
    listening.stop().code(0);

    let listening = Listening::start(&["--forward-to", "http://127.0.0.1:1/"]);
    assert_eq!(listening.post(&right(), BODY).status, 502);
    let told = listening.wait("event", |_| true);
    assert!(told["trouble"].as_str().unwrap().contains("http://127.0.0.1:1/"), "{told}");
    listening.stop().code(0);
}

#[test]
fn a_command_line_that_cannot_be_is_refused() {
    let refused = |arguments: &[&str], code: i32, why: &str| {
        Program::new(&["listen", "--listen", "127.0.0.1:0"]).with(arguments).run().refused(code, why);
    };
    refused(&["--forward-to", "localhost"], 2, "--forward-to localhost");
    refused(&["--resource", "custmers"], 2, "it must be one of");
    refused(&["--resource", "customers"], 2, "--url");
    refused(&["--status", "99"], 2, "99");
    refused(&["--delay", "soon"], 2, "it takes a duration");
    let taken = Receiver::open().address.to_string();
    Program::new(&["listen", "--listen", &taken]).run().refused(1, "choose another address with --listen");
}
