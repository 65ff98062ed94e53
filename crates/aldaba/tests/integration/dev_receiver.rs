//! dev's built-in webhook receiver: it lists deliveries with their signature check, and can be told to fail.

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
fn invoicing_deliveries_are_verified_and_retried_after_failures() {
    let fixture = DevReceiverFixture::new();
    fixture.subscribe();
    assert_eq!(fixture.deliveries("?handshakes=1")[0]["event"], "echo");
    assert_eq!(fixture.set_mode("fail").text(), "fail: the receiver responds with 500\n");
    assert_eq!(fixture.dev.ingest_client(0).send_lines(&[bank("caja", "Caja")]).counts(), (1, 0));
    let failed = fixture.deliveries("?failed=2").pop().unwrap();
    assert_eq!(
        (&failed["event"], &failed["record"], &failed["status"]),
        (&json!("Bank"), &json!("caja"), &json!(500))
    );
    assert_eq!(failed["verified"], json!(["ms-signature", "webhook-signature"]), "{failed}");
    assert_eq!(HttpRequest::get(&fixture.at("mood")).send().text(), "fail: the receiver responds with 500\n");
    assert_eq!(fixture.set_mode("ok").status, 200);
    let delivered = fixture.deliveries("?delivered=1").pop().unwrap();
    assert_eq!(
        (&delivered["id"], &delivered["status"], &delivered["signature"]),
        (&failed["id"], &json!(200), &json!("valid"))
    );
    assert!(delivered["time"].as_u64().unwrap() >= 3, "{delivered}");
    assert_eq!(fixture.dev.stop().stderr, "", "with --json dev writes nothing to standard error");
}

#[test]
fn browser_gets_the_deliveries_as_a_table_with_the_newest_first() {
    let fixture = DevReceiverFixture::new();
    let browse = |path: &str| {
        let request = HttpRequest::get(&fixture.at(path));
        request.header("accept", "text/html,*/*;q=0.8").header("accept-language", "en").send()
    };
    let empty = browse("deliveries");
    assert!(empty.text().contains("Nothing has arrived yet"), "{empty:?}");
    fixture.subscribe();
    fixture.deliveries("?handshakes=1");
    assert_eq!(fixture.dev.ingest_client(0).send_lines(&[bank("<caja>", "Caja")]).counts(), (1, 0));
    let page = browse("deliveries?delivered=1");
    let text = page.text();
    assert!(
        text.starts_with("<!DOCTYPE html>")
            && page.header("content-security-policy").contains("default-src 'none'")
    );
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is not in {text}"));
    assert!(at("<code>Bank</code>") < at("<code>echo</code>"), "{text}");
    assert!(text.contains("Verified") && text.contains("ms-signature, webhook-signature"), "{text}");
    assert!(text.contains("&lt;caja&gt;") && !text.contains("<caja>"), "{text}");
    assert!(text.contains("status-2") && text.contains("&quot;Entity&quot;: &quot;Bank&quot;"), "{text}");
    let spanish = browse("deliveries?delivered=1&lang=es");
    assert!(
        spanish.text().contains("<html lang=\"es\"") && spanish.text().contains("Comprobada"),
        "{spanish:?}"
    );
    let stylesheet = text.split("href=\"/").find(|part| part.starts_with("look/aldaba.")).unwrap();
    let stylesheet = stylesheet.split('"').next().unwrap();
    assert_eq!(browse(stylesheet).header("content-type"), "text/css; charset=utf-8");
    assert_eq!(browse("").header("location"), "/deliveries", "a browser at the receiver's address");
    // Programs get what they always got: the oldest first, as JSON.
    let json = fixture.deliveries("");
    assert_eq!((&json[0]["event"], &json[1]["event"]), (&json!("echo"), &json!("Bank")));
    assert_eq!(
        HttpRequest::get(&fixture.at("deliveries")).header("accept", "*/*").send().header("content-type"),
        "application/json"
    );
}

#[test]
fn foreign_signatures_are_not_reported_as_valid() {
    let fixture = DevReceiverFixture::new();
    fixture.subscribe();
    fixture.deliveries("?handshakes=1");
    let tenant = fixture.dev.tenants()[0];
    let body =
        format!(r#"{{"Entity":"Bank","EntityId":"7","TenantId":"{tenant}","User":"eva","Changes":[]}}"#);
    let signature = Signer::new(&Secret::new("un secreto"), None).contract_signature(body.as_bytes());
    let post = |signature: &str, body: &str| {
        let request = HttpRequest::post(&fixture.at("hooks")).header("ms-signature", signature);
        let status = request.body(body.to_owned()).send().status;
        (status, fixture.deliveries("").pop().unwrap()["signature"].as_str().unwrap().to_owned())
    };
    assert_eq!(post(&signature, &body), (200, "valid".into()));
    assert_eq!(
        post("", &body),
        (200, "missing".into()),
        "an unsigned request is accepted, so that people can try curl"
    );
    for (signature, body) in [
        (signature.as_str(), body.replace("eva", "Eva")),
        (&signature.to_lowercase(), body.clone()),
        (&signature, body.replace(tenant, "another")),
        (&signature, "no JSON".into()),
    ] {
        let (status, verdict) = post(signature, &body);
        assert!(status == 401 && verdict.starts_with("wrong: "), "{status} {verdict}");
    }
    // One valid signature does not excuse an invalid one in the same request.
    let both = HttpRequest::post(&fixture.at("hooks"))
        .header("ms-signature", &signature)
        .header("webhook-signature", "v1,AAAA")
        .header("webhook-id", "1")
        .header("webhook-timestamp", "1");
    assert_eq!(both.body(body).send().status, 401);
}

#[test]
fn invalid_requests_get_an_explanation() {
    let fixture = DevReceiverFixture::new();
    let refused = fixture.set_mode("angry");
    assert_eq!((refused.status, refused.text().contains("ok or fail")), (400, true));
    let refused = HttpRequest::get(&fixture.at("deliveries?delivered=many")).send();
    assert_eq!((refused.status, refused.text().contains("delivered=N")), (400, true));
    assert_eq!(fixture.deliveries(""), [0; 0].map(Value::from));
}
