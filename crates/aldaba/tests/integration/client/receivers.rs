//! The unchanged receivers of `docs/receivers`, with real deliveries, forged ones and duplicates.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use aldaba_client::webhooks::{Action, InvoicingSubscription, Subscription};
use aldaba_client::{Guid, Resource, Secret};
use domain::signature::Signer;
use serde_json::{Value, json};

use super::ClientFixture;
use crate::harness::{HttpRequest, RunningProcess, bank, customer, wait_for};

const SECRET: &str = "un secreto ñ";

/// A running example receiver and its port.
struct ExampleReceiver {
    process: RunningProcess,
    port: u64,
}

impl ExampleReceiver {
    fn start(program: &str, file: &str) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/receivers").join(file);
        let mut command = Command::new(program);
        command.arg(file).arg("0").env("WEBHOOK_SECRET", SECRET);
        let mut process = RunningProcess::start(command);
        let port = wait_for("the receiver to listen", || {
            assert!(!process.has_exited(), "{program} ended: {}", process.stderr());
            let output = process.stdout();
            serde_json::from_str::<Value>(output.lines().next()?).ok()?["listening"].as_u64()
        });
        Self { process, port }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The events that it printed, one per line.
    fn events(&self) -> Vec<Value> {
        let output = self.process.stdout();
        let whole = &output[..output.rfind('\n').map_or(0, |end| end + 1)];
        whole.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Both families, a replay, and refused requests.
fn check_receiver(program: &str, file: &str) {
    let receiver = ExampleReceiver::start(program, file);
    let fixture = ClientFixture::new();
    let (api, company) = (fixture.api(), fixture.company());
    let hooks = api.webhooks(Resource::customers());
    let subscription =
        Subscription::to_all(Resource::customers(), program, &receiver.url("/hooks"), Secret::new(SECRET));
    let id = fixture.run(hooks.subscribe(&subscription)).unwrap();
    fixture.run(hooks.wait_active(id, Duration::from_secs(30))).unwrap();
    let invoicing = InvoicingSubscription {
        uri: receiver.url("/api/webhooks/incoming/Invoicing"),
        application_name: program.to_owned(),
        ..InvoicingSubscription::new("", "Bank", Action::Created, Secret::new(SECRET))
    };
    let bank_hook = fixture.run(api.invoicing_webhooks().subscribe(&invoicing)).unwrap();
    let status = || fixture.run(api.invoicing_webhooks().get(bank_hook.id)).unwrap().unwrap().status;
    wait_for("the echo", || (status() == "Effective").then_some(()));

    let bank_id = format!("banco-{}", bank_hook.id);
    fixture.ingest_client().send_lines(&[customer(&company, "ñ 1", "Uno"), bank(&bank_id, "Caja")]);
    let find = |id: &str, company: Option<&str>| {
        let events = receiver.events();
        let same =
            |event: &&Value| event["id"] == id && company.is_none_or(|company| event["company"] == company);
        events.iter().find(same).cloned()
    };
    let event = wait_for("the customer", || find("ñ 1", Some(&company)));
    assert_eq!(event["event"], "Svc.ACC.Customers.CustomerCreated");
    let event = wait_for("the bank", || find(&bank_id, None));
    assert_eq!(
        (&event["entity"], &event["changes"]),
        (&json!("Bank"), &json!([{"Name": "name", "Value": "Caja"}]))
    );

    check_refusals(&receiver, &fixture, &hooks, id, &company);
}

/// Modified requests are refused, and a duplicate is handled once.
fn check_refusals(
    receiver: &ExampleReceiver,
    fixture: &ClientFixture,
    hooks: &aldaba_client::webhooks::Webhooks,
    id: Guid,
    company: &str,
) {
    let body = r#"{"Entity":"Bank","EntityId":"touched","TenantId":"t","User":"eva","Changes":[]}"#;
    let right = Signer::new(&Secret::new(SECRET), None).contract_signature(body.as_bytes());
    let post = |signature: &str, body: &str| {
        let request = HttpRequest::post(&receiver.url("/hooks")).header("ms-signature", signature);
        request.header("webhook-id", "x").body(body.to_owned()).send()
    };
    for (signature, body) in [
        (right.as_str(), body.replace("eva", "Eva")),
        (right.as_str(), format!("{body}\n")),
        (&right.to_lowercase(), body.to_owned()),
        ("", body.to_owned()),
        ("sha256=zz", body.to_owned()),
    ] {
        assert_eq!(post(signature, &body).status, 401, "{signature} {body}");
    }
    let echo = HttpRequest::get(&receiver.url("/hooks?echo=%3Cscript%3E")).send();
    assert!(echo.status == 400 && !echo.text().contains("script"), "{echo:?}");
    let good = post(&right, body);
    assert_eq!((good.status, good.header("set-cookie")), (200, ""));
    assert_eq!(post(&right, body).status, 200);

    let delivery = wait_for("the delivery in the history", || {
        let all = hooks.history(id).deliveries().stream();
        let all: Vec<_> = fixture.run(aldaba_client::TryStreamExt::try_collect(all)).unwrap();
        all.into_iter().find(|one| one.company.as_deref() == Some(company))
    });
    let replay = fixture.run(hooks.history(id).replay_one(delivery.outgoing_id.unwrap())).unwrap();
    wait_for("the replay", || {
        let health = fixture.run(hooks.history(id).health()).unwrap();
        health.replays.iter().find(|one| one.number == replay.number && one.is_done).cloned()
    });
    // Its next event shows that it has processed everything before.
    fixture.ingest_client().send_lines(&[customer(company, "2", "Dos")]);
    wait_for("the next one", || {
        let events = receiver.events();
        events.iter().any(|event| event["id"] == "2" && event["company"] == company).then_some(())
    });
    let events = receiver.events();
    assert_eq!(events.iter().filter(|event| event["id"] == "ñ 1" && event["company"] == company).count(), 1);
    assert_eq!(events.iter().filter(|event| event["id"] == "touched").count(), 1);
}

#[test]
fn python_receiver_works() {
    check_receiver("python3", "python/receiver.py");
}

#[test]
fn node_receiver_works() {
    check_receiver("node", "node/receiver.mjs");
}
