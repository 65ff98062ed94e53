//! Decides whether a receiver's response counts as success, and describes the failure for the history where it does not.

use std::time::Duration;

use crate::egress::{EgressError, Exchange};

/// How much of a response body the history keeps.
const EXCERPT_CHARS_MAX: usize = 500;

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) succeeded: bool,
    pub(crate) status: Option<u16>,
    pub(crate) timed_out: bool,
    /// The attempt failed on this side: it says nothing about the receiver.
    pub(crate) is_internal: bool,
    pub(crate) retry_after: Option<Duration>,
    /// Why it failed; empty for a success.
    pub(crate) reason: String,
    pub(crate) excerpt: String,
}

/// Which response counts as success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Any 2xx.
    Delivery,
    /// Exactly 200.
    Acknowledge,
    /// Any 2xx whose body is this GUID.
    Echo(String),
}

pub(crate) fn classify(expected: &Expected, exchange: &Exchange) -> Outcome {
    let response = match &exchange.result {
        Ok(response) => response,
        Err(error) => return no_response(error),
    };
    let reason = match expected {
        _ if response.sets_cookie => {
            Some("the response sets a cookie; responses must not have a Set-Cookie header".into())
        }
        Expected::Acknowledge if response.status != 200 => Some(format!(
            "the response status was {}; an Acknowledge must be answered with 200",
            response.status
        )),
        Expected::Delivery | Expected::Echo(_) if !(200..300).contains(&response.status) => {
            Some(format!("the response status was {}; expected a 2xx status", response.status))
        }
        Expected::Echo(guid) if without_quotes(&response.body) != guid.as_bytes() => {
            Some("the response body is not the GUID of the query parameter echo".into())
        }
        _ => None,
    };
    let honours_retry_after = matches!(response.status, 429 | 503);
    Outcome {
        succeeded: reason.is_none(),
        status: Some(response.status),
        timed_out: false,
        is_internal: false,
        retry_after: response.retry_after.filter(|_| honours_retry_after),
        reason: reason.unwrap_or_default(),
        excerpt: String::from_utf8_lossy(&response.body)
            .chars()
            .filter(|char| *char != '\0')
            .take(EXCERPT_CHARS_MAX)
            .collect(),
    }
}

fn no_response(error: &EgressError) -> Outcome {
    Outcome {
        succeeded: false,
        status: None,
        timed_out: matches!(error, EgressError::TimedOut(_)) && !error.is_internal(),
        is_internal: error.is_internal(),
        retry_after: None,
        reason: error.to_string(),
        excerpt: String::new(),
    }
}

/// The body without surrounding white space and without one pair of quotes.
fn without_quotes(body: &[u8]) -> &[u8] {
    let body = body.trim_ascii();
    body.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(body)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use store::AttemptTiming;

    use super::*;
    use crate::egress::{Phase, ReceiverResponse};

    fn exchange(status: u16, body: &'static str) -> Exchange {
        let body = Bytes::from_static(body.as_bytes());
        let result = Ok(ReceiverResponse { status, sets_cookie: false, retry_after: None, body });
        Exchange { result, timing: AttemptTiming::default(), reused: false }
    }

    fn succeeds(expected: &Expected, exchange: &Exchange) -> bool {
        classify(expected, exchange).succeeded
    }

    #[test]
    fn delivery_succeeds_with_any_2xx_and_acknowledge_only_with_200() {
        for (status, delivery, acknowledge) in [
            (200, true, true),
            (202, true, false),
            (299, true, false),
            (302, false, false),
            (500, false, false),
        ] {
            assert_eq!(succeeds(&Expected::Delivery, &exchange(status, "")), delivery, "{status}");
            assert_eq!(succeeds(&Expected::Acknowledge, &exchange(status, "")), acknowledge, "{status}");
        }
    }

    #[test]
    fn echo_is_the_guid_with_or_without_quotes_and_white_space() {
        let expected = Expected::Echo("abc".into());
        for body in ["abc", " abc\r\n", "\"abc\"", " \"abc\" "] {
            assert!(succeeds(&expected, &exchange(201, body)), "{body:?}");
        }
        for body in ["", "abcd", "\"\"abc\"\"", "\"abc", "ABC"] {
            assert!(!succeeds(&expected, &exchange(200, body)), "{body:?}");
        }
        assert!(!succeeds(&expected, &exchange(404, "abc")));
    }

    #[test]
    fn response_that_sets_a_cookie_fails() {
        let mut with_cookie = exchange(200, "abc");
        with_cookie.result.as_mut().unwrap().sets_cookie = true;
        for expected in [Expected::Delivery, Expected::Acknowledge, Expected::Echo("abc".into())] {
            let outcome = classify(&expected, &with_cookie);
            assert!(!outcome.succeeded && outcome.reason.contains("cookie"));
        }
    }

    #[test]
    fn retry_after_counts_only_with_429_and_503() {
        for (status, counts) in [(429, true), (503, true), (500, false), (404, false)] {
            let mut with_header = exchange(status, "");
            with_header.result.as_mut().unwrap().retry_after = Some(Duration::from_secs(9));
            let outcome = classify(&Expected::Delivery, &with_header);
            assert_eq!(outcome.retry_after.is_some(), counts, "{status}");
        }
    }

    #[test]
    fn timeout_is_the_receivers_fault_unless_no_socket_was_free() {
        for (phase, is_internal) in [(Phase::Response, false), (Phase::Socket, true)] {
            let exchange = Exchange::failed(EgressError::TimedOut(phase));
            let outcome = classify(&Expected::Delivery, &exchange);
            assert_eq!((outcome.timed_out, outcome.is_internal), (!is_internal, is_internal));
            assert!(
                outcome.status.is_none() && outcome.reason.starts_with("timed out"),
                "{}",
                outcome.reason
            );
        }
    }
}
