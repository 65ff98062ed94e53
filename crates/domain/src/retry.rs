//! When a delivery that failed is tried again, and when the service gives up.

use std::time::Duration;

use crate::time::Ticks;

/// A receiver that asks for more is not waited for longer than this.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(60 * 60);
/// Pauses are this much shorter or longer, by chance.
const JITTER_PERCENT: u64 = 10;

/// The pauses between attempts, and how long after the first failure they go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The last one repeats; at least one.
    pub pauses: Vec<Duration>,
    pub window: Duration,
}

/// How something has failed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryState {
    pub attempts: u32,
    pub first_failed_at: Ticks,
    pub next_at: Ticks,
}

/// What follows from a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryDecision {
    Retry(RetryState),
    /// The attempt at the end of the window has failed too.
    GiveUp,
}

impl Schedule {
    /// After an attempt failed at `now`. The last attempt falls on the end of the window, and nothing is given up
    /// before as many attempts were made as the schedule has pauses: an outage or a clock of our own that jumped
    /// costs nobody a webhook. `chance` is any number.
    pub fn after_failure(
        &self,
        before: Option<RetryState>,
        now: Ticks,
        retry_after: Option<Duration>,
        chance: u64,
    ) -> RetryDecision {
        let first_failed_at = before.map_or(now, |retry| retry.first_failed_at.min(now));
        let attempts = before.map_or(0, |retry| retry.attempts).saturating_add(1);
        let end = first_failed_at + self.window;
        let enough = usize::try_from(attempts).unwrap_or(usize::MAX) >= self.pauses.len();
        if now >= end && enough {
            return RetryDecision::GiveUp;
        }
        let asked = retry_after.unwrap_or_default().min(RETRY_AFTER_MAX);
        let at = now + self.pause(attempts, chance).max(asked);
        let next_at = if now < end { at.min(end) } else { at };
        RetryDecision::Retry(RetryState { attempts, first_failed_at, next_at })
    }

    fn pause(&self, attempts: u32, chance: u64) -> Duration {
        let place = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
        let pause = self.pauses.get(place).or(self.pauses.last()).copied().unwrap_or_default();
        let nanos = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        let spread = nanos / 100 * JITTER_PERCENT;
        Duration::from_nanos(nanos - spread + if spread == 0 { 0 } else { chance % (2 * spread) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Ticks = Ticks(638_000_000_000_000_000);

    fn schedule() -> Schedule {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let pauses = vec![
            Duration::from_secs(5),
            Duration::from_secs(30),
            minutes(2),
            minutes(5),
            minutes(15),
            minutes(30),
            minutes(60),
        ];
        Schedule { pauses, window: minutes(24 * 60) }
    }

    fn walk(chance: u64) -> Vec<Duration> {
        let (mut now, mut retry, mut at) = (START, None, Vec::new());
        loop {
            match schedule().after_failure(retry, now, None, chance) {
                RetryDecision::GiveUp => return at,
                RetryDecision::Retry(next) => {
                    assert_eq!(next.first_failed_at, START);
                    now = next.next_at;
                    retry = Some(next);
                    at.push(now.since(START));
                }
            }
        }
    }

    #[test]
    fn the_pauses_grow_the_last_repeats_and_the_last_attempt_falls_on_the_windows_end() {
        let at = walk(0);
        let gaps: Vec<u64> = std::iter::once(at[0])
            .chain(at.windows(2).map(|two| two[1].saturating_sub(two[0])))
            .map(|gap| gap.as_secs())
            .collect();
        // Ten percent below each pause, the chance being nothing.
        assert_eq!(gaps[..7], [4, 27, 108, 270, 810, 1620, 3240]);
        assert!(gaps[7..gaps.len() - 1].iter().all(|gap| *gap == 3240));
        assert_eq!(at.last(), Some(&Duration::from_secs(24 * 3600)));
    }

    #[test]
    fn chance_moves_a_pause_by_a_tenth_at_most() {
        for chance in [0, 1, 77, u64::MAX, 999_999_999] {
            let RetryDecision::Retry(next) = schedule().after_failure(None, START, None, chance) else {
                panic!()
            };
            let pause = next.next_at.since(START);
            assert!(
                pause >= Duration::from_millis(4500) && pause <= Duration::from_millis(5500),
                "{pause:?}"
            );
        }
    }

    #[test]
    fn a_receiver_may_ask_for_more_time_up_to_an_hour() {
        let wait = |asked: u64| {
            let asked = Some(Duration::from_secs(asked));
            let RetryDecision::Retry(next) = schedule().after_failure(None, START, asked, 0) else {
                panic!()
            };
            next.next_at.since(START).as_secs()
        };
        assert_eq!([wait(0), wait(1), wait(90), wait(100_000)], [4, 4, 90, 3600]);
    }

    #[test]
    fn nothing_is_given_up_for_a_clock_that_jumped() {
        let mut retry = None;
        let late = START + Duration::from_secs(100 * 3600);
        let mut now = START;
        for attempt in 1..=7 {
            match schedule().after_failure(retry, now, None, 0) {
                RetryDecision::Retry(next) => {
                    assert!(attempt < 7);
                    assert_eq!(next.attempts, attempt);
                    retry = Some(next);
                    now = late.max(next.next_at);
                }
                RetryDecision::GiveUp => assert_eq!(attempt, 7),
            }
        }
    }

    #[test]
    fn a_clock_that_went_back_restarts_no_window_in_the_future() {
        let before = RetryState { attempts: 3, first_failed_at: START, next_at: START };
        let now = START.minus(Duration::from_secs(3600));
        let RetryDecision::Retry(next) = schedule().after_failure(Some(before), now, None, 0) else {
            panic!()
        };
        assert_eq!(next.first_failed_at, now);
    }
}
