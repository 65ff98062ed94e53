//! For who is called: verification of what comes, the layer that stands in front of an application, the typed
//! [`Event`], and the [`Inbox`] that lets each of them through once.

mod body;
mod diagnose;
mod event;
mod gate;
mod inbox;
mod inbox_memory;
mod layer;
mod mac;
mod verify;

pub use diagnose::{Claim, Mismatch, Reason, Scheme, diagnose};
pub use event::{AccountingChange, Event, EventName, InvoicingChange, Misread, Notification};
pub use gate::BODY_BYTES_MAX;
#[cfg(feature = "api")]
pub(crate) use inbox::resource_of;
pub use inbox::{Arrival, Inbox, InboxError, InboxStore, Outcome, RecordKey};
pub use inbox_memory::MemoryInbox;
pub use layer::{Handled, ReceiverLayer, ReceiverService};
pub use verify::{TOLERANCE, Verifier, verify};
