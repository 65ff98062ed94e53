//! Reads a file of certificates as an operator sees it: how long it is valid, for which names, and whether it is a chain.

use std::path::Path;

use domain::Ticks;
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::time::Time;

/// A chain of certificates; the first one is the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateChain {
    /// Of the server's certificate.
    pub not_before: Ticks,
    /// The earliest end of all.
    pub not_after: Ticks,
    pub certificates: usize,
    pub is_self_signed: bool,
    /// Whether each is issued by the one after it.
    pub is_ordered: bool,
    server: CertificateDer<'static>,
}

impl CertificateChain {
    pub fn read(path: &Path) -> Result<Self, String> {
        let chain = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        Self::new(&chain.map_err(|error| error.to_string())?)
    }

    fn new(chain: &[CertificateDer<'static>]) -> Result<Self, String> {
        let parse = |der: &CertificateDer<'_>| Certificate::from_der(der).map_err(|error| error.to_string());
        let parsed = chain.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let (Some(server), Some(first)) = (chain.first(), parsed.first()) else {
            return Err("there is no certificate in this file".into());
        };
        let ends = parsed.iter().map(|one| ticks(one.tbs_certificate.validity.not_after));
        let first = &first.tbs_certificate;
        let is_issued_by_next = |pair: &[Certificate]| match pair {
            [one, next] => one.tbs_certificate.issuer == next.tbs_certificate.subject,
            _ => true,
        };
        Ok(Self {
            not_before: ticks(first.validity.not_before),
            not_after: ends.min().unwrap_or(Ticks(0)),
            certificates: parsed.len(),
            is_self_signed: first.issuer == first.subject,
            is_ordered: parsed.windows(2).all(is_issued_by_next),
            server: server.clone(),
        })
    }

    /// Whether the server's certificate is for this name or address.
    pub fn is_for(&self, host: &str) -> bool {
        let (Ok(name), Ok(parsed)) =
            (ServerName::try_from(host.to_owned()), ParsedCertificate::try_from(&self.server))
        else {
            return false;
        };
        verify_server_name(&parsed, &name).is_ok()
    }
}

fn ticks(time: Time) -> Ticks {
    Ticks::from_unix_seconds(
        i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX / 20_000_000),
    )
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};

    use super::*;

    fn params(name: &str, until: i32) -> CertificateParams {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = date_time_ymd(2026, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        params
    }

    /// A server's certificate and its authority's.
    fn chain() -> [CertificateDer<'static>; 2] {
        let mut authority = params("authority", 2027);
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let server =
            params("api.example.com", 2030).signed_by(&KeyPair::generate().unwrap(), &authority).unwrap();
        [server.der().clone(), authority.der().clone()]
    }

    #[test]
    fn chain_tells_its_end_its_order_and_its_names() {
        let [server, authority] = chain();
        let found = CertificateChain::new(&[server.clone(), authority.clone()]).unwrap();
        let at = |text: &str| Ticks::parse_iso(text).unwrap();
        assert_eq!(found.not_before, at("2026-01-01T00:00:00Z"));
        assert_eq!(found.not_after, at("2027-01-01T00:00:00Z"), "the authority's ends first");
        assert_eq!((found.certificates, found.is_self_signed, found.is_ordered), (2, false, true));
        assert!(found.is_for("api.example.com") && !found.is_for("id.example.com") && !found.is_for(""));
        assert!(!CertificateChain::new(&[authority.clone(), server]).unwrap().is_ordered);
        assert!(CertificateChain::new(&[authority]).unwrap().is_self_signed);
    }

    #[test]
    fn files_without_certificates_are_named_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pem");
        assert!(CertificateChain::read(&path).is_err());
        std::fs::write(&path, "nothing").unwrap();
        assert_eq!(CertificateChain::read(&path).unwrap_err(), "there is no certificate in this file");
    }
}
