//! Checks of what callers and receivers send: the bodies of subscriptions, queries of the history, and responses to deliveries. For the fuzz targets.

use domain::fuzzing::signature;
use web::ErrorResponse;

pub use crate::egress::fuzzing::receiver_response;
pub use crate::management::fuzzing::{delivery_history, subscription};

/// A number for the kind of a refusal, which is a 400 with a message for every fault.
pub(crate) fn refused(error: &ErrorResponse) -> u64 {
    let problem = &error.problem;
    assert_eq!(problem.status, 400, "{problem:?}");
    assert!(problem.errors.iter().all(|fault| !fault.message.is_empty()), "{problem:?}");
    let codes: Vec<String> = problem
        .errors
        .iter()
        .take(4)
        .map(|fault| format!("{} {}", fault.code, fault.field.as_deref().unwrap_or_default()))
        .collect();
    signature(&format!("{} {}", problem.code, codes.join(" ")))
}
