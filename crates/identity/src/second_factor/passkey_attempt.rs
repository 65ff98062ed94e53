//! An attempt with a passkey, after the password or instead of it. It passes the buckets of the account: nobody but the
//! passkey's holder can make one that is right, so nobody can lock another out.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::{AccountId, Clock, Guid, Realm};
use store::{
    Account, FactorMethod, PasskeyUse, PasskeyUseOutcome, Status, Store, StoreError, UsedChallenge, Vault,
};

use super::{credential_of, user_handle};
use crate::joined::joined_query;
use crate::sign_in::{Admission, LoginThrottle};
use crate::webauthn::{AssertionChallenge, AssertionResponse, ExpectedUser, RelyingParty};

#[derive(Clone, Debug)]
pub(crate) struct PasskeyAttempt {
    pub(crate) realm: Realm,
    pub(crate) relying_party: RelyingParty,
    pub(crate) challenge: AssertionChallenge,
    /// The same, as the store remembers it.
    pub(crate) used: UsedChallenge,
    /// The browser's response.
    pub(crate) response: AssertionResponse,
    /// The account whose password was right; without it, the passkey says who signs in.
    pub(crate) known: Option<AccountId>,
    pub(crate) address: IpAddr,
}

/// The result of an attempt.
#[derive(Debug)]
pub(crate) enum PasskeyCheck {
    Accepted {
        account: Box<Account>,
        /// The passkey's factor.
        factor: Guid,
    },
    /// The account is for the audit only, the reason for the log and the audit.
    Rejected { account: Option<Box<Account>>, reason: String },
    /// Too many failures from this address: nothing was verified.
    Throttled { retry_after: Duration },
}

fn rejected(account: Option<Account>, reason: impl Into<String>) -> PasskeyCheck {
    PasskeyCheck::Rejected { account: account.map(Box::new), reason: reason.into() }
}

impl PasskeyAttempt {
    /// Makes the attempt. It goes on to its end when the caller is cancelled, because a token that it has taken must be
    /// accounted for.
    pub(crate) async fn run(
        self,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        vault: Arc<Vault>,
        throttle: Arc<LoginThrottle>,
    ) -> store::Result<PasskeyCheck> {
        let task = tokio::spawn(async move {
            let buckets = throttle.address_buckets(self.address);
            if let Admission::Refused { retry_after } = throttle.admit(&buckets).await? {
                return Ok(PasskeyCheck::Throttled { retry_after });
            }
            let check = self.verify(&*store, &*clock, &vault).await;
            throttle.end(&buckets, !matches!(check, Ok(PasskeyCheck::Accepted { .. }))).await?;
            check
        });
        joined_query(task).await
    }

    async fn verify(
        &self,
        store: &dyn Store,
        clock: &dyn Clock,
        vault: &Vault,
    ) -> store::Result<PasskeyCheck> {
        let Some(factor) = store.find_passkey(self.realm, self.response.credential_id.as_bytes()).await?
        else {
            return Ok(rejected(None, "unknown passkey"));
        };
        let account = store.find_account(&factor.account).await?;
        let Some(account) = account.filter(|one| one.realm == self.realm && one.status != Status::Disabled)
        else {
            return Ok(rejected(None, "the passkey's account is not active"));
        };
        if self.known.as_ref().is_some_and(|known| *known != account.id) {
            return Ok(rejected(Some(account), "the passkey of another account"));
        }
        let FactorMethod::Passkey(passkey) = &factor.method else {
            return Ok(rejected(Some(account), "the factor is not a passkey"));
        };
        let (Some(credential), Some(handle)) =
            (credential_of(passkey), user_handle(vault, self.realm, &account.id))
        else {
            return Err(StoreError::Internal("the stored passkey is damaged".into()));
        };
        let user = match &self.known {
            Some(_) => ExpectedUser::Known(&handle),
            None => ExpectedUser::Discovered(&handle),
        };
        let assertion = self.response.verify(&self.relying_party, &self.challenge, &credential, user);
        let assertion = match assertion {
            Ok(assertion) => assertion,
            Err(error) => return Ok(rejected(Some(account), error.to_string())),
        };
        let (challenge, sign_count) = (self.used.clone(), assertion.sign_count);
        let usage = PasskeyUse { factor: factor.id, challenge, sign_count };
        let reason = match store.use_passkey(&account.id, &usage, clock.now()).await? {
            PasskeyUseOutcome::Used => {
                return Ok(PasskeyCheck::Accepted { account: Box::new(account), factor: factor.id });
            }
            PasskeyUseOutcome::StaleCount => "the passkey's sign count is stale: it may have been copied",
            PasskeyUseOutcome::ChallengeUsed => "the challenge was used before",
            PasskeyUseOutcome::NotFound => "the passkey has been removed",
        };
        Ok(rejected(Some(account), reason))
    }
}
