//! Recipients (`age1…`) and identities (`AGE-SECRET-KEY-1…`), and the file key that is wrapped for them.

use std::io::Result;

use aws_lc_rs::aead::{Aad, Nonce};
use aws_lc_rs::agreement::{PrivateKey, UnparsedPublicKey, X25519, agree};
use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, Hrp};
use domain::Random;

use super::{FILE_KEY_BYTES, FileKey, TAG_BYTES, cipher, crypto_failed, derive, invalid};

const KEY_BYTES: usize = 32;
const RECIPIENT_PREFIX: &str = "age";
const IDENTITY_PREFIX: &str = "age-secret-key-";
const WRAP_INFO: &str = "age-encryption.org/v1/X25519";
/// The wrapping key is used once.
const ZERO_NONCE: [u8; 12] = [0; 12];

/// The public key that a backup is encrypted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient([u8; KEY_BYTES]);

/// The private key that decrypts a backup.
pub struct Identity {
    private: PrivateKey,
    public: [u8; KEY_BYTES],
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity(***)")
    }
}

/// The bytes of a bech32 text with this prefix.
fn decode(text: &str, prefix: &str) -> Option<[u8; KEY_BYTES]> {
    let checked = CheckedHrpstring::new::<Bech32>(text).ok()?;
    let is_expected = checked.hrp().as_str().eq_ignore_ascii_case(prefix);
    let bytes: Vec<u8> = checked.byte_iter().collect();
    bytes.try_into().ok().filter(|_| is_expected)
}

impl Recipient {
    pub fn parse(text: &str) -> std::result::Result<Self, &'static str> {
        let is_lower_case = !text.contains(|c: char| c.is_ascii_uppercase());
        let key = decode(text, RECIPIENT_PREFIX).filter(|_| is_lower_case);
        key.map(Self).ok_or("a recipient is an age public key (age1…), as `age-keygen` prints it")
    }

    /// Wraps the file key; returns the ephemeral share and the wrapped key.
    pub(super) fn wrap(&self, file_key: &FileKey, random: &dyn Random) -> Result<(Vec<u8>, Vec<u8>)> {
        let mut ephemeral = [0; KEY_BYTES];
        random.fill(&mut ephemeral);
        let ephemeral = PrivateKey::from_private_key(&X25519, &ephemeral).map_err(crypto_failed)?;
        let share = ephemeral.compute_public_key().map_err(crypto_failed)?.as_ref().to_vec();
        let key = wrapping_key(&ephemeral, &self.0, &share, &self.0)?
            .ok_or_else(|| invalid("the recipient's key is not usable"))?;
        let mut wrapped = file_key.to_vec();
        let nonce = Nonce::assume_unique_for_key(ZERO_NONCE);
        cipher(&key)?.seal_in_place_append_tag(nonce, Aad::empty(), &mut wrapped).map_err(crypto_failed)?;
        Ok((share, wrapped))
    }
}

impl std::fmt::Display for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = bech32::encode::<Bech32>(Hrp::parse_unchecked(RECIPIENT_PREFIX), &self.0);
        f.write_str(&text.map_err(|_| std::fmt::Error)?)
    }
}

impl Identity {
    /// Parses a key file as `age-keygen` writes it: comments and one or more identities.
    pub fn parse_file(text: &str) -> std::result::Result<Vec<Self>, &'static str> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let identities = lines.map(Self::parse).collect::<std::result::Result<Vec<_>, _>>()?;
        if identities.is_empty() { Err(NOT_AN_IDENTITY) } else { Ok(identities) }
    }

    fn parse(text: &str) -> std::result::Result<Self, &'static str> {
        let key = decode(text, IDENTITY_PREFIX).ok_or(NOT_AN_IDENTITY)?;
        let private = PrivateKey::from_private_key(&X25519, &key).map_err(|_| NOT_AN_IDENTITY)?;
        let public = private.compute_public_key().map_err(|_| NOT_AN_IDENTITY)?;
        let public = public.as_ref().try_into().map_err(|_| NOT_AN_IDENTITY)?;
        Ok(Self { private, public })
    }

    pub fn recipient(&self) -> Recipient {
        Recipient(self.public)
    }

    /// The file key, if it was wrapped for this identity.
    pub(super) fn unwrap(&self, share: &[u8], wrapped: &[u8]) -> Result<Option<FileKey>> {
        let share: &[u8; KEY_BYTES] =
            share.try_into().map_err(|_| invalid("the header of the encrypted file is damaged"))?;
        if wrapped.len() != FILE_KEY_BYTES + TAG_BYTES {
            return Err(invalid("the header of the encrypted file is damaged"));
        }
        let Some(key) = wrapping_key(&self.private, share, share, &self.public)? else {
            return Err(invalid("the header of the encrypted file is damaged"));
        };
        let mut wrapped = wrapped.to_vec();
        let nonce = Nonce::assume_unique_for_key(ZERO_NONCE);
        let opened = cipher(&key)?.open_in_place(nonce, Aad::empty(), &mut wrapped);
        Ok(opened.ok().and_then(|file_key| FileKey::try_from(&*file_key).ok()))
    }
}

const NOT_AN_IDENTITY: &str = "the identity file has no age secret key (AGE-SECRET-KEY-1…)";

/// The key that wraps the file key; none if the other side's public key is a point of low order.
fn wrapping_key(
    private: &PrivateKey,
    peer: &[u8; KEY_BYTES],
    share: &[u8],
    recipient: &[u8; KEY_BYTES],
) -> Result<Option<[u8; 32]>> {
    let salt = [share, recipient.as_slice()].concat();
    let derived = agree(private, UnparsedPublicKey::new(&X25519, peer), (), |secret| {
        Ok(derive(&salt, secret, WRAP_INFO))
    });
    derived.ok().transpose()
}
