//! The address for back-channel logouts, in a change of a client.

use serde::{Deserialize, Deserializer};

use super::schema_types::BackchannelLogoutUri;

/// A change of the address: null removes it.
#[derive(Clone, Debug, Default)]
pub(super) enum BackchannelLogoutChange {
    #[default]
    None,
    To(Option<BackchannelLogoutUri>),
}

impl<'de> Deserialize<'de> for BackchannelLogoutChange {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        Option::deserialize(reader).map(Self::To)
    }
}

impl BackchannelLogoutChange {
    #[allow(clippy::option_option, reason = "no change, no address, or an address")]
    pub(super) fn update(self) -> Option<Option<String>> {
        match self {
            Self::None => None,
            Self::To(uri) => Some(uri.map(|uri| uri.0)),
        }
    }
}
