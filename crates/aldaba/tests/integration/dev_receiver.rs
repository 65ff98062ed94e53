//! The receiver that dev brings along: it tells what came and whether it was signed, and can be broken and mended.

use domain::Secret;
use domain::signature::Signer;
use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{Dev, HttpRequest, HttpResponse, Program, bank, is_guid};

struct DevReceiverFixture {
    dev: Dev,
    token: String,
    _folder: tempfile::TempDir,
}

impl DevReceiverFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().to_str().unwrap();
        let set = ["--set", "delivery.schedule=100ms,200ms"];
        let dev = Dev::start(&[&["--empty", "--data", data], &set[..]].concat());
        let token = Program::new(&["dev", "token", "--data", data]).run().code(0).stdout;
        Self { dev, token: token.trim_end().to_owned(), _folder: folder }
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.dev.text("receiver_url"))
    }

    fn deliveries(&self, query: &str) -> Vec<Value> {
        HttpRequest::get(&self.at(&format!("deliveries{query}"))).send().json().as_array().unwrap().clone()
    }

    fn set_mode(&self, word: &'static str) -> HttpResponse {
        HttpRequest::new(Method::PUT, &self.at("mood")).body(word).send()
    }

    /// Subscribes the receiver to new banks.
    fn subscribe(&self) {
        let key = self.dev.ready["subscription"]["primary_key"].as_str().unwrap();
        let body = json!({
            "uri": self.at("api/webhooks/incoming/Invoicing"), "entity": "Bank", "action": "Created",
            "secret": "un secreto", "isPaused": false, "applicationName": "Panel", "description": "",
        });
        let response = HttpRequest::post(&format!("{}/invoicing/api/webhooks", self.dev.text("base_url")))
            .header("authorization", &format!("Bearer {}", self.token))
            .header("ocp-apim-subscription-key", key)
            .header("content-type", "application/json")
            .body(body.to_string())
            .send();
        assert!(is_guid(response.json()["id"].as_str().unwrap()), "{response:?}");
    }
}

#[test]
fn invoicing_is_verified_too_and_a_broken_receiver_is_tried_again() {
    let fixture = DevReceiverFixture::new();
    fixture.subscribe();
    assert_eq!(fixture.deliveries("?handshakes=1")[0]["event"], "echo");
    assert_eq!(fixture.set_mode("fail").text(), "fail: deliveries are answered 500\n");
    assert_eq!(fixture.dev.ingest_client(0).send_lines(&[bank("caja", "Caja")]).counts(), (1, 0));
    let failed = fixture.deliveries("?failed=2").pop().unwrap();
    assert_eq!(
        (&failed["event"], &failed["record"], &failed["status"]),
        (&json!("Bank"), &json!("caja"), &json!(500))
    );
    assert_eq!(failed["verified"], json!(["ms-signature", "webhook-signature"]), "{failed}");
    assert_eq!(HttpRequest::get(&fixture.at("mood")).send().text(), "fail: deliveries are answered 500\n");
    assert_eq!(fixture.set_mode("ok").status, 200);
    let taken = fixture.deliveries("?delivered=1").pop().unwrap();
    assert_eq!(
        (&taken["id"], &taken["status"], &taken["signature"]),
        (&failed["id"], &json!(200), &json!("valid"))
    );
    assert!(taken["time"].as_u64().unwrap() >= 3, "{taken}");
    assert_eq!(fixture.dev.stop().stderr, "", "a program that started it is told nothing beside its line");
}

#[test]
fn what_this_store_has_not_signed_is_not_called_valid() {
    let fixture = DevReceiverFixture::new();
    fixture.subscribe();
    fixture.deliveries("?handshakes=1");
    let tenant = fixture.dev.tenants()[0];
    let body =
        format!(r#"{{"Entity":"Bank","EntityId":"7","TenantId":"{tenant}","User":"eva","Changes":[]}}"#);
    let right = Signer::new(&Secret::new("un secreto"), None).contract_signature(body.as_bytes());
    let post = |signature: &str, body: &str| {
        let request = HttpRequest::post(&fixture.at("hooks")).header("ms-signature", signature);
        let status = request.body(body.to_owned()).send().status;
        (status, fixture.deliveries("").pop().unwrap()["signature"].as_str().unwrap().to_owned())
    };
    assert_eq!(post(&right, &body), (200, "valid".into()));
    assert_eq!(post("", &body), (200, "missing".into()), "curl may knock");
    for (signature, body) in [
        (right.as_str(), body.replace("eva", "Eva")),
        (&right.to_lowercase(), body.clone()),
        (&right, body.replace(tenant, "another")),
        (&right, "no JSON".into()),
    ] {
        let (status, verdict) = post(signature, &body);
        assert!(status == 401 && verdict.starts_with("wrong: "), "{status} {verdict}");
    }
    // A right signature does not excuse a wrong one beside it.
    let both = HttpRequest::post(&fixture.at("hooks"))
        .header("ms-signature", &right)
        .header("webhook-signature", "v1,AAAA")
        .header("webhook-id", "1")
        .header("webhook-timestamp", "1");
    assert_eq!(both.body(body).send().status, 401);
}

#[test]
fn what_it_does_not_understand_it_explains() {
    let fixture = DevReceiverFixture::new();
    let why = fixture.set_mode("angry");
    assert_eq!((why.status, why.text().contains("ok or fail")), (400, true));
    let why = HttpRequest::get(&fixture.at("deliveries?delivered=many")).send();
    assert_eq!((why.status, why.text().contains("delivered=N")), (400, true));
    assert_eq!(fixture.deliveries(""), [0; 0].map(Value::from));
}
