//! Builds the identity provider.

use std::sync::Arc;
use std::time::Duration;

use identity::{Identity, Keys, Ports, Settings};
use web::Metrics;

use super::{BasePorts, OpenStore, SystemClock};
use crate::config::Config;
use crate::exit::Failure;

/// How long a signing key is published before it signs.
const KEY_LEAD: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) async fn identity(
    config: &Config,
    base: &BasePorts,
    opened: OpenStore,
    metrics: &Metrics,
) -> Result<Identity, Failure> {
    let ports = Ports {
        store: opened.store,
        clock: base.clock.clone(),
        random: base.random.clone(),
        vault: opened.vault,
    };
    Ok(Identity::open(ports, settings(config), metrics).await?)
}

/// The signing keys alone, for the commands that manage them.
pub(crate) async fn signing_keys(config: &Config, opened: &OpenStore) -> Result<Keys, Failure> {
    let policy = settings(config).key_policy();
    Ok(Keys::open(opened.store.clone(), Arc::new(SystemClock), policy).await?)
}

fn settings(config: &Config) -> Settings {
    let from = &config.identity;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Settings {
        issuer: format!("{}/auth/core", config.server.auth_url),
        code_ttl: from.code_ttl,
        access_token_ttl: from.access_token_ttl,
        refresh_token_ttl: from.refresh_token_ttl,
        refresh_sliding: from.refresh_sliding,
        refresh_grace: from.refresh_grace,
        session_ttl: from.session_ttl,
        key_period: from.key_period,
        key_lead: KEY_LEAD,
        address_failures_max: from.address_failures_max,
        hashing_parallel: if from.hashing_parallel == 0 { cores } else { from.hashing_parallel },
        hashing_queue_max: from.hashing_queue_max,
    }
}
