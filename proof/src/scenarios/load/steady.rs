//! Traffic at 70 % of the maximum for a long time.

use std::time::{Duration, Instant};

use super::{Bed, IN_FLIGHT_MAX, WORKERS, ms, ratio, tell_failures, tell_kinds};
use crate::pauses::{Pause, PauseWatch};
use crate::process::{Node, resident_mib};
use crate::traffic::Tally;
use crate::{Fallible, Options, Part};

/// How long the steady load is in all, and in each round.
const STEADY: Duration = Duration::from_secs(20 * 60);
const STEADY_ROUND: Duration = Duration::from_secs(40);
/// Until everything is delivered after a load that the node sustains.
const LATE_MAX: Duration = Duration::from_secs(1);
/// A call that took longer is told with its second.
const SLOW: Duration = Duration::from_millis(100);

/// What was seen of the steady load.
#[derive(Default)]
struct Steady {
    seen: Tally,
    /// 5 % of the load.
    quiet: Tally,
    /// Calls of the maximum and of 5 % of it that were not done.
    not_done_before: usize,
    /// The maximum of each round.
    maxima: Vec<f64>,
    /// The p99 of each round beside that of its 5 %.
    ratios: Vec<f64>,
    /// Until everything was delivered after a round, at most.
    late: Duration,
    /// Read at even intervals.
    memory: Vec<f64>,
    /// The machine's own; none where they could not be watched.
    pauses: Option<Vec<Pause>>,
}

impl Bed {
    /// In rounds, because a machine's speed changes: each measures the maximum anew and then the latency of little traffic.
    pub(super) async fn steady(&self, options: &Options) -> Fallible<Part> {
        let span = options.span(STEADY, Duration::from_secs(8));
        let rounds = options.span(STEADY, STEADY_ROUND).as_secs() / STEADY_ROUND.as_secs();
        let (node, all) = (self.cores.node_count(), self.cores.all().len());
        let tried = format!(
            "One node on SQLite, with {node} of {all} cores, in {rounds} rounds. In each, {WORKERS} clients without pauses find the maximum, which includes the time until everything is delivered; then come 5 % of it, and then 70 % of it at a rate that does not wait for answers, {} minutes of that in all.",
            span.as_secs() / 60
        );
        let mut part = Part::new("steady load", tried);
        let (watch, pauses) = (MemoryWatch::start(&self.node), PauseWatch::start(&self.cores.all()));
        let (mut steady, count) = (Steady::default(), u32::try_from(rounds)?);
        for _ in 0..rounds {
            let max = self.maximum(span / 10 / count).await?;
            let seen = self.traffic.offered(max.rate * 0.7, span / count, IN_FLIGHT_MAX).await?;
            let ended = Instant::now();
            self.until_delivered().await;
            steady.late = steady.late.max(ended.elapsed());
            steady.not_done_before += max.calls.not_done() + max.quiet.not_done();
            steady.ratios.push(ratio(&seen, &max.quiet));
            steady.maxima.push(max.rate);
            steady.seen.add(seen);
            steady.quiet.add(max.quiet);
        }
        (steady.memory, steady.pauses) = (watch.stop().await?, pauses.stop());
        tell_steady(&mut part, steady);
        self.tell_deliveries(&mut part).await;
        Ok(part)
    }
}

/// What must hold of a load below the maximum.
fn tell_steady(part: &mut Part, steady: Steady) {
    let Steady { seen, quiet, not_done_before, maxima, mut ratios, late, memory, pauses } = steady;
    let (first, last) = thirds(&maxima);
    part.tell("the maximum in the first third of the rounds", format!("{first:.0} calls a second"));
    part.at_least("the maximum in the last third beside that", last / first.max(1.0), 0.8, "×");
    part.tell("calls", seen.done());
    tell_failures(&seen);
    part.none("calls that failed, were refused or not begun", seen.not_done() + not_done_before);
    part.tell("p50 and p99", format!("{:.1} ms and {:.1} ms", ms(seen.p50()), ms(seen.p99())));
    tell_kinds(part, &seen);
    tell_slow_seconds(part, &seen);
    if let Some(pauses) = pauses {
        let paused: Duration = pauses.iter().map(|pause| pause.span).sum();
        part.tell(
            "pauses of a core of the machine, which ran nothing for at least 20 ms",
            format!("{}, {:.1} s together", pauses.len(), paused.as_secs_f64()),
        );
        let without = seen.without(&pauses);
        part.tell("p99 without the calls around them", format!("{:.1} ms", ms(without.p99())));
    }
    part.at_most("p99 of all calls beside the p99 of 5 % of the load", ratio(&seen, &quiet), 2.0, "×");
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.get(ratios.len() / 2).copied().unwrap_or_default();
    part.at_most("the same in the middle one of the rounds", middle, 2.0, "×");
    part.within("until everything was delivered after a round", late, LATE_MAX);
    let (second, last) = quarters(&memory);
    part.tell("memory in the second quarter", format!("{second:.1} MiB"));
    part.at_most("memory in the last quarter beside the second", last / second.max(1.0), 1.05, "×");
}

/// When calls were slow: a few pauses look different from a load that is too much.
fn tell_slow_seconds(part: &mut Part, seen: &Tally) {
    let slow = seen.slow_seconds(SLOW);
    for (second, (count, longest)) in &slow {
        eprintln!("    at {second} s: {count} slow calls, the longest {:.0} ms", ms(*longest));
    }
    let calls: usize = slow.values().map(|(count, _)| count).sum();
    let text = format!("{calls}, in {} of the seconds", slow.len());
    part.tell(&format!("calls of more than {} ms", SLOW.as_millis()), text);
}

/// Reads the memory of a node every second.
struct MemoryWatch {
    stop: tokio::sync::oneshot::Sender<()>,
    task: tokio::task::JoinHandle<Vec<f64>>,
}

impl MemoryWatch {
    fn start(node: &Node) -> Self {
        let (stop, mut stopped) = tokio::sync::oneshot::channel();
        let process = node.id();
        let task = tokio::spawn(async move {
            let mut seen = Vec::new();
            let mut ticks = tokio::time::interval(Duration::from_secs(1));
            loop {
                tokio::select! {
                    _ = ticks.tick() => seen.extend(resident_mib(process)),
                    _ = &mut stopped => return seen,
                }
            }
        });
        Self { stop, task }
    }

    /// What was read.
    async fn stop(self) -> Fallible<Vec<f64>> {
        let _ = self.stop.send(());
        Ok(self.task.await?)
    }
}

/// The medians of the first and of the last third.
fn thirds(seen: &[f64]) -> (f64, f64) {
    let third = (seen.len() / 3).max(1);
    let median = |part: &[f64]| {
        let mut sorted = part.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    };
    let first = seen.get(..third).unwrap_or(seen);
    let last = seen.get(seen.len().saturating_sub(third)..).unwrap_or(seen);
    (median(first), median(last))
}

/// The means of the second and of the last quarter.
fn quarters(seen: &[f64]) -> (f64, f64) {
    let quarter = (seen.len() / 4).max(1);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let second = seen.get(quarter..2 * quarter).unwrap_or(seen);
    let last = seen.get(seen.len().saturating_sub(quarter)..).unwrap_or(seen);
    (mean(second), mean(last))
}

#[cfg(test)]
mod tests {
    //! Each bound of the steady load is broken once.

    use super::*;

    fn holds(steady: Steady) -> bool {
        let mut part = Part::new("load", "");
        tell_steady(&mut part, steady);
        part.holds()
    }

    fn steady(milliseconds: u64) -> Steady {
        let (seen, quiet) = (Tally::of_milliseconds([milliseconds; 100]), Tally::of_milliseconds([15; 100]));
        let (maxima, ratios) = (vec![1000.0; 3], vec![1.0, 2.0, 9.0]);
        Steady { seen, quiet, maxima, ratios, memory: vec![90.0, 100.0, 99.0, 104.0], ..Steady::default() }
    }

    #[test]
    fn growing_memory_and_latency_are_found() {
        assert!(holds(steady(30)));
        assert!(!holds(steady(31)));
        assert!(!holds(Steady { ratios: vec![1.0, 2.1, 2.2], ..steady(30) }));
        assert!(!holds(Steady { memory: vec![90.0, 100.0, 100.0, 106.0], ..steady(30) }));
    }

    #[test]
    fn falling_throughput_and_late_deliveries_are_found() {
        assert!(holds(Steady { maxima: vec![1000.0, 500.0, 800.0], ..steady(30) }));
        assert!(!holds(Steady { maxima: vec![1000.0, 1000.0, 790.0], ..steady(30) }));
        assert!(!holds(Steady { late: Duration::from_millis(1100), ..steady(30) }));
    }

    #[test]
    fn calls_that_are_not_done_are_found() {
        assert!(!holds(Steady { not_done_before: 1, ..steady(30) }));
        let mut late = steady(30);
        late.seen.not_begun = 1;
        assert!(!holds(late));
        let mut failed = steady(30);
        failed.seen.failed.push("a reset".into());
        assert!(!holds(failed));
    }
}
