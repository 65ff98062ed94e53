//! The running service itself: configuration, backups, doctor.

use std::sync::Arc;

use store::{AuditEntry, AuditKind};

use super::{Admin, AdminError, Authority, Permission, Result};
use crate::operations::backups::{BackupContent, BackupList, BackupName, BackupRun};
use crate::operations::configuration::ConfigurationKey;
use crate::operations::doctor::Examination;
use crate::ports::{Backups, Doctor};

#[derive(Clone)]
pub struct OperationsAdmin {
    pub admin: Admin,
    /// Of this node.
    pub configuration: Arc<[ConfigurationKey]>,
    pub backups: Arc<dyn Backups>,
    pub doctor: Arc<dyn Doctor>,
}

impl std::fmt::Debug for OperationsAdmin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OperationsAdmin")
    }
}

impl OperationsAdmin {
    /// The same, on behalf of a request.
    #[must_use]
    pub fn acting(&self, authority: Authority) -> Self {
        Self { admin: self.admin.acting(authority), ..self.clone() }
    }

    pub async fn examine(&self) -> Arc<Examination> {
        self.doctor.examine().await
    }

    pub async fn backups(&self) -> Result<BackupList> {
        self.backups.list().await
    }

    /// Starts a backup in the background. Its audit entry is written before it, so that the backup contains it.
    pub async fn start_backup(&self) -> Result<BackupRun> {
        let context = self.admin.require(Permission::Backups)?;
        let reserved = self.backups.reserve(context).await?;
        self.record(AuditKind::BackupStarted, reserved.name()).await?;
        Ok(reserved.start())
    }

    /// Opens a backup for a download, which the audit has before its first byte leaves.
    pub async fn download_backup(&self, name: &str) -> Result<BackupContent> {
        self.admin.require(Permission::Backups)?;
        let not_found = || AdminError::NotFound("backup with this name".into());
        let name = BackupName::parse(name).ok_or_else(not_found)?;
        let content = self.backups.open(&name).await?;
        self.record(AuditKind::BackupDownloaded, &name).await?;
        Ok(content)
    }

    async fn record(&self, kind: AuditKind, name: &BackupName) -> Result<()> {
        let context = self.admin.require(Permission::Backups)?;
        let entry = AuditEntry::new(kind, self.admin.now(), context).object("backup", name);
        Ok(self.admin.store.record(&entry).await?)
    }
}
