//! An entry of the change log: change feeds and webhook notifications are rendered from it.

use crate::catalogue::Resource;
use crate::event::EventKind;
use crate::ids::{Guid, ProcessId};
use crate::time::Ticks;

/// One entry of the change log, with everything that its notification contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    pub sequence: u64,
    pub resource: Resource,
    pub kind: EventKind,
    /// The company that owns the record (for a company, its own id); empty if the tenant owns it.
    pub company: Box<str>,
    pub correlation_id: Box<str>,
    pub version: Ticks,
    /// `ConversationId`: one per change, the same in all its deliveries.
    pub conversation: Guid,
    pub process: ProcessId,
    pub user: Box<str>,
    pub source_interface: Box<str>,
    pub source_action: Box<str>,
    /// Invoicing only: the rendered `Changes`.
    pub changes: Option<Box<str>>,
    /// The version of the envelope that notifications of this entry use.
    pub envelope: i16,
}
