//! The retry schedule of failed deliveries: when to retry and when to give up.

use std::time::Duration;

use crate::time::Ticks;

/// The longest `Retry-After` that is respected.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(60 * 60);
/// Each pause is shortened or lengthened at random by up to this much.
const JITTER_PERCENT: u32 = 10;

/// The pauses between attempts, and how long after the first failure retries go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// At least one; the last one repeats.
    pub pauses: Vec<Duration>,
    pub window: Duration,
}

/// The failures so far of a delivery or handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryState {
    pub attempts: u32,
    pub first_failed_at: Ticks,
    pub next_at: Ticks,
}

/// What to do after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryDecision {
    Retry(RetryState),
    /// The attempt at the end of the window failed too.
    GiveUp,
}

impl Schedule {
    /// Decides what follows an attempt that failed at `now`. The last attempt is at the end of the window; one that would
    /// come within a tenth of its pause before the end is made there instead. It gives up only after at least as many
    /// attempts as there are pauses, so an outage of ours or a jump of our clock disables no webhook. `jitter_seed` is a
    /// random number.
    pub fn after_failure(
        &self,
        previous: Option<RetryState>,
        now: Ticks,
        retry_after: Option<Duration>,
        jitter_seed: u64,
    ) -> RetryDecision {
        let first_failed_at = previous.map_or(now, |retry| retry.first_failed_at.min(now));
        let attempts = previous.map_or(0, |retry| retry.attempts).saturating_add(1);
        let end = first_failed_at + self.window;
        let has_tried_enough = usize::try_from(attempts).unwrap_or(usize::MAX) >= self.pauses.len();
        if now >= end && has_tried_enough {
            return RetryDecision::GiveUp;
        }
        let requested_pause = retry_after.unwrap_or_default().min(RETRY_AFTER_MAX);
        let pause = self.pause(attempts);
        let at = now + jittered(pause, jitter_seed).max(requested_pause);
        let is_near_end = at + pause.max(requested_pause) * JITTER_PERCENT / 100 >= end;
        let next_at = if now < end && is_near_end { end } else { at };
        RetryDecision::Retry(RetryState { attempts, first_failed_at, next_at })
    }

    /// Decides what follows an attempt that was made before its time and failed: the schedule stays as it was.
    pub fn after_early_failure(
        &self,
        previous: RetryState,
        now: Ticks,
        retry_after: Option<Duration>,
        jitter_seed: u64,
    ) -> RetryDecision {
        if previous.next_at <= now {
            return self.after_failure(Some(previous), now, retry_after, jitter_seed);
        }
        let requested_pause = retry_after.unwrap_or_default().min(RETRY_AFTER_MAX);
        let end = previous.first_failed_at + self.window;
        let latest = if now < end { end.max(previous.next_at) } else { previous.next_at };
        let next_at = previous.next_at.max(now + requested_pause).min(latest);
        RetryDecision::Retry(RetryState { next_at, ..previous })
    }

    fn pause(&self, attempts: u32) -> Duration {
        let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
        self.pauses.get(index).or(self.pauses.last()).copied().unwrap_or_default()
    }
}

fn jittered(pause: Duration, jitter_seed: u64) -> Duration {
    let nanos = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
    let spread = nanos / 100 * u64::from(JITTER_PERCENT);
    Duration::from_nanos(nanos - spread + if spread == 0 { 0 } else { jitter_seed % (2 * spread) })
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

    fn walk(jitter_seed: u64) -> Vec<Duration> {
        let (mut now, mut retry, mut at) = (START, None, Vec::new());
        loop {
            match schedule().after_failure(retry, now, None, jitter_seed) {
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
    fn pauses_follow_the_schedule_and_the_last_attempt_is_at_the_end_of_the_window() {
        let at = walk(0);
        let gaps: Vec<u64> = std::iter::once(at[0])
            .chain(at.windows(2).map(|two| two[1].saturating_sub(two[0])))
            .map(|gap| gap.as_secs())
            .collect();
        // With a jitter seed of 0, each pause is ten percent shorter.
        assert_eq!(gaps[..7], [4, 27, 108, 270, 810, 1620, 3240]);
        assert!(gaps[7..gaps.len() - 1].iter().all(|gap| *gap == 3240));
        assert_eq!(at.last(), Some(&Duration::from_secs(24 * 3600)));
    }

    #[test]
    fn attempt_shortly_before_the_end_of_the_window_is_made_at_the_end() {
        // 58 minutes before the end, the hourly pause comes out at 54 minutes: less than a tenth of it is left.
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let before = RetryState { attempts: 20, first_failed_at: START, next_at: START };
        let after = |now: Ticks, retry_after: Option<Duration>| match schedule().after_failure(
            Some(before),
            now,
            retry_after,
            0,
        ) {
            RetryDecision::Retry(next) => next.next_at.since(START),
            RetryDecision::GiveUp => panic!("the window has not ended"),
        };
        let window = schedule().window;
        let end = START + window;
        assert_eq!(after(end.minus(minutes(58)), None), window);
        assert_eq!(after(end.minus(minutes(60)), None), window, "exactly a tenth");
        assert_eq!(after(end.minus(minutes(61)), None), window.saturating_sub(minutes(7)));
        // No walk has two attempts in a row there, whatever the jitter.
        for jitter_seed in [0, 1, 77, 12_345_678_901, u64::MAX, 999_999_999] {
            let at = walk(jitter_seed);
            let [before_last, last] = at[at.len() - 2..] else { panic!() };
            assert_eq!(last, window);
            assert!(last.saturating_sub(before_last) > minutes(6), "{before_last:?}");
        }
        // A pause that the receiver asked for counts as well.
        let short = Schedule { pauses: vec![Duration::from_secs(5)], window: minutes(60) };
        let now = START + minutes(9);
        let retry_after = Some(minutes(50));
        let RetryDecision::Retry(next) = short.after_failure(Some(before), now, retry_after, 0) else {
            panic!()
        };
        assert_eq!(next.next_at.since(START), minutes(60));
    }

    #[test]
    fn early_attempt_leaves_the_schedule_as_it_was() {
        let next_at = START + Duration::from_secs(600);
        let before = RetryState { attempts: 5, first_failed_at: START, next_at };
        let now = START + Duration::from_secs(60);
        let after = |now, retry_after| schedule().after_early_failure(before, now, retry_after, 0);
        assert_eq!(after(now, None), RetryDecision::Retry(before));
        let asked = Some(Duration::from_secs(1800));
        let later = RetryState { next_at: now + Duration::from_secs(1800), ..before };
        assert_eq!(after(now, asked), RetryDecision::Retry(later));
        // It lasted until the next attempt was due: that was this one.
        assert_eq!(after(next_at, None), schedule().after_failure(Some(before), next_at, None, 0));
    }

    #[test]
    fn jitter_changes_a_pause_by_at_most_a_tenth() {
        for jitter_seed in [0, 1, 77, u64::MAX, 999_999_999] {
            let RetryDecision::Retry(next) = schedule().after_failure(None, START, None, jitter_seed) else {
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
    fn retry_after_is_respected_up_to_an_hour() {
        let wait = |retry_after: u64| {
            let retry_after = Some(Duration::from_secs(retry_after));
            let RetryDecision::Retry(next) = schedule().after_failure(None, START, retry_after, 0) else {
                panic!()
            };
            next.next_at.since(START).as_secs()
        };
        assert_eq!([wait(0), wait(1), wait(90), wait(100_000)], [4, 4, 90, 3600]);
    }

    #[test]
    fn clock_jump_does_not_end_retries_early() {
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
    fn window_starts_at_now_when_the_clock_went_back() {
        let before = RetryState { attempts: 3, first_failed_at: START, next_at: START };
        let now = START.minus(Duration::from_secs(3600));
        let RetryDecision::Retry(next) = schedule().after_failure(Some(before), now, None, 0) else {
            panic!()
        };
        assert_eq!(next.first_failed_at, now);
    }
}
