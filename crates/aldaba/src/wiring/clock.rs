//! The machine's clock, and the clock that a node uses: the machine's, unless it differs from the store's by too much.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use domain::{Clock, Ticks};
use parking_lot::Mutex;
use tokio::time::Instant;

#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the clock that everything else is given")]
    fn now(&self) -> Ticks {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ticks::from_unix_nanos(i128::try_from(since.as_nanos()).unwrap_or(0))
    }
}

/// Codes and tokens tolerate 5 s between two nodes: each may differ from the store by half of it.
const DIFFERENCE_MAX: Duration = Duration::from_millis(2500);
/// Below this, the machine's clock counts again.
const DIFFERENCE_GOOD: Duration = Duration::from_millis(2000);

/// A node's clock. Where nodes share a store, its clock is compared with the store's every few seconds. While they differ by
/// more than nodes tolerate, this clock shows the store's time. It never goes back: where it is ahead, it runs at half speed.
pub struct NodeClock {
    machine: Arc<dyn Clock>,
    state: Mutex<Option<State>>,
    /// Somebody has been told the time.
    is_in_use: AtomicBool,
}

impl std::fmt::Debug for NodeClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NodeClock")
    }
}

/// The last comparison.
#[derive(Clone, Copy)]
struct State {
    at: Instant,
    /// The right time at that moment.
    right: Ticks,
    /// What this clock had shown until then.
    shown: Ticks,
    difference: ClockDifference,
}

/// By how much the machine's clock differs from the store's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClockDifference {
    /// Positive: the machine is ahead.
    pub(crate) seconds: f64,
    /// The difference is too large: the node uses the store's time.
    pub(crate) is_corrected: bool,
}

impl NodeClock {
    pub fn new(machine: Arc<dyn Clock>) -> Self {
        Self { machine, state: Mutex::new(None), is_in_use: AtomicBool::new(false) }
    }

    /// From now on the clock never goes back.
    pub(crate) fn begin_use(&self) {
        self.is_in_use.store(true, Ordering::Relaxed);
    }

    /// The store showed `store` in the middle of a request that took `took` and ends now.
    pub(crate) fn compare(&self, store: Ticks, took: Duration) -> ClockDifference {
        let store = store + took / 2;
        let machine = self.machine.now();
        let (ahead, behind) = (machine.since(store), store.since(machine));
        let difference = ahead.max(behind);
        let mut state = self.state.lock();
        let was_corrected = state.is_some_and(|state| state.difference.is_corrected);
        let limit = if was_corrected { DIFFERENCE_GOOD } else { DIFFERENCE_MAX };
        let difference = ClockDifference {
            seconds: ahead.as_secs_f64() - behind.as_secs_f64(),
            is_corrected: difference > limit,
        };
        let right = if difference.is_corrected { store } else { machine };
        let first = if self.is_in_use.load(Ordering::Relaxed) { machine } else { right };
        let shown = state.map_or(first, |state| state.now());
        *state = Some(State { at: Instant::now(), right, shown, difference });
        difference
    }

    /// The last comparison, where there was one.
    pub(crate) fn difference(&self) -> Option<ClockDifference> {
        self.state.lock().map(|state| state.difference)
    }
}

impl State {
    fn now(&self) -> Ticks {
        let elapsed = self.at.elapsed();
        (self.right + elapsed).max(self.shown + elapsed / 2)
    }
}

impl Clock for NodeClock {
    fn now(&self) -> Ticks {
        let state = *self.state.lock();
        state.map_or_else(|| self.machine.now(), |state| state.now())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use super::*;

    const START: Ticks = Ticks(638_000_000_000_000_000);

    struct Machine(AtomicI64);

    impl Clock for Machine {
        fn now(&self) -> Ticks {
            Ticks(self.0.load(Ordering::Relaxed))
        }
    }

    fn clocks(offset_seconds: i64) -> (Arc<Machine>, NodeClock) {
        let machine = Arc::new(Machine(AtomicI64::new(START.0 + offset_seconds * 10_000_000)));
        (machine.clone(), NodeClock::new(machine))
    }

    /// Whether the clock shows this time, give or take half a second of a slow machine.
    #[track_caller]
    fn assert_shows(clock: &NodeClock, expected: Ticks) {
        let now = clock.now();
        let off = now.since(expected).max(expected.since(now));
        assert!(off < Duration::from_millis(500), "{off:?}");
    }

    #[test]
    fn small_difference_leaves_the_machines_time() {
        for offset in [-2, 0, 2] {
            let (machine, clock) = clocks(offset);
            let difference = clock.compare(START, Duration::ZERO);
            assert!(!difference.is_corrected, "{difference:?}");
            assert_shows(&clock, machine.now());
        }
    }

    #[test]
    fn large_difference_gives_the_stores_time() {
        for (offset, seconds) in [(-300, -300.0), (-3, -3.0), (3, 3.0), (300, 300.0_f64)] {
            let (_, clock) = clocks(offset);
            let difference = clock.compare(START, Duration::ZERO);
            assert!(difference.is_corrected && (difference.seconds - seconds).abs() < 0.01);
            assert_shows(&clock, START);
        }
    }

    #[test]
    fn the_answer_was_read_in_the_middle_of_the_request() {
        let (_, clock) = clocks(0);
        let difference = clock.compare(START.minus(Duration::from_millis(400)), Duration::from_millis(800));
        assert!(difference.seconds.abs() < 0.01, "{difference:?}");
    }

    #[test]
    fn machine_that_jumps_changes_nothing_and_the_clock_never_goes_back() {
        let (machine, clock) = clocks(0);
        clock.compare(START, Duration::ZERO);
        machine.0.fetch_add(3_000_000_000, Ordering::Relaxed);
        assert_shows(&clock, START);
        assert!(clock.compare(START, Duration::ZERO).is_corrected);
        assert_shows(&clock, START);
        // The machine's clock is put right.
        machine.0.store(START.0 - 10_000_000, Ordering::Relaxed);
        let before = clock.now();
        assert!(!clock.compare(START, Duration::ZERO).is_corrected);
        assert!(clock.now() >= before, "it runs slower instead of going back");
    }
}
