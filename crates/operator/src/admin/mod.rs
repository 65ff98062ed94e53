//! Administration of tenants, users, operators, teams, clients, subscriptions, tokens and webhooks, for the HTTP API and the
//! command line. Generated secrets are returned once, in plain text; the store holds only their hashes, and of keys of
//! subscriptions a sealed copy.

mod account_access;
mod approval;
mod client_kinds;
mod clients;
mod developer;
mod developers;
mod first_operator;
mod invitations;
mod lists;
mod operations;
mod operators;
mod passwords;
mod permissions;
mod reads;
mod records;
mod requests;
mod sandbox;
mod search;
mod second_factors;
mod service;
mod stats;
mod subscriptions;
mod teams;
mod tenants;
mod tokens;
mod usage;
mod users;
mod webhooks;

use std::sync::Arc;

use domain::{Clock, Random, Secret, Ticks};
use store::{AuditContext, Store};

use crate::ports::AccountLinks;

pub use crate::error::AdminError;
pub(crate) use crate::error::{Result, check_found, check_revision, updated};
pub use account_access::{SentReset, UserAuthorization};
pub use approval::{ApprovalMode, ApprovalSettings, approval_mode};
use client_kinds::{check_redirects, checked_pkce};
use clients::checked_products;
pub use clients::{AUTHORIZATIONS_COUNTED_MAX, NewClient};
pub use developer::{
    DeveloperAdmin, OVERLAP_MAX, RedirectUri, RedirectUriState, TeamClient, TeamWebhook, TeamWebhookFilter,
    TeamWebhookPage, WebhookContent,
};
pub use developers::DeveloperChange;
pub use invitations::{NewInvitation, SentInvitation};
pub use operations::OperationsAdmin;
pub use operators::OperatorChange;
pub(crate) use permissions::roles_from;
pub use permissions::{Authority, Permission};
pub use reads::{ReadJson, ReadPageJson, ReadsRequest, parse_read_target};
pub(crate) use reads::{parse_read_cursor, read_target_names};
pub use records::{
    ChangedMemberJson, CollectionName, EDIT_REASON_CHARS_MAX, EditAction, EditedRecordJson, ListedRecordJson,
    MemberDiffJson, NewRecordEdit, NotifiedPageJson, NotifiedQuery, NotifiedWebhookJson, RECORD_ROWS_DEFAULT,
    RECORD_ROWS_MAX, RecordCatalogueJson, RecordChangeJson, RecordDiffJson, RecordHistoryJson, RecordJson,
    RecordName, RecordPageJson, RecordStatus, ResourceCountJson,
};
pub use sandbox::{MadeEvent, SandboxAdmin, SandboxCompany, SandboxSettings};
pub use search::{SearchHit, SearchKind, SearchResults};
pub use service::{
    AreaTraffic, Ending, EndingKind, FailingWebhook, NodeReport, OutcomeCounts, Overview, ProblemKind,
    ReplicaReport, SeriesTraffic, ServiceAdmin, ServicePorts, ServiceProblem, SetupStep, SetupStepKind, Span,
    StoreReport, TrafficPoint, TrafficReport, WebhookTotals,
};
pub use stats::Stats;
pub use subscriptions::{CallLimits, DAILY_QUOTA_MAX, NewSubscription, SubscriptionInUse, SubscriptionKeys};
pub use tokens::NewToken;
pub(crate) use tokens::TOKEN_PREFIX;
pub use usage::{DayUsage, RouteUsage, Usage, read_day};
pub use users::{NewUser, UserChange};
pub use webhooks::{
    AttemptJson, BULK_WEBHOOKS_MAX, BulkAction, BulkResultJson, BulkResultsJson, BulkSelection,
    BulkSelectionJson, DeliveryJson, DeliveryPageJson, FoundWebhook, FoundWebhooks, HealthJson, ReplayJson,
    ReplayPageJson, WebhookAdmin, WebhookCursor, WebhookFamily, WebhookFilter, WebhookJson, WebhookListQuery,
    WebhookPageJson, WebhookState, subscribable_resources,
};
pub(crate) use webhooks::{WebhookStatusSchema, names_schema, resource_schema};

#[derive(Clone)]
pub struct Admin {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub links: Arc<dyn AccountLinks>,
    /// The configured limits of subscriptions.
    pub limits: CallLimits,
    /// Whether addresses that the service dials may be loopback ones, as under `dev`.
    pub is_local: bool,
    /// Who acts. `Authority::default` until `acting` says it.
    pub authority: Authority,
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Admin")
    }
}

/// A new secret or key in plain text, with the end of the old one's validity.
#[derive(Clone, Debug)]
pub struct RotatedSecret {
    pub secret: Secret,
    /// The old one is valid until then.
    pub previous_valid_until: Ticks,
}

impl Admin {
    /// The same administration, on behalf of a request.
    #[must_use]
    pub fn acting(&self, authority: Authority) -> Self {
        Self { authority, ..self.clone() }
    }

    /// Every mutation begins with this: the context for the audit, if the actor's role permits it.
    pub(crate) fn require(&self, permission: Permission) -> Result<&AuditContext> {
        self.authority.require(permission)
    }

    fn now(&self) -> Ticks {
        self.clock.now()
    }

    fn secret(&self) -> Secret {
        Secret::new(self.random.token())
    }
}
