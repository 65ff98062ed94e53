//! The domain model of Aldaba: ids, the catalogue of resources, records, changes and their events.
//! Pure code: no I/O, no clock, no async. Time and randomness come in through [`ports`].

pub mod accounts;
pub mod call;
pub mod caller;
pub mod catalogue;
pub mod change;
mod client_kind;
pub mod delivery;
mod digits;
pub mod egress;
pub mod envelope;
pub mod error_code;
pub mod event;
mod event_kind;
pub mod field_error;
pub mod figures;
pub mod filter;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod ids;
pub mod invoicing_changes;
pub mod json;
pub mod log_entry;
mod name;
pub mod notice;
pub mod outgoing_id;
pub mod password;
pub mod password_rules;
pub mod ports;
pub mod problem;
pub mod receiver_url;
pub mod record;
pub mod recovery_codes;
pub mod redirect_uri;
pub mod retry;
pub mod scope;
pub mod second_factor;
pub mod secret;
pub mod service_reason;
pub mod signature;
pub mod signing_key;
pub mod subscription;
pub mod suggest;
pub mod suspension;
pub mod tax_id;
pub mod time;
pub mod totp;
pub mod webhook;
pub mod webhook_status;

pub use accounts::{OperatorRole, Realm};
pub use call::{CallRecord, Refusal};
pub use caller::Caller;
pub use catalogue::{Area, Resource};
pub use client_kind::ClientKind;
pub use digits::parse_digits;
pub use error_code::ErrorCode;
pub use field_error::FieldError;
pub use ids::{
    AccountId, ClientId, CorrelationId, GrantId, Guid, MembershipId, ProcessId, RequestId, TeamId, TenantId,
};
pub use name::{NAME_CHARS_MAX, checked_name};
pub use notice::{NoticeKind, NoticeKinds, NoticeObject};
pub use ports::{Clock, Random};
pub use scope::{Scope, Scopes};
pub use second_factor::{SecondFactorPolicies, SecondFactorPolicy};
pub use secret::Secret;
pub use suspension::Suspension;
pub use time::Ticks;
pub use webhook::WebhookId;
pub use webhook_status::WebhookStatus;
