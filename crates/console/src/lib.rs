//! The operator console: pages on which the people who run the service see whether it works, find out why not, and act.
//! Pages are rendered on the server and work without a script. The same URLs answer in JSON (`Accept: application/json`) and,
//! where there is a table, in CSV (`format=csv`).
//!
//! One module per area of the navigation; each has its routes, what its pages show and its words.

mod accounts;
mod actions;
mod actors;
mod applications;
mod audit;
mod context;
mod data;
mod operations;
mod overview;
mod routes;
mod shell;
mod text;
mod webhooks;

use std::sync::Arc;

use ::webhooks::history::History;
use domain::{Clock, Realm};
use identity::{Identity, RealmPages};
use operator::admin::{Admin, OperationsAdmin, ServiceAdmin, WebhookAdmin};
use pages::PageSite;
use store::Store;
use tokio::sync::watch;

pub use actions::{Action, console_actions};
pub use routes::{console_routes, router};

/// What the console needs from outside.
#[derive(Clone)]
pub struct Ports {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub identity: Arc<Identity>,
    pub admin: Admin,
    pub webhook_admin: WebhookAdmin,
    pub history: History,
    pub service: ServiceAdmin,
    pub operations: OperationsAdmin,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// How the operator names the service.
    pub service_name: String,
}

/// The console.
#[derive(Debug)]
pub struct Console {
    ports: Ports,
    settings: Settings,
    site: Arc<PageSite>,
}

impl Console {
    /// Live pages end when `stopped` becomes true.
    pub fn new(ports: Ports, settings: Settings, stopped: watch::Receiver<bool>) -> Self {
        let realm = RealmPages::new(ports.identity.clone(), Realm::Operators);
        let site = Arc::new(PageSite::new(realm, ports.clock.clone(), stopped));
        Self { ports, settings, site }
    }

    /// The path that every page is below.
    fn base_path(&self) -> &str {
        self.site.realm.base_path()
    }
}
