//! The team of a client or a subscription, in a change.

use domain::TeamId;
use serde::{Deserialize, Deserializer};

use super::schema_types::ChosenId;

/// A change of the owning team: null removes it.
#[derive(Clone, Debug, Default)]
pub(super) enum TeamChange {
    #[default]
    None,
    To(Option<ChosenId>),
}

impl<'de> Deserialize<'de> for TeamChange {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        Option::deserialize(reader).map(Self::To)
    }
}

impl TeamChange {
    #[allow(clippy::option_option, reason = "no change, no team, or a team")]
    pub(super) fn update(self) -> Option<Option<TeamId>> {
        match self {
            Self::None => None,
            Self::To(team) => Some(team.map(|team| TeamId::new(team.0))),
        }
    }
}
