//! Second factors: the authenticator apps (TOTP) and passkeys of an account, and the recovery codes for who has lost them.
//! Secrets and credentials are sealed with the master key for their account; recovery codes are keyed hashes.

use async_trait::async_trait;
use domain::recovery_codes::RecoveryCode;
use domain::second_factor::{has_second_factor, with_second_factor, without_second_factor};
use domain::secret::hex;
use domain::totp::TimeStep;
use domain::{AccountId, Guid, Random, Realm, Secret, Ticks};

use crate::{AuditContext, Mail, RecoveryCodeNotice, Result, StoreError, Vault};

/// An account has no more factors.
pub const FACTORS_MAX: usize = 10;

/// Purposes of the keyed hashes.
const TOTP_HASH: &str = "totp secret";
const PASSKEY_HASH: &str = "passkey";
const RECOVERY_HASH: &str = "recovery code";
const CHALLENGE_HASH: &str = "webauthn challenge";

const TOTP_CODE: i64 = 0;
const PASSKEY_CODE: i64 = 1;

/// Something that a person has besides the password, or instead of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondFactor {
    pub id: Guid,
    pub realm: Realm,
    pub account: AccountId,
    /// How its owner calls it.
    pub name: String,
    pub method: FactorMethod,
    pub created_at: Ticks,
    pub last_used_at: Option<Ticks>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactorMethod {
    /// An authenticator app: its secret in base32, and the step of the last code that was accepted.
    Totp {
        secret: Secret,
        last_used: TimeStep,
    },
    Passkey(Passkey),
}

impl FactorMethod {
    /// For the audit.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Totp { .. } => "totp",
            Self::Passkey(_) => "passkey",
        }
    }
}

/// A passkey as a relying party keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passkey {
    /// Unique in the realm.
    pub credential_id: Vec<u8>,
    /// The public key and what else the relying party keeps, in its own JSON. It never changes.
    pub credential: String,
    /// How often the authenticator has signed; zero where it does not count.
    pub sign_count: u32,
}

/// All that a sign-in has to know about an account's second factors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountFactors {
    /// The oldest first.
    pub factors: Vec<SecondFactor>,
    pub recovery_codes_left: u64,
}

impl AccountFactors {
    pub fn is_enrolled(&self) -> bool {
        !self.factors.is_empty()
    }

    pub fn has_totp(&self) -> bool {
        self.factors.iter().any(|factor| matches!(factor.method, FactorMethod::Totp { .. }))
    }

    pub fn has_passkey(&self) -> bool {
        self.factors.iter().any(|factor| matches!(factor.method, FactorMethod::Passkey(_)))
    }
}

/// What else happens in the transaction that changes an account's factors. All sessions of the account end but the kept one,
/// whose methods say from then on whether it has a second factor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactorEffects {
    /// The session that asks for the change: nothing changes if it has ended, or if it has not given a second factor although
    /// the account has one. None: an operator asks.
    pub kept_session: Option<Guid>,
    /// Tells the person.
    pub mail: Option<Mail>,
}

/// A challenge of a WebAuthn ceremony, which is accepted once. It is stored as a keyed hash until it has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedChallenge {
    pub challenge: Secret,
    pub expires_at: Ticks,
}

/// A passkey that has signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyUse {
    pub factor: Guid,
    pub challenge: UsedChallenge,
    pub sign_count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorAddition {
    /// The account's first factor comes with recovery codes.
    Added {
        with_recovery_codes: bool,
    },
    /// The account has `FACTORS_MAX` factors.
    TooMany,
    /// The account has this secret, or some account of the realm has this credential.
    Exists,
    ChallengeUsed,
    NoAccount,
    /// The session that asked has ended, or needs a second factor.
    SessionVoid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasskeyUseOutcome {
    Used,
    /// The count is not above the stored one: the credential may have been copied. The challenge is used.
    StaleCount,
    ChallengeUsed,
    /// The passkey has been removed meanwhile.
    NotFound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorRemoval {
    /// With the last factor, the recovery codes are gone too.
    Removed {
        was_last: bool,
    },
    NotFound,
    /// The session that asked has ended, or needs a second factor.
    SessionVoid,
}

/// Every mutation and its audit entry are one transaction. The use of a factor has no entry: the sign-in that follows has one.
#[async_trait]
pub trait SecondFactors: Send + Sync + 'static {
    /// Adds a factor. If it is the account's first one, the recovery codes are stored too, and replace any that are left.
    async fn add_second_factor(
        &self,
        factor: &SecondFactor,
        recovery_codes: &[RecoveryCode],
        challenge: Option<&UsedChallenge>,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<FactorAddition>;

    async fn second_factors(&self, account: &AccountId) -> Result<AccountFactors>;

    async fn find_passkey(&self, realm: Realm, credential_id: &[u8]) -> Result<Option<SecondFactor>>;

    /// False if the account has no such factor.
    async fn rename_second_factor(
        &self,
        account: &AccountId,
        factor: Guid,
        name: &str,
        context: &AuditContext,
    ) -> Result<bool>;

    async fn remove_second_factor(
        &self,
        account: &AccountId,
        factor: Guid,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<FactorRemoval>;

    /// Removes all factors and recovery codes of an account. Returns how many factors there were; without any, nothing happens.
    async fn reset_second_factors(
        &self,
        account: &AccountId,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<u64>;

    /// Accepts the code of a step, if it is later than the last one that was accepted: a code is valid once.
    async fn use_totp(&self, account: &AccountId, factor: Guid, step: TimeStep, now: Ticks) -> Result<bool>;

    /// Accepts a challenge and the count of a passkey's signature, each once.
    async fn use_passkey(
        &self,
        account: &AccountId,
        usage: &PasskeyUse,
        now: Ticks,
    ) -> Result<PasskeyUseOutcome>;

    /// Consumes a recovery code and queues the notice. Returns how many are left, or `None` if the account has no such code.
    async fn use_recovery_code(
        &self,
        account: &AccountId,
        code: &RecoveryCode,
        notice: Option<&RecoveryCodeNotice>,
        context: &AuditContext,
    ) -> Result<Option<u64>>;

    /// Replaces the recovery codes. False if the account has no second factor, or the session may not ask for it.
    async fn set_recovery_codes(
        &self,
        account: &AccountId,
        codes: &[RecoveryCode],
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<bool>;
}

/// A factor as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FactorRow {
    pub(crate) id: Guid,
    pub(crate) realm: Realm,
    pub(crate) account: AccountId,
    pub(crate) kind: i64,
    pub(crate) name: String,
    /// Unique: of the secret and its account, or of the credential id and its realm.
    pub(crate) hash: [u8; 32],
    pub(crate) sealed: Vec<u8>,
    /// The last step, or the sign count.
    pub(crate) counter: i64,
    pub(crate) created_at: Ticks,
    pub(crate) last_used_at: Option<Ticks>,
}

impl FactorRow {
    pub(crate) fn of(factor: &SecondFactor, vault: &Vault, random: &dyn Random) -> Result<Self> {
        if factor.name.contains('\0') {
            return Err(StoreError::internal("the name of a second factor contains a NUL"));
        }
        let (kind, hash, plain, counter) = match &factor.method {
            FactorMethod::Totp { secret, last_used } => {
                let own = Secret::new(format!("{}\0{}", factor.account, secret.reveal()));
                (TOTP_CODE, vault.fingerprint(TOTP_HASH, &own), secret.clone(), last_used.0)
            }
            FactorMethod::Passkey(Passkey { credential_id, credential, sign_count }) => {
                let plain = serde_json::to_string(&(credential_id, credential));
                let plain = plain.map(Secret::new).map_err(StoreError::internal)?;
                let hash = credential_hash(vault, factor.realm, credential_id);
                (PASSKEY_CODE, hash, plain, i64::from(*sign_count))
            }
        };
        Ok(Self {
            id: factor.id,
            realm: factor.realm,
            account: factor.account.clone(),
            kind,
            name: factor.name.clone(),
            hash,
            sealed: vault.seal(random, &sealing_purpose(factor.id, &factor.account), plain.reveal())?,
            counter,
            created_at: factor.created_at,
            last_used_at: factor.last_used_at,
        })
    }

    pub(crate) fn open(self, vault: &Vault) -> Result<SecondFactor> {
        let plain = vault.open(&sealing_purpose(self.id, &self.account), &self.sealed)?;
        let method = if self.kind == TOTP_CODE {
            FactorMethod::Totp { secret: plain, last_used: TimeStep(self.counter) }
        } else {
            let (credential_id, credential) = serde_json::from_str(plain.reveal())
                .map_err(|_| StoreError::internal("a passkey's row is damaged"))?;
            let sign_count = u32::try_from(self.counter).unwrap_or(u32::MAX);
            FactorMethod::Passkey(Passkey { credential_id, credential, sign_count })
        };
        Ok(SecondFactor {
            id: self.id,
            realm: self.realm,
            account: self.account,
            name: self.name,
            method,
            created_at: self.created_at,
            last_used_at: self.last_used_at,
        })
    }

    /// For the audit.
    pub(crate) fn method(&self) -> &'static str {
        if self.kind == TOTP_CODE { "totp" } else { "passkey" }
    }

    /// The last code that was accepted is older than this step.
    #[cfg(feature = "memory")]
    pub(crate) fn accepts(&self, step: TimeStep) -> bool {
        self.kind == TOTP_CODE && self.counter < step.0
    }
}

/// The condition under which a row accepts the code of a step, in SQL: of an app, and the last step is older.
pub(crate) const TOTP_CONDITION: &str = "kind = 0";
/// That of a passkey's row.
pub(crate) const PASSKEY_CONDITION: &str = "kind = 1";

/// The row's content can only be opened for its account: nobody who can write to the database can give a factor to another
/// account.
fn sealing_purpose(id: Guid, account: &AccountId) -> String {
    format!("second factor {id} {account}")
}

pub(crate) fn credential_hash(vault: &Vault, realm: Realm, credential_id: &[u8]) -> [u8; 32] {
    let own = Secret::new(format!("{} {}", realm.as_str(), hex(credential_id)));
    vault.fingerprint(PASSKEY_HASH, &own)
}

pub(crate) fn recovery_hash(vault: &Vault, account: &AccountId, code: &RecoveryCode) -> [u8; 32] {
    let own = Secret::new(format!("{account}\0{}", code.canonical().reveal()));
    vault.fingerprint(RECOVERY_HASH, &own)
}

pub(crate) fn recovery_hashes(vault: &Vault, account: &AccountId, codes: &[RecoveryCode]) -> Vec<[u8; 32]> {
    codes.iter().map(|code| recovery_hash(vault, account, code)).collect()
}

pub(crate) fn challenge_hash(vault: &Vault, used: &UsedChallenge) -> [u8; 32] {
    vault.fingerprint(CHALLENGE_HASH, &used.challenge)
}

/// Decides whether a factor is added to an account that has `count` factors.
pub(crate) fn decide_addition(count: usize, is_known: bool, is_challenge_new: bool) -> FactorAddition {
    if !is_challenge_new {
        FactorAddition::ChallengeUsed
    } else if is_known {
        FactorAddition::Exists
    } else if count >= FACTORS_MAX {
        FactorAddition::TooMany
    } else {
        FactorAddition::Added { with_recovery_codes: count == 0 }
    }
}

/// Whether a session with these methods may change the factors of its account; `None`: it has ended.
pub(crate) fn may_change_factors(methods: Option<&str>, is_enrolled: bool) -> bool {
    methods.is_some_and(|methods| !is_enrolled || has_second_factor(methods))
}

/// The methods of a session after a change of its account's factors.
pub(crate) fn methods_after(methods: &str, is_enrolled: bool) -> String {
    if is_enrolled { with_second_factor(methods) } else { without_second_factor(methods) }
}

/// Decides about the use of a passkey. An authenticator that counts its signatures never repeats a count.
pub(crate) fn decide_use(stored: Option<i64>, sign_count: u32, is_challenge_new: bool) -> PasskeyUseOutcome {
    let new = i64::from(sign_count);
    match stored {
        None => PasskeyUseOutcome::NotFound,
        Some(_) if !is_challenge_new => PasskeyUseOutcome::ChallengeUsed,
        Some(stored) if (new != 0 || stored != 0) && new <= stored => PasskeyUseOutcome::StaleCount,
        Some(_) => PasskeyUseOutcome::Used,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_are_bounded_and_only_the_first_has_recovery_codes() {
        let added = |with_recovery_codes| FactorAddition::Added { with_recovery_codes };
        assert_eq!(decide_addition(0, false, true), added(true));
        assert_eq!(decide_addition(FACTORS_MAX - 1, false, true), added(false));
        assert_eq!(decide_addition(FACTORS_MAX, false, true), FactorAddition::TooMany);
        assert_eq!(decide_addition(1, true, true), FactorAddition::Exists);
        assert_eq!(decide_addition(1, false, false), FactorAddition::ChallengeUsed);
    }

    #[test]
    fn a_count_that_does_not_grow_is_stale_unless_the_authenticator_does_not_count() {
        for (stored, new, outcome) in [
            (0, 0, PasskeyUseOutcome::Used),
            (0, 1, PasskeyUseOutcome::Used),
            (7, 8, PasskeyUseOutcome::Used),
            (7, 7, PasskeyUseOutcome::StaleCount),
            (7, 0, PasskeyUseOutcome::StaleCount),
        ] {
            assert_eq!(decide_use(Some(stored), new, true), outcome, "{stored} {new}");
        }
        assert_eq!(decide_use(Some(0), 1, false), PasskeyUseOutcome::ChallengeUsed);
        assert_eq!(decide_use(None, 1, true), PasskeyUseOutcome::NotFound);
    }
}
