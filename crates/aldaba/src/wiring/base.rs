//! The ports that every crate gets: the clock and the randomness.

use std::sync::Arc;

use domain::{Clock, Random};

use super::{NodeClock, SystemClock, SystemRandom};

/// The clock and the randomness of a service. Tests give their own.
#[derive(Clone)]
pub struct BasePorts {
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    /// The clock that is compared with the store's, and which `clock` is unless a test gives another.
    pub node_clock: Arc<NodeClock>,
}

impl BasePorts {
    /// The machine's.
    pub fn system() -> Self {
        Self::with_machine_clock(Arc::new(SystemClock))
    }

    /// On a machine with this clock.
    pub fn with_machine_clock(machine: Arc<dyn Clock>) -> Self {
        let node_clock = Arc::new(NodeClock::new(machine));
        Self { clock: node_clock.clone(), random: Arc::new(SystemRandom), node_clock }
    }
}

impl std::fmt::Debug for BasePorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BasePorts")
    }
}
