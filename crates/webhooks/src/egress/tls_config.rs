//! The TLS configuration: trusts the platform's certificate authorities and those that the operator adds.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// One configuration for all receivers, so that TLS sessions are resumed. `authorities` is PEM, or one certificate in
/// DER; the error says what is wrong with it.
pub(super) fn client_config(authorities: &[u8]) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    let platform = rustls_native_certs::load_native_certs();
    let (_, unreadable) = roots.add_parsable_certificates(platform.certs);
    if roots.is_empty() {
        let errors = platform.errors.len();
        tracing::warn!(
            errors,
            unreadable,
            "the platform trusts no certificate authority; install ca-certificates"
        );
    }
    for certificate in read(authorities)? {
        roots
            .add(certificate)
            .map_err(|error| format!("a certificate cannot be used as an authority: {error}"))?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn read(authorities: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    const DER_SEQUENCE: u8 = 0x30;
    match authorities.first() {
        None => Ok(Vec::new()),
        Some(&DER_SEQUENCE) => Ok(vec![CertificateDer::from(authorities.to_vec())]),
        Some(_) => {
            let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(authorities).collect();
            match certificates {
                Ok(certificates) if certificates.is_empty() => Err("there is no certificate in it".into()),
                Ok(certificates) => Ok(certificates),
                Err(error) => Err(error.to_string()),
            }
        }
    }
}
