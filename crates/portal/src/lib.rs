//! The developer portal: the front page of the service and the pages on which developers of integrations get keys and clients,
//! try the sandbox, and see what their calls and webhooks do. Pages are rendered on the server and work without a script.
//! The same URLs answer in JSON (`Accept: application/json`) and, where there is a table, in CSV (`format=csv`).

#[macro_use]
mod text;
mod brand;
mod catalogue;
mod context;
mod csv;
mod diagnosis;
mod error;
mod form;
mod http;
mod live;
mod pages;
mod params;
mod request_text;
mod response;
mod routes;
mod shell;
mod signature;

use std::sync::Arc;

use domain::{Clock, Random, Realm};
use identity::{Identity, RealmPages};
use operator::admin::{Admin, ApprovalSettings, SandboxSettings};
use store::Store;
use webhooks::history::History;
use webhooks::management::Management;

pub use brand::{BrandSettings, Logo};
pub use routes::{router, team_routes};
pub use signature::{SignatureClaim, SignatureDiagnosis, SignatureReason};

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
    /// Says why a signature does not match.
    pub diagnose_signature: fn(&SignatureClaim<'_>) -> SignatureDiagnosis,
}

/// The portal.
#[derive(Debug)]
pub struct Portal {
    ports: Ports,
    settings: Settings,
    pages: RealmPages,
    tails: live::Tails,
}

impl Portal {
    pub fn new(ports: Ports, settings: Settings) -> Self {
        let pages = RealmPages::new(ports.identity.clone(), Realm::Developers);
        Self { ports, settings, pages, tails: live::Tails::default() }
    }

    /// The path that every page is below, but the front page.
    fn base_path(&self) -> &str {
        self.pages.base_path()
    }
}
