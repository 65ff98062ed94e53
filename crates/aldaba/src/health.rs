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
use serde_json::json;
use store::Store;
use web::Measures;

const STORE_PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(crate) struct Health {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) draining: Arc<AtomicBool>,
    pub(crate) measures: Measures,
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
    (status, Json(json!({"status": word, "store": store, "schema": schema, "draining": draining}))).into_response()
}

async fn measures(State(health): State<Health>) -> Response {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, OPEN_METRICS)], health.measures.text()).into_response()
}
