//! Roles in the bodies of operators and tokens.

use domain::OperatorRole;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an operator or a token may do: `viewer` reads everything; `support` also handles webhooks, changes and requests of
/// teams; `admin` does everything.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    Viewer,
    Support,
    Admin,
}

impl From<OperatorRole> for Role {
    fn from(role: OperatorRole) -> Self {
        match role {
            OperatorRole::Viewer => Self::Viewer,
            OperatorRole::Support => Self::Support,
            OperatorRole::Admin => Self::Admin,
        }
    }
}

impl From<Role> for OperatorRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Viewer,
            Role::Support => Self::Support,
            Role::Admin => Self::Admin,
        }
    }
}
