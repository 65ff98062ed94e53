//! Gives the operator's administration what it asks about the service itself: signing keys, this node, the installation.

use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use domain::signing_key::SigningKeyInfo;
use domain::{Guid, Ticks};
use identity::{Identity, KeyError, Keys};
use operator::admin::{Admin, ServiceAdmin, ServicePorts};
use operator::ports::{Installation, RotationError, SigningKeyRing, ThisNode};
use store::{AuditContext, NodeDetails};
use web::tls;
use webhooks::engine::DeliveryCounts;

use super::BasePorts;
use crate::backup::Directory;
use crate::config::{Config, Tls};

/// The identity provider's keys.
pub(crate) struct KeyRing(pub(crate) Arc<Keys>);

#[async_trait]
impl SigningKeyRing for KeyRing {
    fn list(&self) -> Vec<SigningKeyInfo> {
        self.0.list()
    }

    async fn rotate(&self, at_once: bool, context: &AuditContext) -> Result<SigningKeyInfo, RotationError> {
        self.0.rotate(at_once, context).await.map_err(|error| match error {
            KeyError::NextExists(signs_from) => RotationError::NextExists(signs_from),
            KeyError::Store(error) => RotationError::Store(error),
            other => RotationError::Failed(other.to_string()),
        })
    }
}

/// This process.
pub(crate) struct RunningNode {
    id: Guid,
    /// What does not change while it runs.
    fixed: NodeDetails,
    deliveries: DeliveryCounts,
    backups: Option<Directory>,
}

impl RunningNode {
    pub(crate) fn new(config: &Config, base: &BasePorts, id: Guid, deliveries: DeliveryCounts) -> Self {
        let fixed = NodeDetails {
            version: env!("ALDABA_VERSION").to_owned(),
            host: host_name(),
            started_at: base.clock.now(),
            certificate_ends_at: chain_end(config.server.tls.as_ref()),
            operator_certificate_ends_at: chain_end(config.operator.tls.as_ref()),
            ..NodeDetails::default()
        };
        let keep = config.backup.keep;
        let backups = config.backup_directory().map(|path| Directory { path, keep });
        Self { id, fixed, deliveries, backups }
    }
}

#[async_trait]
impl ThisNode for RunningNode {
    fn id(&self) -> Guid {
        self.id
    }

    fn details(&self) -> NodeDetails {
        let backlog = self.deliveries.backlog();
        NodeDetails {
            webhooks: self.deliveries.webhooks(),
            events_behind: backlog.events,
            oldest_undelivered_at: backlog.oldest,
            failing: backlog.failing,
            disabled: backlog.disabled,
            suspended: backlog.suspended,
            ..self.fixed.clone()
        }
    }

    async fn last_backup_at(&self) -> Option<Ticks> {
        let directory = self.backups.clone()?;
        let listed = tokio::task::spawn_blocking(move || directory.list()).await.ok()?;
        listed.ok()?.iter().map(|backup| backup.taken_at).max()
    }
}

/// The certificates are read once, at the start; so is their end.
fn chain_end(tls: Option<&Tls>) -> Option<Ticks> {
    let end = tls::chain_ends_at(&tls?.certificates);
    end.inspect_err(|why| tracing::warn!(why, "the end of a certificate is unknown")).ok()
}

/// Empty if the system does not say.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = if name.trim().is_empty() { std::env::var("HOSTNAME").unwrap_or_default() } else { name };
    name.trim().chars().take(253).collect()
}

pub(crate) fn service_admin(
    config: &Config,
    admin: Admin,
    identity: &Identity,
    node: Arc<dyn ThisNode>,
) -> ServiceAdmin {
    let installation = Installation {
        base_url: config.server.base_url.clone(),
        is_public: is_public(&config.server.base_url),
        mail_server: config.mail.server.as_ref().map(|server| server.host.clone()),
    };
    let keys = Arc::new(KeyRing(identity.signing_keys()));
    ServiceAdmin::new(admin, ServicePorts { keys, node, installation })
}

/// Whether an address is more than this machine's own.
fn is_public(url: &str) -> bool {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest).trim_end_matches('/');
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => host,
        _ => authority,
    };
    let is_loopback = |host: &str| {
        host == "localhost"
            || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
    };
    !host.is_empty() && !is_loopback(host)
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn loopback_is_not_public() {
        for own in
            ["", "http://localhost:8080", "http://127.0.0.1", "https://[::1]:8443/", "https://127.9.9.9"]
        {
            assert!(!is_public(own), "{own}");
        }
        for public in ["https://api.example.com", "https://192.0.2.1:8443", "https://[2001:db8::1]"] {
            assert!(is_public(public), "{public}");
        }
    }
}
