//! What is counted and timed, in Prometheus' form. No key, tenant or address ever stands in a label.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{Method, StatusCode};
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::sync::Mutex;

/// Measures how long something takes.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    #[allow(clippy::disallowed_methods, reason = "spans are measured here and nowhere else")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    side: &'static str,
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Timed {
    side: &'static str,
    route: String,
}

/// The measures of one program; cheap to clone.
#[derive(Clone)]
pub struct Measures {
    registry: Arc<Mutex<Registry>>,
    requests: Family<Answered, Counter>,
    durations: Family<Timed, Histogram>,
}

impl std::fmt::Debug for Measures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Measures")
    }
}

impl Default for Measures {
    fn default() -> Self {
        Self::new()
    }
}

impl Measures {
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("aldaba");
        let requests = Family::<Answered, Counter>::default();
        let durations = Family::<Timed, Histogram>::new_with_constructor(|| Histogram::new(DURATION_SECONDS));
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time to answer",
            Unit::Seconds,
            durations.clone(),
        );
        Self { registry: Arc::new(Mutex::new(registry)), requests, durations }
    }

    /// Registers more measures.
    pub fn with_registry(&self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.registry.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }

    pub(crate) fn answered(
        &self,
        side: &'static str,
        method: &Method,
        route: &str,
        status: StatusCode,
        took: Duration,
    ) {
        let method = known_method(method);
        let labels = Answered { side, method, route: route.to_owned(), status: status.as_u16() };
        self.requests.get_or_create(&labels).inc();
        self.durations.get_or_create(&Timed { side, route: route.to_owned() }).observe(took.as_secs_f64());
    }

    /// The text that a Prometheus server reads.
    pub fn text(&self) -> String {
        let registry = self.registry.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut text = String::new();
        let _ = text::encode(&mut text, &registry);
        text
    }
}

const DURATION_SECONDS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// A made-up method must not make a new series.
fn known_method(method: &Method) -> String {
    match method.as_str() {
        known @ ("GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "PATCH") => known.to_owned(),
        _ => "other".to_owned(),
    }
}
