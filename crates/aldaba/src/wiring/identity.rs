//! Builds the identity provider.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use identity::mail::MailIdentity;
use identity::{Identity, Keys, MailSettings, Ports, RealmUrls, Settings};
use web::Metrics;

use super::{BasePorts, OpenStore, SystemClock};
use crate::config::Config;
use crate::exit::Failure;

/// How long a signing key is published before it signs.
const KEY_LEAD: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) async fn identity(
    config: &Config,
    base: &BasePorts,
    opened: OpenStore,
    metrics: &Metrics,
) -> Result<Identity, Failure> {
    let ports = Ports {
        store: opened.store,
        clock: base.clock.clone(),
        random: base.random.clone(),
        vault: opened.vault,
    };
    Ok(Identity::open(ports, settings(config), metrics).await?)
}

/// The signing keys alone, for the commands that manage them.
pub(crate) async fn signing_keys(config: &Config, opened: &OpenStore) -> Result<Keys, Failure> {
    let policy = settings(config).key_policy();
    Ok(Keys::open(opened.store.clone(), Arc::new(SystemClock), policy).await?)
}

pub(crate) fn settings(config: &Config) -> Settings {
    let from = &config.identity;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Settings {
        issuer: format!("{}/auth/core", config.server.auth_url),
        realms: realm_urls(config),
        code_ttl: from.code_ttl,
        access_token_ttl: from.access_token_ttl,
        refresh_token_ttl: from.refresh_token_ttl,
        refresh_sliding: from.refresh_sliding,
        refresh_grace: from.refresh_grace,
        session_ttl: from.session_ttl,
        key_period: from.key_period,
        key_lead: KEY_LEAD,
        address_failures_max: from.address_failures_max,
        mail: mail_settings(config),
        is_registration_open: config.portal.is_registration_open,
        hashing_parallel: if from.hashing_parallel == 0 { cores } else { from.hashing_parallel },
        hashing_queue_max: from.hashing_queue_max,
        second_factor: from.second_factor.0,
        is_sandbox_open: config.portal.is_sandbox_open,
        is_development: config.development.is_some(),
    }
}

pub(super) fn mail_settings(config: &Config) -> MailSettings {
    let mail = &config.mail;
    MailSettings {
        identity: MailIdentity { service: mail.service_name.clone(), contact: mail.contact.clone() },
        is_sent: mail.server.is_some(),
    }
}

/// Where the pages of each realm are.
pub(crate) fn realm_urls(config: &Config) -> RealmUrls {
    RealmUrls {
        users: format!("{}/auth/core", with_host_name(&config.server.auth_url)),
        developers: format!("{}/portal", with_host_name(&config.server.base_url)),
        operators: format!("{}/console", with_host_name(&config.operator.url)),
    }
}

/// `localhost` instead of a loopback address: passkeys are bound to host names.
fn with_host_name(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, port) = rest.rsplit_once(':').unwrap_or((rest, ""));
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    match address {
        Ok(address) if address.is_loopback() => format!("{scheme}://localhost:{port}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::with_host_name;

    #[test]
    fn loopback_address_gets_a_name() {
        assert_eq!(with_host_name("http://127.0.0.1:8080"), "http://localhost:8080");
        assert_eq!(with_host_name("http://[::1]:8080"), "http://localhost:8080");
        for kept in ["http://192.0.2.1:8080", "https://api.example.com", "http://localhost:8080"] {
            assert_eq!(with_host_name(kept), kept);
        }
    }
}
