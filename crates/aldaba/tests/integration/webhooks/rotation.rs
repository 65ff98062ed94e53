//! Secret rotation: the contract's signature uses the new secret at once, the standard one both during the overlap.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use serde_json::{Value, json};

use super::{CUSTOMERS, expect_state, get, send};
use crate::harness::{
    ApiCredentials, ApiFixture, Database, EmbeddedServer, HttpResponse, Installation, ReceivedRequest,
    Receiver, SubscriptionKeys, bank, company, customer, wait_for,
};

const INVOICING: &str = "/invoicing/api/webhooks";
const OLD: &str = "el secreto viejo";
const NEW: &str = "whsec_bnVldm8="; // "nuevo"
const NEWEST: &str = "el más nuevo";

const SETTINGS: [&str; 3] = ["gateway.rate_per_minute=0", "egress.loopback=true", "delivery.host_check=off"];

fn mac(key: &[u8], parts: &[&str]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, parts.concat().as_bytes()).as_ref().to_vec()
}

/// Asserts the signatures: the contract's with the first secret, the standard one with all of them.
#[track_caller]
fn assert_signed(request: &ReceivedRequest, header: &str, secrets: &[&str]) {
    let hex = domain::secret::hex(&mac(secrets[0].as_bytes(), &[&request.body])).to_uppercase();
    assert_eq!(request.headers[header], format!("sha256={hex}"), "{header}");
    let (id, at) = (&request.headers["webhook-id"], &request.headers["webhook-timestamp"]);
    let standard = |secret: &&str| {
        let key = if *secret == NEW { b"nuevo" } else { secret.as_bytes() };
        format!("v1,{}", STANDARD.encode(mac(key, &[id, ".", at, ".", &request.body])))
    };
    let expected: Vec<String> = secrets.iter().map(standard).collect();
    assert_eq!(request.headers["webhook-signature"], expected.join(" "));
}

/// Two webhooks, one of each family, with one receiver, and the credentials to manage them.
struct RotationFixture {
    server: EmbeddedServer,
    receiver: Receiver,
    credentials: ApiCredentials,
    tenant: String,
    accounting: String,
    invoicing: String,
}

impl RotationFixture {
    fn new(installation: Installation) -> Self {
        let (server, receiver) = (EmbeddedServer::start(installation, &SETTINGS), Receiver::open());
        let (credentials, tenant, accounting, invoicing) = {
            let api = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
            api.ingest.send_lines(&[company("c")]);
            let body = json!({
                "thirdPartyApplicationName": "Panel", "url": receiver.url("/hook"), "secret": OLD,
                "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
            });
            let path = format!("{CUSTOMERS}/webhooks/subscribe");
            let accounting = expect_state(&send(&api, Method::POST, &path, Some(&body)), 3);
            let body = json!({
                "uri": receiver.url("/api/webhooks/incoming/Invoicing"), "entity": "Bank", "action": "Created",
                "secret": OLD, "isPaused": false, "applicationName": "Panel", "description": "d",
            });
            let created = send(&api, Method::POST, INVOICING, Some(&body)).json();
            wait_for("both handshakes", || {
                let accounting = get(&api, &format!("{CUSTOMERS}/webhooks/{accounting}")).json();
                let invoicing = &get(&api, INVOICING).json()[0];
                (accounting["isActive"] == true && invoicing["status"] == "Effective").then_some(())
            });
            (
                api.credentials(),
                api.sign_in.tenants[0].clone(),
                accounting,
                created["id"].as_str().unwrap().to_owned(),
            )
        };
        Self { server, receiver, credentials, tenant, accounting, invoicing }
    }

    fn put(&self, path: &str, body: &Value) -> HttpResponse {
        let request = self
            .credentials
            .request(&self.server, Method::PUT, path)
            .header("content-type", "application/json");
        request.body(body.to_string()).send()
    }

    fn rotate(&self, body: &Value) {
        for path in [
            format!("{CUSTOMERS}/webhooks/secret/{}", self.accounting),
            format!("{INVOICING}/{}/secret", self.invoicing),
        ] {
            let response = self.put(&path, body);
            assert_eq!(response.status, 200, "{response:?}");
        }
    }

    /// Asserts that a change for each of the two webhooks is delivered, signed with these secrets.
    #[track_caller]
    fn assert_delivers(&self, record: &str, secrets: &[&str]) {
        let lines = [customer("c", record, "Ñandú"), bank(record, "Caja Rural")];
        assert_eq!(self.server.ingest_client(&self.tenant).send_lines(&lines).counts(), (2, 0));
        let received = wait_for("both deliveries", || {
            let mut received = self.receiver.changes();
            received.retain(|request| request.record().as_deref() == Some(record));
            (received.len() == 2).then_some(received)
        });
        for request in received {
            let is_accounting = request.target == "/hook";
            let header = if is_accounting { "svc-webhook-signature" } else { "ms-signature" };
            assert_signed(&request, header, secrets);
        }
    }
}

#[test]
fn the_new_secret_signs_at_once_and_the_old_one_during_the_overlap() {
    let fixture = RotationFixture::new(Installation::new());
    fixture.assert_delivers("before", &[OLD]);
    fixture.rotate(&json!({"secret": NEW, "overlapHours": 1}));
    fixture.assert_delivers("within", &[NEW, OLD]);
    fixture.rotate(&json!({"secret": NEWEST, "overlapHours": 1}));
    fixture.assert_delivers("again", &[NEWEST, NEW]);
    fixture.rotate(&json!({"secret": OLD, "overlapHours": 0}));
    fixture.assert_delivers("without", &[OLD]);
}

/// A test cannot wait an hour, so it moves the end of the overlap in the database.
#[test]
fn after_the_overlap_only_the_new_secret_signs() {
    let database = Database::create();
    let mut fixture = RotationFixture::new(Installation::with_store(&database.url()));
    fixture.rotate(&json!({"secret": NEW, "overlapHours": 1}));
    fixture.assert_delivers("within", &[NEW, OLD]);
    fixture.server = EmbeddedServer::start(fixture.server.stop(), &SETTINGS);
    fixture.assert_delivers("after a restart", &[NEW, OLD]);
    let installation = fixture.server.stop();
    let hour = 36_000_000_000_u64;
    database.execute(&format!("UPDATE webhooks SET old_secret_until = old_secret_until - {hour}"));
    fixture.server = EmbeddedServer::start(installation, &SETTINGS);
    fixture.assert_delivers("after the hour", &[NEW]);
}
