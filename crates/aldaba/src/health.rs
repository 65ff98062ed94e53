//! Whether the program lives, and whether it can serve: `/livez`, `/readyz`, `/metrics`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
use web::Measures;
use webhooks::engine::DeliveryCounts;

const STORE_PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(crate) struct Health {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) draining: Arc<AtomicBool>,
    pub(crate) measures: Measures,
    pub(crate) gauges: Gauges,
    pub(crate) deliveries: DeliveryCounts,
}

/// What is read off the program when somebody asks for the measures.
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
}

impl Gauges {
    pub(crate) fn register(measures: &Measures) -> Self {
        let gauges = Self::default();
        measures.with_registry(|registry| {
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

/// The probes; every listener has them.
pub(crate) fn probes(health: Health) -> Router {
    Router::new()
        .route("/livez", get(async || Json(json!({"status": "alive"}))))
        .route("/readyz", get(ready))
        .with_state(health)
}

/// The measures; only the operator's listener has them.
pub(crate) fn metrics(health: Health) -> Router {
    Router::new().route("/metrics", get(measures)).with_state(health)
}

async fn ready(State(health): State<Health>) -> Response {
    let draining = health.draining.load(Ordering::Relaxed);
    let asked = tokio::time::timeout(STORE_PATIENCE, health.store.health()).await;
    let (store, schema) = match asked {
        Ok(Ok(store)) => ("ok".to_owned(), Some(store.schema)),
        Ok(Err(error)) => (error.to_string(), None),
        Err(_) => (format!("no answer within {} s", STORE_PATIENCE.as_secs()), None),
    };
    let ready = schema.is_some() && !draining;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let word = if ready { "ready" } else { "not ready" };
    // The store is opened only once its schema is up to date, so its number is the proof.
    (status, Json(json!({"status": word, "store": store, "schema": schema, "draining": draining})))
        .into_response()
}

async fn measures(State(health): State<Health>) -> Response {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    health.gauges.read(&*health.store, &health.deliveries).await;
    ([(CONTENT_TYPE, OPEN_METRICS)], health.measures.text()).into_response()
}
