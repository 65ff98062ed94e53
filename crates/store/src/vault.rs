//! The vault: seals secrets under a key derived from the master key, and hashes secrets that are never read
//! back.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hmac;
use domain::{Random, Secret};
use zeroize::Zeroizing;

use crate::{Result, StoreError};

/// Sealed in every store to detect a wrong master key.
const CHECK_TEXT: &str = "aldaba vault";
const CHECK_PURPOSE: &str = "vault check";

/// The 256-bit key from which all other keys are derived. It comes from a file or the environment. Its memory is zeroed
/// on drop.
#[derive(Clone)]
pub struct MasterKey(Zeroizing<[u8; 32]>);

impl MasterKey {
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Parses 64 hexadecimal digits.
    pub fn parse(text: &str) -> std::result::Result<Self, &'static str> {
        Self::from_hex(text.trim()).ok_or("a master key is 64 hexadecimal digits (256 bits)")
    }

    fn from_hex(text: &str) -> Option<Self> {
        // `from_str_radix` accepts a leading `+`.
        if text.len() != 64 || text.contains('+') {
            return None;
        }
        let mut bytes = Zeroizing::new([0; 32]);
        for (index, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * index..2 * index + 2)?;
            *byte = u8::from_str_radix(digits, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// Generates a key in the format that `parse` reads.
    pub fn generate(random: &dyn Random) -> Secret {
        let mut bytes = Zeroizing::new([0; 32]);
        random.fill(&mut *bytes);
        Secret::new(domain::secret::hex(&*bytes))
    }
}

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterKey(***)")
    }
}

pub struct Vault {
    sealing: LessSafeKey,
    fingerprinting: hmac::Key,
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

impl Vault {
    pub fn new(master: &MasterKey) -> Result<Self> {
        let root = hmac::Key::new(hmac::HMAC_SHA256, &*master.0);
        let derive = |label: &str| hmac::sign(&root, label.as_bytes());
        let sealing = UnboundKey::new(&AES_256_GCM, derive("aldaba seal 1").as_ref())
            .map_err(|_| StoreError::internal("the sealing key could not be created"))?;
        let fingerprinting = hmac::Key::new(hmac::HMAC_SHA256, derive("aldaba fingerprint 1").as_ref());
        Ok(Self { sealing: LessSafeKey::new(sealing), fingerprinting })
    }

    /// Encrypts. Opening needs the same `purpose`, which includes the row's id, so that a sealed value cannot
    /// be moved to another row.
    pub fn seal(&self, random: &dyn Random, purpose: &str, plain: &str) -> Result<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce);
        let mut sealed = plain.as_bytes().to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        self.sealing
            .seal_in_place_append_tag(unique, Aad::from(purpose.as_bytes()), &mut sealed)
            .map_err(|_| StoreError::internal("sealing failed"))?;
        let mut out = nonce.to_vec();
        out.append(&mut sealed);
        Ok(out)
    }

    pub fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Secret> {
        let (nonce, rest) = sealed.split_at_checked(NONCE_LEN).ok_or(StoreError::WrongMasterKey)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| StoreError::WrongMasterKey)?;
        let mut bytes = Zeroizing::new(rest.to_vec());
        let plain = self
            .sealing
            .open_in_place(nonce, Aad::from(purpose.as_bytes()), &mut bytes)
            .map_err(|_| StoreError::WrongMasterKey)?;
        let text = std::str::from_utf8(plain).map_err(|_| StoreError::WrongMasterKey)?;
        Ok(Secret::new(text))
    }

    /// A keyed hash of a long random secret; it differs per purpose.
    pub fn fingerprint(&self, purpose: &str, secret: &Secret) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.fingerprinting);
        context.update(purpose.as_bytes());
        context.update(&[0]);
        context.update(secret.reveal().as_bytes());
        let mut hash = [0; 32];
        hash.copy_from_slice(context.sign().as_ref());
        hash
    }

    pub(crate) fn sealed_check(&self, random: &dyn Random) -> Result<Vec<u8>> {
        self.seal(random, CHECK_PURPOSE, CHECK_TEXT)
    }

    pub(crate) fn check(&self, sealed: &[u8]) -> Result<()> {
        let text = self.open(CHECK_PURPOSE, sealed)?;
        if text.reveal() == CHECK_TEXT { Ok(()) } else { Err(StoreError::WrongMasterKey) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does not compile unless the key's memory is zeroed on drop.
    fn is_zeroed_on_drop(_: &impl zeroize::ZeroizeOnDrop) {}

    #[test]
    fn master_key_is_zeroed_and_never_printed() {
        let key = MasterKey::parse(&"a7".repeat(32)).unwrap();
        is_zeroed_on_drop(&key.0);
        assert_eq!(*key.0, [0xa7; 32]);
        assert_eq!(format!("{key:?}"), "MasterKey(***)");
    }

    #[test]
    fn master_key_has_64_hexadecimal_digits() {
        for wrong in ["a7".repeat(31), "a7".repeat(33), "+a".repeat(32), "g7".repeat(32), "é".repeat(32)] {
            assert!(MasterKey::parse(&wrong).is_err(), "{wrong}");
        }
    }
}
