//! The machine and the configured files: disks, certificates, proxies.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use operator::operations::doctor::{
    CertificateFacts, CertificateFile, DiskFacts, DiskSpace, Listener, ProxyFacts,
};
use web::certificates::CertificateChain;

use super::{UnnamedProxies, reason};
use crate::config::{Config, StoreUrl, Tls, address};

/// The disk of the data and, where it is another one, of the backups.
pub(super) fn disks(config: &Config) -> Vec<DiskFacts> {
    let data = match &config.store.url {
        StoreUrl::Sqlite(file) => file
            .parent()
            .map(|folder| if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }),
        StoreUrl::Postgres(_) => None,
    };
    let backups = config.backup_directory().filter(|folder| folder.exists());
    let device = |folder: &PathBuf| folder.metadata().map(|metadata| metadata.dev()).ok();
    let is_other = |folder: &PathBuf| data.as_ref().is_none_or(|data| device(data) != device(folder));
    let backups = backups.filter(is_other);
    data.iter().chain(&backups).map(|folder| disk(folder)).collect()
}

fn disk(folder: &Path) -> DiskFacts {
    let space = rustix::fs::statvfs(folder).map(|found| DiskSpace {
        free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
        total_bytes: found.f_blocks.saturating_mul(found.f_frsize),
    });
    DiskFacts { directory: folder.display().to_string(), space: space.map_err(|error| reason(&error)) }
}

pub(super) fn certificates(config: &Config) -> Vec<CertificateFile> {
    let server = &config.server;
    let public = [&server.base_url, &server.auth_url];
    let file = |key, tls: &Option<Tls>, urls: &[&String]| {
        tls.as_ref().map(|tls| {
            let mut hosts: Vec<String> =
                urls.iter().filter_map(|url| address::host(url)).map(str::to_owned).collect();
            hosts.dedup();
            let chain = read_chain(tls, &hosts);
            CertificateFile { key, path: tls.certificates.display().to_string(), hosts, chain }
        })
    };
    [
        file("server.tls_certificates", &server.tls, &public),
        file("operator.tls_certificates", &config.operator.tls, &[&config.operator.url]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn read_chain(tls: &Tls, hosts: &[String]) -> Result<CertificateFacts, String> {
    // The key too must be readable and belong to the certificate.
    web::tls::from_pem_files(&tls.certificates, &tls.key).map_err(|why| reason(&why))?;
    let chain = CertificateChain::read(&tls.certificates).map_err(|why| reason(&why))?;
    Ok(CertificateFacts {
        not_before: chain.not_before,
        not_after: chain.not_after,
        certificates: chain.certificates,
        is_self_signed: chain.is_self_signed,
        is_ordered: chain.is_ordered,
        other_hosts: hosts.iter().filter(|host| !chain.is_for(host)).cloned().collect(),
    })
}

pub(super) fn proxies(config: &Config, unnamed: &UnnamedProxies) -> Vec<ProxyFacts> {
    let (server, operator) = (&config.server, &config.operator);
    let is_https = |urls: &[&String]| urls.iter().any(|url| url.starts_with("https://"));
    let texts = |proxies: &[ipnet::IpNet]| proxies.iter().map(ToString::to_string).collect();
    vec![
        ProxyFacts {
            listener: Listener::Public,
            is_https: is_https(&[&server.base_url, &server.auth_url]),
            has_tls: server.tls.is_some(),
            trusted: texts(&server.trusted_proxies),
            peer_is_client: server.peer_is_client,
            unnamed: unnamed.public.get(),
        },
        ProxyFacts {
            listener: Listener::Operator,
            is_https: is_https(&[&operator.url]),
            has_tls: operator.tls.is_some(),
            trusted: texts(&operator.trusted_proxies),
            peer_is_client: false,
            unnamed: unnamed.operator.get(),
        },
    ]
}
