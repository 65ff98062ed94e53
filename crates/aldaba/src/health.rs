//! Probes and metrics: `/livez`, `/readyz`, `/metrics`. The public `/readyz` says only whether the service is ready; the
//! operator's says why not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Unit;
use serde_json::json;
use store::Store;
use web::Metrics;
use webhooks::engine::DeliveryCounts;

use crate::supervisor::{Supervisor, TaskFailure};
use crate::wiring::{ClockDifference, NodeClock};

const STORE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(crate) struct Health {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) draining: Arc<AtomicBool>,
    pub(crate) supervisor: Supervisor,
    pub(crate) metrics: Metrics,
    pub(crate) gauges: Gauges,
    pub(crate) deliveries: DeliveryCounts,
    pub(crate) clock: Arc<NodeClock>,
}

/// Figures that are read when the metrics are requested.
#[derive(Clone, Default)]
pub(crate) struct Gauges {
    commits: Counter,
    queued: Gauge,
    resident: Gauge,
    open_files: Gauge,
    delivered: Counter,
    failed: Counter,
    in_flight: Gauge,
    webhooks: Gauge,
    clock_difference: Gauge<f64, AtomicU64>,
}

impl Gauges {
    pub(crate) fn register(metrics: &Metrics) -> Self {
        let gauges = Self::default();
        metrics.with_registry(|registry| {
            registry.register(
                "change_commits",
                "Commits of changes; one may hold many requests",
                gauges.commits.clone(),
            );
            registry.register("store_queued", "Requests that wait to be written", gauges.queued.clone());
            registry.register_with_unit(
                "process_resident_memory",
                "Resident memory",
                Unit::Bytes,
                gauges.resident.clone(),
            );
            registry.register("process_open_fds", "Open file descriptors", gauges.open_files.clone());
            registry.register("deliveries", "Deliveries that receivers took", gauges.delivered.clone());
            registry.register("delivery_failures", "Attempts to deliver that failed", gauges.failed.clone());
            registry.register("deliveries_in_flight", "Attempts under way", gauges.in_flight.clone());
            registry.register(
                "webhooks_held",
                "Webhooks that this node delivers to",
                gauges.webhooks.clone(),
            );
            registry.register_with_unit(
                "clock_difference",
                "By how much this machine's clock is ahead of the database's",
                Unit::Seconds,
                gauges.clock_difference.clone(),
            );
        });
        gauges
    }

    async fn read(&self, store: &dyn Store, deliveries: &DeliveryCounts) {
        self.delivered.inner().store(deliveries.delivered(), Ordering::Relaxed);
        self.failed.inner().store(deliveries.failed(), Ordering::Relaxed);
        self.in_flight.set(i64::try_from(deliveries.in_flight()).unwrap_or(i64::MAX));
        self.webhooks.set(i64::try_from(deliveries.webhooks()).unwrap_or(i64::MAX));
        self.commits.inner().store(store.change_commits(), Ordering::Relaxed);
        if let Ok(health) = store.health().await {
            self.queued.set(i64::try_from(health.queued).unwrap_or(i64::MAX));
        }
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = resident.and_then(|line| line.trim().trim_end_matches(" kB").parse::<i64>().ok());
        self.resident.set(kib.unwrap_or(0) * 1024);
        let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        self.open_files.set(i64::try_from(open).unwrap_or(i64::MAX));
    }
}

/// The public listener's probes.
pub(crate) fn public_probes(health: Health) -> Router {
    Router::new().route("/livez", get(live)).route("/readyz", get(public_readiness)).with_state(health)
}

/// The operator's probes, with details, and the metrics.
pub(crate) fn operator_probes(health: Health) -> Router {
    Router::new()
        .route("/livez", get(live))
        .route("/readyz", get(operator_readiness))
        .route("/metrics", get(export_metrics))
        .with_state(health)
}

async fn live() -> Json<serde_json::Value> {
    Json(json!({"status": "alive"}))
}

/// Whether the service can serve, and the facts that decide it.
struct Readiness {
    /// `ok`, or what is wrong with the store.
    store: String,
    /// A store opens only with an up-to-date schema, so the number proves that it answers.
    schema: Option<i64>,
    draining: bool,
    failure: Option<TaskFailure>,
    clock: Option<ClockDifference>,
}

impl Readiness {
    async fn check(health: &Health) -> Self {
        let (store, schema) = match tokio::time::timeout(STORE_TIMEOUT, health.store.health()).await {
            Ok(Ok(store)) => ("ok".to_owned(), Some(store.schema)),
            Ok(Err(error)) => (error.to_string(), None),
            Err(_) => (format!("no answer within {} s", STORE_TIMEOUT.as_secs()), None),
        };
        let draining = health.draining.load(Ordering::Relaxed);
        let (failure, clock) = (health.supervisor.failure(), health.clock.difference());
        Self { store, schema, draining, failure, clock }
    }

    fn is_ready(&self) -> bool {
        self.schema.is_some() && !self.draining && self.failure.is_none()
    }

    fn status(&self) -> (StatusCode, &'static str) {
        if self.is_ready() {
            (StatusCode::OK, "ready")
        } else {
            (StatusCode::SERVICE_UNAVAILABLE, "not ready")
        }
    }
}

async fn public_readiness(State(health): State<Health>) -> Response {
    let (code, status) = Readiness::check(&health).await.status();
    (code, Json(json!({"status": status}))).into_response()
}

async fn operator_readiness(State(health): State<Health>) -> Response {
    let readiness = Readiness::check(&health).await;
    let (code, status) = readiness.status();
    let Readiness { store, schema, draining, failure, clock } = readiness;
    let mut body = json!({"status": status, "store": store, "schema": schema, "draining": draining});
    if let Some(ClockDifference { seconds, is_corrected }) = clock {
        let used = if is_corrected { "database" } else { "machine" };
        body["clock"] = json!({"differenceSeconds": (seconds * 1000.0).round() / 1000.0, "used": used});
    }
    if let Some(failure) = failure {
        body["failure"] = failure.to_string().into();
    }
    (code, Json(body)).into_response()
}

async fn export_metrics(State(health): State<Health>) -> Response {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    health
        .gauges
        .clock_difference
        .set(health.clock.difference().map_or(0.0, |difference| difference.seconds));
    health.gauges.read(&*health.store, &health.deliveries).await;
    ([(CONTENT_TYPE, OPEN_METRICS)], health.metrics.text()).into_response()
}
