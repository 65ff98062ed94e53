//! The JSON Web Key Set that a server publishes. Signatures are verified here, without the server's code.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::{HttpRequest, Server, decode_jwt};

/// The published keys.
#[derive(Clone, Debug)]
pub(crate) struct JwkSet(pub(crate) Vec<Value>);

impl JwkSet {
    #[track_caller]
    pub(crate) fn fetch(server: &Server) -> Self {
        let response = HttpRequest::get(&format!("{}/auth/core/.well-known/jwks", server.public_url)).send();
        assert_eq!(response.status, 200, "{response:?}");
        Self(response.json()["keys"].as_array().unwrap().clone())
    }

    pub(crate) fn kids(&self) -> Vec<&str> {
        self.0.iter().map(|key| key["kid"].as_str().unwrap()).collect()
    }

    /// Verifies a token's signature and returns its claims.
    #[track_caller]
    pub(crate) fn verify(&self, token: &str) -> Value {
        self.verify_as("JWT", token)
    }

    /// The same for a token with this `typ`.
    #[track_caller]
    pub(crate) fn verify_as(&self, typ: &str, token: &str) -> Value {
        let (header, claims) = decode_jwt(token);
        assert_eq!((&header["alg"], &header["typ"]), (&"RS256".into(), &typ.into()), "{header}");
        assert_eq!(header.as_object().unwrap().len(), 3, "{header}");
        let key = self.0.iter().find(|key| key["kid"] == header["kid"]);
        let key = key.unwrap_or_else(|| panic!("{} is not among {:?}", header["kid"], self.kids()));
        let (message, signature) = token.rsplit_once('.').unwrap();
        let [n, e] = ["n", "e"].map(|member| bytes(key[member].as_str().unwrap()));
        let public = RsaPublicKeyComponents { n, e };
        let is_right =
            public.verify(&RSA_PKCS1_2048_8192_SHA256, message.as_bytes(), &bytes(signature)).is_ok();
        assert!(is_right, "the signature was not made with key {}", header["kid"]);
        claims
    }
}

fn bytes(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).unwrap()
}

/// SHA-256, base64url-encoded.
pub(crate) fn sha256(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

/// The left half of a SHA-256 hash, as `c_hash` and `at_hash` use it.
pub(crate) fn half_hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(&digest(&SHA256, text.as_bytes()).as_ref()[..16])
}
