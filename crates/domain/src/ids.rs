//! Newtypes for ids, so that the compiler tells a user's id from a tenant's.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// 128 bits written as `8-4-4-4-12` lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Guid(Uuid);

impl Guid {
    /// The length of the text form.
    pub const CHARS: usize = 36;

    /// A version 4 GUID from 16 random bytes.
    pub fn random_from(bytes: [u8; 16]) -> Self {
        Self(uuid::Builder::from_random_bytes(bytes).into_uuid())
    }

    /// A version 8 GUID from 16 derived bytes, such as a hash.
    pub fn derived_from(bytes: [u8; 16]) -> Self {
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// A GUID with exactly these bytes, version and variant included.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    pub fn parse(text: &str) -> Option<Self> {
        Uuid::try_parse(text).ok().map(Self)
    }

    /// Writes the text form without the cost of `fmt`.
    pub fn write_to(self, text: &mut [u8; Self::CHARS]) -> &str {
        self.0.hyphenated().encode_lower(text)
    }
}

/// Whether a text is a GUID in its usual form, in any case.
pub fn is_hyphenated_guid(text: &str) -> bool {
    text.len() == Guid::CHARS && Guid::parse(text).is_some()
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

macro_rules! text_ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::new)
            }
        }

        impl $name {
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<Guid> for $name {
            fn from(guid: Guid) -> Self {
                Self(guid.to_string().into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )*};
}

text_ids! {
    /// A customer of the operator; owns companies and all their records.
    TenantId,
    /// The writer's own id of a record: opaque text, unique within (tenant, company, resource).
    CorrelationId,
    /// The account of a user, a developer or an operator.
    AccountId,
    /// The membership of a user in a tenant.
    MembershipId,
    /// An invitation to an account.
    InvitationId,
    /// A registered OAuth client.
    ClientId,
    /// A user's authorization of a client for a tenant. Tokens belong to it and are revoked with it.
    GrantId,
    /// A subscription to API products, with its subscription keys.
    SubscriptionId,
    /// A team of developers, which owns clients and subscriptions.
    TeamId,
    /// What a team asked the operator for.
    RequestId,
    /// A named token of the operator's API.
    OperatorTokenId,
}

/// The id of one request to the changes endpoint; also `SvcProcessId` in the notifications of its changes.
pub type ProcessId = Guid;

/// Correlation ids that would collide with paths of the API.
const RESERVED_CORRELATION_IDS: [&str; 6] = ["changes", "webhooks", "estimations", "prorates", ".", ".."];
pub const CORRELATION_ID_CHARS_MAX: usize = 200;

impl CorrelationId {
    /// Validates a correlation id from a request; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("must not be empty");
        }
        if text.len() > CORRELATION_ID_CHARS_MAX && text.chars().count() > CORRELATION_ID_CHARS_MAX {
            return Err("must have at most 200 characters");
        }
        if text.contains('\0') {
            return Err("must not contain a NUL character");
        }
        if RESERVED_CORRELATION_IDS.contains(&text) {
            return Err("is reserved: the API uses it in its own paths");
        }
        Ok(Self::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlation_id_is_any_bounded_text_except_reserved_words() {
        assert!(CorrelationId::parse("cliente ñ/1?#%").is_ok());
        assert!(CorrelationId::parse(&"ñ".repeat(200)).is_ok());
        assert!(CorrelationId::parse(&"ñ".repeat(201)).is_err());
        for reserved in ["", "changes", "webhooks", "estimations", "prorates", ".", "..", "a\0b"] {
            assert!(CorrelationId::parse(reserved).is_err(), "{reserved:?}");
        }
    }

    #[test]
    fn guid_text_contains_its_version() {
        assert_eq!(Guid::random_from([0xff; 16]).to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(Guid::derived_from([0; 16]).to_string(), "00000000-0000-8000-8000-000000000000");
        assert_eq!(Guid::parse("no"), None);
    }
}
