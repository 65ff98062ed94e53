//! Simulated receivers and how they behave.

use std::time::Duration;

use bytes::Bytes;
use store::AttemptTiming;
use webhooks::egress::{EgressError, Exchange, OutboundRequest, Phase, ReceiverResponse};
use webhooks::engine::Attempt;

use super::random::SeededRandom;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behaviour {
    Healthy,
    /// Responds late, sometimes after the timeout.
    Slow,
    NeverResponds,
    /// With this status, which is no success.
    RespondsWith(u16),
    /// 503 with Retry-After.
    Busy,
    SetsCookies,
    /// Always fails for a third of the events.
    FailsForSome,
    /// Fails for half of the requests.
    Unreliable,
}

impl Behaviour {
    pub(crate) fn any(random: &mut SeededRandom) -> Self {
        *random.pick(&[
            Self::Healthy,
            Self::Healthy,
            Self::Healthy,
            Self::Slow,
            Self::NeverResponds,
            Self::RespondsWith(500),
            Self::RespondsWith(401),
            Self::RespondsWith(302),
            Self::Busy,
            Self::SetsCookies,
            Self::FailsForSome,
            Self::Unreliable,
        ])
    }

    /// The result of a request, and after how long it comes.
    pub(crate) fn respond(
        self,
        attempt: &Attempt,
        request: &OutboundRequest,
        random: &mut SeededRandom,
    ) -> (Exchange, Duration) {
        let soon = random.span(0..30);
        let fails_for_event = || {
            let digits: u64 =
                request.body.iter().filter(|byte| byte.is_ascii_digit()).copied().map(u64::from).sum();
            attempt.sequence().is_some() && digits.is_multiple_of(3)
        };
        let status = match self {
            Self::NeverResponds => return (broken(), Duration::MAX),
            Self::Slow => return (response(200, request, false, None), random.span(500..6000)),
            Self::RespondsWith(status) => status,
            Self::Busy => return (response(503, request, false, Some(Duration::from_secs(3))), soon),
            Self::SetsCookies => return (response(200, request, true, None), soon),
            Self::FailsForSome if fails_for_event() => 500,
            Self::Unreliable if random.percent(50) => {
                return if random.percent(10) {
                    (Exchange::failed(EgressError::Internal("no socket".into())), soon)
                } else if random.percent(50) {
                    (broken(), soon)
                } else {
                    (response(500, request, false, None), soon)
                };
            }
            Self::Healthy | Self::FailsForSome | Self::Unreliable => 200,
        };
        (response(status, request, false, None), soon)
    }
}

/// The body is the GUID of an echo request, and "ok" otherwise.
fn response(
    status: u16,
    request: &OutboundRequest,
    sets_cookie: bool,
    retry_after: Option<Duration>,
) -> Exchange {
    let echo = request.query.as_deref().and_then(|query| query.strip_prefix("echo="));
    let body = Bytes::from(echo.unwrap_or("ok").to_owned());
    let result = Ok(ReceiverResponse { status, sets_cookie, retry_after, body });
    Exchange { result, timing: AttemptTiming::default(), reused: false }
}

fn broken() -> Exchange {
    Exchange::failed(EgressError::Broken("it ended before the response was complete".into()))
}

pub(crate) fn timed_out() -> Exchange {
    Exchange::failed(EgressError::TimedOut(Phase::Response))
}

/// Whether the receiver accepted the request, as the contract defines it.
pub(crate) fn accepts(attempt: &Attempt, request: &OutboundRequest, exchange: &Exchange) -> bool {
    let Ok(response) = &exchange.result else { return false };
    let is_success = if attempt.handshake().is_some() && request.query.is_none() {
        response.status == 200
    } else {
        (200..300).contains(&response.status)
    };
    is_success && !response.sets_cookie
}
