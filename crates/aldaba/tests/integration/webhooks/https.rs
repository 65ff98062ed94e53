//! Deliveries over HTTPS: only a receiver with a trusted certificate gets requests.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use aws_lc_rs::hmac;
use hyper::Method;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};

use super::{CUSTOMERS, expect_state, get, send};
use crate::harness::{
    ApiFixture, EmbeddedServer, IngestClient, Installation, Receiver, Server, SubscriptionKeys, bank,
    company, customer, wait_for,
};

const HTTPS: u16 = 443;

/// A certificate authority.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { pem: certificate.pem(), issuer: Issuer::new(params, key) }
    }

    /// A receiver with a certificate of this authority, for its own address or for another name.
    fn receiver(&self, listener: TcpListener, name: Option<&str>) -> Receiver {
        let address = listener.local_addr().unwrap().ip().to_string();
        Receiver::with_tls(listener, self.server_config_for(name.unwrap_or(&address)))
    }

    fn server_config_for(&self, name: &str) -> Arc<ServerConfig> {
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .unwrap();
        Arc::new(config)
    }
}

/// The loopback addresses of receivers, and the setting that lets the service call them.
struct LoopbackAddresses {
    setting: &'static str,
    /// 443 where this process may bind it, otherwise 0: any free port.
    port: u16,
}

impl LoopbackAddresses {
    fn find() -> Self {
        match TcpListener::bind((Self::address(0), HTTPS)) {
            Ok(_) => Self { setting: "egress.allow=127.0.0.0/8", port: HTTPS },
            Err(_) => Self { setting: "egress.loopback=true", port: 0 },
        }
    }

    /// A loopback address that no other test uses.
    fn address(number: u8) -> Ipv4Addr {
        let [.., high, low] = std::process::id().to_be_bytes();
        Ipv4Addr::new(127, 64 | (high & 63), low, 1 + number)
    }

    fn listener(&self, number: u8) -> TcpListener {
        TcpListener::bind((Self::address(number), self.port)).unwrap()
    }
}

struct HttpsFixture {
    api: ApiFixture<'static>,
    ingest: IngestClient,
    addresses: LoopbackAddresses,
    trusted: Authority,
}

impl HttpsFixture {
    fn new() -> Self {
        let (addresses, trusted) = (LoopbackAddresses::find(), Authority::new("The operator"));
        let installation = Installation::new();
        let file = installation.path().join("authorities.pem");
        std::fs::write(&file, &trusted.pem).unwrap();
        let file = format!("egress.ca_file={}", file.display());
        let others = ["gateway.rate_per_minute=0", "delivery.host_check=off", "delivery.schedule=200ms"];
        let settings = [&[addresses.setting, &file], &others[..]].concat();
        installation.delete_after_exit();
        let server: &'static Server = Box::leak(Box::new(EmbeddedServer::start(installation, &settings)));
        let api = ApiFixture::on(server, &SubscriptionKeys::new(server, &[]));
        let ingest = server.ingest_client(&api.sign_in.tenants[0]);
        ingest.send_lines(&[company("c")]);
        Self { api, ingest, addresses, trusted }
    }

    fn subscribe(&self, receiver: &Receiver) -> String {
        let body = json!({
            "thirdPartyApplicationName": "Panel", "url": url(receiver, "/hook"), "secret": "s3cret",
            "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
        });
        expect_state(
            &send(&self.api, Method::POST, &format!("{CUSTOMERS}/webhooks/subscribe"), Some(&body)),
            3,
        )
    }

    fn record(&self, id: &str) -> Value {
        get(&self.api, &format!("{CUSTOMERS}/webhooks/{id}")).json()
    }

    /// How many events have been delivered.
    fn delivered(&self, id: &str) -> usize {
        let listed = get(&self.api, &format!("{CUSTOMERS}/webhooks/{id}/deliveries")).json();
        let all = listed.as_array().cloned().unwrap_or_default();
        all.iter().filter(|one| one["status"] == "delivered").count()
    }
}

/// The URL as a subscriber writes it: without the default port.
fn url(receiver: &Receiver, path: &str) -> String {
    receiver.url(path).replace(":443/", "/")
}

fn signature(body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"s3cret");
    format!("sha256={}", domain::secret::hex(hmac::sign(&key, body.as_bytes()).as_ref()).to_uppercase())
}

#[test]
fn a_trusted_receiver_gets_handshake_and_deliveries_over_one_connection() {
    let fixture = HttpsFixture::new();
    let receiver = fixture.trusted.receiver(fixture.addresses.listener(0), None);
    let id = fixture.subscribe(&receiver);
    wait_for("the handshake", || (fixture.record(&id)["isActive"] == true).then_some(()));
    assert!(receiver.requests()[0].is_acknowledge());
    for number in 0..5 {
        fixture.ingest.send_lines(&[customer("c", &number.to_string(), "Ñandú")]);
        // Until the response is read, the connection is in use.
        wait_for("the delivery", || (fixture.delivered(&id) == number + 1).then_some(()));
    }
    for request in receiver.requests() {
        assert_eq!(request.headers["svc-webhook-signature"], signature(&request.body));
        assert_eq!(request.connection, 1, "the Acknowledge's connection is reused");
    }
    assert_eq!((receiver.requests().len(), receiver.connections()), (6, 1));
    let health = get(&fixture.api, &format!("{CUSTOMERS}/webhooks/{id}/health")).json();
    assert_eq!(health["failedAttempts"], 0, "{health}");
}

#[test]
fn invoicing_handshake_and_deliveries_work_over_https() {
    let fixture = HttpsFixture::new();
    let receiver = fixture.trusted.receiver(fixture.addresses.listener(1), None);
    let body = json!({
        "uri": url(&receiver, "/api/webhooks/incoming/Invoicing"), "entity": "Bank", "action": "Created",
        "secret": "s3cret", "isPaused": false, "applicationName": "Panel", "description": "d",
    });
    let created = send(&fixture.api, Method::POST, "/invoicing/api/webhooks", Some(&body));
    assert_eq!(created.status, 200, "{created:?}");
    wait_for("the echo to be accepted", || {
        (get(&fixture.api, "/invoicing/api/webhooks").json()[0]["status"] == "Effective").then_some(())
    });
    fixture.ingest.send_lines(&[bank("b", "Caja Rural")]);
    let request = receiver.wait_for(1).remove(0);
    assert_eq!(request.headers["ms-signature"], signature(&request.body));
    assert_eq!((receiver.requests().len(), receiver.connections()), (2, 1));
}

#[test]
fn an_untrusted_receiver_gets_no_request_and_the_attempts_say_why() {
    let fixture = HttpsFixture::new();
    let untrusted = Authority::new("Somebody else");
    for (number, receiver, reason) in [
        (
            2,
            untrusted.receiver(fixture.addresses.listener(2), None),
            "TLS failed: the certificate's issuer is unknown",
        ),
        (
            3,
            fixture.trusted.receiver(fixture.addresses.listener(3), Some("another.example")),
            "TLS failed: the certificate is for another name: it has another.example",
        ),
    ] {
        let id = fixture.subscribe(&receiver);
        fixture.ingest.send_lines(&[customer("c", &number.to_string(), "Ñandú")]);
        let health = wait_for("a second attempt", || {
            let health = get(&fixture.api, &format!("{CUSTOMERS}/webhooks/{id}/health")).json();
            (health["recentAttempts"].as_array().unwrap().len() >= 2).then_some(health)
        });
        for attempt in health["recentAttempts"].as_array().unwrap() {
            let actual_reason = attempt["reason"].as_str().unwrap();
            assert!(actual_reason.starts_with(reason), "{actual_reason}");
            assert_eq!((&attempt["occasion"], &attempt["status"]), (&json!("handshake"), &Value::Null));
            assert_eq!(attempt["succeeded"], false);
        }
        assert_eq!(fixture.record(&id)["isActive"], false);
        assert!(receiver.connections() >= 2, "the service connected");
        assert_eq!(receiver.requests(), [], "no request was sent");
    }
}

#[test]
fn an_untrusted_certificate_stops_deliveries_until_it_is_replaced() {
    let fixture = HttpsFixture::new();
    let receiver = fixture.trusted.receiver(fixture.addresses.listener(4), None);
    let id = fixture.subscribe(&receiver);
    wait_for("the handshake", || (fixture.record(&id)["isActive"] == true).then_some(()));
    let name = receiver.host();
    receiver.set_certificate(Authority::new("Somebody else").server_config_for(&name));
    fixture.ingest.send_lines(&[customer("c", "1", "Ñandú")]);
    let path = format!("{CUSTOMERS}/webhooks/{id}/deliveries");
    let waiting = wait_for("the failed attempt", || {
        get(&fixture.api, &path).json().as_array().unwrap().first().cloned()
    });
    assert_eq!(
        (&waiting["status"], &waiting["correlationId"]),
        (&json!("waiting"), &json!("1")),
        "{waiting}"
    );
    assert!(waiting["attempts"][0]["reason"].as_str().unwrap().contains("issuer is unknown"), "{waiting}");
    assert_eq!(receiver.changes(), []);
    receiver.set_certificate(fixture.trusted.server_config_for(&name));
    assert_eq!(receiver.wait_for(1)[0].record().as_deref(), Some("1"));
}
