//! How many changes a group takes. All other writes wait while a group is written and committed, so groups are small.
//! Where a commit takes long (a slow disk), they grow until writing a group takes about as long as its commit: others then
//! wait about twice as long as for the commit alone, and there are fewer commits. While many small writes wait for large ones,
//! groups, the batches of long requests and the write-ahead log shrink, which costs some throughput.

use std::time::Duration;

use tokio::time::Instant;

/// A few milliseconds of writing.
const CHANGES_MIN: usize = 64;
const CHANGES_MIN_SHARED: usize = 32;
const CHANGES_MAX: usize = 2048;
/// How many changes of a long request make a batch.
pub(super) const CHANGES_PER_BATCH: usize = 100;
const CHANGES_PER_BATCH_SHARED: usize = 40;
/// From this many small writes per window on, groups and batches shrink. The service's own tasks make about 25 a second.
const SMALL_WRITES_MIN: usize = 30;
const WINDOW: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct GroupLimit {
    changes_max: usize,
    window: Window,
    /// Whether many small writes waited for large ones in the last window.
    is_shared: bool,
}

/// The writes of the current second.
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

    /// Whether to checkpoint a short write-ahead log already: the writer then waits less for each checkpoint. A slow disk, which has
    /// raised the limit, would spend too much time on them.
    pub(super) fn keeps_log_short(&self) -> bool {
        self.is_shared && self.changes_max <= CHANGES_MIN
    }

    /// A group takes no further batch beyond this.
    pub(super) fn changes_max(&self) -> usize {
        self.changes_max
    }

    /// How many changes a batch of a long request should have.
    pub(super) fn changes_per_batch(&self) -> usize {
        if self.is_shared { CHANGES_PER_BATCH_SHARED } else { CHANGES_PER_BATCH }
    }

    /// Counts the small writes of a group that is about to be written, and notes whether it has a large batch.
    pub(super) fn begun(&mut self, now: Instant, small: usize, has_large: bool) {
        self.window.small += small;
        self.window.has_large |= has_large;
        if now.duration_since(self.window.since) >= WINDOW {
            let window =
                std::mem::replace(&mut self.window, Window { since: now, small: 0, has_large: false });
            let is_shared = window.has_large && window.small >= SMALL_WRITES_MIN;
            let has_flipped = is_shared != std::mem::replace(&mut self.is_shared, is_shared);
            // A limit that a slow disk has raised stays.
            if has_flipped && self.changes_max <= CHANGES_MIN {
                self.changes_max = self.changes_min();
            }
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
    fn groups_batches_and_log_shrink_while_many_small_writes_wait_for_large_ones() {
        let mut at = Instant::now();
        let mut limit = GroupLimit::new(at);
        // A second of ten groups with this many small writes each.
        let mut second = |limit: &mut GroupLimit, small, has_large| {
            for _ in 0..10 {
                at += WINDOW / 10;
                limit.begun(at, small, has_large);
            }
            (limit.changes_max(), limit.changes_per_batch(), limit.keeps_log_short())
        };
        assert_eq!(second(&mut limit, 2, true), (64, 100, false), "the service's own tasks");
        assert_eq!(second(&mut limit, 20, false), (64, 100, false), "small writes alone");
        assert_eq!(second(&mut limit, 4, true), (32, 40, true));
        limit.committed(32, ms(1), ms(9));
        assert_eq!(second(&mut limit, 4, true), (64, 40, true), "a slow disk has raised it");
        limit.committed(64, ms(1), ms(9));
        assert_eq!(second(&mut limit, 4, true), (128, 40, false), "a slow disk has raised it again");
        assert_eq!(second(&mut limit, 0, true), (128, 100, false), "large writes alone");
    }
}
