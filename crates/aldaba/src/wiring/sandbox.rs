//! Wires the sandboxes of teams: their sample data, limits and built-in receiver.

use std::sync::Arc;

use ::webhooks::ReceiverAddresses;
use ::webhooks::egress::Egress;
use operator::admin::SandboxSettings;
use operator::ports::SampleData;
use store::Store;

use super::BasePorts;
use crate::built_in_receiver::BuiltInReceiver;
use crate::config::Config;

/// Small, so that a sandbox is ready within a second.
const PLAN: sample::Plan = sample::Plan { seed: 17, companies: 2, customers_per_company: 6 };

struct Sample;

impl SampleData for Sample {
    fn lines(&self) -> Vec<String> {
        sample::changes(PLAN).collect()
    }
}

pub(crate) fn sandbox_settings(config: &Config) -> SandboxSettings {
    SandboxSettings {
        is_open: config.portal.is_sandbox_open,
        events_per_day_max: config.portal.sandbox_events_per_day,
        sample: Arc::new(Sample),
    }
}

/// The transport of deliveries: in process to the built-in receivers of sandboxes, through the egress to all others.
pub(super) fn transport(
    config: &Config,
    base: &BasePorts,
    store: Arc<dyn Store>,
    egress: Egress,
) -> BuiltInReceiver<Egress> {
    BuiltInReceiver {
        outside: egress,
        addresses: ReceiverAddresses::new(&config.server.base_url),
        store,
        clock: base.clock.clone(),
        is_open: config.portal.is_sandbox_open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_of_a_sandbox_is_small_and_begins_with_a_company() {
        let lines = Sample.lines();
        assert!((100..2000).contains(&lines.len()), "{}", lines.len());
        assert!(lines[0].contains("\"companies\""), "{}", lines[0]);
        assert_eq!(lines, Sample.lines());
    }
}
