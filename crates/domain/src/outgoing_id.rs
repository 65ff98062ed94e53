//! Outgoing ids: the ids of deliveries, derived and never stored. An event has the same id in every attempt, on every
//! node and after a crash. With the webhook's key, the sequence number of the event can be read from the id.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::ids::Guid;
use crate::time::Ticks;

/// The number of hash bits among the 122 free bits of an id; the other bits are the masked sequence number.
const HASH_BITS: u32 = 58;

/// A webhook's key for the ids of its deliveries.
#[derive(Clone)]
pub struct IdKey(Hmac<Sha256>);

impl std::fmt::Debug for IdKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IdKey(***)")
    }
}

impl IdKey {
    pub fn new(bytes: &[u8; 32]) -> Self {
        let mut block = [0; 64];
        block[..32].copy_from_slice(bytes);
        Self(Hmac::new(&block.into()))
    }

    /// `OutgoingId` of an event.
    pub fn event_id(&self, sequence: u64, conversation: Guid) -> Guid {
        let hash =
            self.hash(b"event", &[&sequence.to_be_bytes(), conversation.as_bytes()]) >> (64 - HASH_BITS);
        let masked = sequence ^ self.mask(hash);
        pack((u128::from(masked) << HASH_BITS) | u128::from(hash))
    }

    /// The sequence number that an id of this webhook encodes; `None` if the id has the wrong form. The result is not
    /// authenticated: the caller must load the event and compare its `event_id` with the id.
    pub fn sequence_from_id(&self, id: Guid) -> Option<u64> {
        let bits = unpack(id)?;
        let hash = u64::try_from(bits & ((1 << HASH_BITS) - 1)).ok()?;
        let masked = u64::try_from(bits >> HASH_BITS).ok()?;
        Some(masked ^ self.mask(hash))
    }

    /// The id of a handshake: the `OutgoingId` of the Acknowledge, or the GUID that an invoicing receiver must echo.
    pub fn handshake_id(&self, number: u32, at: Ticks) -> Guid {
        self.guid(b"handshake", number, at)
    }

    /// The `ConversationId` of the Acknowledge.
    pub fn handshake_conversation_id(&self, number: u32, at: Ticks) -> Guid {
        self.guid(b"conversation", number, at)
    }

    fn guid(&self, label: &[u8], number: u32, at: Ticks) -> Guid {
        let half = |part: u8| self.hash(label, &[&number.to_be_bytes(), &at.0.to_be_bytes(), &[part]]);
        pack((u128::from(half(0)) << HASH_BITS) | u128::from(half(1) >> (64 - HASH_BITS)))
    }

    fn mask(&self, hash: u64) -> u64 {
        self.hash(b"mask", &[&hash.to_be_bytes()])
    }

    fn hash(&self, label: &[u8], parts: &[&[u8]]) -> u64 {
        let mut mac = self.0.clone();
        mac.update(label);
        for part in parts {
            mac.update(part);
        }
        let bytes = mac.finalize().into_bytes();
        bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// Packs 122 bits around the version and variant bits of a version 8 GUID.
fn pack(bits: u128) -> Guid {
    let (a, b, c) = (bits >> 74, (bits >> 62) & 0xfff, bits & ((1 << 62) - 1));
    Guid::derived_from(((a << 80) | (b << 64) | c).to_be_bytes())
}

/// The inverse of `pack`.
fn unpack(id: Guid) -> Option<u128> {
    let whole = u128::from_be_bytes(*id.as_bytes());
    let is_derived = (whole >> 76) & 0xf == 8 && (whole >> 62) & 3 == 2;
    is_derived.then_some(((whole >> 80) << 74) | (((whole >> 64) & 0xfff) << 62) | (whole & ((1 << 62) - 1)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(byte: u8) -> IdKey {
        IdKey::new(&[byte; 32])
    }

    proptest! {
        #[test]
        fn event_id_is_stable_and_encodes_its_sequence(sequence: u64, conversation: [u8; 16]) {
            let conversation = Guid::random_from(conversation);
            let id = key(1).event_id(sequence, conversation);
            prop_assert_eq!(key(1).event_id(sequence, conversation), id);
            prop_assert_eq!(key(1).sequence_from_id(id), Some(sequence));
            prop_assert_ne!(key(2).event_id(sequence, conversation), id);
            prop_assert!(id.to_string().as_bytes()[14] == b'8');
        }

        #[test]
        fn decoding_never_panics(bytes: [u8; 16]) {
            let _ = key(1).sequence_from_id(Guid::from_bytes(bytes));
        }
    }

    #[test]
    fn ids_of_consecutive_events_share_no_prefix() {
        let conversation = Guid::random_from([7; 16]);
        let [one, two] = [1, 2].map(|sequence| key(1).event_id(sequence, conversation).to_string());
        assert_ne!(one[..18], two[..18]);
    }

    #[test]
    fn handshake_ids_are_distinct() {
        let at = Ticks(638_000_000_000_000_000);
        let ids = [
            key(1).handshake_id(1, at),
            key(1).handshake_id(2, at),
            key(1).handshake_conversation_id(1, at),
            key(2).handshake_id(1, at),
        ];
        for (index, id) in ids.iter().enumerate() {
            assert!(ids[index + 1..].iter().all(|other| other != id));
        }
    }
}
