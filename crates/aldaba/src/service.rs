//! The running service: both listeners over one store, until it is told to stop, and then in order.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use domain::{Clock, Random, Secret};
use identity::Identity;
use operator::admin::Admin;
use operator::{Operator, OperatorToken};
use store::Store;
use tokio::signal::unix::{Signal, SignalKind, signal};
use web::{Bounds, Listener, Measures, Outermost, OutermostLayer, Stopper, problem, tls};
use webhooks::egress::Egress;

use crate::config::Config;
use crate::documents::{self, Document};
use crate::exit::Failure;
use crate::health::{self, Gauges, Health};
use crate::housekeeping;
use crate::wiring::{self, Opened, SystemClock, SystemRandom};

/// Everything that is needed to serve; listeners are bound, nothing is served yet.
pub(crate) struct Service {
    public: Listener,
    operator: Listener,
    store: Arc<dyn Store>,
    identity: Arc<Identity>,
    egress: Egress,
    config: Config,
    measures: Measures,
    token: OperatorToken,
}

impl Service {
    pub(crate) async fn bind(mut config: Config, opened: Opened, token: &Secret) -> Result<Self, Failure> {
        let tls = match &config.server.tls {
            Some(pem) => Some(tls::from_pem_files(&pem.certificates, &pem.key).map_err(Failure::Failed)?),
            None => None,
        };
        let bounds = Bounds {
            connections_max: config.server.connections_max,
            drain_timeout: config.server.drain,
            ..Bounds::default()
        };
        let public = bind("server.listen", config.server.listen, tls, bounds).await?;
        let operator = bind("operator.listen", config.operator.listen, None, bounds).await?;
        fill_urls(&mut config, public.address()?);
        let measures = Measures::new();
        let store = opened.store.clone();
        let identity = Arc::new(wiring::identity(&config, opened, &measures).await?);
        let egress = wiring::egress(&config)?;
        let token = OperatorToken::new(token);
        Ok(Self { public, operator, store, identity, egress, config, measures, token })
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn public_address(&self) -> Result<SocketAddr, Failure> {
        Ok(self.public.address()?)
    }

    pub(crate) fn operator_address(&self) -> Result<SocketAddr, Failure> {
        Ok(self.operator.address()?)
    }

    /// Serves until the program is told to stop; returns once all is in order.
    pub(crate) async fn run(self, mut ending: Ending) -> Result<(), Failure> {
        let (stopper, stopped) = Stopper::new();
        let draining = Arc::new(AtomicBool::new(false));
        let random: Arc<dyn Random> = Arc::new(SystemRandom);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let node = random.guid();
        let (engine, delivering) =
            wiring::engine(&self.config, self.store.clone(), self.egress.clone(), node, stopped.clone());
        let health = Health {
            store: self.store.clone(),
            draining: draining.clone(),
            measures: self.measures.clone(),
            gauges: Gauges::register(&self.measures),
            deliveries: engine.counts().clone(),
        };
        let admin = Admin { store: self.store.clone(), clock: clock.clone(), random: random.clone() };
        let engine = Arc::new(engine);
        let history = wiring::history(self.store.clone(), engine.clone(), self.config.delivery.window);
        let webhook_admin = wiring::webhook_admin(self.store.clone(), history.clone());
        let desk = Operator::new(admin, webhook_admin, self.token, &self.measures);
        let guests = wiring::guests(&self.config, self.store.clone(), self.egress, engine, history);
        let (store, identity) = (self.store.clone(), self.identity.clone());
        let gateway = Arc::new(wiring::gateway(&self.config, store, identity, guests));
        let public = identity::router(self.identity.clone())
            .merge(gateway::router(gateway.clone()))
            .merge(documents::router(Document::public(&self.config)))
            .merge(documents::notifications())
            .merge(health::probes(health.clone()));
        let operators = operator::router(desk)
            .merge(documents::router(Document::operator()))
            .merge(health::probes(health.clone()))
            .merge(health::metrics(health));
        let side = |side| Outermost::new(side, &*random, &self.measures);
        let server = &self.config.server;
        let is_https = [&server.base_url, &server.auth_url].iter().any(|url| url.starts_with("https://"));
        let outside = side("public").behind(server.trusted_proxies.clone()).over_https(is_https);
        let (public, operators) = (finished(public, outside), finished(operators, side("operator")));
        let housekeeping = tokio::spawn(housekeeping::run(
            self.store.clone(),
            clock,
            (&self.config).into(),
            stopped.clone(),
        ));
        let keys = tokio::spawn(self.identity.tend(stopped.clone()));
        let tending = tokio::spawn(gateway.clone().tend(node, stopped.clone()));
        let public = tokio::spawn(self.public.serve(public, stopped.clone()));
        let operators = tokio::spawn(self.operator.serve(operators, stopped));
        ending.told().await;
        tracing::info!("stopping: no new requests, those under way finish");
        draining.store(true, Ordering::Relaxed);
        stopper.stop();
        let _ = tokio::join!(public, operators, housekeeping, keys, tending, delivering);
        gateway.close(node).await;
        self.store.close().await;
        Ok(())
    }
}

/// Addresses that were not configured are where the listener is.
fn fill_urls(config: &mut Config, listening: SocketAddr) {
    let scheme = if config.server.tls.is_some() { "https" } else { "http" };
    for url in [&mut config.server.base_url, &mut config.server.auth_url] {
        if url.is_empty() {
            *url = format!("{scheme}://{listening}");
        }
    }
}

async fn bind(
    key: &str,
    address: SocketAddr,
    tls: Option<tls::Tls>,
    bounds: Bounds,
) -> Result<Listener, Failure> {
    Listener::bind(address, tls, bounds).await.map_err(|error| Failure::Busy {
        why: format!("cannot listen on {address}: {error}"),
        remedy: format!("choose another address with {key}"),
    })
}

/// A router with the answers that every listener has in common.
fn finished(router: Router, with: Outermost) -> Router {
    router
        .fallback(problem::not_found)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .layer(OutermostLayer::new(with))
}

/// Being told to stop. From the moment this is made, a signal waits here instead of ending the program.
pub(crate) struct Ending {
    terminate: Signal,
    interrupt: Signal,
}

impl Ending {
    pub(crate) fn listen() -> Result<Self, Failure> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    pub(crate) async fn told(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
