//! Whether an answer counts as success, and what is told of one that does not.

use std::time::Duration;

use super::Reply;

/// How much of an answer's body is kept in the history.
const EXCERPT_CHARS_MAX: usize = 500;

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) succeeded: bool,
    pub(crate) status: Option<u16>,
    pub(crate) timed_out: bool,
    /// Nothing is to be learnt from it about the receiver.
    pub(crate) is_ours: bool,
    pub(crate) retry_after: Option<Duration>,
    /// In words; empty for a success.
    pub(crate) reason: String,
    pub(crate) excerpt: String,
}

/// What an answer has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Any 2xx.
    Delivery,
    /// Exactly 200.
    Acknowledge,
    /// Any 2xx whose body is this text.
    Echo(String),
}

pub(crate) fn judge(wanted: &Wanted, reply: &Reply) -> Judged {
    let answer = match &reply.result {
        Ok(answer) => answer,
        Err(silence) => {
            return Judged {
                succeeded: false,
                status: None,
                timed_out: silence.timed_out && !silence.is_ours,
                is_ours: silence.is_ours,
                retry_after: None,
                reason: silence.reason.clone(),
                excerpt: String::new(),
            };
        }
    };
    let reason = match wanted {
        _ if answer.sets_cookie => {
            Some("the answer sets a cookie; answers must have no Set-Cookie header".into())
        }
        Wanted::Acknowledge if answer.status != 200 => {
            Some(format!("the answer was {}; an Acknowledge is accepted by 200 alone", answer.status))
        }
        Wanted::Delivery | Wanted::Echo(_) if !(200..300).contains(&answer.status) => {
            Some(format!("the answer was {}; a 2xx is wanted", answer.status))
        }
        Wanted::Echo(guid) if trimmed(&answer.body) != guid.as_bytes() => {
            Some("the body of the answer is not the GUID of the query's echo".into())
        }
        _ => None,
    };
    let asks = matches!(answer.status, 429 | 503);
    Judged {
        succeeded: reason.is_none(),
        status: Some(answer.status),
        timed_out: false,
        is_ours: false,
        retry_after: answer.retry_after.filter(|_| asks),
        reason: reason.unwrap_or_default(),
        excerpt: String::from_utf8_lossy(&answer.body)
            .chars()
            .filter(|char| *char != '\0')
            .take(EXCERPT_CHARS_MAX)
            .collect(),
    }
}

/// Without white space around it, and without one pair of quotes.
fn trimmed(body: &[u8]) -> &[u8] {
    let body = body.trim_ascii();
    body.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(body)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use store::AttemptTiming;

    use super::super::{Answer, Silence};
    use super::*;

    fn reply(status: u16, body: &'static str) -> Reply {
        let body = Bytes::from_static(body.as_bytes());
        let result = Ok(Answer { status, sets_cookie: false, retry_after: None, body });
        Reply { result, spent: AttemptTiming::default() }
    }

    fn is_taken(wanted: &Wanted, reply: &Reply) -> bool {
        judge(wanted, reply).succeeded
    }

    #[test]
    fn any_2xx_takes_a_delivery_and_only_200_an_acknowledge() {
        for (status, delivery, acknowledge) in [
            (200, true, true),
            (202, true, false),
            (299, true, false),
            (302, false, false),
            (500, false, false),
        ] {
            assert_eq!(is_taken(&Wanted::Delivery, &reply(status, "")), delivery, "{status}");
            assert_eq!(is_taken(&Wanted::Acknowledge, &reply(status, "")), acknowledge, "{status}");
        }
    }

    #[test]
    fn an_echo_is_the_guid_with_or_without_quotes_and_white_space() {
        let wanted = Wanted::Echo("abc".into());
        for body in ["abc", " abc\r\n", "\"abc\"", " \"abc\" "] {
            assert!(is_taken(&wanted, &reply(201, body)), "{body:?}");
        }
        for body in ["", "abcd", "\"\"abc\"\"", "\"abc", "ABC"] {
            assert!(!is_taken(&wanted, &reply(200, body)), "{body:?}");
        }
        assert!(!is_taken(&wanted, &reply(404, "abc")));
    }

    #[test]
    fn a_cookie_spoils_everything() {
        let mut with_cookie = reply(200, "abc");
        with_cookie.result.as_mut().unwrap().sets_cookie = true;
        for wanted in [Wanted::Delivery, Wanted::Acknowledge, Wanted::Echo("abc".into())] {
            let judged = judge(&wanted, &with_cookie);
            assert!(!judged.succeeded && judged.reason.contains("cookie"));
        }
    }

    #[test]
    fn only_429_and_503_may_ask_for_time() {
        for (status, asks) in [(429, true), (503, true), (500, false), (404, false)] {
            let mut asking = reply(status, "");
            asking.result.as_mut().unwrap().retry_after = Some(Duration::from_secs(9));
            assert_eq!(judge(&Wanted::Delivery, &asking).retry_after.is_some(), asks, "{status}");
        }
    }

    #[test]
    fn silence_says_why() {
        let silence = Silence { timed_out: true, is_ours: false, reason: "no answer within 5 s".into() };
        let judged =
            judge(&Wanted::Delivery, &Reply { result: Err(silence), spent: AttemptTiming::default() });
        assert!(judged.timed_out && judged.status.is_none() && judged.reason == "no answer within 5 s");
    }
}
