//! TLS for PostgreSQL connections, unless the URL disables it.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{Result, StoreError};

/// None if the URL says `sslmode=disable`, or if TLS is optional and every host is local.
pub(super) fn connector(config: &tokio_postgres::Config) -> Result<Option<MakeRustlsConnect>> {
    if config.get_ssl_mode() == SslMode::Disable
        || (config.get_ssl_mode() == SslMode::Prefer && is_local(config))
    {
        return Ok(None);
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(StoreError::internal)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Some(MakeRustlsConnect::new(tls)))
}

fn is_local(config: &tokio_postgres::Config) -> bool {
    use tokio_postgres::config::Host;
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => ["localhost", "127.0.0.1", "::1"].contains(&name.as_str()),
        Host::Unix(_) => true,
    })
}
