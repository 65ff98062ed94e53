//! The catalogue of error codes: every error that an API answers with has one of these, with its cause and its cure. Error bodies,
//! the OpenAPI documents, the page `/docs/errors` and `docs/errors.md` come from it.

mod access;
mod changes;
mod markdown;
mod operator;
mod requests;
mod webhooks;

use std::fmt;

pub use markdown::markdown;

macro_rules! error_codes {
    ($($name:ident = $text:literal, $status:literal;)*) => {
        /// What is wrong, for programs. A code never changes its meaning; a later version may add codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ErrorCode { $($name),* }

        impl ErrorCode {
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// The HTTP status of a response with this code; 200 for what only a report about single changes contains.
            pub const fn status(self) -> u16 {
                match self { $(Self::$name => $status),* }
            }
        }
    };
}

error_codes! {
    // Keys, tokens, scopes and limits.
    MissingSubscriptionKey = "missing_subscription_key", 401;
    InvalidSubscriptionKey = "invalid_subscription_key", 401;
    MissingToken = "missing_token", 401;
    InvalidToken = "invalid_token", 401;
    InsufficientScope = "insufficient_scope", 403;
    ClientNotForProduct = "client_not_for_product", 403;
    RateLimitExceeded = "rate_limit_exceeded", 429;
    QuotaExceeded = "quota_exceeded", 403;
    InsufficientRole = "insufficient_role", 403;
    // Paths, parameters, headers and bodies, in every API.
    PathNotFound = "path_not_found", 404;
    MethodNotAllowed = "method_not_allowed", 405;
    InvalidParameter = "invalid_parameter", 400;
    UnknownParameter = "unknown_parameter", 400;
    MissingParameter = "missing_parameter", 400;
    DuplicateParameter = "duplicate_parameter", 400;
    InvalidHeader = "invalid_header", 400;
    InvalidPath = "invalid_path", 400;
    MissingContext = "missing_context", 400;
    InvalidContext = "invalid_context", 400;
    ContextMismatch = "context_mismatch", 400;
    CompanyNotFound = "company_not_found", 404;
    RecordNotFound = "record_not_found", 404;
    BelowFloor = "below_floor", 410;
    NotFound = "not_found", 404;
    InvalidJson = "invalid_json", 400;
    MissingMember = "missing_member", 400;
    InvalidMember = "invalid_member", 400;
    UnknownMember = "unknown_member", 400;
    DuplicateMember = "duplicate_member", 400;
    InvalidValue = "invalid_value", 400;
    BodyTooLarge = "body_too_large", 413;
    BodyCutOff = "body_cut_off", 400;
    BodyTooSlow = "body_too_slow", 408;
    UnsupportedMediaType = "unsupported_media_type", 415;
    ServiceUnavailable = "service_unavailable", 503;
    InternalError = "internal_error", 500;
    // Subscriptions, deliveries and replays.
    InvalidUrl = "invalid_url", 400;
    RefusedAddress = "refused_address", 400;
    UnresolvedHost = "unresolved_host", 400;
    ReservedAddress = "reserved_address", 400;
    ForeignHost = "foreign_host", 400;
    UnknownEventType = "unknown_event_type", 400;
    UnknownEntity = "unknown_entity", 400;
    UnknownAction = "unknown_action", 400;
    Deleted = "deleted", 409;
    Unsubscribed = "unsubscribed", 409;
    Exists = "exists", 409;
    NotOffered = "not_offered", 409;
    TooManyWebhooks = "too_many_webhooks", 409;
    NothingToReplay = "nothing_to_replay", 404;
    NotSubscribed = "not_subscribed", 409;
    NotEntitled = "not_entitled", 409;
    Inactive = "inactive", 409;
    Suspended = "suspended", 409;
    TooManyReplays = "too_many_replays", 409;
    // The ingest of changes, and edits of records.
    NotChanges = "not_changes", 400;
    IdempotencyKeyInUse = "idempotency_key_in_use", 409;
    IdempotencyKeyReused = "idempotency_key_reused", 409;
    LineTooLong = "line_too_long", 200;
    Unfinished = "unfinished", 200;
    UnknownArea = "unknown_area", 200;
    UnknownResource = "unknown_resource", 200;
    UnexpectedMember = "unexpected_member", 200;
    OwnedMember = "owned_member", 200;
    CorrelationIdInData = "correlation_id_in_data", 200;
    ActionNotAllowed = "action_not_allowed", 200;
    UnknownCompany = "unknown_company", 409;
    UnknownRecord = "unknown_record", 409;
    RecordChanged = "record_changed", 409;
    AccountNotFound = "account_not_found", 409;
    WrongControl = "wrong_control", 200;
    IncompleteTaxData = "incomplete_tax_data", 200;
    // The administration.
    UnknownTenant = "unknown_tenant", 404;
    Cancelled = "cancelled", 409;
    RevisionConflict = "revision_conflict", 409;
    NotConfirmed = "not_confirmed", 409;
    LastAdmin = "last_admin", 409;
    LastOwner = "last_owner", 409;
    TooManyMembers = "too_many_members", 409;
    TooManyRequests = "too_many_requests", 409;
    TeamDisabled = "team_disabled", 409;
    ClientDisabled = "client_disabled", 409;
    AlreadyInvited = "already_invited", 409;
    InvitationEnded = "invitation_ended", 409;
    NotPending = "not_pending", 409;
    CannotApprove = "cannot_approve", 409;
    NotRevealable = "not_revealable", 409;
    SandboxApart = "sandbox_apart", 409;
    SandboxClosed = "sandbox_closed", 409;
    SandboxNotReady = "sandbox_not_ready", 409;
    SandboxIncomplete = "sandbox_incomplete", 409;
    TooManyEvents = "too_many_events", 409;
    ChangeRefused = "change_refused", 409;
    Over = "over", 409;
    Alike = "alike", 409;
    SelectionChanged = "selection_changed", 409;
    NextKeyExists = "next_key_exists", 409;
    BackupRunning = "backup_running", 409;
    BackupDirectory = "backup_directory", 409;
    BackupDownloads = "backup_downloads", 409;
    StoreFull = "store_full", 503;
    StoreUnavailable = "store_unavailable", 503;
    StoreBusy = "store_busy", 503;
}

/// Why an error happens, and what to do about it.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    pub cause: &'static str,
    pub cure: &'static str,
}

/// One code of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct ErrorEntry {
    pub code: ErrorCode,
    pub english: Explanation,
    pub spanish: Explanation,
}

const fn entry(code: ErrorCode, english: Explanation, spanish: Explanation) -> ErrorEntry {
    ErrorEntry { code, english, spanish }
}

/// What the codes of a section are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorGroup {
    /// Keys, tokens, scopes and limits.
    Access,
    /// Paths, parameters, headers and bodies.
    Requests,
    /// Subscriptions, deliveries and replays.
    Webhooks,
    /// Ingest and edits of records: the operator's API.
    Changes,
    /// Administration: the operator's API.
    Operator,
}

impl ErrorGroup {
    pub const ALL: [Self; 5] = [Self::Access, Self::Requests, Self::Webhooks, Self::Changes, Self::Operator];

    /// The codes of the group.
    pub fn entries(self) -> &'static [ErrorEntry] {
        match self {
            Self::Access => access::ENTRIES,
            Self::Requests => requests::ENTRIES,
            Self::Webhooks => webhooks::ENTRIES,
            Self::Changes => changes::ENTRIES,
            Self::Operator => operator::ENTRIES,
        }
    }
}

impl ErrorCode {
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_is_explained_once_in_the_order_of_the_catalogue() {
        let explained: Vec<ErrorCode> =
            ErrorGroup::ALL.iter().flat_map(|group| group.entries()).map(|entry| entry.code).collect();
        assert_eq!(explained, ErrorCode::ALL);
    }

    #[test]
    fn names_are_unique_and_round_trip() {
        let names: BTreeSet<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), ErrorCode::ALL.len());
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_name(code.as_str()), Some(*code));
            assert!(code.as_str().bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase()), "{code}");
            assert!(code.status() == 200 || (400..600).contains(&code.status()), "{code}");
        }
    }

    #[test]
    fn texts_are_sentences() {
        for entry in ErrorGroup::ALL.iter().flat_map(|group| group.entries()) {
            for Explanation { cause, cure } in [entry.english, entry.spanish] {
                for text in [cause, cure] {
                    assert!(text.ends_with('.') && !text.contains('|'), "{}: {text}", entry.code);
                }
            }
        }
    }
}
