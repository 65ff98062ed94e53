//! TLS configuration (1.2 and 1.3) from PEM files.

use std::path::Path;
use std::sync::Arc;

use domain::Ticks;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

/// The TLS configuration of a listener.
pub type Tls = Arc<ServerConfig>;

/// Reads a certificate chain and its key; the error names the file and what is wrong with it.
pub fn from_pem_files(certificates: &Path, key: &Path) -> Result<Tls, String> {
    let wrong = |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let chain = CertificateDer::pem_file_iter(certificates)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(certificates, &error))?;
    if chain.is_empty() {
        return Err(wrong(certificates, &"there is no certificate in this file"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| wrong(certificates, &error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// When the first certificate of a chain to end does so: from then on clients refuse the chain.
pub fn chain_ends_at(certificates: &Path) -> Result<Ticks, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", certificates.display());
    let mut ends_at: Option<Ticks> = None;
    for certificate in CertificateDer::pem_file_iter(certificates).map_err(|error| wrong(&error))? {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        let parsed = Certificate::from_der(&certificate).map_err(|error| wrong(&error))?;
        let seconds = parsed.tbs_certificate.validity.not_after.to_unix_duration().as_secs();
        let end = Ticks::from_unix_seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
        ends_at = Some(ends_at.map_or(end, |earlier| earlier.min(end)));
    }
    ends_at.ok_or_else(|| wrong(&"there is no certificate in this file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(until: (i32, u8, u8)) -> String {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(until.0, until.1, until.2);
        params.self_signed(&key).unwrap().pem()
    }

    #[test]
    fn chain_ends_with_its_first_certificate_to_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chain.pem");
        std::fs::write(&path, [certificate((2031, 5, 6)), certificate((2030, 1, 2))].concat()).unwrap();
        assert_eq!(chain_ends_at(&path), Ok(Ticks::parse_iso("2030-01-02T00:00:00Z").unwrap()));
        std::fs::write(&path, "").unwrap();
        assert!(chain_ends_at(&path).unwrap_err().ends_with("there is no certificate in this file"));
        assert!(chain_ends_at(&folder.path().join("none.pem")).is_err());
    }
}
