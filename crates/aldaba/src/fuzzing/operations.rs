//! The parts of the console that would touch the machine: they do nothing here.

use std::sync::Arc;

use async_trait::async_trait;
use domain::signing_key::SigningKeyInfo;
use domain::{Guid, Ticks};
use operator::admin::AdminError;
use operator::operations::backups::{BackupContent, BackupList, BackupName};
use operator::operations::doctor::Examination;
use operator::ports::{Backups, Doctor, ReservedBackup, RotationError, SigningKeyRing, ThisNode};
use store::{AuditContext, NodeDetails};

/// A node without keys, backups and findings.
pub(super) struct Nothing;

#[async_trait]
impl SigningKeyRing for Nothing {
    fn list(&self) -> Vec<SigningKeyInfo> {
        Vec::new()
    }

    async fn rotate(&self, _: bool, _: &AuditContext) -> Result<SigningKeyInfo, RotationError> {
        Err(RotationError::NextExists(Ticks(0)))
    }
}

#[async_trait]
impl ThisNode for Nothing {
    fn id(&self) -> Guid {
        Guid::from_bytes([1; 16])
    }

    fn details(&self) -> NodeDetails {
        NodeDetails::default()
    }

    async fn last_backup_at(&self) -> Option<Ticks> {
        None
    }
}

#[async_trait]
impl Backups for Nothing {
    async fn list(&self) -> Result<BackupList, AdminError> {
        Ok(BackupList { directory: None, keep: 1, encrypts: false, backups: Vec::new(), run: None })
    }

    async fn reserve(&self, _: &AuditContext) -> Result<Box<dyn ReservedBackup>, AdminError> {
        Err(AdminError::Invalid("there is no directory for backups".to_owned()))
    }

    async fn open(&self, name: &BackupName) -> Result<BackupContent, AdminError> {
        Err(AdminError::NotFound(format!("backup {name}")))
    }
}

#[async_trait]
impl Doctor for Nothing {
    async fn examine(&self) -> Arc<Examination> {
        Arc::new(Examination { at: Ticks(0), findings: Vec::new() })
    }
}
