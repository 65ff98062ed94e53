//! Builds the administration of the service itself: its configuration, its backups and the doctor.

use std::sync::Arc;

use operator::admin::{Admin, OperationsAdmin};
use store::Archive;

use super::BasePorts;
use crate::backup::{BackupPorts, BackupService};
use crate::config::Config;
use crate::doctor::{Examiner, UnnamedProxies};

/// The configuration's URLs must be complete.
pub(crate) fn operations(
    config: &Config,
    base: &BasePorts,
    admin: Admin,
    archive: Arc<dyn Archive>,
    proxies: UnnamedProxies,
) -> OperationsAdmin {
    let ports = BackupPorts { archive, store: admin.store.clone(), clock: base.clock.clone() };
    OperationsAdmin {
        admin,
        configuration: config.keys.clone().into(),
        backups: Arc::new(BackupService::new(config, ports)),
        doctor: Arc::new(Examiner::new(config.clone(), base.clone(), proxies)),
    }
}
