//! The ports that every crate gets: the clock and the randomness.

use std::sync::Arc;

use domain::{Clock, Random};

use super::{SystemClock, SystemRandom};

/// The clock and the randomness of a service. Tests give their own.
#[derive(Clone)]
pub struct BasePorts {
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

impl BasePorts {
    /// The machine's.
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock), random: Arc::new(SystemRandom) }
    }
}

impl std::fmt::Debug for BasePorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BasePorts")
    }
}
