//! The ends of access that an exported audit contains, to repeat them in a restored store: a backup would otherwise revive
//! what was ended after it was made.

mod entry;
mod repeat;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read as _};

use domain::{Guid, OperatorRole, Ticks};
use serde_json::Value;
use store::{AuditKind, TeamRole};

use entry::{Entry, Line, latest, may_end_access, new_value, not_repeatable, old_value};

/// A longer line is not an audit entry.
const LINE_BYTES_MAX: u64 = 1024 * 1024;

/// The members of clients and subscriptions that say what they may do, and for whom.
const LIMITS: [&str; 4] = ["products", "redirectUris", "team", "sandbox"];

/// What has a status that was changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    /// A user or a developer.
    Account(String),
    Operator(String),
    Tenant(String),
    Team(String),
    Client(String),
    Subscription(String),
}

/// The ends of access after the backup.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    grants: BTreeSet<String>,
    /// (user, client, tenant)
    accesses: BTreeSet<(String, String, String)>,
    /// (user, tenant)
    memberships: BTreeSet<(String, String)>,
    /// The last status of each, and when it was set.
    statuses: BTreeMap<Subject, (Ticks, bool)>,
    cancelled: BTreeSet<String>,
    /// Named tokens of the operator's API.
    tokens: BTreeSet<String>,
    webhooks: BTreeSet<Guid>,
    /// Whether a webhook was last enabled or disabled by its owner.
    enabled_webhooks: BTreeMap<Guid, (Ticks, bool)>,
    /// Webhooks whose URL was changed: the backup has an old one.
    moved_webhooks: BTreeSet<Guid>,
    /// Whether a member, (user, tenant), was last an administrator.
    admins: BTreeMap<(String, String), (Ticks, bool)>,
    /// The last role of operators.
    operator_roles: BTreeMap<String, (Ticks, OperatorRole)>,
    /// The last role of developers in teams, by (team, developer); None where they were removed.
    team_members: BTreeMap<(String, String), (Ticks, Option<TeamRole>)>,
    /// The last values of what limits clients and subscriptions, by member.
    limits: BTreeMap<(Subject, String), (Ticks, Value)>,
    /// What was not repeated: no audit contains a secret, and the store refuses what would lock everybody out.
    pub(super) not_repeated: BTreeSet<String>,
    /// The time of the oldest entry.
    pub(super) oldest: Option<Ticks>,
}

impl Ends {
    /// Reads the entries since the backup was made.
    pub(super) fn read(mut input: impl BufRead, since: Ticks) -> Result<Self, String> {
        let (mut ends, mut text) = (Self::default(), String::new());
        for number in 1.. {
            text.clear();
            let limited = input.by_ref().take(LINE_BYTES_MAX).read_line(&mut text);
            if limited.map_err(|error| format!("line {number}: {error}"))? == 0 {
                break;
            }
            if text.trim().is_empty() {
                continue;
            }
            let wrong = || format!("line {number} is not an entry as `aldaba audit --json` prints it");
            let entries = match serde_json::from_str(&text).map_err(|_| wrong())? {
                Line::Page { records } => records,
                Line::Entry(entry) => vec![entry],
            };
            for entry in entries {
                let at = Ticks::parse_iso(&entry.at).ok_or_else(wrong)?;
                ends.oldest = Some(ends.oldest.map_or(at, |oldest| oldest.min(at)));
                if at >= since {
                    ends.add(entry, at);
                }
            }
        }
        Ok(ends)
    }

    fn add(&mut self, entry: Entry, at: Ticks) {
        let Some(kind) = AuditKind::from_name(&entry.kind) else {
            self.not_repeated.insert(format!("entries of the unknown kind {}", entry.kind));
            return;
        };
        if !may_end_access(kind) {
            return;
        }
        self.not_repeated.extend(not_repeatable(kind, &entry));
        match kind {
            AuditKind::Revoked | AuditKind::CodeReused | AuditKind::RefreshReused => {
                self.grants.extend(entry.grant);
            }
            AuditKind::AccessEnded => {
                if let (Some(user), Some(client), Some(tenant)) = (entry.user, entry.client, entry.tenant) {
                    self.accesses.insert((user, client, tenant));
                }
            }
            AuditKind::MembershipRemoved => self.memberships.extend(entry.user.zip(entry.tenant)),
            AuditKind::MembershipChanged => {
                let is_admin = new_value(&entry.changes, "admin").and_then(Value::as_bool);
                if let (Some(membership), Some(is_admin)) = (entry.user.zip(entry.tenant), is_admin) {
                    latest(&mut self.admins, membership, at, is_admin);
                }
            }
            AuditKind::SubscriptionCancelled => self.cancelled.extend(entry.object_of("subscription")),
            AuditKind::OperatorTokenRevoked => self.tokens.extend(entry.object_of("operator_token")),
            AuditKind::WebhookUnsubscribed | AuditKind::WebhookDeleted => {
                self.webhooks.extend(entry.webhook());
            }
            AuditKind::WebhookChanged => self.add_changed_webhook(&entry, at),
            AuditKind::TeamMemberAdded | AuditKind::TeamMemberChanged | AuditKind::TeamMemberRemoved => {
                self.add_team_member(kind, &entry, at);
            }
            AuditKind::TenantErased => {
                let tenant = entry.tenant.unwrap_or_default();
                latest(&mut self.statuses, Subject::Tenant(tenant), at, false);
            }
            _ => self.add_changed(kind, &entry, at),
        }
    }

    /// Adds what a change of an account, a tenant, a team, a client or a subscription took away.
    fn add_changed(&mut self, kind: AuditKind, entry: &Entry, at: Ticks) {
        let subject = match kind {
            AuditKind::UserChanged | AuditKind::DeveloperChanged => entry.account().map(Subject::Account),
            AuditKind::OperatorChanged => entry.account().map(Subject::Operator),
            AuditKind::TenantChanged => entry.tenant.clone().map(Subject::Tenant),
            AuditKind::TeamChanged => entry.object_of("team").map(Subject::Team),
            AuditKind::ClientChanged => entry.client.clone().map(Subject::Client),
            AuditKind::SubscriptionChanged => entry.object_of("subscription").map(Subject::Subscription),
            _ => None,
        };
        let Some(subject) = subject else { return };
        if let Some(status) = new_value(&entry.changes, "status").and_then(Value::as_str) {
            latest(&mut self.statuses, subject.clone(), at, status == "active");
        }
        match &subject {
            Subject::Operator(id) => match entry.new_text("role").map(OperatorRole::from_name) {
                Some(Some(role)) => latest(&mut self.operator_roles, id.clone(), at, role),
                Some(None) => {
                    self.not_repeated.insert(format!("the role of operator {id} was changed"));
                }
                None => {}
            },
            Subject::Client(_) | Subject::Subscription(_) => {
                for change in entry.changes.iter().filter(|one| LIMITS.contains(&one.member.as_str())) {
                    let key = (subject.clone(), change.member.clone());
                    latest(&mut self.limits, key, at, change.to.clone());
                }
            }
            _ => {}
        }
    }

    fn add_team_member(&mut self, kind: AuditKind, entry: &Entry, at: Ticks) {
        let is_removed = kind == AuditKind::TeamMemberRemoved;
        let value = if is_removed { old_value } else { new_value };
        let developer = value(&entry.changes, "developer").and_then(Value::as_str);
        let role = entry.new_text("role").and_then(TeamRole::from_name).filter(|_| !is_removed);
        match (entry.object_of("team"), developer) {
            (Some(team), Some(developer)) if is_removed || role.is_some() => {
                latest(&mut self.team_members, (team, developer.to_owned()), at, role);
            }
            (team, _) => {
                let team = team.unwrap_or_default();
                self.not_repeated.insert(format!(
                    "a change of the members of team {team} that the audit does not describe"
                ));
            }
        }
    }

    fn add_changed_webhook(&mut self, entry: &Entry, at: Ticks) {
        let Some(webhook) = entry.webhook() else { return };
        if let Some(is_enabled) = new_value(&entry.changes, "enabled").and_then(Value::as_bool) {
            latest(&mut self.enabled_webhooks, webhook, at, is_enabled);
        }
        if new_value(&entry.changes, "url").is_some() {
            self.moved_webhooks.insert(webhook);
        }
    }
}

#[cfg(test)]
mod repeat_tests;
#[cfg(test)]
mod tests;
