//! Builds the delivery engine and the egress, the only client that dials receivers.

use std::sync::Arc;

use domain::Guid;
use domain::egress::EgressPolicy;
use domain::retry::Schedule;
use store::Store;
use tokio::sync::watch;
use web::Tasks;
use webhooks::egress::{Egress, EgressSettings};
use webhooks::engine::{Engine, Ports, Settings};

use super::BasePorts;
use crate::config::Config;
use crate::exit::Failure;

/// The egress, with the configured policy.
pub(crate) fn egress(config: &Config) -> Result<Egress, Failure> {
    let authorities = match &config.egress.ca_file {
        Some(path) => std::fs::read(path)
            .map_err(|error| Failure::Failed(format!("egress.ca_file, {}: {error}", path.display())))?,
        None => Vec::new(),
    };
    let settings = EgressSettings {
        policy: EgressPolicy { allow: config.egress.allow.clone(), loopback: config.egress.loopback },
        authorities,
        sockets_max: config.egress.sockets_max,
        ..EgressSettings::default()
    };
    Egress::new(settings).map_err(|why| Failure::Failed(format!("egress.ca_file: {why}")))
}

/// Starts the engine. It stops in order once `stopped` turns true.
pub(crate) fn engine(
    config: &Config,
    base: &BasePorts,
    store: Arc<dyn Store>,
    egress: Egress,
    node: Guid,
    tasks: &dyn Tasks,
    stopped: watch::Receiver<bool>,
) -> Engine {
    let delivery = &config.delivery;
    let schedule = Schedule { pauses: delivery.schedule.clone(), window: delivery.window };
    let settings = Settings {
        in_flight_per_webhook_max: delivery.in_flight_per_webhook,
        in_flight_max: delivery.in_flight,
        is_sandbox_open: config.portal.is_sandbox_open,
        ask_after: delivery.share_after,
        retention: config.retention.log,
        ..Settings::new(schedule, delivery.timeout)
    };
    let transport = Arc::new(super::sandbox::transport(config, base, store.clone(), egress));
    let ports = Ports { store, clock: base.clock.clone(), random: base.random.clone(), transport };
    Engine::start(ports, settings, node, tasks, stopped)
}
