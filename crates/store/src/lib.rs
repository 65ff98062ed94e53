//! The storage layer. `Store` is the port that the other crates use; its methods are named by intent, and each
//! method is one transaction. SQLite, PostgreSQL and memory implement it and pass one conformance suite.

mod accounts;
pub mod archive;
mod audit;
mod authorizations;
mod calls;
mod changes;
mod clients;
mod commit_signal;
mod diagnosis;
mod directory;
mod directory_search;
mod error;
mod figures;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod grants;
mod invalidation;
mod inventory;
mod invitations;
mod keys;
mod list_filter;
mod listing;
mod logouts;
mod mails;
mod maintenance;
#[cfg(feature = "memory")]
pub mod memory;
mod migration;
mod nodes;
mod notices;
mod operations;
mod operator_tokens;
mod operators;
mod password_resets;
mod payroll;
mod plan;
pub mod postgres;
mod reads;
mod records;
mod recovery_code_notice;
mod requests;
mod revision;
mod rows;
mod sandboxes;
mod search;
mod second_factors;
mod sessions;
mod sign_in_buckets;
mod sparse_counts;
pub mod sqlite;
mod subscriptions;
mod teams;
mod ticket_keys;
mod vault;
mod webhooks;
mod worker_end;
mod write_queue;

use std::sync::Arc;

use domain::{Clock, Random};

pub use accounts::{Account, AccountUpdate, Accounts};
pub use archive::{Archive, ArchiveError, BackupSummary, CellValue, RestoredAccess};
pub use audit::{
    AUDIT_LOOKS_MAX, Actor, ActorFilter, Audit, AuditContext, AuditCursor, AuditEntry, AuditKind, AuditQuery,
    AuditRecord, AuditRecords, MemberChange,
};
pub use authorizations::{
    Authorization, AuthorizationEnd, AuthorizationFacts, Authorizations, EndedAuthorization, OwnerAccess,
};
pub use calls::{
    CALL_LOG_KEPT, CALL_ROWS_MAX, CALL_SUBSCRIPTIONS_MAX, CALLS_KEPT, CallPage, CallQuery, Calls,
    NumberedCall,
};
pub use clients::{CallbackIdToken, Client, ClientSecret, ClientUpdate, Clients, Consent, Pkce};

pub use changes::{
    BatchCounts, ChangeBatch, ChangeLine, ChangeLog, ERRORS_LISTED_MAX, IngestCheckpoint, IngestProgress,
    LineError, LogBounds, LogPage, LogQuery, RECORD_CHANGED, RecordEdit, RecordLogQuery,
};
pub use commit_signal::{ChangeSet, CommitSignal, ResourceSet};
pub use diagnosis::{PostgresDiagnosis, SqliteDiagnosis};
pub use directory::{Directory, Membership, Status, Tenant, TenantMembership, TenantUpdate};
pub use directory_search::{DirectorySearch, SearchFilter};
pub use domain::log_entry::LogEntry;
pub use error::{Result, StoreError};
pub use figures::{FigureBuffer, FigureDelta, Figures, flush_figures};
pub use grants::{
    AuthorizationCode, ClientAccess, CodeExchange, CodeOutcome, Grant, GrantDecision, Grants, NewGrant,
    RefreshOutcome, RefreshRotation, RefreshToken,
};
pub use invalidation::InvalidationCounters;
pub use inventory::{CredentialKind, EndingCredential, Inventory, Replica, StoreState};
pub use invitations::{
    AcceptOutcome, INVITATION_LIFE, Invitation, InvitationFilter, InvitationLink, InvitationOutcome,
    InvitationState, Invitations, InvitedPerson,
};
pub use keys::{SigningKey, SigningKeys};
pub use list_filter::{ListFilter, ListedState};
pub use listing::{LIST_ROWS_MAX, ListCursor, ListPage, ListQuery};
pub use logouts::{
    GrantSession, LOGOUT_LIFE, LeasedLogout, Logout, LogoutEnd, LogoutProgress, LogoutState, Logouts,
};
pub use mails::{LeasedMail, Mail, MailContent, MailFailure, Mails};
pub use maintenance::{ExpiredRows, Health, Maintenance, RetentionCutoffs};
pub use nodes::{NodeDetails, Nodes, RegisteredNode};
pub use notices::{
    ENDING_WITHIN, FAILING_AFTER, FAILING_PAUSE, NOTICES_MAX, Notice, NoticeCursor, NoticePage, NoticeQuery,
    NoticeReader, NoticeSettings, Notices, UNREAD_NOTICES_MAX, WebhookFailure,
};
pub use operations::{ERROR_KINDS, LATENCY_BOUNDS, LatencyCounts, OperationClass, Operations, error_counts};
pub use operator_tokens::{NamedToken, OperatorTokens, TOKEN_USE_PRECISION, TokenState};
pub use operators::Operators;
pub use password_resets::{PASSWORD_RESET_LIFE, PasswordResets};
pub use reads::{
    READ_KEYS_MAX, READ_ROWS_MAX, ReadCount, ReadCursor, ReadDay, ReadPage, ReadQuery, ReadTarget, Reads,
};
pub use records::{
    CollectionSize, CollectionVersion, Page, PageQuery, PayrollQuery, Record, RecordBodies, Records,
};
pub use recovery_code_notice::RecoveryCodeNotice;
pub use requests::{
    Approval, AskOutcome, DECIDED_REQUESTS_MAX, DecisionOutcome, PENDING_REQUESTS_MAX, REDIRECT_URIS_MAX,
    RequestDecision, RequestFilter, RequestKind, RequestState, TeamRequest, TeamRequests,
};
pub use revision::{FIRST_REVISION, UpdateOutcome};
pub use sandboxes::{
    NewSandbox, RECEIVED_MAX, ReceivedRequest, ReceiverMode, ResetSandbox, Sandbox, SandboxClients,
    SandboxOutcome, Sandboxes,
};
pub use search::{FoundRecord, SEARCHED_TENANTS_MAX, Search};
pub use second_factors::{
    AccountFactors, FACTORS_MAX, FactorAddition, FactorEffects, FactorMethod, FactorRemoval, Passkey,
    PasskeyUse, PasskeyUseOutcome, SecondFactor, SecondFactors, UsedChallenge,
};
pub use sessions::{EndedSessions, SESSIONS_LISTED_MAX, Session, Sessions, SignInProof};
pub use sign_in_buckets::{ATTEMPT_MAX, SignInBucket, SignInBuckets, SignInTokens};
pub use subscriptions::{
    CallCount, KeyInfo, KeyLastUse, KeySlot, RevealedKey, Subscription, SubscriptionUpdate, Subscriptions,
};
pub use teams::{
    ListedMember, MemberStep, TEAM_MEMBERS_MAX, Team, TeamMember, TeamMemberChange, TeamMemberOutcome,
    TeamRole, TeamUpdate, Teams,
};
pub use ticket_keys::{TicketKey, TicketKeys};
pub use vault::{MasterKey, Vault};
pub use webhooks::{
    AttemptPurpose, AttemptRecord, AttemptTiming, ChangedWebhooks, CheckpointResult, Deliveries,
    DeliveryHistory, DeliveryQuery, DisabledByService, DisabledOwners, EventGap, Handshake, HandshakeStep,
    History, LISTED_BEHIND_MAX, Lane, LeaseRenewal, ListedWebhook, ListedWebhooks, LoadedWebhook, LogEvent,
    LogTail, NewWebhook, PreviousSecret, RenewedLeases, Replay, ReplayKind, ReplayStep,
    SEARCHED_WEBHOOKS_MAX, SHARDS, ShardLease, SubscribeOutcome, SuccessfulDelivery, SuspensionStep,
    TEAM_WEBHOOKS_MAX, TeamWebhookQuery, TeamWebhooks, Webhook, WebhookChange, WebhookChangeOutcome,
    WebhookCheckpoint, WebhookOwner, WebhookQuery, WebhookSearch, WebhookSearches, WebhookStats, Webhooks,
    read_webhook_stats, receiver_host, shard_of,
};

/// All ports of the storage layer.
pub trait Store:
    ChangeLog
    + Records
    + Accounts
    + Invitations
    + PasswordResets
    + Operators
    + OperatorTokens
    + Directory
    + DirectorySearch
    + Clients
    + Subscriptions
    + Teams
    + TeamRequests
    + Sandboxes
    + Grants
    + Authorizations
    + Sessions
    + Logouts
    + SecondFactors
    + Audit
    + SigningKeys
    + TicketKeys
    + SignInBuckets
    + Nodes
    + Mails
    + Notices
    + Maintenance
    + Webhooks
    + TeamWebhooks
    + WebhookSearches
    + Deliveries
    + History
    + Calls
    + Figures
    + Reads
    + Search
    + Inventory
{
}

impl<T> Store for T where
    T: ChangeLog
        + Records
        + Accounts
        + Invitations
        + PasswordResets
        + Operators
        + OperatorTokens
        + Directory
        + DirectorySearch
        + Clients
        + Subscriptions
        + Teams
        + TeamRequests
        + Sandboxes
        + Grants
        + Authorizations
        + Sessions
        + Logouts
        + SecondFactors
        + Audit
        + SigningKeys
        + TicketKeys
        + SignInBuckets
        + Nodes
        + Mails
        + Notices
        + Maintenance
        + Webhooks
        + TeamWebhooks
        + WebhookSearches
        + Deliveries
        + History
        + Calls
        + Figures
        + Reads
        + Search
        + Inventory
{
}

/// What every store needs from its environment.
#[derive(Clone)]
pub struct Ports {
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub vault: Arc<Vault>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}
