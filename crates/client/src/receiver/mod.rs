//! Receiving webhooks: signature verification, a tower layer, typed [`Event`]s, and an [`Inbox`] that processes each
//! event once.

mod body_variants;
mod delivery_receiver;
mod diagnose;
mod event;
mod hmac;
mod inbox;
mod inbox_memory;
mod layer;
mod verify;

pub use delivery_receiver::BODY_BYTES_MAX;
pub use diagnose::{MismatchReason, ReceivedSignature, SignatureMismatch, SignatureScheme, diagnose};
pub use event::{AccountingChange, Event, EventName, InvalidNotification, InvoicingChange, Notification};
#[cfg(feature = "api")]
pub(crate) use inbox::resource_of;
pub use inbox::{Inbox, InboxError, InboxOutcome, InboxStore, ReceivedEvent, RecordKey};
pub use inbox_memory::MemoryInboxStore;
pub use layer::{HandlerService, ReceiverLayer, ReceiverService};
pub use verify::{TOLERANCE, Verifier, verify};
