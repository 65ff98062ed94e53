//! The audit entries of sandboxes. They never show the password.

use super::entries::Act;
use super::members::new_value;
use super::{AuditEntry, AuditKind, MemberChange};
use crate::{ReceiverMode, Sandbox};

impl Act {
    pub(crate) fn sandbox_added(&self, one: &Sandbox) -> AuditEntry {
        let changes = vec![new_value("email", one.email.as_str())];
        self.sandbox(AuditKind::SandboxAdded, one).changes(changes)
    }

    /// The sandbox after the reset.
    pub(crate) fn sandbox_reset(&self, before: &Sandbox, after: &Sandbox) -> AuditEntry {
        let (from, to) = (before.tenant.as_str().into(), after.tenant.as_str().into());
        let changes = vec![MemberChange { member: "tenant".into(), from, to }];
        self.sandbox(AuditKind::SandboxReset, after).changes(changes)
    }

    pub(crate) fn sandbox_receiver_changed(&self, before: &Sandbox, mode: ReceiverMode) -> AuditEntry {
        let (from, to) = (before.receiver_mode.as_str().into(), mode.as_str().into());
        let changes = vec![MemberChange { member: "receiver".into(), from, to }];
        self.sandbox(AuditKind::SandboxReceiverChanged, before).changes(changes)
    }

    fn sandbox(&self, kind: AuditKind, one: &Sandbox) -> AuditEntry {
        self.team(kind, &one.team).tenant(&one.tenant).user(&one.user)
    }
}
