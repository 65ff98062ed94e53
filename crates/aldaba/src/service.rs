//! The service: binds both listeners over one store, runs its tasks under the supervisor, and stops in order.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::Router;
use domain::{Guid, Realm, Secret};
use gateway::Gateway;
use identity::Identity;
use operator::admin::{ApprovalSettings, ServiceAdmin};
use operator::ports::ThisNode;
use operator::{AppState, OperatorToken};
use portal::BrandSettings;
use store::{Archive, Store};
use tokio::sync::watch;
use web::{Listener, Metrics, RequestLayer, RequestLayerConfig, ShutdownTrigger, error_response, tls};
use webhooks::egress::Egress;
use webhooks::engine::Engine;

use crate::clock_watch;
use crate::config::{Config, Tls, address};
use crate::doctor::UnnamedProxies;
use crate::documents::{self, Document};
use crate::exit::Failure;
use crate::figures::FigureSources;
use crate::gauges::Gauges;
use crate::health::{self, Health};
use crate::mail::Mailer;
use crate::maintenance;
use crate::overview;
use crate::running_service::{RunningService, Stopping};
use crate::supervisor::Supervisor;
use crate::wiring::{self, BasePorts, OpenStore, RunningNode};

/// How long background tasks have to end, beyond the time that requests and attempts in progress may take.
const JOIN_MARGIN: Duration = Duration::from_secs(10);

/// The path of the console's pages on the operator's listener.
const CONSOLE_PATH: &str = "/console";

/// What `dev` puts around the routes of the sign-in.
pub(crate) type RouterLayer = Box<dyn Fn(Router) -> Router + Send + Sync>;

/// Everything that is needed to serve. The listeners are bound; nothing is served yet.
pub(crate) struct Service {
    base: BasePorts,
    public: Listener,
    operator: Listener,
    store: Arc<dyn Store>,
    archive: Arc<dyn Archive>,
    identity: Arc<Identity>,
    egress: Egress,
    mailer: Option<Mailer>,
    brand: BrandSettings,
    config: Config,
    metrics: Metrics,
    token: OperatorToken,
    sign_in_layer: Option<RouterLayer>,
}

impl Service {
    pub(crate) async fn bind(
        mut config: Config,
        base: BasePorts,
        opened: OpenStore,
        token: &Secret,
    ) -> Result<Self, Failure> {
        let tls = |pem: &Option<Tls>| {
            let read = |pem: &Tls| tls::from_pem_files(&pem.certificates, &pem.key).map_err(Failure::Failed);
            pem.as_ref().map(read).transpose()
        };
        let metrics = Metrics::new();
        let (public, operator) = wiring::listener_limits(&config);
        let connections = |side| metrics.for_connections(side);
        let public_tls = tls(&config.server.tls)?;
        let public = Listener::bind(config.server.listen, public_tls, public, connections("public"));
        let public = public.await.map_err(cannot_listen("server.listen", config.server.listen))?;
        let operator_tls = tls(&config.operator.tls)?;
        let operator =
            Listener::bind(config.operator.listen, operator_tls, operator, connections("operator"));
        let operator = operator.await.map_err(cannot_listen("operator.listen", config.operator.listen))?;
        config.fill_urls(public.address()?, operator.address()?);
        let (store, archive) = (opened.store.clone(), opened.archive.clone());
        // Before anything is served, so that no time that was given out is ever revised.
        clock_watch::compare_first(&*store, &base.node_clock).await;
        let identity = Arc::new(wiring::identity(&config, &base, opened, &metrics).await?);
        let egress = wiring::egress(&config)?;
        let mailer = Mailer::new(&config, store.clone(), base.clock.clone(), &metrics);
        let mailer = mailer.map_err(|why| Failure::Failed(format!("mail: {why}")))?;
        let (brand, token) = (wiring::brand(&config)?, OperatorToken::new(token));
        Ok(Self {
            base,
            public,
            operator,
            store,
            archive,
            identity,
            egress,
            mailer,
            brand,
            config,
            metrics,
            token,
            sign_in_layer: None,
        })
    }

    /// Puts a layer around the routes of the sign-in.
    pub(crate) fn with_sign_in_layer(self, layer: RouterLayer) -> Self {
        Self { sign_in_layer: Some(layer), ..self }
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn public_address(&self) -> Result<SocketAddr, Failure> {
        Ok(self.public.address()?)
    }

    pub(crate) fn operator_address(&self) -> Result<SocketAddr, Failure> {
        Ok(self.operator.address()?)
    }

    /// Starts the background tasks and both listeners.
    pub(crate) fn start(self) -> RunningService {
        let (shutdown, stopped) = ShutdownTrigger::new();
        let supervisor = Supervisor::new(stopped.clone());
        let draining = Arc::new(AtomicBool::new(false));
        let Self { base, public, operator, store, identity, egress, mailer, brand, config, metrics, .. } =
            self;
        let (archive, token, sign_in_layer) = (self.archive, self.token, self.sign_in_layer);
        let node = base.random.guid();
        let engine =
            wiring::engine(&config, &base, store.clone(), egress.clone(), node, &supervisor, stopped.clone());
        let this_node: Arc<dyn ThisNode> =
            Arc::new(RunningNode::new(&config, &base, node, engine.counts().clone()));
        let admin = wiring::admin(&config, &base, store.clone());
        let service = wiring::service_admin(&config, admin, &identity, this_node.clone());
        let parts = RouterParts {
            base: &base,
            config: &config,
            store: &store,
            archive: &archive,
            identity: &identity,
            metrics: &metrics,
            service: &service,
            stopped: &stopped,
            sign_in_layer: sign_in_layer.as_ref(),
        };
        let logouts = wiring::logout_sender(&config, &base, &identity, egress.clone());
        supervisor.spawn("backchannel-logout", logouts.run(stopped.clone()));
        let (public_routes, operator_routes, gateway) =
            parts.build(&engine, egress, (brand, token), &supervisor, &draining);

        watch_over_store(&supervisor, &config, &base, &store, &stopped);
        supervisor.spawn("overview", overview::run(store.clone(), this_node, service, stopped.clone()));
        if let Some(mailer) = mailer {
            supervisor.spawn("mail", mailer.run(stopped.clone()));
        }
        let clock = base.clock.clone();
        let figures = FigureSources { gateway, identity, engine, store, clock };
        run_identity_and_gateway(&supervisor, &figures, node, &stopped);
        supervisor.spawn("public-listener", public.serve(public_routes, stopped.clone()));
        supervisor.spawn("operator-listener", operator.serve(operator_routes, stopped));
        panic_on_request(&supervisor);
        let (drain_delay, drain) = (config.server.drain_delay, config.server.drain);
        let join_time_max = drain.max(config.delivery.timeout) + JOIN_MARGIN;
        let stopping = Stopping { drain_delay, join_time_max };
        RunningService { supervisor, shutdown, draining, figures, node, stopping }
    }
}

/// What the routes of both listeners are built from.
struct RouterParts<'a> {
    base: &'a BasePorts,
    config: &'a Config,
    store: &'a Arc<dyn Store>,
    archive: &'a Arc<dyn Archive>,
    identity: &'a Arc<Identity>,
    metrics: &'a Metrics,
    service: &'a ServiceAdmin,
    stopped: &'a watch::Receiver<bool>,
    sign_in_layer: Option<&'a RouterLayer>,
}

impl RouterParts<'_> {
    /// The public and the operator's routes, and the gateway behind the public ones.
    fn build(
        &self,
        engine: &Engine,
        egress: Egress,
        (brand, token): (BrandSettings, OperatorToken),
        supervisor: &Supervisor,
        draining: &Arc<AtomicBool>,
    ) -> (Router, Router, Arc<Gateway>) {
        let Self { base, config, store, archive, identity, metrics, service, stopped, .. } = *self;
        let health = Health {
            store: store.clone(),
            draining: draining.clone(),
            supervisor: supervisor.clone(),
            metrics: metrics.clone(),
            gauges: Gauges::register(metrics, store.clone(), base.node_clock.clone()),
            deliveries: engine.counts().clone(),
            clock: base.node_clock.clone(),
            last_reason: Arc::default(),
        };
        let admin = wiring::admin(config, base, store.clone());
        let (notifier, unnamed) = (Arc::new(engine.clone()), UnnamedProxies::default());
        let history = wiring::history(base, store.clone(), notifier.clone(), config.delivery.window);
        let webhook_admin = wiring::webhook_admin(base, store.clone(), history.clone());
        let management = wiring::management(config, base, store.clone(), egress, notifier, history.clone());
        let operations = wiring::operations(config, base, admin.clone(), archive.clone(), unnamed.clone());
        let console = wiring::console(
            config,
            base,
            identity.clone(),
            (admin.clone(), webhook_admin.clone(), history.clone()),
            (service.clone(), operations.clone()),
            stopped,
        );
        let portal_ports = (admin.clone(), history, management.clone());
        let portal = wiring::portal(config, base, identity.clone(), portal_ports, brand, stopped);
        let operator_api = AppState::new(admin, webhook_admin, token, metrics)
            .with_approval(ApprovalSettings { automatic: config.portal.approval.automatic })
            .with_operations(operations)
            .with_sandbox(wiring::sandbox_settings(config))
            .with_service(service.clone());
        let gated_routes = wiring::gated_routes(&management);
        let gateway = Arc::new(wiring::gateway(config, base, store.clone(), identity.clone(), gated_routes));
        let public_routes = sign_in_routes(self)
            .merge(identity::realm_router(identity.clone(), Realm::Developers))
            .merge(portal::router(Arc::new(portal)))
            .merge(gateway::router(gateway.clone()))
            .merge(documents::router(Document::public(config)))
            .merge(documents::asyncapi_router())
            .merge(health::public_probes(health.clone()));
        let operator_routes = operator::router(operator_api)
            .merge(identity::realm_router(identity.clone(), Realm::Operators))
            .merge(console::router(Arc::new(console)))
            .merge(documents::router(Document::operator(config)))
            .merge(health::operator_probes(health));
        let (public_layer, operator_layer) = self.layers(draining, &unnamed);
        let public_routes = with_common_layers(public_routes, public_layer);
        let operator_routes = with_common_layers(operator_routes, operator_layer);
        let prefix = address::path_prefix(&config.operator.url);
        (public_routes, web::below_prefix(operator_routes, prefix, CONSOLE_PATH), gateway)
    }

    /// The outermost layers of the public and of the operator's listener.
    fn layers(
        &self,
        draining: &Arc<AtomicBool>,
        unnamed: &UnnamedProxies,
    ) -> (RequestLayerConfig, RequestLayerConfig) {
        let Self { base, config, metrics, .. } = *self;
        let side = |side| RequestLayerConfig::new(side, &*base.random, metrics).draining(draining.clone());
        let (server, operator) = (&config.server, &config.operator);
        let is_https = [&server.base_url, &server.auth_url].iter().any(|url| url.starts_with("https://"));
        let public = side("public")
            .behind(server.trusted_proxies.clone(), "server.trusted_proxies")
            .noting(unnamed.public.clone())
            .over_https(is_https);
        let operator = side("operator")
            .behind(operator.trusted_proxies.clone(), "operator.trusted_proxies")
            .noting(unnamed.operator.clone());
        (public, operator)
    }
}

fn sign_in_routes(parts: &RouterParts<'_>) -> Router {
    let routes = identity::router(parts.identity.clone());
    match parts.sign_in_layer {
        Some(layer) => layer(routes),
        None => routes,
    }
}

/// Starts the tasks of the identity provider and the gateway, and the one that flushes what they count.
fn run_identity_and_gateway(
    supervisor: &Supervisor,
    figures: &FigureSources,
    node: Guid,
    stopped: &watch::Receiver<bool>,
) {
    let FigureSources { gateway, identity, .. } = figures;
    supervisor.spawn("figures", figures.clone().run(stopped.clone()));
    supervisor.spawn("signing-keys", identity.clone().run_maintenance(stopped.clone()));
    supervisor.spawn("gateway-usage", gateway.clone().run_maintenance(node, stopped.clone()));
    supervisor.spawn("gateway-calls", gateway.clone().run_recorder(stopped.clone()));
}

/// Starts the tasks that look after the store: maintenance, its clock, its workers.
fn watch_over_store(
    supervisor: &Supervisor,
    config: &Config,
    base: &BasePorts,
    store: &Arc<dyn Store>,
    stopped: &watch::Receiver<bool>,
) {
    let (clock, retention) = (base.clock.clone(), config.into());
    supervisor.spawn("maintenance", maintenance::run(store.clone(), clock, retention, stopped.clone()));
    supervisor.spawn("notices", wiring::notifier(config, base, store.clone()).run(stopped.clone()));
    if store.is_shared() {
        let comparing = clock_watch::run(store.clone(), base.node_clock.clone(), stopped.clone());
        supervisor.spawn("clock-watch", comparing);
    }
    supervisor.spawn("store", watch_store(store.clone(), stopped.clone()));
}

/// Ends when a worker of the store ends, or at shutdown: the store itself closes last.
async fn watch_store(store: Arc<dyn Store>, mut stopped: watch::Receiver<bool>) {
    tokio::select! {
        () = store.worker_ended() => {}
        _ = stopped.wait_for(|stop| *stop) => {}
    }
}

/// Debug builds let a test of the spawned program name a task that panics at once.
fn panic_on_request(supervisor: &Supervisor) {
    if cfg!(debug_assertions)
        && let Ok(task) = std::env::var("ALDABA_TEST_PANIC_TASK")
    {
        supervisor.panic_task(&task);
    }
}

fn cannot_listen(key: &str, address: SocketAddr) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::AddressInUse {
        why: format!("cannot listen on {address}: {error}"),
        remedy: format!("choose another address with {key}"),
    }
}

/// A router with the answers that every listener has in common.
fn with_common_layers(router: Router, with: RequestLayerConfig) -> Router {
    router
        .fallback(error_response::not_found)
        .method_not_allowed_fallback(error_response::method_not_allowed)
        .layer(RequestLayer::new(with))
}
