//! A secret is rotated: the contract's signature is the new one's at once, and the standard one is both's for a while.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use serde_json::{Value, json};

use super::{CUSTOMERS, expect_state, get, send};
use crate::harness::{
    ApiCredentials, ApiFixture, Database, HttpResponse, Installation, ReceivedRequest, Receiver,
    ServeProcess, SubscriptionKeys, bank, company, customer, wait_for,
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

/// The letter is signed with the first secret in the contract's way, and with all of them in the standard one.
#[track_caller]
fn is_signed(request: &ReceivedRequest, header: &str, secrets: &[&str]) {
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

/// Two webhooks, one of each family, at one receiver; and who may call for them.
struct RotationFixture {
    server: ServeProcess,
    receiver: Receiver,
    credentials: ApiCredentials,
    tenant: String,
    accounting: String,
    invoicing: String,
}

impl RotationFixture {
    fn new(installation: Installation) -> Self {
        let (server, receiver) = (ServeProcess::with_settings(installation, &SETTINGS), Receiver::open());
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
            let made = send(&api, Method::POST, INVOICING, Some(&body)).json();
            wait_for("both contracts", || {
                let accounting = get(&api, &format!("{CUSTOMERS}/webhooks/{accounting}")).json();
                let invoicing = &get(&api, INVOICING).json()[0];
                (accounting["isActive"] == true && invoicing["status"] == "Effective").then_some(())
            });
            (
                api.credentials(),
                api.sign_in.tenants[0].clone(),
                accounting,
                made["id"].as_str().unwrap().to_owned(),
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

    /// A change for each of the two arrives, signed with these.
    #[track_caller]
    fn tells(&self, record: &str, secrets: &[&str]) {
        let lines = [customer("c", record, "Ñandú"), bank(record, "Caja Rural")];
        assert_eq!(self.server.ingest_client(&self.tenant).send_lines(&lines).counts(), (2, 0));
        let came = wait_for("both letters", || {
            let mut came = self.receiver.changes();
            came.retain(|request| request.record().as_deref() == Some(record));
            (came.len() == 2).then_some(came)
        });
        for request in came {
            let is_accounting = request.target == "/hook";
            let header = if is_accounting { "svc-webhook-signature" } else { "ms-signature" };
            is_signed(&request, header, secrets);
        }
    }
}

#[test]
fn the_new_secret_signs_at_once_and_the_old_one_beside_it_for_the_overlap() {
    let fixture = RotationFixture::new(Installation::new());
    fixture.tells("before", &[OLD]);
    fixture.rotate(&json!({"secret": NEW, "overlapHours": 1}));
    fixture.tells("within", &[NEW, OLD]);
    fixture.rotate(&json!({"secret": NEWEST, "overlapHours": 1}));
    fixture.tells("again", &[NEWEST, NEW]);
    fixture.rotate(&json!({"secret": OLD, "overlapHours": 0}));
    fixture.tells("without", &[OLD]);
}

/// An hour is more than a test can wait, so it is the store that is told that it has passed.
#[test]
fn when_the_overlap_ends_one_signature_is_left() {
    let database = Database::create();
    let mut fixture = RotationFixture::new(Installation::with_store(&database.url()));
    fixture.rotate(&json!({"secret": NEW, "overlapHours": 1}));
    fixture.tells("within", &[NEW, OLD]);
    fixture.server = ServeProcess::with_settings(fixture.server.stop(), &SETTINGS);
    fixture.tells("after a restart", &[NEW, OLD]);
    let installation = fixture.server.stop();
    let hour = 36_000_000_000_u64;
    database.execute(&format!("UPDATE webhooks SET old_secret_until = old_secret_until - {hour}"));
    fixture.server = ServeProcess::with_settings(installation, &SETTINGS);
    fixture.tells("after the hour", &[NEW]);
}
