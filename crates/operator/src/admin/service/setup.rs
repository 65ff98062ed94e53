//! The first steps of an installation, and which of them are done.

use std::time::Duration;

use domain::Ticks;
use serde::Serialize;
use store::{AuditKind, AuditQuery, ListFilter, ListQuery};
use utoipa::ToSchema;

use super::report::iso_or_null;
use super::{Result, ServiceAdmin};

/// An older backup does not count.
const BACKUP_AGE_MAX: Duration = Duration::from_secs(8 * 24 * 60 * 60);
/// How many tenants are read to find one that is not a sandbox.
const TENANTS_MAX: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupStep {
    pub kind: SetupStepKind,
    pub is_done: bool,
    /// The address, the mail server's host.
    #[schema(required = true)]
    pub value: Option<String>,
    /// When the last backup was made.
    #[serde(serialize_with = "iso_or_null")]
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    pub at: Option<Ticks>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum SetupStepKind {
    /// `server.base_url` is more than this machine's own address.
    PublicAddress,
    /// The public address is https.
    Tls,
    /// A mail server is configured.
    Mail,
    /// A backup was made within 8 days.
    Backup,
    /// There is a tenant that is not a sandbox.
    Tenant,
    /// There is a client.
    Client,
}

impl ServiceAdmin {
    pub(super) async fn setup_steps(&self) -> Result<Vec<SetupStep>> {
        let (store, now) = (&self.admin.store, self.admin.now());
        let installation = &self.ports.installation;
        let step = |kind, is_done| SetupStep { kind, is_done, value: None, at: None };
        let url = Some(installation.base_url.clone());
        let tenants = store.list_tenants(&ListQuery { after: None, rows_max: TENANTS_MAX }).await?;
        let has_tenant = tenants.rows.iter().any(|tenant| tenant.sandbox_of.is_none());
        let clients =
            store.list_clients(&ListFilter::default(), &ListQuery { after: None, rows_max: 1 }).await?;
        let backup = self.last_backup().await?;
        let has_backup = backup.is_some_and(|at| now.since(at) <= BACKUP_AGE_MAX);
        Ok(vec![
            SetupStep { value: url, ..step(SetupStepKind::PublicAddress, installation.is_public) },
            step(SetupStepKind::Tls, installation.base_url.starts_with("https://")),
            SetupStep {
                value: installation.mail_server.clone(),
                ..step(SetupStepKind::Mail, installation.mail_server.is_some())
            },
            SetupStep { at: backup, ..step(SetupStepKind::Backup, has_backup) },
            step(SetupStepKind::Tenant, has_tenant),
            step(SetupStepKind::Client, !clients.rows.is_empty()),
        ])
    }

    /// When the last backup was made: of those that the audit knows, which any node made, and of those in this node's directory,
    /// which the command line made too.
    async fn last_backup(&self) -> Result<Option<Ticks>> {
        let query =
            AuditQuery { kind: Some(AuditKind::BackupCompleted), rows_max: 1, ..AuditQuery::default() };
        let audited = self.admin.store.audit(&query).await?.first().map(|record| record.entry.at);
        let found = self.ports.node.last_backup_at().await;
        Ok(audited.into_iter().chain(found).max())
    }
}
