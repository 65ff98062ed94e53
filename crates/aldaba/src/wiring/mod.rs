//! Connects the crates: gives each its ports (clock, randomness, store, network) and its settings.

mod account_links;
mod backchannel_logout;
mod base;
mod clock;
mod console;
mod delivery;
mod gateway;
mod history;
mod identity;
mod listeners;
mod open;
mod operations;
mod portal;
mod random;
mod sandbox;
mod service;
mod signature;
mod webhooks;

use account_links::account_links;
pub(crate) use account_links::notifier;
pub(crate) use backchannel_logout::logout_sender;
pub use base::BasePorts;
pub use clock::NodeClock;
pub(crate) use clock::{ClockDifference, SystemClock};
pub(crate) use console::console;
pub(crate) use delivery::{egress, engine};
pub(crate) use gateway::gateway;
use history::call_limits;
pub(crate) use history::{NoEngine, admin, history, webhook_admin};
#[cfg(feature = "fuzzing")]
pub(crate) use identity::settings as identity_settings;
pub(crate) use identity::{identity, realm_urls, signing_keys};
pub(crate) use listeners::listener_limits;
pub(crate) use open::{OpenStore, clock_of, open, ports, schema_of};
pub(crate) use operations::operations;
pub(crate) use portal::{brand, portal};
pub(crate) use random::SystemRandom;
pub(crate) use sandbox::sandbox_settings;
pub(crate) use service::{KeyRing, RunningNode, service_admin};
pub(crate) use webhooks::{gated_routes, management};
