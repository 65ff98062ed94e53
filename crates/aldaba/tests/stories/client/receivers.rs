//! The receivers of `docs/receivers`, as they are, against real deliveries and against one that was touched.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use aldaba_client::webhooks::{InvoicingAction, InvoicingSubscription, Subscription};
use aldaba_client::{Guid, Resource, Secret};
use domain::signature::Signer;
use serde_json::{Value, json};

use super::Stage;
use crate::harness::{Call, Running, bank, customer, until};

const SECRET: &str = "un secreto ñ";

/// A receiver that runs, and where.
struct Elsewhere {
    running: Running,
    port: u64,
}

impl Elsewhere {
    fn start(program: &str, file: &str) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/receivers").join(file);
        let mut command = Command::new(program);
        command.arg(file).arg("0").env("WEBHOOK_SECRET", SECRET);
        let mut running = Running::start(command);
        let port = until("the receiver to listen", || {
            assert!(!running.has_ended(), "{program} ended: {}", running.stderr());
            let said = running.stdout();
            serde_json::from_str::<Value>(said.lines().next()?).ok()?["listening"].as_u64()
        });
        Self { running, port }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What it has made of what came: one line each.
    fn events(&self) -> Vec<Value> {
        let said = self.running.stdout();
        let whole = &said[..said.rfind('\n').map_or(0, |end| end + 1)];
        whole.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Both families, a replay, and what must be kept out.
fn works(program: &str, file: &str) {
    let receiver = Elsewhere::start(program, file);
    let stage = Stage::new();
    let (api, company) = (stage.api(), stage.company());
    let hooks = api.webhooks(Resource::customers());
    let wanted =
        Subscription::to_all(Resource::customers(), program, &receiver.url("/hooks"), Secret::new(SECRET));
    let id = stage.run(hooks.subscribe(&wanted)).unwrap();
    stage.run(hooks.wait_until_active(id, Duration::from_secs(30))).unwrap();
    let invoicing = InvoicingSubscription {
        uri: receiver.url("/api/webhooks/incoming/Invoicing"),
        application_name: program.to_owned(),
        ..InvoicingSubscription::new("", "Bank", InvoicingAction::Created, Secret::new(SECRET))
    };
    let bank_hook = stage.run(api.invoicing_webhooks().subscribe(&invoicing)).unwrap();
    let status = || stage.run(api.invoicing_webhooks().get(bank_hook.id)).unwrap().unwrap().status;
    until("the echo", || (status() == "Effective").then_some(()));

    let bank_id = format!("banco-{}", bank_hook.id);
    stage.door().send_lines(&[customer(&company, "ñ 1", "Uno"), bank(&bank_id, "Caja")]);
    let find = |id: &str, company: Option<&str>| {
        let events = receiver.events();
        let same =
            |event: &&Value| event["id"] == id && company.is_none_or(|company| event["company"] == company);
        events.iter().find(same).cloned()
    };
    let told = until("the customer", || find("ñ 1", Some(&company)));
    assert_eq!(told["event"], "Svc.ACC.Customers.CustomerCreated");
    let told = until("the bank", || find(&bank_id, None));
    assert_eq!(
        (&told["entity"], &told["changes"]),
        (&json!("Bank"), &json!([{"Name": "name", "Value": "Caja"}]))
    );

    is_strict(&receiver, &stage, &hooks, id, &company);
}

/// What was touched is refused; what comes twice is taken once.
fn is_strict(
    receiver: &Elsewhere,
    stage: &Stage,
    hooks: &aldaba_client::webhooks::Webhooks,
    id: Guid,
    company: &str,
) {
    let body = r#"{"Entity":"Bank","EntityId":"touched","TenantId":"t","User":"eva","Changes":[]}"#;
    let right = Signer::new(&Secret::new(SECRET), None).contract_signature(body.as_bytes());
    let post = |signature: &str, body: &str| {
        let call = Call::post(&receiver.url("/hooks")).header("ms-signature", signature);
        call.header("webhook-id", "x").body(body.to_owned()).send()
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
    let echo = Call::get(&receiver.url("/hooks?echo=%3Cscript%3E")).send();
    assert!(echo.status == 400 && !echo.text().contains("script"), "{echo:?}");
    let good = post(&right, body);
    assert_eq!((good.status, good.header("set-cookie")), (200, ""));
    assert_eq!(post(&right, body).status, 200);

    let ours = until("the delivery in the history", || {
        let all = hooks.history(id).deliveries().stream();
        let all: Vec<_> = stage.run(aldaba_client::TryStreamExt::try_collect(all)).unwrap();
        all.into_iter().find(|one| one.company.as_deref() == Some(company))
    });
    let replay = stage.run(hooks.history(id).replay_one(ours.outgoing_id.unwrap())).unwrap();
    until("the replay", || {
        let health = stage.run(hooks.history(id).health()).unwrap();
        health.replays.iter().find(|one| one.number == replay.number && one.is_done).cloned()
    });
    // Its next event shows that it has worked off what came before.
    stage.door().send_lines(&[customer(company, "2", "Dos")]);
    until("the next one", || {
        let events = receiver.events();
        events.iter().any(|event| event["id"] == "2" && event["company"] == company).then_some(())
    });
    let events = receiver.events();
    assert_eq!(events.iter().filter(|event| event["id"] == "ñ 1" && event["company"] == company).count(), 1);
    assert_eq!(events.iter().filter(|event| event["id"] == "touched").count(), 1);
}

#[test]
fn the_receiver_in_python() {
    works("python3", "python/receiver.py");
}

#[test]
fn the_receiver_in_node() {
    works("node", "node/receiver.mjs");
}
