//! The HMAC behind every signature, and comparing without telling how far two things agree.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

pub(super) const MAC_BYTES: usize = 32;

pub(super) fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; MAC_BYTES] {
    // A key may have any length: longer ones are hashed first, as the standard says.
    let mut mac: Hmac<Sha256> = Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&[0; 64].into()));
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// In a time that depends on the length alone.
pub(super) fn is_equal(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}
