//! Wires the delivery engine: the store, the clock, and the HTTP client for receivers.

use std::sync::Arc;

use domain::Guid;
use domain::egress::Policy;
use domain::retry::Schedule;
use store::Store;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use webhooks::egress::{Egress, EgressSettings};
use webhooks::engine::{Carrier, Engine, Ports, Settings};

use super::{SystemClock, SystemRandom};
use crate::config::Config;
use crate::exit::Failure;

/// The HTTP client for receivers, with the configured address policy.
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

/// Starts the engine; it shuts down in order once `stopped` is true.
pub(crate) fn engine(
    config: &Config,
    store: Arc<dyn Store>,
    egress: Egress,
    node: Guid,
    stopped: watch::Receiver<bool>,
) -> (Engine, JoinHandle<()>) {
    let delivery = &config.delivery;
    let schedule = Schedule { pauses: delivery.schedule.clone(), window: delivery.window };
    let settings = Settings {
        in_flight_per_webhook_max: delivery.in_flight_per_webhook,
        in_flight_max: delivery.in_flight,
        ..Settings::new(schedule, delivery.timeout)
    };
    let transport = Arc::new(Carrier { egress, timeout: delivery.timeout });
    let ports = Ports { store, clock: Arc::new(SystemClock), random: Arc::new(SystemRandom), transport };
    Engine::start(ports, settings, node, stopped)
}
