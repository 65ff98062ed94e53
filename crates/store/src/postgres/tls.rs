//! TLS for PostgreSQL connections. Where the URL does not say otherwise, a connection that leaves this machine
//! is encrypted, and the server's certificate and name are verified.

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;

use std::path::PathBuf;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::chain;
use crate::{Result, StoreError};

/// A parsed URL. Without a connector, connections are not encrypted.
pub(super) struct Target {
    pub(super) config: Config,
    pub(super) tls: Option<MakeRustlsConnect>,
}

/// The parameters `sslmode` and `sslrootcert`, which the PostgreSQL client does not know in full.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parameters {
    mode: Option<SslMode>,
    authorities: Option<Authorities>,
}

#[derive(Debug, PartialEq, Eq)]
enum Authorities {
    Machine,
    File(PathBuf),
}

pub(super) fn parse(url: &str) -> Result<Target> {
    let (rest, parameters) = split(url)?;
    let mut config: Config = rest.parse().map_err(|error: tokio_postgres::Error| invalid(chain(&error)))?;
    let mode = mode(&parameters, &config);
    config.ssl_mode(mode);
    let tls = match mode {
        SslMode::Disable => None,
        _ => Some(connector(parameters.authorities.as_ref())?),
    };
    Ok(Target { config, tls })
}

/// The URL without the two parameters, and what they say.
fn split(url: &str) -> Result<(String, Parameters)> {
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(invalid("it must be postgres://user:password@host/database"));
    }
    let mut parameters = Parameters::default();
    // A password may contain a question mark; an @ after the first slash belongs to the path or the query.
    let authority = url.find("://").map_or(0, |at| at + 3);
    let host_begins = match (url[authority..].find('@'), url[authority..].find('/')) {
        (Some(at), slash) if slash.is_none_or(|slash| at < slash) => authority + at,
        _ => authority,
    };
    let Some(query_begins) = url[host_begins..].find('?').map(|at| host_begins + at) else {
        return Ok((url.to_owned(), parameters));
    };
    let mut others = Vec::new();
    for parameter in url[query_begins + 1..].split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = || percent_decode_str(value).decode_utf8().map_err(invalid);
        match name {
            "sslmode" => parameters.mode = Some(parse_mode(&value()?)?),
            "sslrootcert" => {
                parameters.authorities = Some(match &*value()? {
                    "" => return Err(invalid("sslrootcert must name a PEM file, or be system")),
                    "system" => Authorities::Machine,
                    path => Authorities::File(path.into()),
                });
            }
            _ => others.push(parameter),
        }
    }
    let mark = if others.is_empty() { "" } else { "?" };
    Ok((format!("{}{mark}{}", &url[..query_begins], others.join("&")), parameters))
}

/// `require` and `verify-ca` do what `verify-full` does: encryption without verification would not stop an attacker.
fn parse_mode(text: &str) -> Result<SslMode> {
    match text {
        "disable" => Ok(SslMode::Disable),
        "prefer" => Ok(SslMode::Prefer),
        "require" | "verify-ca" | "verify-full" => Ok(SslMode::Require),
        _ => Err(invalid("sslmode must be disable, prefer, require, verify-ca or verify-full")),
    }
}

/// Without `sslmode`, a remote host needs TLS. On this machine only an explicit mode that verifies uses it, and
/// never through a Unix socket.
fn mode(parameters: &Parameters, config: &Config) -> SslMode {
    let is_socket = |host: &Host| matches!(host, Host::Unix(_));
    let sockets_only = config.get_hosts().iter().all(is_socket) && config.get_hostaddrs().is_empty();
    let requested = parameters.mode.or(parameters.authorities.as_ref().map(|_| SslMode::Require));
    match requested {
        _ if sockets_only => SslMode::Disable,
        None | Some(SslMode::Prefer) if is_local(config) => SslMode::Disable,
        None => SslMode::Require,
        Some(mode) => mode,
    }
}

fn is_local(config: &Config) -> bool {
    // A hostaddr is dialled in place of the host.
    if !config.get_hostaddrs().is_empty() {
        return config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        Host::Unix(_) => true,
    })
}

fn connector(authorities: Option<&Authorities>) -> Result<MakeRustlsConnect> {
    let mut roots = RootCertStore::empty();
    if let Some(Authorities::File(path)) = authorities {
        let wrong = |what: String| invalid(format!("sslrootcert {}: {what}", path.display()));
        let read = CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
        for certificate in read {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(wrong("there is no certificate in it".into()));
        }
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(StoreError::internal)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(tls))
}

/// What to do about a failed TLS handshake; nothing for other errors.
pub(super) fn advice(error: &str) -> &'static str {
    if error.contains("server does not support TLS") {
        "; switch TLS on at the server (ssl = on), or write sslmode=disable (no TLS) or sslmode=prefer (TLS if the \
         server offers it) in store.url if the network is trusted"
    } else if error.contains("not valid for name") {
        "; use in store.url a host name that the certificate contains"
    } else if error.contains("invalid peer certificate") {
        "; name the PEM file of the server's certificate authority in store.url: sslrootcert=/path/ca.pem"
    } else {
        ""
    }
}

fn invalid(why: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("the store's URL is invalid: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode_of(url: &str) -> SslMode {
        let (rest, parameters) = split(url).unwrap();
        mode(&parameters, &rest.parse().unwrap())
    }

    #[test]
    fn remote_host_needs_tls_unless_the_url_says_otherwise() {
        for (url, expected) in [
            ("postgres://a:b@db.example/x", SslMode::Require),
            ("postgres://a:b?c@db.example/x", SslMode::Require),
            ("postgresql://a@10.1.2.3:5433/x?application_name=y", SslMode::Require),
            ("postgres://a@localhost,db.example/x", SslMode::Require),
            ("postgres://a@localhost/x?hostaddr=10.1.2.3", SslMode::Require),
            ("postgres:///x?host=db.example", SslMode::Require),
            ("postgres://a@db.example/x?sslmode=prefer", SslMode::Prefer),
            ("postgres://a@db.example/x?sslmode=disable", SslMode::Disable),
            ("postgres://a@db.example/x?application_name=y&sslmode=disable", SslMode::Disable),
            ("postgres://a@db.example/x?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem", SslMode::Require),
            ("postgres://a@db.example/x?sslmode=verify-ca", SslMode::Require),
            ("postgres://a@127.0.0.1/x", SslMode::Disable),
            ("postgres://a@127.8.0.1/x", SslMode::Disable),
            ("postgres://a@[::1]/x", SslMode::Disable),
            ("postgres:///x?host=db.example&user=a@b&sslmode=disable", SslMode::Disable),
            ("postgres://a@localhost/x?sslmode=prefer", SslMode::Disable),
            ("postgres://a@localhost/x?sslmode=require", SslMode::Require),
            ("postgres://a@localhost/x?sslrootcert=system", SslMode::Require),
            ("postgres:///x?host=/run/postgresql", SslMode::Disable),
            ("postgres:///x?host=/run/postgresql&sslmode=require", SslMode::Disable),
        ] {
            assert_eq!(mode_of(url), expected, "{url}");
        }
    }

    #[test]
    fn other_parameters_and_the_password_are_kept() {
        let url = "postgres://a:p%3Fw?sslmode=disable@db.example/x?connect_timeout=3&sslrootcert=%2Fa%20b&keepalives=0";
        let (rest, parameters) = split(url).unwrap();
        assert_eq!(rest, "postgres://a:p%3Fw?sslmode=disable@db.example/x?connect_timeout=3&keepalives=0");
        let authorities = Some(Authorities::File("/a b".into()));
        assert_eq!(parameters, Parameters { mode: None, authorities });
    }

    #[test]
    fn wrong_values_are_refused_with_what_is_possible() {
        for (url, words) in [
            ("postgres://a@h/x?sslmode=allow", "sslmode must be disable, prefer, require"),
            ("postgres://a@h/x?sslmode", "sslmode must be"),
            ("postgres://a@h/x?sslrootcert=", "sslrootcert must name a PEM file"),
            ("postgres://a@h/x?sslrootcert=/no/such/ca.pem", "sslrootcert /no/such/ca.pem: "),
            ("host=db.example sslmode=disable", "it must be postgres://"),
        ] {
            let error = parse(url).err().unwrap().to_string();
            assert!(error.contains(words), "{url}: {error}");
        }
    }
}
