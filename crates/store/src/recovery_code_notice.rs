//! The notice that a recovery code was used.

use std::sync::Arc;

use crate::mails::SealedMail;
use crate::{Mail, Ports, Result};

/// The mail that tells a person that a recovery code was used. It says how many are left, which is known in the transaction
/// alone.
#[derive(Clone)]
pub struct RecoveryCodeNotice(Arc<dyn Fn(u64) -> Mail + Send + Sync>);

impl RecoveryCodeNotice {
    /// `compose` gets the number of codes that are left. It must be pure and quick.
    pub fn new(compose: impl Fn(u64) -> Mail + Send + Sync + 'static) -> Self {
        Self(Arc::new(compose))
    }

    pub(crate) fn sealed(&self, left: u64, ports: &Ports) -> Result<SealedMail> {
        SealedMail::of(&(self.0)(left), &ports.vault, &*ports.random)
    }
}

impl std::fmt::Debug for RecoveryCodeNotice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RecoveryCodeNotice")
    }
}
