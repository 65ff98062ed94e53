//! The ends of access that an exported audit contains, to repeat them in a restored store: a backup would otherwise revive
//! what was ended after it was made.

mod entry;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read as _};

use domain::ids::{OperatorTokenId, SubscriptionId};
use domain::subscription::Product;
use domain::{AccountId, ClientId, GrantId, Guid, TenantId, Ticks};
use serde_json::Value;
use store::{
    AuditContext, AuditKind, ClientAccess, ClientUpdate, Status, Store, WebhookChange, WebhookChangeOutcome,
};

use entry::{Entry, Line, latest, may_end_access, new_value, secret_change};

/// A longer line is not an audit entry.
const LINE_BYTES_MAX: u64 = 1024 * 1024;
const NOTE: &str = "repeated from the audit after a restore";

/// The members of a client that say what it may do.
const LIMITS: [&str; 2] = ["products", "redirectUris"];

/// What has a status that was changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Account(String),
    Tenant(String),
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
    /// The last products and redirect addresses of clients, by client and member.
    client_limits: BTreeMap<(String, String), (Ticks, Value)>,
    /// Changes that cannot be repeated, because no audit contains a secret.
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
        self.not_repeated.extend(secret_change(kind, &entry));
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
            AuditKind::UserChanged | AuditKind::DeveloperChanged | AuditKind::OperatorChanged => {
                self.set_status(entry.account().map(Subject::Account), &entry, at);
            }
            AuditKind::TenantChanged => {
                self.set_status(entry.tenant.clone().map(Subject::Tenant), &entry, at);
            }
            AuditKind::TenantErased => {
                let tenant = entry.tenant.clone().unwrap_or_default();
                latest(&mut self.statuses, Subject::Tenant(tenant), at, false);
            }
            AuditKind::ClientChanged => {
                for (change, client) in
                    entry.changes.iter().filter_map(|one| Some((one, entry.client.as_ref()?)))
                {
                    if LIMITS.contains(&change.member.as_str()) {
                        let key = (client.clone(), change.member.clone());
                        latest(&mut self.client_limits, key, at, change.to.clone());
                    }
                }
                self.set_status(entry.client.clone().map(Subject::Client), &entry, at);
            }
            AuditKind::SubscriptionChanged => {
                let subscription = entry.object_of("subscription").map(Subject::Subscription);
                self.set_status(subscription, &entry, at);
            }
            _ => {}
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

    fn set_status(&mut self, subject: Option<Subject>, entry: &Entry, at: Ticks) {
        let status = new_value(&entry.changes, "status").and_then(Value::as_str);
        if let (Some(subject), Some(status)) = (subject, status) {
            latest(&mut self.statuses, subject, at, status == "active");
        }
    }

    /// Repeats the ends; returns how many took effect. What does not exist in the backup had begun after it.
    pub(super) async fn repeat(
        &self,
        store: &dyn Store,
        now: Ticks,
        context: &AuditContext,
    ) -> store::Result<usize> {
        let mut repeated = 0;
        for grant in &self.grants {
            repeated +=
                usize::from(store.revoke_grant(&GrantId::new(grant.as_str()), now, context, NOTE).await?);
        }
        for (user, client, tenant) in &self.accesses {
            let access = ClientAccess {
                user: AccountId::new(user.as_str()),
                client: ClientId::new(client.as_str()),
                tenant: TenantId::new(tenant.as_str()),
            };
            let standing = store.user_authorizations(&access.user).await?;
            if standing.iter().any(|facts| facts.authorization.access == access) {
                store.revoke_client_access(&access, now, context, NOTE).await?;
                repeated += 1;
            }
        }
        for (user, tenant) in &self.memberships {
            let (user, tenant) = (AccountId::new(user.as_str()), TenantId::new(tenant.as_str()));
            repeated += usize::from(store.remove_membership(&user, &tenant, context).await?);
        }
        repeated += self.repeat_statuses(store, context).await?;
        for id in &self.cancelled {
            let id = SubscriptionId::new(id.as_str());
            repeated += usize::from(store.cancel_subscription(&id, now, context).await?);
        }
        for id in &self.tokens {
            let id = OperatorTokenId::new(id.as_str());
            repeated += usize::from(store.revoke_operator_token(&id, now, context).await?);
        }
        let disabled = self.enabled_webhooks.iter().filter(|(_, (_, is_enabled))| !is_enabled);
        let disabled: BTreeSet<Guid> =
            disabled.map(|(id, _)| *id).chain(self.moved_webhooks.iter().copied()).collect();
        let ended = self.webhooks.iter().map(|id| (*id, WebhookChange::Unsubscribe));
        for (id, change) in disabled.into_iter().map(|id| (id, WebhookChange::Disable)).chain(ended) {
            let change = store.change_webhook(id, None, change, context).await?;
            repeated += usize::from(matches!(change, WebhookChangeOutcome::Changed(_)));
        }
        repeated += self.repeat_roles_and_limits(store, context).await?;
        Ok(repeated)
    }

    async fn repeat_statuses(&self, store: &dyn Store, context: &AuditContext) -> store::Result<usize> {
        let mut repeated = 0;
        for (subject, _) in self.statuses.iter().filter(|(_, (_, is_active))| !is_active) {
            let disabled = Status::Disabled;
            repeated += usize::from(match subject {
                Subject::Account(id) => {
                    store.set_account_status(&AccountId::new(id.as_str()), disabled, context).await?
                }
                Subject::Tenant(id) => {
                    store.set_tenant_status(&TenantId::new(id.as_str()), disabled, context).await?
                }
                Subject::Client(id) => {
                    store.set_client_status(&ClientId::new(id.as_str()), disabled, context).await?
                }
                Subject::Subscription(id) => {
                    store
                        .set_subscription_status(&SubscriptionId::new(id.as_str()), disabled, context)
                        .await?
                }
            });
        }
        Ok(repeated)
    }

    /// Takes away what members and clients had lost.
    async fn repeat_roles_and_limits(
        &self,
        store: &dyn Store,
        context: &AuditContext,
    ) -> store::Result<usize> {
        let mut repeated = 0;
        for ((user, tenant), _) in self.admins.iter().filter(|(_, (_, is_admin))| !is_admin) {
            let (user, tenant) = (AccountId::new(user.as_str()), TenantId::new(tenant.as_str()));
            repeated += usize::from(store.set_membership_admin(&user, &tenant, false, context).await?);
        }
        for ((client, member), (_, last)) in &self.client_limits {
            let id = ClientId::new(client.as_str());
            let Some(found) = store.find_client(&id).await? else { continue };
            let is_left = |name: &str| last.as_array().is_some_and(|all| all.iter().any(|one| one == name));
            let update = if member == "products" {
                let left = Product::ALL.into_iter().filter(|one| found.products.contains(*one));
                let left = left.filter(|one| is_left(one.as_str())).collect();
                ClientUpdate { products: Some(left), ..ClientUpdate::default() }
            } else {
                let left = found.redirect_uris.iter().filter(|uri| is_left(uri)).cloned().collect();
                ClientUpdate { redirect_uris: Some(left), ..ClientUpdate::default() }
            };
            repeated += usize::from(store.update_client(&id, &update, None, context).await?.is_updated());
        }
        Ok(repeated)
    }
}

#[cfg(test)]
mod tests;
