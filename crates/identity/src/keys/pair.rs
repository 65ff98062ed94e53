//! One RSA key: parsed once, then it signs and verifies; its name is the thumbprint of its public half.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
#[allow(clippy::disallowed_types, reason = "the library asks for one; these signatures use no chance")]
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeySize, PublicKeyComponents};
use aws_lc_rs::signature::{
    KeyPair as _, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Secret;
use domain::secret::base64url;

use super::KeyFault;

/// A key pair with its name.
pub(crate) struct Pair {
    pub(crate) kid: String,
    pub(crate) public_jwk: String,
    private: RsaKeyPair,
    public: ParsedPublicKey,
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pair({})", self.kid)
    }
}

impl Pair {
    /// A new key of 2,048 bits, and its private half as `open` reads it. Takes a good part of a second.
    pub(crate) fn generate() -> Result<(Self, Secret), KeyFault> {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).map_err(|_| KeyFault::Crypto("generate"))?;
        let der: Pkcs8V1Der<'_> = pair.as_der().map_err(|_| KeyFault::Crypto("encode"))?;
        let private = Secret::new(STANDARD.encode(der.as_ref()));
        Ok((Self::of(pair)?, private))
    }

    pub(crate) fn open(private: &Secret) -> Result<Self, KeyFault> {
        let der = STANDARD.decode(private.reveal()).map_err(|_| KeyFault::Crypto("decode"))?;
        Self::of(RsaKeyPair::from_pkcs8(&der).map_err(|_| KeyFault::Crypto("parse"))?)
    }

    fn of(pair: RsaKeyPair) -> Result<Self, KeyFault> {
        let public = pair.public_key();
        let modulus = public.modulus().big_endian_without_leading_zero();
        let exponent = public.exponent().big_endian_without_leading_zero();
        let (n, e) = (base64url(modulus), base64url(exponent));
        // The members that RFC 7638 names, in its order.
        let thumbprint = digest(&SHA256, format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#).as_bytes());
        let kid = base64url(thumbprint.as_ref());
        let public_jwk =
            format!(r#"{{"kty":"RSA","use":"sig","alg":"RS256","kid":"{kid}","n":"{n}","e":"{e}"}}"#);
        let public = PublicKeyComponents { n: modulus, e: exponent }
            .to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256)
            .map_err(|_| KeyFault::Crypto("take the public half of"))?;
        Ok(Self { kid, public_jwk, private: pair, public })
    }

    #[allow(clippy::disallowed_types, reason = "the library asks for one; these signatures use no chance")]
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyFault> {
        let mut signature = vec![0; self.private.public_modulus_len()];
        self.private
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature)
            .map_err(|_| KeyFault::Crypto("sign with"))?;
        Ok(signature)
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.public.verify_sig(message, signature).is_ok()
    }
}
