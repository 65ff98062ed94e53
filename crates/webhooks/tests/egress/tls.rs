//! Receivers behind TLS: whom we believe, and what is said about the others.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;
use webhooks::egress::{Egress, EgressSettings, Failure};

use super::desk::{Script, answered, call, failed, local, short_call};
use super::server::{OK, Server, Visit, always};

/// An authority of the operator's own.
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

    /// A receiver's side of TLS, with a certificate for these names.
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
    let names = Script::default().says("receiver.localhost", &["127.0.0.1"]);
    Egress::with_resolver(EgressSettings { authorities, ..local() }, Arc::new(names)).unwrap()
}

async fn server(acceptor: TlsAcceptor) -> (Server, String) {
    let server = Server::start_on("127.0.0.1:0", Some(acceptor), |visit: Visit| always(visit, OK)).await;
    let address = format!("https://receiver.localhost:{}/", server.address.port());
    (server, address)
}

#[tokio::test]
async fn a_receiver_whose_authority_is_trusted_is_called() {
    let authority = Authority::new("The operator");
    let (server, address) = server(authority.acceptor(&["receiver.localhost"], |_| ())).await;
    for egress in [authority.egress(), trusting(authority.der.clone())] {
        let sent = egress.send(call(&address)).await;
        assert_eq!(sent.result.unwrap().status, 200);
        assert!(!sent.timing.tls.is_zero());
        let again = egress.send(call(&address)).await;
        assert!(again.timing.reused && again.timing.tls.is_zero());
    }
    assert_eq!(server.seen().accepted, 2);
}

#[tokio::test]
async fn an_address_is_a_name_too() {
    let authority = Authority::new("The operator");
    let (server, _) = server(authority.acceptor(&["127.0.0.1"], |_| ())).await;
    answered(&authority.egress(), call(&format!("https://{}/", server.address))).await;
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_said() {
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
        let failure = failed(&authority.egress(), call(&address)).await;
        assert_eq!(failure.code(), "tls");
        assert!(failure.to_string().contains(words), "{failure}");
    }
}

#[tokio::test]
async fn who_is_named_otherwise_is_told_which_names_it_has() {
    let authority = Authority::new("The operator");
    let (_server, address) = server(authority.acceptor(&["other.localhost"], |_| ())).await;
    let words = failed(&authority.egress(), call(&address)).await.to_string();
    assert!(words.ends_with("it has other.localhost, not receiver.localhost"), "{words}");
}

/// A ServerHello of TLS 1.1, with nothing in it but the version and a cipher of its time.
#[tokio::test]
async fn old_tls_is_refused() {
    let hello: Vec<u8> = [&[22, 3, 2, 0, 42, 2, 0, 0, 38, 3, 2][..], &[7; 32], &[0, 0, 0x2f, 0]].concat();
    let server = Server::start(move |mut visit| {
        let hello = hello.clone();
        async move {
            tokio::io::AsyncWriteExt::write_all(&mut visit.stream, &hello).await.unwrap();
            visit.stay().await;
        }
    })
    .await;
    let failure = failed(&trusting(Vec::new()), call(&format!("https://{}/", server.address))).await;
    assert_eq!(failure.to_string(), "TLS failed: the receiver speaks neither TLS 1.2 nor TLS 1.3");
}

#[tokio::test]
async fn plain_http_behind_an_https_address_is_named() {
    let server = Server::start(|mut visit| async move {
        visit.say("HTTP/1.1 400 Bad Request\r\n\r\n").await;
        visit.stay().await;
    })
    .await;
    let failure = failed(&trusting(Vec::new()), call(&format!("https://{}/", server.address))).await;
    assert_eq!(failure.to_string(), "TLS failed: the receiver does not speak TLS on this port");
}

#[tokio::test]
async fn a_handshake_that_stands_still_times_out() {
    let server = Server::start(|mut visit| async move { visit.stay().await }).await;
    let failure = failed(&trusting(Vec::new()), short_call(&format!("https://{}/", server.address))).await;
    assert_eq!(failure.to_string(), "timed out agreeing on TLS");
    server.until(|seen| seen.open == 0).await;
}

#[tokio::test]
async fn a_handshake_that_breaks_off_is_named() {
    let server = Server::start(|_visit| async {}).await;
    let failure = failed(&trusting(Vec::new()), call(&format!("https://{}/", server.address))).await;
    assert!(matches!(failure, Failure::Tls(_)), "{failure}");
}

#[test]
fn authorities_that_are_none_are_refused() {
    for wrong in
        ["no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "0\u{1}"]
    {
        let settings = EgressSettings { authorities: wrong.as_bytes().to_vec(), ..local() };
        assert!(Egress::new(settings).is_err(), "{wrong:?}");
    }
}
