//! What is counted and timed, in Prometheus' form. No key, tenant or address ever stands in a label.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{Method, StatusCode};
use parking_lot::RwLock;
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
    method: &'static str,
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

    /// The measures of one listener.
    pub(crate) fn side(&self, side: &'static str) -> SideMeasures {
        SideMeasures { side, measures: self.clone(), routes: RwLock::default() }
    }

    /// The text that a Prometheus server reads.
    pub fn text(&self) -> String {
        let registry = self.registry.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut text = String::new();
        let _ = text::encode(&mut text, &registry);
        text
    }
}

/// What one listener has answered. Each route's series are found once and kept at hand.
pub(crate) struct SideMeasures {
    side: &'static str,
    measures: Measures,
    routes: RwLock<HashMap<Box<str>, Arc<RouteMeasures>>>,
}

struct RouteMeasures {
    duration: Histogram,
    answers: RwLock<Vec<(&'static str, u16, Counter)>>,
}

impl SideMeasures {
    pub(crate) fn answered(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let known = self.routes.read().get(route).cloned();
        let measures = known.unwrap_or_else(|| self.add_route(route));
        measures.duration.observe(took.as_secs_f64());
        let (method, status) = (known_method(method), status.as_u16());
        let is_same = |one: &&(&'static str, u16, Counter)| (one.0, one.1) == (method, status);
        if let Some((_, _, counter)) = measures.answers.read().iter().find(is_same) {
            counter.inc();
            return;
        }
        let labels = Answered { side: self.side, method, route: route.to_owned(), status };
        let counter = self.measures.requests.get_or_create(&labels).clone();
        counter.inc();
        measures.answers.write().push((method, status, counter));
    }

    fn add_route(&self, route: &str) -> Arc<RouteMeasures> {
        let labels = Timed { side: self.side, route: route.to_owned() };
        let duration = self.measures.durations.get_or_create(&labels).clone();
        let added = Arc::new(RouteMeasures { duration, answers: RwLock::default() });
        self.routes.write().entry(route.into()).or_insert(added).clone()
    }
}

const DURATION_SECONDS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// A made-up method must not make a new series.
fn known_method(method: &Method) -> &'static str {
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
