//! When a mail that was not sent is due again, and what may be said about why.

use std::time::Duration;

use domain::Ticks;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);
/// Pauses after the first failures; the last one repeats.
const PAUSES: [Duration; 4] = [MINUTE, Duration::from_secs(5 * 60), Duration::from_secs(15 * 60), HOUR];
/// The same where the server has said that it will never take the mail. It is asked again all the same, because the
/// reason may be a setting that the operator corrects.
const REFUSED_PAUSES: [Duration; 3] =
    [HOUR, Duration::from_secs(6 * 60 * 60), Duration::from_secs(24 * 60 * 60)];
/// A word of an error with this many letters in a row may be a secret.
const SECRET_CHARS_MIN: usize = 24;

/// Why a mail was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SendError {
    /// Nothing can be sent now: the server is not reached, refuses the connection or the account, or does not answer.
    Server(String),
    /// The server does not take this mail now.
    Mail(String),
    /// The server will not take this mail.
    Refused(String),
}

impl SendError {
    pub(super) fn message(&self) -> &str {
        match self {
            Self::Server(message) | Self::Mail(message) | Self::Refused(message) => message,
        }
    }
}

/// When the mail is due again after `attempts` attempts, the last of which began at `began`.
pub(super) fn next_at(error: &SendError, attempts: u32, began: Ticks) -> Ticks {
    let pauses: &[Duration] = if matches!(error, SendError::Refused(_)) { &REFUSED_PAUSES } else { &PAUSES };
    let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    began + pauses.get(index).or(pauses.last()).copied().unwrap_or(HOUR)
}

/// An error without what may be the mail's one-time link: a server may quote the content that it refuses.
pub(super) fn without_secrets(error: &str) -> String {
    let may_be_secret = |word: &str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_=%".contains(c);
        word.contains("://") || word.split(|c| !is_letter(c)).any(|run| run.len() >= SECRET_CHARS_MIN)
    };
    let words = error.split_whitespace().map(|word| if may_be_secret(word) { "…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_the_last_one_repeats() {
        let now = Ticks(638_000_000_000_000_000);
        let minutes = |error: &SendError, attempts| next_at(error, attempts, now).since(now).as_secs() / 60;
        let transient = [SendError::Server(String::new()), SendError::Mail(String::new())];
        for error in &transient {
            assert_eq!(
                [0, 1, 2, 3, 4, 5, u32::MAX].map(|attempts| minutes(error, attempts)),
                [1, 1, 5, 15, 60, 60, 60]
            );
        }
        let refused = SendError::Refused(String::new());
        assert_eq!([1, 2, 3, 99].map(|attempts| minutes(&refused, attempts)), [60, 360, 1440, 1440]);
    }

    #[test]
    fn errors_keep_their_words_and_lose_links() {
        let quoted = "554 5.7.1 spam: <https://id.example.com/invitation/abc>, token \
                      k3VhcJv8kUe5nDKkW0mHnUQkq1yB6m0yC5bGm1cWZ2s found";
        assert_eq!(without_secrets(quoted), "554 5.7.1 spam: … token … found");
        let plain = "permanent error (550): 5.1.1 <maria@example.com>: no such user, see smtp.example.com";
        assert_eq!(without_secrets(plain), plain);
        assert_eq!(without_secrets("id.example.com/i?t=k3VhcJv8kUe5nDKkW0mHnUQkq1yB6m0yC5bGm1cWZ2s"), "…");
    }
}
