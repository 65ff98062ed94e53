//! Carries letters through the egress.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use domain::Ticks;
use domain::signature::{STANDARD_ID, STANDARD_SIGNATURE, STANDARD_TIMESTAMP};
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use store::AttemptTiming;

use super::{Answer, Knock, Letter, Reply, Silence, Transport};
use crate::egress::{self, Call, Egress, Failure};

/// A letter's own headers, and those that the egress adds.
const HEADERS_MAX: usize = 12;

/// The transport of the service.
#[derive(Clone, Debug)]
pub struct Carrier {
    pub egress: Egress,
    /// Over a whole exchange.
    pub timeout: Duration,
}

#[async_trait]
impl Transport for Carrier {
    async fn knock(&self, knock: &Knock, now: Ticks) -> Reply {
        let url = match knock.target.receiver() {
            Ok(url) => url,
            Err(reason) => {
                let reason = format!("the address cannot be called: {reason}");
                return silence(
                    Silence { timed_out: false, is_ours: false, reason },
                    AttemptTiming::default(),
                );
            }
        };
        let letter = knock.letter(now);
        let method = if letter.echo.is_some() { Method::GET } else { Method::POST };
        let headers = headers(&letter);
        let Letter { echo: query, body, .. } = letter;
        let call = Call { url, method, query, headers, body: Bytes::from(body), deadline: self.timeout, now };
        let sent = self.egress.send(call).await;
        let spent = spent(&sent.timing);
        match sent.result {
            Ok(answer) => Reply { result: Ok(taken(answer)), spent },
            Err(failure) => {
                let (timed_out, is_ours) = (matches!(failure, Failure::TimedOut(_)), failure.is_ours());
                silence(Silence { timed_out, is_ours, reason: failure.to_string() }, spent)
            }
        }
    }
}

fn headers(letter: &Letter) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(HEADERS_MAX);
    if letter.echo.is_some() {
        return headers;
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    let (name, signature) = &letter.signature;
    for (name, value) in [
        (*name, signature),
        (STANDARD_ID, &letter.id),
        (STANDARD_TIMESTAMP, &letter.timestamp),
        (STANDARD_SIGNATURE, &letter.standard_signature),
    ] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    headers
}

fn taken(answer: egress::Answer) -> Answer {
    let egress::Answer { status, sets_cookie, retry_after, body } = answer;
    Answer { status, sets_cookie, retry_after, body }
}

fn silence(silence: Silence, spent: AttemptTiming) -> Reply {
    Reply { result: Err(silence), spent }
}

fn spent(timing: &egress::Timing) -> AttemptTiming {
    AttemptTiming {
        resolve: timing.resolve,
        connect: timing.connect,
        tls: timing.tls,
        wait: timing.first_byte,
        total: timing.total,
    }
}
