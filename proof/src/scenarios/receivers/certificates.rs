//! A certificate authority that the service trusts, and the certificates of receivers, good and bad ones.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

use crate::Fallible;

pub(super) struct Authority {
    /// What `egress.ca_file` has.
    pub(super) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    Expired,
    WrongName,
    SelfSigned,
}

impl Authority {
    pub(super) fn new() -> Fallible<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "Authority of the proof");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        Ok(Self { pem: certificate.pem(), issuer: Issuer::new(params, key) })
    }

    /// The receiver's side of TLS with a certificate for these names.
    pub(super) fn acceptor(&self, names: &[String], flaw: Option<Flaw>) -> Fallible<TlsAcceptor> {
        let names = if flaw == Some(Flaw::WrongName) { vec!["another.example".into()] } else { names.into() };
        let mut params = CertificateParams::new(names)?;
        if flaw == Some(Flaw::Expired) {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        }
        let key = KeyPair::generate()?;
        let certificate = match flaw {
            Some(Flaw::SelfSigned) => params.self_signed(&key)?,
            _ => params.signed_by(&key, &self.issuer)?,
        };
        acceptor(&certificate, &key)
    }
}

fn acceptor(certificate: &Certificate, key: &KeyPair) -> Fallible<TlsAcceptor> {
    let private = PrivateKeyDer::try_from(key.serialize_der())?;
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
