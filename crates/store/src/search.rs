//! Look-ups over all tenants, for the operator's search. Each is bounded.

use async_trait::async_trait;
use domain::{Resource, TenantId, WebhookId};

use crate::{NumberedCall, Result};

/// Records are looked for in so many tenants, the newest ones.
pub const SEARCHED_TENANTS_MAX: usize = 2000;

/// A record that was found by its correlation id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRecord {
    pub tenant: TenantId,
    /// None: the record belongs to the tenant.
    pub company: Option<Box<str>>,
    pub resource: Resource,
    pub correlation_id: Box<str>,
}

#[async_trait]
pub trait Search: Send + Sync + 'static {
    /// Records with this correlation id, letter by letter.
    async fn find_records(&self, correlation_id: &str, rows_max: usize) -> Result<Vec<FoundRecord>>;

    /// The newest webhooks, with those that are unsubscribed or deleted.
    async fn newest_webhooks(&self, rows_max: usize) -> Result<Vec<WebhookId>>;

    /// The logged calls of a request, newest first.
    async fn find_calls(&self, request_id: &str, rows_max: usize) -> Result<Vec<NumberedCall>>;
}
