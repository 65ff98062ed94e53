//! The routes of the public listener, of the portal and of the console, each over a copy of the fixture's store. Nothing listens, and
//! no engine delivers.

use std::sync::Arc;

use axum::Router;
use domain::Realm;
use identity::Identity;
use operator::admin::{Admin, OperationsAdmin, ServiceAdmin, ServicePorts};
use operator::ports::Installation;
use portal::BrandSettings;
use store::Store;
use tokio::sync::watch;
use web::{Metrics, RequestLayer, RequestLayerConfig, error_response};
use webhooks::history::History;
use webhooks::management::Management;

use super::fixture::{FIXTURE, Fixture};
use super::operations::Nothing;
use crate::wiring::{self, NoEngine};

/// What the routes of one service share.
struct Parts {
    fixture: &'static Fixture,
    store: Arc<dyn Store>,
    identity: Arc<Identity>,
    admin: Admin,
    history: History,
    management: Arc<Management>,
    /// Live pages end at once.
    stopped: watch::Receiver<bool>,
}

impl Parts {
    #[allow(clippy::expect_used, reason = "without a service there is nothing to try")]
    async fn new() -> Self {
        let fixture = &*FIXTURE;
        let Fixture { config, base, egress, .. } = fixture;
        let store = fixture.store().expect("the copy of a store opens");
        let identity = fixture.identity(store.clone()).await.expect("the copy of a store has a signing key");
        let engine = Arc::new(NoEngine);
        let history = wiring::history(base, store.clone(), engine.clone(), config.delivery.window);
        let management =
            wiring::management(config, base, store.clone(), egress.clone(), engine, history.clone());
        let admin = wiring::admin(config, base, store.clone());
        let (_, stopped) = watch::channel(true);
        Self { fixture, store, identity: Arc::new(identity), admin, history, management, stopped }
    }

    /// The routes with the answers that every listener has in common.
    fn finish(&self, router: Router, side: &'static str) -> Router {
        let layer = RequestLayerConfig::new(side, &*self.fixture.base.random, &Metrics::new());
        router
            .fallback(error_response::not_found)
            .method_not_allowed_fallback(error_response::method_not_allowed)
            .layer(RequestLayer::new(layer))
    }
}

/// The identity provider with the users' pages, and the APIs behind the gate. A new service each time.
pub async fn public_router() -> Router {
    let parts = Parts::new().await;
    let Fixture { config, base, .. } = parts.fixture;
    let (store, identity) = (parts.store.clone(), parts.identity.clone());
    let gated_routes = wiring::gated_routes(&parts.management);
    let gateway = Arc::new(wiring::gateway(config, base, store, identity.clone(), gated_routes));
    parts.finish(identity::router(identity).merge(gateway::router(gateway)), "public")
}

/// The portal and the developers' pages. A new service each time.
pub async fn portal_router() -> Router {
    let parts = Parts::new().await;
    let Fixture { config, base, .. } = parts.fixture;
    let brand = BrandSettings { name: "Aldaba".to_owned(), logo: None, color: None, contact: String::new() };
    let ports = (parts.admin.clone(), parts.history.clone(), parts.management.clone());
    let pages = wiring::portal(config, base, parts.identity.clone(), ports, brand, &parts.stopped);
    let accounts = identity::realm_router(parts.identity.clone(), Realm::Developers);
    parts.finish(accounts.merge(portal::router(Arc::new(pages))), "public")
}

/// The console and the operators' pages. A new service each time.
pub async fn console_router() -> Router {
    let parts = Parts::new().await;
    let Fixture { config, base, .. } = parts.fixture;
    let nothing = Arc::new(Nothing);
    let installation = Installation::default();
    let ports = ServicePorts { keys: nothing.clone(), node: nothing.clone(), installation };
    let service = ServiceAdmin::new(parts.admin.clone(), ports);
    let operations = OperationsAdmin {
        admin: parts.admin.clone(),
        configuration: config.keys.clone().into(),
        backups: nothing.clone(),
        doctor: nothing,
    };
    let webhook_admin = wiring::webhook_admin(base, parts.store.clone(), parts.history.clone());
    let admin = (parts.admin.clone(), webhook_admin, parts.history.clone());
    let pages =
        wiring::console(config, base, parts.identity.clone(), admin, (service, operations), &parts.stopped);
    let accounts = identity::realm_router(parts.identity.clone(), Realm::Operators);
    parts.finish(accounts.merge(console::router(Arc::new(pages))), "operator")
}
