//! Prometheus metrics: requests and their durations, per listener and route. Labels never carry a key, a tenant or an
//! address.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{Method, StatusCode};
use parking_lot::RwLock;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::sync::Mutex;

use crate::connection::activity::CloseReason;
use crate::connection::slots::Refusal;

/// Measures how long something takes.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    #[allow(clippy::disallowed_methods, reason = "durations are measured here and nowhere else")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    side: &'static str,
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DurationLabels {
    side: &'static str,
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SideLabel {
    side: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    side: &'static str,
    reason: &'static str,
}

/// The metrics of one process; cheap to clone.
#[derive(Clone)]
pub struct Metrics {
    connections: ConnectionFamilies,
    registry: Arc<Mutex<Registry>>,
    requests: Family<RequestLabels, Counter>,
    durations: Family<DurationLabels, Histogram>,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("aldaba");
        let requests = Family::<RequestLabels, Counter>::default();
        let durations =
            Family::<DurationLabels, Histogram>::new_with_constructor(|| Histogram::new(DURATION_SECONDS));
        registry.register("http_requests", "HTTP requests completed", requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time to answer",
            Unit::Seconds,
            durations.clone(),
        );
        let connections = ConnectionFamilies::register(&mut registry);
        Self { registry: Arc::new(Mutex::new(registry)), requests, durations, connections }
    }

    /// Registers more metrics.
    pub fn with_registry(&self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.registry.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }

    /// The metrics of one listener.
    pub(crate) fn for_listener(&self, listener: &'static str) -> ListenerMetrics {
        ListenerMetrics { listener, metrics: self.clone(), routes: RwLock::default() }
    }

    /// The metrics of one listener's connections.
    pub fn for_connections(&self, listener: &'static str) -> ConnectionMetrics {
        let open = self.connections.open.get_or_create(&SideLabel { side: listener }).clone();
        ConnectionMetrics { listener, families: self.connections.clone(), open }
    }

    /// All metrics in the text format of Prometheus (version 0.0.4).
    pub fn text(&self) -> String {
        classic(&self.open_metrics_text())
    }

    /// All metrics in the OpenMetrics text format.
    pub fn open_metrics_text(&self) -> String {
        let registry = self.registry.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut text = String::new();
        let _ = text::encode(&mut text, &registry);
        text
    }
}

#[derive(Clone, Debug)]
struct ConnectionFamilies {
    open: Family<SideLabel, Gauge>,
    refused: Family<ReasonLabels, Counter>,
    closed: Family<ReasonLabels, Counter>,
    accept_errors: Family<SideLabel, Counter>,
}

impl ConnectionFamilies {
    fn register(registry: &mut Registry) -> Self {
        let open = Family::<SideLabel, Gauge>::default();
        let refused = Family::<ReasonLabels, Counter>::default();
        let closed = Family::<ReasonLabels, Counter>::default();
        let accept_errors = Family::<SideLabel, Counter>::default();
        registry.register("http_connections", "Open connections", open.clone());
        registry.register("http_connections_refused", "Connections closed on arrival", refused.clone());
        registry.register(
            "http_connections_closed",
            "Connections closed because their peer missed a deadline or a new connection replaced them",
            closed.clone(),
        );
        registry.register(
            "http_accept_errors",
            "Connections that the system did not hand over",
            accept_errors.clone(),
        );
        Self { open, refused, closed, accept_errors }
    }
}

/// The metrics of one listener's connections.
#[derive(Clone, Debug)]
pub struct ConnectionMetrics {
    listener: &'static str,
    families: ConnectionFamilies,
    open: Gauge,
}

impl ConnectionMetrics {
    /// Counts an open connection until the guard is dropped.
    pub(crate) fn opened(&self) -> OpenConnection {
        self.open.inc();
        OpenConnection(self.open.clone())
    }

    pub(crate) fn refused(&self, why: Refusal) {
        let labels = ReasonLabels { side: self.listener, reason: why.as_str() };
        self.families.refused.get_or_create(&labels).inc();
    }

    pub(crate) fn closed(&self, why: CloseReason) {
        let labels = ReasonLabels { side: self.listener, reason: why.as_str() };
        self.families.closed.get_or_create(&labels).inc();
    }

    pub(crate) fn accept_failed(&self) {
        self.families.accept_errors.get_or_create(&SideLabel { side: self.listener }).inc();
    }
}

pub(crate) struct OpenConnection(Gauge);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// OpenMetrics in the older text format of Prometheus, in which a counter's family has the suffix `_total` too and units
/// have no line of their own.
fn classic(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = "";
    for line in open_metrics.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            help = rest.split_once(' ').map_or("", |(_, help)| help);
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' '))
        {
            let suffix = if kind == "counter" { "_total" } else { "" };
            let _ = writeln!(text, "# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {kind}");
        } else if !line.starts_with('#') {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

/// The metrics of one listener. Looks each route's series up once and keeps them.
pub(crate) struct ListenerMetrics {
    listener: &'static str,
    metrics: Metrics,
    routes: RwLock<HashMap<Box<str>, Arc<RouteMetrics>>>,
}

struct RouteMetrics {
    duration: Histogram,
    /// By method and status.
    counters: RwLock<Vec<(&'static str, u16, Counter)>>,
}

impl ListenerMetrics {
    /// Counts one response and its duration.
    pub(crate) fn record(&self, method: &Method, route: &str, status: StatusCode, elapsed: Duration) {
        let existing = self.routes.read().get(route).cloned();
        let metrics = existing.unwrap_or_else(|| self.add_route(route));
        metrics.duration.observe(elapsed.as_secs_f64());
        let (method, status) = (method_label(method), status.as_u16());
        let is_same = |entry: &&(&'static str, u16, Counter)| (entry.0, entry.1) == (method, status);
        if let Some((_, _, counter)) = metrics.counters.read().iter().find(is_same) {
            counter.inc();
            return;
        }
        let labels = RequestLabels { side: self.listener, method, route: route.to_owned(), status };
        let counter = self.metrics.requests.get_or_create(&labels).clone();
        counter.inc();
        metrics.counters.write().push((method, status, counter));
    }

    fn add_route(&self, route: &str) -> Arc<RouteMetrics> {
        let labels = DurationLabels { side: self.listener, route: route.to_owned() };
        let duration = self.metrics.durations.get_or_create(&labels).clone();
        let added = Arc::new(RouteMetrics { duration, counters: RwLock::default() });
        self.routes.write().entry(route.into()).or_insert(added).clone()
    }
}

const DURATION_SECONDS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Unknown methods share one label value, so that a client cannot create new series.
fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        "PATCH" => "PATCH",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classic_text_names_counters_as_their_samples() {
        let metrics = Metrics::new();
        let listener = metrics.for_listener("public");
        listener.record(&Method::GET, "/livez", StatusCode::OK, Duration::from_millis(1));
        let open_metrics = metrics.open_metrics_text();
        assert!(open_metrics.contains("# TYPE aldaba_http_requests counter\n"), "{open_metrics}");
        assert!(open_metrics.ends_with("# EOF\n"), "{open_metrics}");
        let text = metrics.text();
        for line in [
            "# HELP aldaba_http_requests_total HTTP requests completed.",
            "# TYPE aldaba_http_requests_total counter",
            r#"aldaba_http_requests_total{side="public",method="GET",route="/livez",status="200"} 1"#,
            "# TYPE aldaba_http_request_duration_seconds histogram",
            r#"aldaba_http_request_duration_seconds_bucket{le="+Inf",side="public",route="/livez"} 1"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("# UNIT") && !text.contains("# EOF"), "{text}");
    }
}
