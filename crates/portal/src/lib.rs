//! The developer portal: the front page of the service and the pages on which developers of integrations get keys and clients,
//! try the sandbox, and see what their calls and webhooks do. Pages are rendered on the server and work without a script.
//! The same URLs answer in JSON (`Accept: application/json`) and, where there is a table, in CSV (`format=csv`).

mod brand;
mod catalogue;
mod context;
mod http;
mod routes;
mod shell;
mod signature;
mod text;
mod views;

use std::sync::Arc;

use domain::{Clock, Random, Realm};
use identity::{Identity, RealmPages};
use operator::admin::{Admin, ApprovalSettings, SandboxSettings};
use pages::PageSite;
use store::Store;
use tokio::sync::watch;
use webhooks::history::History;
use webhooks::management::Management;

pub use brand::{BrandSettings, Logo};
pub use routes::{router, team_routes};
pub use signature::{SignatureClaim, SignatureDiagnosis, SignatureReason};
pub use views::sign_in_parts;

/// What the portal needs from outside.
#[derive(Clone)]
pub struct Ports {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub identity: Arc<Identity>,
    pub admin: Admin,
    pub history: History,
    pub management: Arc<Management>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// Of the APIs, without a trailing slash.
    pub base_url: String,
    /// Of the identity provider, with its path.
    pub issuer: String,
    pub brand: BrandSettings,
    pub approval: ApprovalSettings,
    pub sandbox: SandboxSettings,
    pub is_registration_open: bool,
    /// The page to try calls on; none where it is switched off.
    pub docs_url: Option<String>,
    /// Whether calls are logged; figures count them in any case.
    pub has_call_log: bool,
    /// Says why a signature does not match.
    pub diagnose_signature: fn(&SignatureClaim<'_>) -> SignatureDiagnosis,
}

/// The portal.
#[derive(Debug)]
pub struct Portal {
    ports: Ports,
    settings: Settings,
    site: Arc<PageSite>,
    brand_paths: brand::BrandPaths,
}

impl Portal {
    /// Live pages end when `stopped` becomes true.
    pub fn new(ports: Ports, settings: Settings, stopped: watch::Receiver<bool>) -> Self {
        let realm = RealmPages::new(ports.identity.clone(), Realm::Developers);
        let brand_paths = brand::BrandPaths::below(realm.base_path());
        let site = Arc::new(PageSite::new(realm, ports.clock.clone(), stopped));
        Self { ports, settings, site, brand_paths }
    }

    /// The path that every page is below, but the front page.
    fn base_path(&self) -> &str {
        self.site.realm.base_path()
    }
}
