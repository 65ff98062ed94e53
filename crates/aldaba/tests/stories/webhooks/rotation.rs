//! A secret is rotated: the contract's signature is the new one's at once, and the standard one is both's for a while.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use serde_json::{Value, json};

use super::{CUSTOMERS, done, get, send};
use crate::harness::{
    Api, Database, Keys, Letter, Pass, Receiver, Reply, Serve, Site, bank, company, customer, until,
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
fn is_signed(letter: &Letter, header: &str, secrets: &[&str]) {
    let hex = domain::secret::hex(&mac(secrets[0].as_bytes(), &[&letter.body])).to_uppercase();
    assert_eq!(letter.headers[header], format!("sha256={hex}"), "{header}");
    let (id, at) = (&letter.headers["webhook-id"], &letter.headers["webhook-timestamp"]);
    let standard = |secret: &&str| {
        let key = if *secret == NEW { b"nuevo" } else { secret.as_bytes() };
        format!("v1,{}", STANDARD.encode(mac(key, &[id, ".", at, ".", &letter.body])))
    };
    let expected: Vec<String> = secrets.iter().map(standard).collect();
    assert_eq!(letter.headers["webhook-signature"], expected.join(" "));
}

/// Two webhooks, one of each family, at one receiver; and who may call for them.
struct Stage {
    serve: Serve,
    receiver: Receiver,
    pass: Pass,
    tenant: String,
    accounting: String,
    invoicing: String,
}

impl Stage {
    fn new(site: Site) -> Self {
        let (serve, receiver) = (Serve::set(site, &SETTINGS), Receiver::open());
        let (pass, tenant, accounting, invoicing) = {
            let api = Api::on(&serve, &Keys::new(&serve, &[]));
            api.door.send_lines(&[company("c")]);
            let body = json!({
                "thirdPartyApplicationName": "Panel", "url": receiver.url("/hook"), "secret": OLD,
                "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
            });
            let path = format!("{CUSTOMERS}/webhooks/subscribe");
            let accounting = done(&send(&api, Method::POST, &path, Some(&body)), 3);
            let body = json!({
                "uri": receiver.url("/api/webhooks/incoming/Invoicing"), "entity": "Bank", "action": "Created",
                "secret": OLD, "isPaused": false, "applicationName": "Panel", "description": "d",
            });
            let made = send(&api, Method::POST, INVOICING, Some(&body)).json();
            until("both contracts", || {
                let accounting = get(&api, &format!("{CUSTOMERS}/webhooks/{accounting}")).json();
                let invoicing = &get(&api, INVOICING).json()[0];
                (accounting["isActive"] == true && invoicing["status"] == "Effective").then_some(())
            });
            (api.pass(), api.office.tenants[0].clone(), accounting, made["id"].as_str().unwrap().to_owned())
        };
        Self { serve, receiver, pass, tenant, accounting, invoicing }
    }

    fn put(&self, path: &str, body: &Value) -> Reply {
        let call = self.pass.call(&self.serve, Method::PUT, path).header("content-type", "application/json");
        call.body(body.to_string()).send()
    }

    fn rotate(&self, body: &Value) {
        for path in [
            format!("{CUSTOMERS}/webhooks/secret/{}", self.accounting),
            format!("{INVOICING}/{}/secret", self.invoicing),
        ] {
            let reply = self.put(&path, body);
            assert_eq!(reply.status, 200, "{reply:?}");
        }
    }

    /// A change for each of the two arrives, signed with these.
    #[track_caller]
    fn tells(&self, record: &str, secrets: &[&str]) {
        let lines = [customer("c", record, "Ñandú"), bank(record, "Caja Rural")];
        assert_eq!(self.serve.door(&self.tenant).send_lines(&lines).counts(), (2, 0));
        let came = until("both letters", || {
            let mut came = self.receiver.changes();
            came.retain(|letter| letter.record().as_deref() == Some(record));
            (came.len() == 2).then_some(came)
        });
        for letter in came {
            let is_accounting = letter.target == "/hook";
            let header = if is_accounting { "svc-webhook-signature" } else { "ms-signature" };
            is_signed(&letter, header, secrets);
        }
    }
}

#[test]
fn the_new_secret_signs_at_once_and_the_old_one_beside_it_for_the_overlap() {
    let stage = Stage::new(Site::new());
    stage.tells("before", &[OLD]);
    stage.rotate(&json!({"secret": NEW, "overlapHours": 1}));
    stage.tells("within", &[NEW, OLD]);
    stage.rotate(&json!({"secret": NEWEST, "overlapHours": 1}));
    stage.tells("again", &[NEWEST, NEW]);
    stage.rotate(&json!({"secret": OLD, "overlapHours": 0}));
    stage.tells("without", &[OLD]);
}

/// An hour is more than a test can wait, so it is the store that is told that it has passed.
#[test]
fn when_the_overlap_ends_one_signature_is_left() {
    let database = Database::create();
    let mut stage = Stage::new(Site::over(&database.url()));
    stage.rotate(&json!({"secret": NEW, "overlapHours": 1}));
    stage.tells("within", &[NEW, OLD]);
    stage.serve = Serve::set(stage.serve.stop(), &SETTINGS);
    stage.tells("after a restart", &[NEW, OLD]);
    let site = stage.serve.stop();
    let hour = 36_000_000_000_u64;
    database.execute(&format!("UPDATE webhooks SET old_secret_until = old_secret_until - {hour}"));
    stage.serve = Serve::set(site, &SETTINGS);
    stage.tells("after the hour", &[NEW]);
}
