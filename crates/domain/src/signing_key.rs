//! The keys that sign tokens, as people see them: without their private part.

use crate::time::Ticks;

/// What a key is used for at a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// Published, so that clients know it before it signs.
    Next,
    Signing,
    /// Replaced; tokens that it signed may still be valid.
    Verifying,
    /// No token that it signed is valid.
    Past,
}

impl KeyState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Signing => "signing",
            Self::Verifying => "verifying",
            Self::Past => "past",
        }
    }
}

/// A signing key without its private part, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKeyInfo {
    pub kid: String,
    pub state: KeyState,
    pub created_at: Ticks,
    pub signs_from: Ticks,
    /// When another key takes over: the next one, or the one that the automatic rotation will make. None: nobody knows yet.
    pub signs_until: Option<Ticks>,
    /// When no token that it signed is valid any more.
    pub ends_at: Option<Ticks>,
    /// When it was withdrawn before its time.
    pub retired_at: Option<Ticks>,
}
