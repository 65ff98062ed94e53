//! What a search has found, as the API returns it.

use serde::Serialize;
use utoipa::ToSchema;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum SearchKind {
    Tenant,
    User,
    Developer,
    Operator,
    Invitation,
    Token,
    Team,
    Client,
    Subscription,
    /// What a team asked for.
    Request,
    Webhook,
    /// One event for one webhook.
    Delivery,
    /// A company, or another record.
    Record,
    /// Audit entries of a request.
    Audit,
    /// A logged call of the APIs.
    Call,
}

/// One thing that was found. Members that do not apply are null.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SearchHit {
    pub kind: SearchKind,
    /// Its id; of audit entries and calls the request's.
    pub id: String,
    /// Its name or address; the method and route of a call; the kind of the newest audit entry.
    #[schema(required = true)]
    pub name: Option<String>,
    #[schema(required = true)]
    pub tenant: Option<String>,
    /// The company of a record.
    #[schema(required = true)]
    pub company: Option<String>,
    /// The area of a record.
    #[schema(required = true)]
    pub area: Option<&'static str>,
    /// The resource of a record.
    #[schema(required = true)]
    pub resource: Option<&'static str>,
    /// The webhook of a delivery.
    #[schema(required = true)]
    pub webhook: Option<String>,
    /// The event's number in the log, of a delivery.
    #[schema(required = true)]
    pub sequence: Option<String>,
    /// Who called.
    #[schema(required = true)]
    pub client: Option<String>,
    /// With whose key.
    #[schema(required = true)]
    pub subscription: Option<String>,
    /// The HTTP status of a call.
    #[schema(required = true, minimum = 100, maximum = 599)]
    pub status: Option<u16>,
    /// When it happened, of audit entries and calls.
    #[schema(required = true, format = DateTime)]
    pub at: Option<String>,
}

impl SearchHit {
    pub(super) fn new(kind: SearchKind, id: &impl ToString) -> Self {
        Self {
            kind,
            id: id.to_string(),
            name: None,
            tenant: None,
            company: None,
            area: None,
            resource: None,
            webhook: None,
            sequence: None,
            client: None,
            subscription: None,
            status: None,
            at: None,
        }
    }

    pub(super) fn named(self, name: String) -> Self {
        Self { name: Some(name), ..self }
    }
}

/// What a search has found.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SearchResults {
    /// What was looked for, without surrounding space.
    pub query: String,
    /// At most ten of each kind.
    pub hits: Vec<SearchHit>,
}
