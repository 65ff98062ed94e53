//! Second factors at sign-in: which code or passkey is right, and how often one may guess.

mod code_attempt;
mod passkey_attempt;
mod stored_passkey;

use std::time::Duration;

use domain::{AccountId, Realm, Secret};
use store::Vault;

pub(crate) use code_attempt::{CodeAttempt, CodeCheck, PresentedCode};
pub(crate) use passkey_attempt::{PasskeyAttempt, PasskeyCheck};
pub(crate) use stored_passkey::{credential_of, passkey_of};

use crate::webauthn::UserHandle;

/// A change of factors needs a session that is at most this old; so does the step between password and second factor.
pub(crate) const FRESH: Duration = Duration::from_secs(10 * 60);
/// The authentication methods of a sign-in with a passkey alone.
pub(crate) const PASSKEY_METHODS: &str = "passkey 2fa";

const HANDLE_PURPOSE: &str = "webauthn user handle";

/// The bytes by which authenticators know an account. They tell nothing about it.
pub(crate) fn user_handle(vault: &Vault, realm: Realm, account: &AccountId) -> Option<UserHandle> {
    let own = Secret::new(format!("{} {account}", realm.as_str()));
    UserHandle::new(&vault.fingerprint(HANDLE_PURPOSE, &own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_differ_by_account_and_realm() {
        let vault = Vault::new(&store::MasterKey::from_bytes([7; 32])).unwrap();
        let handle = |realm, id: &str| user_handle(&vault, realm, &AccountId::new(id)).unwrap();
        assert_eq!(handle(Realm::Users, "a"), handle(Realm::Users, "a"));
        assert_ne!(handle(Realm::Users, "a"), handle(Realm::Users, "b"));
        assert_ne!(handle(Realm::Users, "a"), handle(Realm::Operators, "a"));
    }
}
