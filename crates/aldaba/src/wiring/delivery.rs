//! Gives the delivery engine what it stands on: the store, the clock, and the one way out to receivers.

use std::sync::Arc;

use domain::Guid;
use domain::egress::Policy;
use domain::retry::Schedule;
use store::Store;
use tokio::sync::watch;
use web::Tasks;
use webhooks::egress::{Egress, EgressSettings};
use webhooks::engine::{Engine, Ports, Settings};

use super::{SystemClock, SystemRandom};
use crate::config::Config;
use crate::exit::Failure;

/// The way out to receivers, as the configuration allows it.
pub(crate) fn egress(config: &Config) -> Result<Egress, Failure> {
    let authorities = match &config.egress.ca_file {
        Some(path) => std::fs::read(path)
            .map_err(|error| Failure::Failed(format!("egress.ca_file, {}: {error}", path.display())))?,
        None => Vec::new(),
    };
    let settings = EgressSettings {
        policy: Policy { allow: config.egress.allow.clone(), loopback: config.egress.loopback },
        authorities,
        sockets_max: config.egress.sockets_max,
        ..EgressSettings::default()
    };
    Egress::new(settings).map_err(|why| Failure::Failed(format!("egress.ca_file: {why}")))
}

/// Starts delivering; ends in order once `stopped` says so.
pub(crate) fn engine(
    config: &Config,
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
        ..Settings::new(schedule, delivery.timeout)
    };
    let ports = Ports { store, clock: Arc::new(SystemClock), random: Arc::new(SystemRandom), transport: Arc::new(egress) };
    Engine::start(ports, settings, node, tasks, stopped)
}
