//! The ends of access that an exported audit contains, to repeat them in a restored store: a backup would otherwise revive
//! what was ended after it was made.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read as _};

use domain::ids::SubscriptionId;
use domain::subscription::Product;
use domain::{ClientId, GrantId, Guid, TenantId, Ticks, UserId};
use serde::Deserialize;
use serde_json::Value;
use store::{
    AuditContext, AuditKind, ClientAccess, ClientUpdate, Status, Store, WebhookChange, WebhookChangeOutcome,
};

/// A longer line is not an audit entry.
const LINE_BYTES_MAX: u64 = 1024 * 1024;
const NOTE: &str = "repeated from the audit after a restore";

/// An entry as `aldaba audit --json` prints it; a page of entries has them as `records`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Page { records: Vec<Entry> },
    Entry(Entry),
}

#[derive(Deserialize)]
struct Entry {
    at: String,
    kind: String,
    user: Option<String>,
    email: Option<String>,
    tenant: Option<String>,
    client: Option<String>,
    grant: Option<String>,
    object: Option<String>,
    #[serde(default)]
    changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Change {
    member: String,
    #[serde(default)]
    to: Value,
}

/// The members of a client that say what it may do.
const LIMITS: [&str; 2] = ["products", "redirectUris"];

/// The new value of a member that was changed.
fn new_value<'a>(changes: &'a [Change], member: &str) -> Option<&'a Value> {
    changes.iter().find(|change| change.member == member).map(|change| &change.to)
}

/// Keeps the latest value.
fn latest<K: Ord, V>(values: &mut BTreeMap<K, (Ticks, V)>, key: K, at: Ticks, value: V) {
    match values.get_mut(&key) {
        Some(last) if last.0 > at => {}
        Some(last) => *last = (at, value),
        None => {
            values.insert(key, (at, value));
        }
    }
}

/// What has a status that was changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    User(String),
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
        let object = |kind: &str| {
            let id = entry.object.as_deref()?.strip_prefix(kind)?.strip_prefix(':')?;
            Some(id.to_owned())
        };
        let webhook = || object("webhook").and_then(|id| Guid::parse(&id));
        let who = entry.email.clone().or_else(|| entry.user.clone()).unwrap_or_default();
        let Some(kind) = AuditKind::from_name(&entry.kind) else {
            self.not_repeated.insert(format!("entries of the unknown kind {}", entry.kind));
            return;
        };
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
                if let (Some(membership), Some(is_admin)) = (
                    entry.user.zip(entry.tenant),
                    new_value(&entry.changes, "admin").and_then(Value::as_bool),
                ) {
                    latest(&mut self.admins, membership, at, is_admin);
                }
            }
            AuditKind::SubscriptionCancelled => self.cancelled.extend(object("subscription")),
            AuditKind::WebhookUnsubscribed | AuditKind::WebhookDeleted => self.webhooks.extend(webhook()),
            AuditKind::WebhookChanged => {
                let is_enabled = new_value(&entry.changes, "enabled").and_then(Value::as_bool);
                if let (Some(webhook), Some(is_enabled)) = (webhook(), is_enabled) {
                    latest(&mut self.enabled_webhooks, webhook, at, is_enabled);
                }
                if let (Some(webhook), Some(_)) = (webhook(), new_value(&entry.changes, "url")) {
                    self.moved_webhooks.insert(webhook);
                    self.not_repeated
                        .insert(format!("webhook {webhook} got another URL (it is disabled now)"));
                }
            }
            AuditKind::UserChanged => {
                if entry.changes.iter().any(|change| change.member == "password") {
                    self.not_repeated.insert(format!("the password of {who} was changed"));
                }
                self.set_status(entry.user.map(Subject::User), &entry.changes, at);
            }
            AuditKind::TenantChanged => {
                self.set_status(entry.tenant.map(Subject::Tenant), &entry.changes, at);
            }
            AuditKind::ClientChanged => {
                if let Some(client) = &entry.client {
                    let changes =
                        entry.changes.iter().filter(|change| LIMITS.contains(&change.member.as_str()));
                    for change in changes {
                        let key = (client.clone(), change.member.clone());
                        latest(&mut self.client_limits, key, at, change.to.clone());
                    }
                    if entry.changes.iter().any(|change| change.member == "pkce") {
                        self.not_repeated.insert(format!("the PKCE mode of client {client} was changed"));
                    }
                }
                self.set_status(entry.client.map(Subject::Client), &entry.changes, at);
            }
            AuditKind::SubscriptionChanged => {
                self.set_status(object("subscription").map(Subject::Subscription), &entry.changes, at);
            }
            AuditKind::TenantErased => {
                let tenant = entry.tenant.unwrap_or_default();
                self.not_repeated.insert(format!("tenant {tenant} was erased (it is disabled now)"));
                latest(&mut self.statuses, Subject::Tenant(tenant), at, false);
            }
            AuditKind::ClientSecretRotated => {
                let client = entry.client.unwrap_or_default();
                self.not_repeated.insert(format!("the secret of client {client} was replaced"));
            }
            AuditKind::SubscriptionKeyRotated => {
                let subscription = object("subscription").unwrap_or_default();
                self.not_repeated.insert(format!("a key of subscription {subscription} was replaced"));
            }
            AuditKind::WebhookSecretRotated => {
                let webhook = object("webhook").unwrap_or_default();
                self.not_repeated.insert(format!("the secret of webhook {webhook} was replaced"));
            }
            AuditKind::SigningKeyRetired => {
                let kid = object("signing_key").unwrap_or_default();
                self.not_repeated
                    .insert(format!("signing key {kid} was retired (aldaba signing-keys rotate)"));
            }
            // These begin or record something; what has begun after the backup is not in it.
            AuditKind::SignedIn
            | AuditKind::SignInFailed
            | AuditKind::SignedOut
            | AuditKind::ConsentDenied
            | AuditKind::ClientRefused
            | AuditKind::CodeIssued
            | AuditKind::Granted
            | AuditKind::Refreshed
            | AuditKind::TenantAdded
            | AuditKind::UserAdded
            | AuditKind::MembershipAdded
            | AuditKind::ClientAdded
            | AuditKind::SubscriptionAdded
            | AuditKind::SigningKeyRotated
            | AuditKind::SigningKeyDeleted
            | AuditKind::WebhookSubscribed
            | AuditKind::WebhookReplayed
            | AuditKind::WebhookFailing
            | AuditKind::WebhookDisabled
            | AuditKind::WebhookEventsLost
            | AuditKind::WebhookHostMismatch
            | AuditKind::WebhookSuspended
            | AuditKind::WebhookResumed
            | AuditKind::Restored => {}
        }
    }

    fn set_status(&mut self, subject: Option<Subject>, changes: &[Change], at: Ticks) {
        let status = new_value(changes, "status").and_then(Value::as_str);
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
                user: UserId::new(user.as_str()),
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
            let (user, tenant) = (UserId::new(user.as_str()), TenantId::new(tenant.as_str()));
            repeated += usize::from(store.remove_membership(&user, &tenant, context).await?);
        }
        for (subject, _) in self.statuses.iter().filter(|(_, (_, is_active))| !is_active) {
            let disabled = Status::Disabled;
            repeated += usize::from(match subject {
                Subject::User(id) => {
                    store.set_user_status(&UserId::new(id.as_str()), disabled, context).await?
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
        for id in &self.cancelled {
            let id = SubscriptionId::new(id.as_str());
            repeated += usize::from(store.cancel_subscription(&id, now, context).await?);
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

    /// Takes away what members and clients had lost.
    async fn repeat_roles_and_limits(
        &self,
        store: &dyn Store,
        context: &AuditContext,
    ) -> store::Result<usize> {
        let mut repeated = 0;
        for ((user, tenant), _) in self.admins.iter().filter(|(_, (_, is_admin))| !is_admin) {
            let (user, tenant) = (UserId::new(user.as_str()), TenantId::new(tenant.as_str()));
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
mod tests {
    use super::*;

    fn entry(minute: u32, kind: &str, rest: &str) -> String {
        format!("{{\"at\":\"2026-11-15T10:{minute:02}:00.0000000Z\",\"kind\":\"{kind}\"{rest}}}\n")
    }

    fn read(text: &str) -> Result<Ends, String> {
        Ends::read(text.as_bytes(), Ticks::parse_iso("2026-11-15T10:30:00Z").unwrap())
    }

    #[test]
    fn ends_after_the_backup_are_collected() {
        let text = [
            entry(50, "revoked", r#","user":"u","grant":"g2""#),
            entry(40, "refresh_reused", r#","grant":"g1""#),
            entry(41, "granted", r#","grant":"g3""#),
            entry(35, "membership_removed", r#","user":"u","tenant":"t""#),
            entry(36, "subscription_cancelled", r#","object":"subscription:s1""#),
            entry(37, "access_ended", r#","user":"u","client":"c","tenant":"t""#),
            entry(10, "revoked", r#","grant":"before""#),
        ];
        let ends = read(&text.concat()).unwrap();
        assert_eq!(ends.grants, ["g1", "g2"].map(str::to_owned).into());
        assert_eq!(ends.memberships, [("u".to_owned(), "t".to_owned())].into());
        assert_eq!(ends.accesses, [["u", "c", "t"].map(str::to_owned).into()].into());
        assert_eq!(ends.cancelled, ["s1".to_owned()].into());
        assert_eq!(ends.oldest, Ticks::parse_iso("2026-11-15T10:10:00Z"));
        let page =
            format!("{{\"records\":[{}],\"next\":null}}", entry(50, "revoked", r#","grant":"g2""#).trim());
        assert_eq!(read(&page).unwrap().grants, ["g2".to_owned()].into(), "a page of the operator's API");
    }

    #[test]
    fn last_status_counts_and_secrets_cannot_be_repeated() {
        let status = |minute, user: &str, to: &str| {
            let rest = format!(r#","user":"{user}","changes":[{{"member":"status","to":"{to}"}}]"#);
            entry(minute, "user_changed", &rest)
        };
        let password =
            entry(40, "user_changed", r#","user":"a","email":"a@b","changes":[{"member":"password"}]"#);
        let text = [
            status(50, "a", "active"),
            status(45, "a", "disabled"),
            status(44, "b", "disabled"),
            status(20, "c", "disabled"),
            password,
        ];
        let ends = read(&text.concat()).unwrap();
        let is_active = |id: &str| ends.statuses.get(&Subject::User(id.into())).map(|(_, active)| *active);
        assert_eq!((is_active("a"), is_active("b"), is_active("c")), (Some(true), Some(false), None));
        assert_eq!(ends.not_repeated, ["the password of a@b was changed".to_owned()].into());
    }

    #[test]
    fn what_members_clients_and_webhooks_lost_is_collected() {
        let webhook = "00000000-0000-0000-0000-000000000001";
        let changed = |minute, kind: &str, whom: &str, member: &str, to: &str| {
            entry(minute, kind, &format!(r#",{whom},"changes":[{{"member":"{member}","to":{to}}}]"#))
        };
        let (member, client) = (r#""user":"u","tenant":"t""#, r#""client":"c""#);
        let object = format!(r#""object":"webhook:{webhook}""#);
        let text = [
            changed(50, "membership_changed", member, "admin", "false"),
            changed(40, "membership_changed", member, "admin", "true"),
            changed(45, "client_changed", client, "products", r#"["payroll"]"#),
            changed(46, "client_changed", client, "redirectUris", r#"["https://a/"]"#),
            changed(47, "webhook_changed", &object, "enabled", "false"),
            changed(48, "webhook_changed", &object, "url", r#""https://b/""#),
            entry(49, "signing_key_retired", r#","object":"signing_key:k""#),
            entry(49, "of_the_future", ""),
        ];
        let ends = read(&text.concat()).unwrap();
        let webhook = Guid::parse(webhook).unwrap();
        assert_eq!(ends.admins.values().map(|(_, is_admin)| *is_admin).collect::<Vec<_>>(), [false]);
        assert_eq!(ends.client_limits.len(), 2);
        assert_eq!(ends.enabled_webhooks.get(&webhook).map(|(_, is_enabled)| *is_enabled), Some(false));
        assert!(ends.moved_webhooks.contains(&webhook));
        assert_eq!(ends.not_repeated.len(), 3, "{:?}", ends.not_repeated);
    }

    #[test]
    fn line_that_is_no_entry_is_named() {
        let text = entry(50, "revoked", "") + "nonsense\n";
        assert_eq!(read(&text).unwrap_err(), "line 2 is not an entry as `aldaba audit --json` prints it");
        assert!(read(&entry(50, "revoked", "").replace("2026", "x")).is_err());
        assert_eq!(read("\n").unwrap(), Ends::default());
    }
}
