//! How many changes a group takes. All other writes wait while a group is written and committed, so groups are small.
//! Where a commit takes long (a slow disk), they grow until writing a group takes about as long as its commit: others then
//! wait about twice as long as for the commit alone, and there are fewer commits. Where many small writes wait for large
//! ones, both the groups and the batches of long requests are smaller still, which costs some throughput.

use std::time::Duration;

use tokio::time::Instant;

/// A few milliseconds of writing.
const CHANGES_MIN: usize = 64;
/// The same where many others wait.
const CHANGES_MIN_SHARED: usize = 32;
const CHANGES_MAX: usize = 2048;
/// How many changes of a long request are a batch.
const BATCH: usize = 100;
const BATCH_SHARED: usize = 40;
/// So many small writes in a window are many. The service's own tasks make about 25 a second.
const MANY: usize = 30;
const WINDOW: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct GroupLimit {
    changes_max: usize,
    window: Window,
    /// In the last window, many small writes waited for large ones.
    is_shared: bool,
}

/// The writes since a time.
#[derive(Debug)]
struct Window {
    since: Instant,
    small: usize,
    has_large: bool,
}

impl GroupLimit {
    pub(super) fn new(now: Instant) -> Self {
        let window = Window { since: now, small: 0, has_large: false };
        Self { changes_max: CHANGES_MIN, window, is_shared: false }
    }

    /// A group takes no further batch beyond this.
    pub(super) fn changes_max(&self) -> usize {
        self.changes_max
    }

    /// How many changes a batch of a long request should have.
    pub(super) fn batch(&self) -> usize {
        batch(self.is_shared)
    }

    /// Learns from a group with this many small writes that is to be written.
    pub(super) fn begun(&mut self, now: Instant, small: usize, has_large: bool) {
        self.window.small += small;
        self.window.has_large |= has_large;
        if now.duration_since(self.window.since) >= WINDOW {
            let window =
                std::mem::replace(&mut self.window, Window { since: now, small: 0, has_large: false });
            self.is_shared = window.has_large && window.small >= MANY;
            // What a slow disk has raised stays.
            let least = self.changes_max <= CHANGES_MIN;
            self.changes_max = if least { self.changes_min() } else { self.changes_max };
        }
    }

    /// Learns from a group that was committed.
    pub(super) fn committed(&mut self, changes: usize, writing: Duration, committing: Duration) {
        if changes >= self.changes_max && writing * 2 <= committing {
            self.changes_max = (self.changes_max * 2).min(CHANGES_MAX);
        } else if writing > committing {
            self.changes_max = (self.changes_max / 2).max(self.changes_min());
        }
    }

    fn changes_min(&self) -> usize {
        if self.is_shared { CHANGES_MIN_SHARED } else { CHANGES_MIN }
    }
}

/// How many changes a batch of a long request should have before anything was written.
pub(super) const fn batch_at_first() -> usize {
    batch(false)
}

const fn batch(is_shared: bool) -> usize {
    if is_shared { BATCH_SHARED } else { BATCH }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// The limit after many full groups on a disk with this time for a commit, at 20 µs a change.
    fn limit_with(commit: Duration) -> usize {
        let mut limit = GroupLimit::new(Instant::now());
        for _ in 0..20 {
            let changes = limit.changes_max();
            limit.committed(changes, Duration::from_micros(20) * u32::try_from(changes).unwrap(), commit);
        }
        limit.changes_max()
    }

    #[test]
    fn groups_grow_with_the_time_of_a_commit() {
        assert_eq!(limit_with(Duration::from_micros(500)), 64);
        assert_eq!(limit_with(ms(3)), 128);
        assert_eq!(limit_with(ms(20)), 512);
        assert_eq!(limit_with(ms(500)), 2048);
    }

    #[test]
    fn one_slow_commit_does_not_last() {
        let mut limit = GroupLimit::new(Instant::now());
        limit.committed(64, ms(1), ms(50));
        assert_eq!(limit.changes_max(), 128);
        limit.committed(128, ms(2), ms(1));
        assert_eq!(limit.changes_max(), 64);
    }

    #[test]
    fn groups_that_are_not_full_do_not_raise_the_limit() {
        let mut limit = GroupLimit::new(Instant::now());
        limit.committed(1, ms(1), ms(50));
        assert_eq!(limit.changes_max(), 64);
    }

    #[test]
    fn groups_and_batches_are_smaller_while_many_small_writes_wait_for_large_ones() {
        let mut limit = GroupLimit::new(Instant::now());
        let mut at = Instant::now();
        let mut second = |limit: &mut GroupLimit, small, has_large| {
            for _ in 0..10 {
                at += WINDOW / 10;
                limit.begun(at, small, has_large);
            }
            (limit.changes_max(), limit.batch())
        };
        let (alone, shared) = ((CHANGES_MIN, BATCH), (CHANGES_MIN_SHARED, BATCH_SHARED));
        assert_eq!(second(&mut limit, 2, true), alone, "the service's own tasks");
        assert_eq!(second(&mut limit, 20, false), alone, "small writes alone");
        assert_eq!(second(&mut limit, 4, true), shared);
        assert_eq!(second(&mut limit, 4, true), shared);
        assert_eq!(second(&mut limit, 0, true), alone, "the large ones alone");
    }
}
