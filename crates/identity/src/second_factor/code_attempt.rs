//! An attempt with a code: of an authenticator app, or a recovery code. A token is taken before the code is compared and
//! returned if it was right, so that parallel guesses gain nothing.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::recovery_codes::RecoveryCode;
use domain::totp::{TotpCode, TotpSecret};
use domain::{AccountId, Clock, Guid, Realm, Ticks};
use store::{AccountFactors, AuditContext, FactorMethod, RecoveryCodeNotice, Store};

use crate::joined::joined_query;
use crate::sign_in::{Admission, LoginThrottle};

/// What was typed.
#[derive(Clone, Debug)]
pub(crate) enum PresentedCode {
    Totp(TotpCode),
    Recovery {
        code: RecoveryCode,
        /// Tells the person that it was used.
        notice: Option<RecoveryCodeNotice>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct CodeAttempt {
    pub(crate) realm: Realm,
    pub(crate) account: AccountId,
    pub(crate) code: PresentedCode,
    pub(crate) address: IpAddr,
    /// The id of a browser that has signed in to the account before.
    pub(crate) browser: Option<String>,
    /// By the person whose account it is.
    pub(crate) context: AuditContext,
}

/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeCheck {
    Accepted,
    /// Wrong, or used before.
    Rejected,
    /// Too many failures: the code was not compared.
    Throttled {
        retry_after: Duration,
    },
}

impl CodeAttempt {
    /// Makes the attempt. It goes on to its end when the caller is cancelled, because a token that it has taken must be
    /// accounted for.
    pub(crate) async fn run(
        self,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        throttle: Arc<LoginThrottle>,
    ) -> store::Result<CodeCheck> {
        let task = tokio::spawn(async move { self.run_admitted(&*store, &*clock, &throttle).await });
        joined_query(task).await
    }

    async fn run_admitted(
        &self,
        store: &dyn Store,
        clock: &dyn Clock,
        throttle: &LoginThrottle,
    ) -> store::Result<CodeCheck> {
        let buckets = throttle.second_factor_buckets(
            (self.realm, &self.account),
            matches!(self.code, PresentedCode::Recovery { .. }),
            self.browser.as_deref(),
            self.address,
        );
        if let Admission::Refused { retry_after } = throttle.admit(&buckets).await? {
            return Ok(CodeCheck::Throttled { retry_after });
        }
        let is_right = self.is_right(store, clock.now()).await;
        // A store that fails costs a token, too.
        throttle.end(&buckets, !matches!(is_right, Ok(true))).await?;
        Ok(if is_right? { CodeCheck::Accepted } else { CodeCheck::Rejected })
    }

    async fn is_right(&self, store: &dyn Store, now: Ticks) -> store::Result<bool> {
        match &self.code {
            PresentedCode::Recovery { code, notice } => {
                let left =
                    store.use_recovery_code(&self.account, code, notice.as_ref(), &self.context).await?;
                Ok(left.is_some())
            }
            PresentedCode::Totp(code) => {
                // Read after the token was taken: a waiting attempt sees what the one before it has used.
                let factors = store.second_factors(&self.account).await?;
                for (factor, step) in matching_apps(&factors, *code, now) {
                    // The store accepts each step once, also if two requests come here together.
                    if store.use_totp(&self.account, factor, step, now).await? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}

/// The apps that show this code now, with the step that it belongs to.
pub(crate) fn matching_apps(
    factors: &AccountFactors,
    code: TotpCode,
    now: Ticks,
) -> Vec<(Guid, domain::totp::TimeStep)> {
    let matching = |factor: &store::SecondFactor| {
        let FactorMethod::Totp { secret, last_used } = &factor.method else { return None };
        let step = TotpSecret::parse(secret.reveal())?.verify(&code, now, Some(*last_used)).ok()?;
        Some((factor.id, step))
    };
    factors.factors.iter().filter_map(matching).collect()
}

#[cfg(test)]
mod tests {
    use domain::Secret;
    use domain::totp::TimeStep;
    use store::SecondFactor;

    use super::*;

    const NOW: Ticks = Ticks(639_000_000_000_000_000);

    fn app(number: u8, last_used: TimeStep) -> (SecondFactor, TotpSecret) {
        let secret = TotpSecret::from_bytes([number; 20]);
        let method = FactorMethod::Totp { secret: secret.base32(), last_used };
        let factor = SecondFactor {
            id: Guid::from_bytes([number; 16]),
            realm: Realm::Users,
            account: AccountId::new("maria"),
            name: "App".into(),
            method,
            created_at: NOW,
            last_used_at: None,
        };
        (factor, secret)
    }

    #[test]
    fn only_the_app_that_shows_an_unused_code_matches() {
        let current = TimeStep::at(NOW);
        let (first, _) = app(1, TimeStep(0));
        let (second, secret) = app(2, TimeStep(0));
        let code = secret.code(current);
        let factors = AccountFactors { factors: vec![first, second], recovery_codes_left: 0 };
        assert_eq!(matching_apps(&factors, code, NOW), [(Guid::from_bytes([2; 16]), current)]);
        let (used, _) = app(2, current);
        let factors = AccountFactors { factors: vec![used], recovery_codes_left: 0 };
        assert_eq!(matching_apps(&factors, code, NOW), []);
        let old = secret.code(TimeStep(current.0 - 2));
        let (fresh, _) = app(2, TimeStep(0));
        let factors = AccountFactors { factors: vec![fresh], recovery_codes_left: 0 };
        assert_eq!(matching_apps(&factors, old, NOW), []);
        let damaged = FactorMethod::Totp { secret: Secret::new("?"), last_used: TimeStep(0) };
        let damaged = SecondFactor { method: damaged, ..app(2, TimeStep(0)).0 };
        let factors = AccountFactors { factors: vec![damaged], recovery_codes_left: 0 };
        assert_eq!(matching_apps(&factors, code, NOW), []);
    }
}
