//! The keys that sign tokens.

use domain::signing_key::SigningKeyInfo;
use domain::{ErrorCode, Ticks};

use super::{Result, ServiceAdmin};
use crate::admin::{Admin, AdminError, Permission};
use crate::ports::{RotationError, SigningKeyRing};

impl ServiceAdmin {
    /// Oldest first.
    pub fn signing_keys(&self) -> Vec<SigningKeyInfo> {
        self.ports.keys.list()
    }

    /// Adds the next key; see [`Admin::rotate_signing_keys`].
    pub async fn rotate_signing_keys(&self, at_once: bool) -> Result<SigningKeyInfo> {
        self.admin.rotate_signing_keys(&*self.ports.keys, at_once).await
    }
}

impl Admin {
    /// Adds the next signing key, which is published now and signs later; existing tokens remain valid. Refused while there is
    /// one. `at_once` is for a key that others may know: the new key signs now, and all tokens of older keys are refused.
    pub async fn rotate_signing_keys(
        &self,
        keys: &dyn SigningKeyRing,
        at_once: bool,
    ) -> Result<SigningKeyInfo> {
        let context = self.require(Permission::Keys)?;
        keys.rotate(at_once, context).await.map_err(|error| match error {
            RotationError::NextExists(signs_from) => next_exists(signs_from),
            RotationError::Store(error) => AdminError::Store(error),
            RotationError::Failed(why) => AdminError::Store(store::StoreError::Internal(why)),
        })
    }
}

fn next_exists(signs_from: Ticks) -> AdminError {
    let why = format!(
        "the next signing key exists already and signs from {}; wait until then, or let a new key sign at once",
        signs_from.iso()
    );
    AdminError::Conflict { code: ErrorCode::NextKeyExists, why }
}
