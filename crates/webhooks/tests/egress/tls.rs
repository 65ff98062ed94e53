//! Receivers behind TLS: which certificates the egress trusts, and how it describes the others.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;
use webhooks::egress::{Egress, EgressError, EgressSettings};

use super::fixture::{ScriptedResolver, error_of, local, request, response_to, short_request};
use super::server::{Connection, OK, Server, respond_always};

/// A certificate authority of the operator.
struct Authority {
    pem: String,
    der: Vec<u8>,
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
        Self { pem: certificate.pem(), der: certificate.der().to_vec(), issuer: Issuer::new(params, key) }
    }

    /// The receiver's side of TLS, with a certificate for these names.
    fn acceptor(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> TlsAcceptor {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }

    fn egress(&self) -> Egress {
        trusting(self.pem.clone().into_bytes())
    }
}

fn trusting(authorities: Vec<u8>) -> Egress {
    let names = ScriptedResolver::default().with("receiver.localhost", &["127.0.0.1"]);
    Egress::with_resolver(EgressSettings { authorities, ..local() }, Arc::new(names)).unwrap()
}

async fn server(acceptor: TlsAcceptor) -> (Server, String) {
    let server = Server::start_on("127.0.0.1:0", Some(acceptor), |connection: Connection| {
        respond_always(connection, OK)
    })
    .await;
    let address = format!("https://receiver.localhost:{}/", server.address.port());
    (server, address)
}

#[tokio::test]
async fn receiver_with_trusted_authority_is_called() {
    let authority = Authority::new("The operator");
    let (server, address) = server(authority.acceptor(&["receiver.localhost"], |_| ())).await;
    for egress in [authority.egress(), trusting(authority.der.clone())] {
        let exchange = egress.send(request(&address)).await;
        assert_eq!(exchange.result.unwrap().status, 200);
        assert!(!exchange.timing.tls.is_zero());
        let again = egress.send(request(&address)).await;
        assert!(again.reused && again.timing.tls.is_zero());
    }
    assert_eq!(server.counts().accepted, 2);
}

#[tokio::test]
async fn certificate_may_be_for_an_ip_address() {
    let authority = Authority::new("The operator");
    let (server, _) = server(authority.acceptor(&["127.0.0.1"], |_| ())).await;
    response_to(&authority.egress(), request(&format!("https://{}/", server.address))).await;
}

#[tokio::test]
async fn error_says_what_is_wrong_with_the_certificate() {
    let authority = Authority::new("The operator");
    let expired = authority.acceptor(&["receiver.localhost"], |params| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 2, 3);
    });
    let early = authority.acceptor(&["receiver.localhost"], |params| {
        params.not_before = date_time_ymd(2999, 1, 1);
        params.not_after = date_time_ymd(3000, 1, 1);
    });
    let foreign = authority.acceptor(&["other.localhost"], |_| ());
    let unknown = Authority::new("Somebody else").acceptor(&["receiver.localhost"], |_| ());
    for (acceptor, words) in [
        (expired, "the certificate expired on 2021-02-03"),
        (early, "the certificate is not valid before 2999-01-01"),
        (foreign, "for another name"),
        (unknown, "issuer is unknown"),
    ] {
        let (_server, address) = server(acceptor).await;
        let error = error_of(&authority.egress(), request(&address)).await;
        assert_eq!(error.code(), "tls");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn error_lists_the_names_of_the_certificate() {
    let authority = Authority::new("The operator");
    let (_server, address) = server(authority.acceptor(&["other.localhost"], |_| ())).await;
    let words = error_of(&authority.egress(), request(&address)).await.to_string();
    assert!(words.ends_with("it has other.localhost, not receiver.localhost"), "{words}");
}

/// A minimal ServerHello of TLS 1.1.
#[tokio::test]
async fn tls_below_1_2_is_refused() {
    let hello: Vec<u8> = [&[22, 3, 2, 0, 42, 2, 0, 0, 38, 3, 2][..], &[7; 32], &[0, 0, 0x2f, 0]].concat();
    let server = Server::start(move |mut connection| {
        let hello = hello.clone();
        async move {
            tokio::io::AsyncWriteExt::write_all(&mut connection.stream, &hello).await.unwrap();
            connection.wait_for_close().await;
        }
    })
    .await;
    let error = error_of(&trusting(Vec::new()), request(&format!("https://{}/", server.address))).await;
    assert_eq!(error.to_string(), "TLS failed: the receiver speaks neither TLS 1.2 nor TLS 1.3");
}

#[tokio::test]
async fn plain_http_at_an_https_address_is_an_error() {
    let server = Server::start(|mut connection| async move {
        connection.send("HTTP/1.1 400 Bad Request\r\n\r\n").await;
        connection.wait_for_close().await;
    })
    .await;
    let error = error_of(&trusting(Vec::new()), request(&format!("https://{}/", server.address))).await;
    assert_eq!(error.to_string(), "TLS failed: the receiver does not speak TLS on this port");
}

#[tokio::test]
async fn tls_handshake_without_progress_times_out() {
    let server = Server::start(|mut connection| async move { connection.wait_for_close().await }).await;
    let error = error_of(&trusting(Vec::new()), short_request(&format!("https://{}/", server.address))).await;
    assert_eq!(error.to_string(), "timed out negotiating TLS");
    server.wait_for(|counts| counts.open == 0).await;
}

#[tokio::test]
async fn aborted_tls_handshake_is_an_error() {
    let server = Server::start(|_visit| async {}).await;
    let error = error_of(&trusting(Vec::new()), request(&format!("https://{}/", server.address))).await;
    assert!(matches!(error, EgressError::Tls(_)), "{error}");
}

#[test]
fn invalid_authorities_are_refused() {
    for wrong in
        ["no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "0\u{1}"]
    {
        let settings = EgressSettings { authorities: wrong.as_bytes().to_vec(), ..local() };
        assert!(Egress::new(settings).is_err(), "{wrong:?}");
    }
}
