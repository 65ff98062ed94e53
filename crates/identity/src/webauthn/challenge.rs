//! The challenges of the two ceremonies, as types of their own: one cannot stand for the other. The caller stores one
//! with the ceremony that it began and accepts it once.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use domain::Random;
use domain::secret::base64url;

use super::encoding::decode;
use super::error::{Field, WebauthnError};

const CHALLENGE_BYTES: usize = 32;

/// A random value that a response must contain.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Challenge([u8; CHALLENGE_BYTES]);

impl Challenge {
    fn new(random: &dyn Random) -> Self {
        let mut bytes = [0; CHALLENGE_BYTES];
        random.fill(&mut bytes);
        Self(bytes)
    }

    fn from_text(text: &str) -> Option<Self> {
        let bytes = decode(text, Field::ClientData, CHALLENGE_BYTES).ok()?;
        bytes.try_into().ok().map(Self)
    }

    /// Compares with the challenge in a response, in constant time.
    pub(super) fn check(&self, text: &str) -> Result<(), WebauthnError> {
        let bytes = decode(text, Field::ClientData, CHALLENGE_BYTES).map_err(|_| WebauthnError::Challenge)?;
        verify_slices_are_equal(&self.0, &bytes).map_err(|_| WebauthnError::Challenge)
    }
}

macro_rules! challenge {
    ($(#[$doc:meta])+ $name:ident) => {
        $(#[$doc])+
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name(pub(super) Challenge);

        impl $name {
            pub fn new(random: &dyn Random) -> Self {
                Self(Challenge::new(random))
            }

            /// Reads what `to_text` wrote.
            pub fn from_text(text: &str) -> Option<Self> {
                Challenge::from_text(text).map(Self)
            }

            /// Base64url, for the options and for a ticket.
            pub fn to_text(&self) -> String {
                base64url(&self.0.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($name), "(***)"))
            }
        }
    };
}

challenge! {
    /// The challenge of the creation of a credential.
    RegistrationChallenge
}

challenge! {
    /// The challenge of a sign-in with a credential.
    AssertionChallenge
}
