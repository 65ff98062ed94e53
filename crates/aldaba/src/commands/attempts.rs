//! The table of attempts that `aldaba webhooks show` and `aldaba deliveries show` print.

use operator::admin::AttemptJson;

pub(crate) const TITLES: [&str; 6] = ["AT", "OCCASION", "NO", "STATUS", "MS", "REASON"];

pub(crate) fn attempt_rows(attempts: &[AttemptJson]) -> Vec<Vec<String>> {
    attempts.iter().map(row).collect()
}

fn row(attempt: &AttemptJson) -> Vec<String> {
    let reason = if attempt.succeeded { "succeeded" } else { &attempt.reason };
    vec![
        attempt.at.clone(),
        attempt.occasion.as_str().to_owned(),
        attempt.number.to_string(),
        attempt.status.map_or_else(|| "-".into(), |status| status.to_string()),
        attempt.milliseconds.total.to_string(),
        reason.to_owned(),
    ]
}
