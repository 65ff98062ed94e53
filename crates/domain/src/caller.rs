//! The authenticated caller of an API: what a valid access token says about its bearer.

use crate::ids::{AccountId, ClientId, GrantId, TenantId};
use crate::scope::Scopes;
use crate::time::Ticks;

/// The bearer of a valid access token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub user: AccountId,
    pub tenant: TenantId,
    pub client: ClientId,
    pub grant: GrantId,
    pub scopes: Scopes,
    pub expires_at: Ticks,
}
