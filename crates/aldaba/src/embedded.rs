//! Runs the service inside another process, with its clock and randomness injected. Tests use it instead of spawning the
//! program.

use std::sync::Arc;

use domain::Secret;
use store::{MasterKey, Store};

use crate::config::{self, Sources};
use crate::exit::Failure;
use crate::running_service::RunningService;
use crate::service::Service;
use crate::supervisor::{Supervisor, TaskFailure};
use crate::wiring::{self, BasePorts};

/// What an embedded service is started with.
#[derive(Debug)]
pub struct Options {
    /// Configuration keys and values, as `--set` takes them.
    pub settings: Vec<(String, String)>,
    pub base: BasePorts,
    pub master_key: [u8; 32],
    /// The bearer token of `/operator/v1`.
    pub operator_token: String,
}

/// A running service. It stops with [`EmbeddedService::stop`].
pub struct EmbeddedService {
    /// `http://` and the address of the public listener.
    pub base_url: String,
    /// The operator's listener.
    pub operator_url: String,
    pub store: Arc<dyn Store>,
    running: RunningService,
}

impl std::fmt::Debug for EmbeddedService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedService").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

impl EmbeddedService {
    /// Opens the store and serves. Errors are the messages that the program would print.
    pub async fn start(options: Options) -> Result<Self, String> {
        start(options).await.map_err(|failure| failure.message())
    }

    pub fn supervisor(&self) -> &Supervisor {
        self.running.supervisor()
    }

    /// Stops in order. Returns the failure of a background task, where there was one.
    pub async fn stop(self) -> Option<TaskFailure> {
        self.running.stop().await
    }
}

async fn start(options: Options) -> Result<EmbeddedService, Failure> {
    let Options { settings, base, master_key, operator_token } = options;
    let sources = Sources { flags: settings, ..Sources::default() };
    let config = config::load(&sources).map_err(Failure::Config)?;
    let ports = wiring::ports(&base, &MasterKey::from_bytes(master_key))?;
    let opened = wiring::open(&config.store.url, config.store.connections_max, ports).await?;
    let store = opened.store.clone();
    let service = Service::bind(config, base, opened, &Secret::new(operator_token)).await?;
    let base_url = format!("http://{}", service.public_address()?);
    let operator_url = format!("http://{}", service.operator_address()?);
    Ok(EmbeddedService { base_url, operator_url, store, running: service.start() })
}
