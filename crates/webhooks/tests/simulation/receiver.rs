//! Receivers, well-behaved and otherwise.

use std::time::Duration;

use bytes::Bytes;
use store::AttemptTiming;
use webhooks::engine::{Answer, Knock, Letter, Reply, Silence};

use super::chance::Chance;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Well,
    /// Answers, but late; sometimes too late.
    Slow,
    /// Never answers.
    Dead,
    /// 500, 401, 302, 404.
    Refuses(u16),
    /// 503 with a wish for time.
    Busy,
    SetsCookies,
    /// Fails for a third of the records, for ever.
    Poisoned,
    /// Half of everything fails.
    Shaky,
}

impl Mood {
    pub(crate) fn any(chance: &mut Chance) -> Self {
        *chance.pick(&[
            Self::Well,
            Self::Well,
            Self::Well,
            Self::Slow,
            Self::Dead,
            Self::Refuses(500),
            Self::Refuses(401),
            Self::Refuses(302),
            Self::Busy,
            Self::SetsCookies,
            Self::Poisoned,
            Self::Shaky,
        ])
    }

    /// What it answers, and after how long.
    pub(crate) fn answer(self, knock: &Knock, letter: &Letter, chance: &mut Chance) -> (Reply, Duration) {
        let soon = chance.span(0..30);
        let poisoned = || {
            let body: u64 = letter.body.bytes().filter(u8::is_ascii_digit).map(u64::from).sum();
            knock.sequence().is_some() && body.is_multiple_of(3)
        };
        let status = match self {
            Self::Dead => return (silent(), Duration::MAX),
            Self::Slow => {
                return (said(200, letter, false, None), chance.span(500..6000));
            }
            Self::Refuses(status) => status,
            Self::Busy => return (said(503, letter, false, Some(Duration::from_secs(3))), soon),
            Self::SetsCookies => return (said(200, letter, true, None), soon),
            Self::Poisoned if poisoned() => 500,
            Self::Shaky if chance.percent(50) => {
                return if chance.percent(10) {
                    let silence = Silence { timed_out: false, is_ours: true, reason: "no socket".into() };
                    (Reply { result: Err(silence), spent: AttemptTiming::default() }, soon)
                } else if chance.percent(50) {
                    (silent(), soon)
                } else {
                    (said(500, letter, false, None), soon)
                };
            }
            Self::Well | Self::Poisoned | Self::Shaky => 200,
        };
        (said(status, letter, false, None), soon)
    }
}

/// The GUID of an echo, else nothing of interest.
fn said(status: u16, letter: &Letter, sets_cookie: bool, retry_after: Option<Duration>) -> Reply {
    let echo = letter.echo.as_deref().and_then(|query| query.strip_prefix("echo="));
    let body = Bytes::from(echo.unwrap_or("ok").to_owned());
    Reply { result: Ok(Answer { status, sets_cookie, retry_after, body }), spent: AttemptTiming::default() }
}

fn silent() -> Reply {
    let silence = Silence { timed_out: false, is_ours: false, reason: "the connection broke".into() };
    Reply { result: Err(silence), spent: AttemptTiming::default() }
}

pub(crate) fn timed_out() -> Reply {
    let silence = Silence { timed_out: true, is_ours: false, reason: "no answer in time".into() };
    Reply { result: Err(silence), spent: AttemptTiming::default() }
}

/// Whether the receiver took it, as the contract says.
pub(crate) fn takes(knock: &Knock, letter: &Letter, reply: &Reply) -> bool {
    let Ok(answer) = &reply.result else { return false };
    let is_good = if knock.handshake().is_some() && letter.echo.is_none() {
        answer.status == 200
    } else {
        (200..300).contains(&answer.status)
    };
    is_good && !answer.sets_cookie
}
