//! Runs the service inside another process, with its clock and randomness injected. Tests use it instead of spawning the
//! program.

use std::path::PathBuf;
use std::sync::Arc;

use store::Store;

use crate::config::{self, Sources};
use crate::exit::Failure;
use crate::running_service::RunningService;
use crate::serve;
use crate::supervisor::{Supervisor, TaskFailure};
use crate::wiring::BasePorts;

/// What an embedded service is started with.
#[derive(Debug)]
pub struct Options {
    /// The configuration of an installation. What `serve` refuses as unfit for production is refused here too.
    pub config: Option<PathBuf>,
    /// Configuration keys and values, as `--set` takes them, and `store.master_key`. They override the file.
    pub settings: Vec<(String, String)>,
    pub base: BasePorts,
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
    let Options { config, settings, base } = options;
    let sources = Sources { file: config, flags: settings, ..Sources::default() };
    let config = config::load(&sources).map_err(Failure::Config)?;
    let faults = if sources.file.is_some() { serve::unfit(&config) } else { Vec::new() };
    if !faults.is_empty() {
        return Err(Failure::Config(faults));
    }
    let service = serve::bind(config, base).await?;
    let base_url = format!("http://{}", service.public_address()?);
    let operator_url = format!("http://{}", service.operator_address()?);
    let store = service.store().clone();
    Ok(EmbeddedService { base_url, operator_url, store, running: service.start() })
}
