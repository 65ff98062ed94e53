//! A row of the change log: the one thing that reads, feeds and notifications of a change are made from.

use crate::catalogue::Resource;
use crate::event::EventKind;
use crate::ids::{Guid, ProcessId};
use crate::time::Ticks;

/// One row of the log: all that a notification of it is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    pub sequence: u64,
    pub resource: Resource,
    pub kind: EventKind,
    /// The company that the record belongs to (for a company, itself); empty for the tenant's own.
    pub company: Box<str>,
    pub correlation_id: Box<str>,
    pub version: Ticks,
    /// One per change, the same for all its deliveries.
    pub conversation: Guid,
    pub process: ProcessId,
    pub user: Box<str>,
    pub source_interface: Box<str>,
    pub source_action: Box<str>,
    /// Invoicing only: the rendered `Changes`.
    pub changes: Option<Box<str>>,
    /// Which form of the envelope the notification of this row has.
    pub envelope: i16,
}
