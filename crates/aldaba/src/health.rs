//! Probes and metrics: `/livez`, `/readyz`, `/metrics`. The public `/readyz` says only whether the service is ready; the
//! operator's says why not, and so does the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use parking_lot::Mutex;
use serde_json::json;
use store::Store;
use web::Metrics;
use webhooks::engine::DeliveryCounts;

use crate::gauges::Gauges;
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
    /// Why the last probe found the service not ready; for the log.
    pub(crate) last_reason: Arc<Mutex<Option<String>>>,
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
        let readiness = Self { store, schema, draining, failure, clock };
        log_change(&health.last_reason, readiness.reason());
        readiness
    }

    /// Why the service is not ready.
    fn reason(&self) -> Option<String> {
        let store = self.schema.is_none().then(|| self.store.clone());
        let failure = self.failure.as_ref().map(ToString::to_string);
        let draining = self.draining.then(|| "the service is shutting down".to_owned());
        let reasons: Vec<String> = [failure, store, draining].into_iter().flatten().collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
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

/// Logs why the service is not ready, once until the reason changes.
fn log_change(last: &Mutex<Option<String>>, reason: Option<String>) {
    let mut last = last.lock();
    match &reason {
        Some(reason) if last.as_ref() != Some(reason) => tracing::warn!(reason, "not ready"),
        None if last.is_some() => tracing::info!("ready again"),
        _ => {}
    }
    *last = reason;
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

/// In the format that the client asks for: OpenMetrics, or else the text format of Prometheus.
async fn export_metrics(State(health): State<Health>, headers: HeaderMap) -> Response {
    const OPEN_METRICS: &str = "application/openmetrics-text";
    health.gauges.read(&*health.store, &health.deliveries).await;
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if accept.contains(OPEN_METRICS) {
        let content_type = format!("{OPEN_METRICS}; version=1.0.0; charset=utf-8");
        ([(CONTENT_TYPE, content_type)], health.metrics.open_metrics_text()).into_response()
    } else {
        let content_type = "text/plain; version=0.0.4; charset=utf-8";
        ([(CONTENT_TYPE, content_type)], health.metrics.text()).into_response()
    }
}
