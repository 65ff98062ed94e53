//! The keys that encrypt tickets. They are sealed with the master key before they are stored.

use async_trait::async_trait;
use domain::{Guid, Secret, Ticks};

use crate::Result;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketKey {
    pub id: Guid,
    /// 64 hexadecimal digits.
    pub key: Secret,
    pub created_at: Ticks,
    /// When the key starts to encrypt; it opens tickets as soon as it is known.
    pub encrypts_from: Ticks,
}

#[async_trait]
pub trait TicketKeys: Send + Sync + 'static {
    /// Adds a key after `newest`, as `SigningKeys::add_signing_key` does.
    async fn add_ticket_key(&self, key: &TicketKey, newest: Option<Guid>) -> Result<bool>;
    /// All stored keys, oldest first.
    async fn ticket_keys(&self) -> Result<Vec<TicketKey>>;
    async fn delete_ticket_key(&self, id: Guid) -> Result<bool>;
}

/// The sealing purpose of a key.
pub(crate) fn sealing_purpose(id: Guid) -> String {
    format!("ticket key {id}")
}
