//! HMAC-SHA256, and comparison in constant time.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

pub(super) const MAC_BYTES: usize = 32;

pub(super) fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; MAC_BYTES] {
    // HMAC accepts keys of any length, so this cannot fail.
    let mut mac: Hmac<Sha256> = Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&[0; 64].into()));
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Compares in a time that depends only on the length.
pub(super) fn is_equal(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}
