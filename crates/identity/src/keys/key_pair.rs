//! An RSA key pair that signs and verifies. Its `kid` is the RFC 7638 thumbprint of the public key.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
#[allow(
    clippy::disallowed_types,
    reason = "the library requires it; PKCS #1 v1.5 signatures are deterministic"
)]
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeySize, PublicKeyComponents};
use aws_lc_rs::signature::{
    KeyPair as _, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Secret;
use domain::secret::base64url;

use super::KeyError;

/// A key pair with its `kid`.
pub(crate) struct SigningKeyPair {
    pub(crate) kid: String,
    pub(crate) public_jwk: String,
    private: RsaKeyPair,
    public: ParsedPublicKey,
}

impl std::fmt::Debug for SigningKeyPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKeyPair({})", self.kid)
    }
}

impl SigningKeyPair {
    /// Generates a 2,048-bit key; the secret is the private key in the form that `open` reads. Takes up to a second.
    pub(crate) fn generate() -> Result<(Self, Secret), KeyError> {
        let key_pair = RsaKeyPair::generate(KeySize::Rsa2048).map_err(|_| KeyError::Crypto("generate"))?;
        let der: Pkcs8V1Der<'_> = key_pair.as_der().map_err(|_| KeyError::Crypto("encode"))?;
        let private = Secret::new(STANDARD.encode(der.as_ref()));
        Ok((Self::new(key_pair)?, private))
    }

    pub(crate) fn open(private: &Secret) -> Result<Self, KeyError> {
        let der = STANDARD.decode(private.reveal()).map_err(|_| KeyError::Crypto("decode"))?;
        Self::new(RsaKeyPair::from_pkcs8(&der).map_err(|_| KeyError::Crypto("parse"))?)
    }

    fn new(key_pair: RsaKeyPair) -> Result<Self, KeyError> {
        let public = key_pair.public_key();
        let modulus = public.modulus().big_endian_without_leading_zero();
        let exponent = public.exponent().big_endian_without_leading_zero();
        let (n, e) = (base64url(modulus), base64url(exponent));
        // RFC 7638: the required members in lexicographic order.
        let thumbprint = digest(&SHA256, format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#).as_bytes());
        let kid = base64url(thumbprint.as_ref());
        let public_jwk =
            format!(r#"{{"kty":"RSA","use":"sig","alg":"RS256","kid":"{kid}","n":"{n}","e":"{e}"}}"#);
        let public = PublicKeyComponents { n: modulus, e: exponent }
            .to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256)
            .map_err(|_| KeyError::Crypto("extract the public key of"))?;
        Ok(Self { kid, public_jwk, private: key_pair, public })
    }

    #[allow(
        clippy::disallowed_types,
        reason = "the library requires it; PKCS #1 v1.5 signatures are deterministic"
    )]
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let mut signature = vec![0; self.private.public_modulus_len()];
        self.private
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature)
            .map_err(|_| KeyError::Crypto("sign with"))?;
        Ok(signature)
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.public.verify_sig(message, signature).is_ok()
    }
}
