//! What to do after an attempt to tell a client that a session has ended. Pure.

use std::time::Duration;

use domain::Ticks;
use store::LogoutEnd;

const HOUR: Duration = Duration::from_hours(1);
/// Pauses after the first failures; the last one repeats.
const PAUSES: [Duration; 5] =
    [Duration::from_secs(5), Duration::from_secs(30), Duration::from_mins(2), Duration::from_mins(10), HOUR];

/// What a client answered: the status, or why there was no answer.
pub(super) type Answer = Result<u16, String>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    End(LogoutEnd),
    Retry { at: Ticks, error: String },
}

/// Decides after attempt number `attempts`, which began at `began`. The specification's success is 200; clients that answer
/// 204 mean the same. 400 is its refusal. Anything else may get better until `expires_at`.
pub(super) fn decide(answer: Answer, attempts: u32, began: Ticks, expires_at: Ticks) -> Next {
    let error = match answer {
        Ok(200 | 204) => return Next::End(LogoutEnd::Delivered),
        Ok(400) => return Next::End(LogoutEnd::Failed("the application refused it with status 400".into())),
        Ok(status) => format!("the application answered with status {status}"),
        Err(why) => why,
    };
    let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    let at = began + PAUSES.get(index).or(PAUSES.last()).copied().unwrap_or(HOUR);
    if at >= expires_at {
        return Next::End(LogoutEnd::Failed(format!("given up after {attempts} attempts: {error}")));
    }
    Next::Retry { at, error }
}

#[cfg(test)]
mod tests {
    use store::LOGOUT_LIFE;

    use super::*;

    const NOW: Ticks = Ticks(638_000_000_000_000_000);

    fn after(answer: Answer, attempts: u32) -> Next {
        decide(answer, attempts, NOW, NOW + LOGOUT_LIFE)
    }

    #[test]
    fn success_is_200_or_204_and_400_is_final() {
        for status in [200, 204] {
            assert_eq!(after(Ok(status), 1), Next::End(LogoutEnd::Delivered));
        }
        assert!(matches!(after(Ok(400), 1), Next::End(LogoutEnd::Failed(why)) if why.contains("400")));
        for status in [201, 302, 401, 404, 429, 500, 503] {
            assert!(
                matches!(after(Ok(status), 1), Next::Retry { error, .. } if error.ends_with(&status.to_string()))
            );
        }
        let refused = Err("cannot connect: connection refused".to_owned());
        let Next::Retry { error, .. } = after(refused.clone(), 1) else { panic!("it may get better") };
        assert_eq!(Err(error), refused);
    }

    #[test]
    fn pauses_grow_and_the_last_one_repeats() {
        let pause = |attempts| match after(Ok(503), attempts) {
            Next::Retry { at, .. } => at.since(NOW).as_secs(),
            Next::End(end) => panic!("{end:?}"),
        };
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 99].map(pause), [5, 5, 30, 120, 600, 3600, 3600, 3600]);
    }

    #[test]
    fn attempts_end_after_a_day() {
        let last = NOW + Duration::from_mins(59);
        let at_end = decide(Ok(503), 28, NOW, last);
        let Next::End(LogoutEnd::Failed(why)) = at_end else { panic!("{at_end:?}") };
        assert_eq!(why, "given up after 28 attempts: the application answered with status 503");
        assert!(matches!(decide(Ok(503), 28, NOW, NOW + Duration::from_mins(61)), Next::Retry { .. }));
    }
}
