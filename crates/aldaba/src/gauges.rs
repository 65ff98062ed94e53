//! The metrics that are read when a scrape asks for them: deliveries, store, process, build. Reading them costs one short
//! query of the store and nothing that grows with the data.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::{Clock, Ticks};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use store::{ERROR_KINDS, LATENCY_BOUNDS, OperationClass, Store, error_counts};
use web::Metrics;
use webhooks::engine::DeliveryCounts;

use crate::wiring::NodeClock;

const STORE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(crate) struct Gauges {
    clock: Arc<NodeClock>,
    commits: Counter,
    queued: Gauge,
    store_errors: Family<KindLabel, Counter>,
    resident: Gauge,
    open_files: Gauge,
    delivered: Counter,
    failed: Counter,
    in_flight: Gauge,
    webhooks: Gauge,
    events_behind: Gauge,
    oldest_age_seconds: Gauge,
    failing: Gauge,
    disabled: Gauge,
    suspended: Gauge,
    clock_difference: Gauge<f64, AtomicU64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BuildLabels {
    version: &'static str,
    commit: &'static str,
}

impl Gauges {
    pub(crate) fn register(metrics: &Metrics, store: Arc<dyn Store>, clock: Arc<NodeClock>) -> Self {
        let gauges = Self {
            clock,
            commits: Counter::default(),
            queued: Gauge::default(),
            store_errors: Family::default(),
            resident: Gauge::default(),
            open_files: Gauge::default(),
            delivered: Counter::default(),
            failed: Counter::default(),
            in_flight: Gauge::default(),
            webhooks: Gauge::default(),
            events_behind: Gauge::default(),
            oldest_age_seconds: Gauge::default(),
            failing: Gauge::default(),
            disabled: Gauge::default(),
            suspended: Gauge::default(),
            clock_difference: Gauge::default(),
        };
        metrics.with_registry(|registry| {
            gauges.register_process(registry);
            gauges.register_deliveries(registry);
            gauges.register_store(registry);
            registry.register_collector(Box::new(StoreLatency(store)));
        });
        gauges
    }

    fn register_process(&self, registry: &mut Registry) {
        let build = Family::<BuildLabels, Gauge>::default();
        let (version, commit) =
            env!("ALDABA_VERSION").split_once(' ').unwrap_or((env!("ALDABA_VERSION"), ""));
        build.get_or_create(&BuildLabels { version, commit: commit.trim_matches(['(', ')']) }).set(1);
        registry.register("build_info", "The program's version and commit; always 1", build);
        registry.register_with_unit(
            "process_resident_memory",
            "Resident memory",
            Unit::Bytes,
            self.resident.clone(),
        );
        registry.register("process_open_fds", "Open file descriptors", self.open_files.clone());
        registry.register_with_unit(
            "clock_difference",
            "By how much this machine's clock is ahead of the database's",
            Unit::Seconds,
            self.clock_difference.clone(),
        );
    }

    fn register_deliveries(&self, registry: &mut Registry) {
        registry.register("deliveries", "Deliveries that receivers took", self.delivered.clone());
        registry.register("delivery_failures", "Attempts to deliver that failed", self.failed.clone());
        let mut gauge = |name: &str, help: &str, gauge: &Gauge| registry.register(name, help, gauge.clone());
        gauge("deliveries_in_flight", "Attempts under way", &self.in_flight);
        gauge("webhooks_held", "Webhooks that this node delivers to", &self.webhooks);
        gauge("webhooks_failing", "Webhooks of this node whose last attempt failed", &self.failing);
        gauge("webhooks_disabled", "Webhooks of this node that the service has disabled", &self.disabled);
        gauge("webhooks_suspended", "Webhooks of this node whose owner has no access", &self.suspended);
        let help = "Events that webhooks of this node have not delivered yet, at most";
        gauge("webhook_events_behind", help, &self.events_behind);
        registry.register_with_unit(
            "webhook_oldest_undelivered_age",
            "Age of the oldest event that a webhook of this node has not delivered yet",
            Unit::Seconds,
            self.oldest_age_seconds.clone(),
        );
    }

    fn register_store(&self, registry: &mut Registry) {
        let help = "Commits of changes; one may hold many requests";
        registry.register("change_commits", help, self.commits.clone());
        registry.register("store_queued", "Requests that wait to be written", self.queued.clone());
        registry.register("store_errors", "Errors of the store, by kind", self.store_errors.clone());
    }

    pub(crate) async fn read(&self, store: &dyn Store, deliveries: &DeliveryCounts) {
        self.delivered.inner().store(deliveries.delivered(), Ordering::Relaxed);
        self.failed.inner().store(deliveries.failed(), Ordering::Relaxed);
        set(&self.in_flight, deliveries.in_flight());
        set(&self.webhooks, deliveries.webhooks());
        let backlog = deliveries.backlog();
        set(&self.events_behind, backlog.events);
        set(&self.oldest_age_seconds, age_seconds(backlog.oldest, self.clock.now()));
        set(&self.failing, backlog.failing);
        set(&self.disabled, backlog.disabled);
        set(&self.suspended, backlog.suspended);
        self.clock_difference.set(self.clock.difference().map_or(0.0, |difference| difference.seconds));
        self.commits.inner().store(store.change_commits(), Ordering::Relaxed);
        if let Ok(Ok(health)) = tokio::time::timeout(STORE_TIMEOUT, store.health()).await {
            set(&self.queued, health.queued as u64);
        }
        for (kind, count) in ERROR_KINDS.into_iter().zip(error_counts()) {
            self.store_errors.get_or_create(&KindLabel { kind }).inner().store(count, Ordering::Relaxed);
        }
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = resident.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        set(&self.resident, kib.unwrap_or(0) * 1024);
        set(&self.open_files, std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count) as u64);
    }
}

fn set(gauge: &Gauge, value: u64) {
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
}

/// Zero where nothing waits.
fn age_seconds(oldest: Option<Ticks>, now: Ticks) -> u64 {
    oldest.map_or(0, |oldest| now.since(oldest).as_secs())
}

/// The store's latencies, as a histogram per class of operation.
struct StoreLatency(Arc<dyn Store>);

impl fmt::Debug for StoreLatency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreLatency")
    }
}

impl Collector for StoreLatency {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Time that operations of the store take, by class.";
        let unit = Unit::Seconds;
        let mut family = encoder.encode_descriptor(
            "store_operation_duration",
            help,
            Some(&unit),
            MetricType::Histogram,
        )?;
        for class in OperationClass::ALL {
            let counts = self.0.operations().latencies(class);
            let bounds = LATENCY_BOUNDS.iter().map(Duration::as_secs_f64).chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = bounds.zip(counts.buckets).collect();
            let total = counts.buckets.iter().sum();
            family.encode_family(&[("class", class.as_str())])?.encode_histogram::<NoLabelSet>(
                counts.sum.as_secs_f64(),
                total,
                &buckets,
                None,
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_is_zero_where_nothing_waits_and_never_negative() {
        let now = Ticks(638_000_000_000_000_000);
        assert_eq!(age_seconds(None, now), 0);
        assert_eq!(age_seconds(Some(now.minus(Duration::from_millis(90_500))), now), 90);
        assert_eq!(age_seconds(Some(now + Duration::from_secs(5)), now), 0, "another machine's clock");
    }
}
