//! Whether a client's callback carries an id_token, as the API reads and writes it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// When the callback carries an id_token: `auto` (with the scope `openid`, if the request has a `nonce` and no PKCE
/// challenge), `always` (with the scope `openid`) or `never`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", try_from = "serde_json::Value")]
pub(super) enum CallbackIdToken {
    Auto,
    Always,
    Never,
}

/// The mode, or the boolean of version 0.1: true is `auto`, false is `never`.
#[derive(Deserialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it describes what `CallbackIdToken` reads")]
pub(super) enum CallbackIdTokenInput {
    Mode(CallbackIdToken),
    Former(bool),
}

/// Version 0.1 had a boolean, which is still accepted.
impl TryFrom<serde_json::Value> for CallbackIdToken {
    type Error = &'static str;

    fn try_from(value: serde_json::Value) -> Result<Self, Self::Error> {
        match (value.as_str(), value.as_bool()) {
            (Some("auto"), _) | (_, Some(true)) => Ok(Self::Auto),
            (Some("always"), _) => Ok(Self::Always),
            (Some("never"), _) | (_, Some(false)) => Ok(Self::Never),
            _ => Err("expected one of `auto`, `always`, `never`"),
        }
    }
}

impl From<store::CallbackIdToken> for CallbackIdToken {
    fn from(stored: store::CallbackIdToken) -> Self {
        match stored {
            store::CallbackIdToken::Auto => Self::Auto,
            store::CallbackIdToken::Always => Self::Always,
            store::CallbackIdToken::Never => Self::Never,
        }
    }
}

impl From<CallbackIdToken> for store::CallbackIdToken {
    fn from(value: CallbackIdToken) -> Self {
        match value {
            CallbackIdToken::Auto => Self::Auto,
            CallbackIdToken::Always => Self::Always,
            CallbackIdToken::Never => Self::Never,
        }
    }
}
