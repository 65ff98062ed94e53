//! Builds the operator console.

use std::sync::Arc;

use ::console::{Console, Ports, Settings};
use identity::Identity;
use operator::admin::{Admin, OperationsAdmin, ServiceAdmin, WebhookAdmin};
use tokio::sync::watch;
use webhooks::history::History;

use super::BasePorts;
use crate::config::Config;

pub(crate) fn console(
    config: &Config,
    base: &BasePorts,
    identity: Arc<Identity>,
    (admin, webhook_admin, history): (Admin, WebhookAdmin, History),
    (service, operations): (ServiceAdmin, OperationsAdmin),
    stopped: &watch::Receiver<bool>,
) -> Console {
    let (store, clock) = (admin.store.clone(), base.clock.clone());
    let ports = Ports { store, clock, identity, admin, webhook_admin, history, service, operations };
    let settings = Settings { service_name: config.mail.service_name.clone() };
    Console::new(ports, settings, stopped.clone())
}
