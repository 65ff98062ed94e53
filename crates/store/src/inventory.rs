//! What the operator's overview asks of a store: its size and its replicas, and the credentials that end soon.

use std::time::Duration;

use async_trait::async_trait;
use domain::Ticks;

use crate::Result;

/// The replicas that are listed.
pub(crate) const REPLICAS_MAX: usize = 16;

/// The state of the store. Fields that the database does not report are None.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreState {
    /// `sqlite`, `postgresql` or `memory`.
    pub kind: &'static str,
    /// Of the database.
    pub version: Option<String>,
    pub size_bytes: Option<u64>,
    /// The size of a file's write-ahead log.
    pub wal_bytes: Option<u64>,
    /// Commits since the database, or for a file the program, counts them.
    pub commits: Option<u64>,
    /// The standbys that follow the database.
    pub replicas: Option<Vec<Replica>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    pub name: String,
    /// As the database names it: `streaming`, `catchup`, …
    pub state: String,
    pub lag_bytes: Option<u64>,
    pub lag: Option<Duration>,
}

/// A credential that has an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// A named token of the operator's API.
    OperatorToken,
    /// The replaced secret of a client.
    ClientSecret,
    /// A replaced key of a subscription.
    SubscriptionKey,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndingCredential {
    pub kind: CredentialKind,
    /// Of the token, the client or the subscription.
    pub id: String,
    pub name: String,
    pub ends_at: Ticks,
}

/// The soonest of several lists.
pub(crate) fn soonest(mut found: Vec<EndingCredential>, rows_max: usize) -> Vec<EndingCredential> {
    found.sort_by(|one, other| (one.ends_at, &one.id).cmp(&(other.ends_at, &other.id)));
    found.truncate(rows_max);
    found
}

#[async_trait]
pub trait Inventory: Send + Sync + 'static {
    async fn store_state(&self) -> Result<StoreState>;

    /// The credentials that end after a time and until another, soonest first.
    async fn ending_credentials(
        &self,
        after: Ticks,
        until: Ticks,
        rows_max: usize,
    ) -> Result<Vec<EndingCredential>>;
}
