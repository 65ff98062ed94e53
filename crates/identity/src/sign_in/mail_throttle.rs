//! Limits the mails that strangers can cause: per address that they are sent to, whether it has an account or not, and
//! per address that asks for them.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::{Clock, Realm};
use store::{SignInBucket, SignInTokens, Store};

use super::login_throttle::network_names;

/// Mails to one address in a row, and the time after which there may be another one.
const RECIPIENT_TOKENS: u32 = 3;
const RECIPIENT_REFILL: Duration = Duration::from_secs(20 * 60);
/// Requests of one client address in a row.
const CLIENT_TOKENS: u32 = 10;
const CLIENT_REFILL: Duration = Duration::from_secs(60);

/// Whether a mail may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MailAdmission {
    Admitted,
    /// The recipient has got enough mails. The response must not tell.
    RecipientHasEnough,
    /// The client asks too often.
    Refused {
        retry_after: Duration,
    },
}

pub(crate) struct MailThrottle {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl MailThrottle {
    /// Takes the tokens of one mail. Known and unknown recipients cost the same.
    pub(crate) async fn admit(
        &self,
        realm: Realm,
        recipient: &str,
        client: IpAddr,
    ) -> store::Result<MailAdmission> {
        let client: Vec<SignInBucket> = network_names(client)
            .into_iter()
            .map(|(network, times)| SignInBucket {
                name: format!("mail from {network}"),
                tokens_max: CLIENT_TOKENS.saturating_mul(times),
                refill: CLIENT_REFILL / times,
            })
            .collect();
        if let Some(retry_after) = self.take(&client).await? {
            return Ok(MailAdmission::Refused { retry_after });
        }
        let recipient = SignInBucket {
            name: format!("mail to {recipient} {}", realm.as_str()),
            tokens_max: RECIPIENT_TOKENS,
            refill: RECIPIENT_REFILL,
        };
        let missing = self.take(std::slice::from_ref(&recipient)).await?;
        Ok(if missing.is_some() { MailAdmission::RecipientHasEnough } else { MailAdmission::Admitted })
    }

    /// Takes a token of each bucket for good; the time to wait where one is missing.
    async fn take(&self, buckets: &[SignInBucket]) -> store::Result<Option<Duration>> {
        match self.store.take_sign_in_tokens(buckets, self.clock.now()).await? {
            SignInTokens::Taken => {
                self.store.end_sign_in_attempt(buckets, true, self.clock.now()).await?;
                Ok(None)
            }
            SignInTokens::UnderWay(_) => Ok(Some(Duration::from_secs(1))),
            SignInTokens::Missing { retry_after } => Ok(Some(retry_after)),
        }
    }
}
