//! How many changes a group takes. All other writes wait while a group is written and committed, so groups are small.
//! Where a commit takes long (a slow disk), they grow until writing a group takes about as long as its commit: others then
//! wait about twice as long as for the commit alone, and there are fewer commits.

use std::time::Duration;

/// A few milliseconds of writing.
const CHANGES_MIN: usize = 64;
const CHANGES_MAX: usize = 2048;

#[derive(Debug)]
pub(super) struct GroupLimit {
    changes_max: usize,
}

impl Default for GroupLimit {
    fn default() -> Self {
        Self { changes_max: CHANGES_MIN }
    }
}

impl GroupLimit {
    /// A group takes no further batch beyond this.
    pub(super) fn changes_max(&self) -> usize {
        self.changes_max
    }

    /// Learns from a group that was committed.
    pub(super) fn committed(&mut self, changes: usize, writing: Duration, committing: Duration) {
        if changes >= self.changes_max && writing * 2 <= committing {
            self.changes_max = (self.changes_max * 2).min(CHANGES_MAX);
        } else if writing > committing {
            self.changes_max = (self.changes_max / 2).max(CHANGES_MIN);
        }
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
        let mut limit = GroupLimit::default();
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
        let mut limit = GroupLimit::default();
        limit.committed(64, ms(1), ms(50));
        assert_eq!(limit.changes_max(), 128);
        limit.committed(128, ms(2), ms(1));
        assert_eq!(limit.changes_max(), 64);
    }

    #[test]
    fn groups_that_are_not_full_do_not_raise_the_limit() {
        let mut limit = GroupLimit::default();
        limit.committed(1, ms(1), ms(50));
        assert_eq!(limit.changes_max(), 64);
    }
}
