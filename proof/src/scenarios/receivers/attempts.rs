//! The failed attempts that the operator API shows of a webhook, and whether each ended in time and says why.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Fallible;
use crate::process::PAUSE;
use crate::service::Service;

const RECORDED_TIMEOUT: Duration = Duration::from_secs(60);

/// An attempt as the history has it.
#[derive(Clone, Debug)]
pub(super) struct SeenAttempt {
    pub(super) reason: String,
    pub(super) took: Duration,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AttemptFindings {
    pub(super) attempts: usize,
    /// Attempts that took longer than they may.
    pub(super) too_long: usize,
    pub(super) longest: Duration,
    /// Failed attempts without a reason in words, or with another one than expected.
    pub(super) badly_explained: usize,
}

impl AttemptFindings {
    pub(super) fn add(&mut self, other: &Self) {
        self.attempts += other.attempts;
        self.too_long += other.too_long;
        self.longest = self.longest.max(other.longest);
        self.badly_explained += other.badly_explained;
    }
}

/// `expected`: one of these must be in each reason.
pub(super) fn judge(attempts: &[SeenAttempt], expected: &[&str], max: Duration) -> AttemptFindings {
    let mut findings = AttemptFindings { attempts: attempts.len(), ..AttemptFindings::default() };
    for attempt in attempts {
        findings.longest = findings.longest.max(attempt.took);
        findings.too_long += usize::from(attempt.took > max);
        let is_explained =
            is_in_words(&attempt.reason) && expected.iter().any(|text| attempt.reason.contains(text));
        findings.badly_explained += usize::from(!is_explained);
    }
    findings
}

/// A reason has several words.
fn is_in_words(reason: &str) -> bool {
    reason.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() >= 3
}

/// How often each reason was given.
pub(super) fn reasons(attempts: &[SeenAttempt]) -> BTreeMap<&str, usize> {
    let mut reasons = BTreeMap::new();
    for attempt in attempts {
        *reasons.entry(attempt.reason.as_str()).or_default() += 1;
    }
    reasons
}

/// The failed attempts of the newest hundred deliveries.
pub(super) async fn read(service: &Service, operator_url: &str, webhook: &str) -> Fallible<Vec<SeenAttempt>> {
    let path = format!("webhooks/{webhook}/deliveries?pageSize=100");
    let page = service.administer("GET", operator_url, &path, &Value::Null).await?;
    let deliveries = page["deliveries"].as_array().ok_or("no deliveries")?;
    let attempts =
        deliveries.iter().flat_map(|delivery| delivery["attempts"].as_array().into_iter().flatten());
    Ok(attempts
        .map(|attempt| SeenAttempt {
            reason: attempt["reason"].as_str().unwrap_or_default().to_owned(),
            took: Duration::from_millis(attempt["milliseconds"]["total"].as_u64().unwrap_or(u64::MAX)),
        })
        .collect())
}

/// Waits until the webhook has at least so many.
pub(super) async fn wait_for(
    service: &Service,
    operator_url: &str,
    webhook: &str,
    count: usize,
) -> Fallible<Vec<SeenAttempt>> {
    let from = Instant::now();
    loop {
        let attempts = read(service, operator_url, webhook).await?;
        if attempts.len() >= count || from.elapsed() > RECORDED_TIMEOUT {
            return Ok(attempts);
        }
        tokio::time::sleep(PAUSE * 5).await;
    }
}

#[cfg(test)]
mod tests {
    //! Each fault, planted into attempts without faults.

    use super::*;

    const MAX: Duration = Duration::from_secs(6);

    fn good() -> Vec<SeenAttempt> {
        let attempt =
            SeenAttempt { reason: "timed out waiting for the response".into(), took: Duration::from_secs(5) };
        vec![attempt; 5]
    }

    fn found(attempts: &[SeenAttempt]) -> (usize, usize) {
        let findings = judge(attempts, &["timed out waiting"], MAX);
        (findings.too_long, findings.badly_explained)
    }

    #[test]
    fn good_attempts_have_no_faults() {
        assert_eq!(found(&good()), (0, 0));
    }

    #[test]
    fn long_attempt_is_found() {
        let mut attempts = good();
        attempts[3].took = Duration::from_secs(7);
        assert_eq!(found(&attempts), (1, 0));
    }

    #[test]
    fn missing_and_other_reasons_are_found() {
        let mut attempts = good();
        attempts[0].reason = String::new();
        attempts[1].reason = "the response status was 500".into();
        assert_eq!(found(&attempts), (0, 2));
        attempts[0].reason = "timed out waiting: (os error 110)".into();
        assert_eq!(judge(&attempts[..1], &[""], MAX).badly_explained, 0);
        attempts[0].reason = "error 110".into();
        assert_eq!(judge(&attempts[..1], &[""], MAX).badly_explained, 1, "no sentence");
    }
}
