//! The administration of tenants, users, clients, subscriptions and webhooks: what the command line and the console
//! do. Secrets are made here, shown once, and kept as hashes.

mod clients;
mod people;
mod stats;
mod subscriptions;
mod usage;
mod webhooks;

use std::sync::Arc;

use domain::{Clock, Random, Secret, Ticks};
use store::{Store, StoreError};

pub use clients::{ClientChange, NewClient};
pub use people::NewUser;
pub use stats::Stats;
pub use subscriptions::{DAILY_QUOTA_MAX, Keys, NewSubscription};
pub use usage::{DayUsage, RouteUsage, Usage, read_day};
pub use webhooks::{
    AttemptShown, DeliveryAsk, DeliveryMark, DeliveryPage, DeliveryShown, DeliveryStatus, FamilyWord, Health,
    ReplayPage, ReplayShown, WebhookAsk, WebhookMark, WebhookPage, WebhookShown, WebhookStatus, subscribable,
};
pub(crate) use webhooks::{DELIVERIES_MAX, resources};

/// Why something could not be administered.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    #[error("{0}")]
    Invalid(String),
    #[error("there is no {0}")]
    Missing(String),
    #[error("{0} is cancelled, which is final; make a new one in its place")]
    Cancelled(String),
    /// It is there, and as it stands this cannot be done to it.
    #[error("{why}")]
    Refused { code: &'static str, why: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(crate) type Result<T> = std::result::Result<T, AdminError>;

#[derive(Clone)]
pub struct Admin {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Admin")
    }
}

/// What took another's place, in plain; shown once.
#[derive(Clone, Debug)]
pub struct Replacement {
    pub secret: Secret,
    /// Until when what it replaces stays valid.
    pub previous_valid_until: Ticks,
}

impl Admin {
    fn now(&self) -> Ticks {
        self.clock.now()
    }

    fn secret(&self) -> Secret {
        Secret::new(self.random.token())
    }
}

fn found(there: bool, what: impl FnOnce() -> String) -> Result<()> {
    if there { Ok(()) } else { Err(AdminError::Missing(what())) }
}
