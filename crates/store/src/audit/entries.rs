//! The audit entry of each mutation: a pure function from what was and what is to who changed what. Every store calls
//! it and writes the entry in the transaction of the mutation.

use domain::ids::SubscriptionId;
use domain::{AccountId, ClientId, NoticeKind, NoticeKinds, Realm, TeamId, Ticks, WebhookId};

use super::members::{differences, new_value, secret};
use super::{AuditContext, AuditEntry, AuditKind, MemberChange};
use crate::mails::stored_error;
use crate::{
    Account, AccountUpdate, AuthorizationCode, Client, Invitation, KeySlot, Logout, LogoutEnd, Membership,
    NamedToken, ReplayKind, RequestState, RestoredAccess, SigningKey, Subscription, Team, TeamMember,
    TeamRequest, Tenant, Webhook, WebhookChange, WebhookOwner,
};

/// When, and by whom.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    pub(crate) at: Ticks,
    pub(crate) context: AuditContext,
}

impl Act {
    pub(crate) fn new(at: Ticks, context: &AuditContext) -> Self {
        Self { at, context: context.clone() }
    }

    /// The act that an entry is about.
    pub(crate) fn of(entry: &AuditEntry) -> Self {
        Self::new(entry.at, &entry.context)
    }

    fn entry(&self, kind: AuditKind) -> AuditEntry {
        AuditEntry::new(kind, self.at, &self.context)
    }

    pub(crate) fn tenant_added(&self, tenant: &Tenant) -> AuditEntry {
        self.entry(AuditKind::TenantAdded).tenant(&tenant.id).changes(differences(None, Some(tenant)))
    }

    pub(crate) fn tenant_changed(&self, before: &Tenant, after: &Tenant) -> AuditEntry {
        self.entry(AuditKind::TenantChanged).tenant(&after.id).changes(differences(Some(before), Some(after)))
    }

    pub(crate) fn tenant_erased(&self, tenant: &Tenant) -> AuditEntry {
        self.entry(AuditKind::TenantErased).tenant(&tenant.id).changes(differences(Some(tenant), None))
    }

    pub(crate) fn account_added(&self, one: &Account) -> AuditEntry {
        let entry = self.entry(AuditKind::account_added(one.realm)).account(one.realm, &one.id);
        entry.changes(differences(None, Some(one)))
    }

    pub(crate) fn account_changed(
        &self,
        before: &Account,
        after: &Account,
        update: &AccountUpdate,
    ) -> AuditEntry {
        let mut changes = differences(Some(before), Some(after));
        changes.extend(update.password_hash.as_ref().map(|_| secret("password")));
        let entry = self.entry(AuditKind::account_changed(after.realm)).account(after.realm, &after.id);
        entry.changes(changes)
    }

    pub(crate) fn sessions_ended(&self, realm: Realm, account: &AccountId, count: u64) -> AuditEntry {
        let entry = self.entry(AuditKind::SessionsEnded).account(realm, account);
        entry.changes(vec![new_value("sessions", count)])
    }

    pub(crate) fn logout_queued(&self, logout: &Logout) -> AuditEntry {
        self.entry(AuditKind::LogoutQueued).user(&logout.user).client(&logout.client)
    }

    pub(crate) fn logout_ended(&self, logout: &Logout, end: &LogoutEnd) -> AuditEntry {
        let kind = match end {
            LogoutEnd::Delivered => AuditKind::LogoutDelivered,
            LogoutEnd::Failed(_) => AuditKind::LogoutFailed,
        };
        self.entry(kind).user(&logout.user).client(&logout.client).note(stored_error(end.error()))
    }

    pub(crate) fn invitation_made(&self, one: &Invitation) -> AuditEntry {
        self.invitation(AuditKind::InvitationMade, one).changes(differences(None, Some(one)))
    }

    pub(crate) fn invitation_resent(&self, before: &Invitation, after: &Invitation) -> AuditEntry {
        let mut changes = differences(Some(before), Some(after));
        changes.push(secret("link"));
        self.invitation(AuditKind::InvitationResent, after).changes(changes)
    }

    /// `replaced`: another invitation took its place.
    pub(crate) fn invitation_revoked(&self, one: &Invitation, replaced: bool) -> AuditEntry {
        let note = if replaced { "replaced by a new invitation" } else { "" };
        self.invitation(AuditKind::InvitationRevoked, one).changes(differences(Some(one), None)).note(note)
    }

    pub(crate) fn invitation_accepted(&self, one: &Invitation, account: &Account) -> AuditEntry {
        let changes = vec![new_value("email", one.email.as_str()), new_value("account", account.id.as_str())];
        self.invitation(AuditKind::InvitationAccepted, one).changes(changes)
    }

    fn invitation(&self, kind: AuditKind, one: &Invitation) -> AuditEntry {
        self.entry(kind).object("invitation", &one.id)
    }

    pub(crate) fn password_reset_requested(&self, realm: Realm, account: &AccountId) -> AuditEntry {
        self.entry(AuditKind::PasswordResetRequested).account(realm, account)
    }

    pub(crate) fn password_reset(&self, realm: Realm, account: &AccountId) -> AuditEntry {
        let entry = self.entry(AuditKind::PasswordReset).account(realm, account);
        entry.changes(vec![secret("password")])
    }

    pub(crate) fn membership_added(&self, membership: &Membership) -> AuditEntry {
        self.membership(AuditKind::MembershipAdded, membership, differences(None, Some(membership)))
    }

    pub(crate) fn membership_removed(&self, membership: &Membership) -> AuditEntry {
        self.membership(AuditKind::MembershipRemoved, membership, differences(Some(membership), None))
    }

    /// A member became an administrator of the tenant, or no longer is one.
    pub(crate) fn membership_changed(&self, before: &Membership, after: &Membership) -> AuditEntry {
        let changes = differences(Some(before), Some(after));
        self.membership(AuditKind::MembershipChanged, after, changes)
    }

    fn membership(&self, kind: AuditKind, one: &Membership, changes: Vec<MemberChange>) -> AuditEntry {
        let entry = self.entry(kind).user(&one.user).tenant(&one.tenant);
        entry.object("membership", &one.id).changes(changes)
    }

    pub(crate) fn client_added(&self, client: &Client) -> AuditEntry {
        self.entry(AuditKind::ClientAdded).client(&client.id).changes(differences(None, Some(client)))
    }

    pub(crate) fn client_changed(&self, before: &Client, after: &Client) -> AuditEntry {
        self.entry(AuditKind::ClientChanged).client(&after.id).changes(differences(Some(before), Some(after)))
    }

    pub(crate) fn client_secret_rotated(&self, id: &ClientId, previous_valid_until: Ticks) -> AuditEntry {
        let until = new_value("previousValidUntil", previous_valid_until.iso());
        self.entry(AuditKind::ClientSecretRotated).client(id).changes(vec![secret("secret"), until])
    }

    pub(crate) fn subscription_added(&self, one: &Subscription) -> AuditEntry {
        self.subscription(AuditKind::SubscriptionAdded, &one.id).changes(differences(None, Some(one)))
    }

    pub(crate) fn subscription_changed(&self, before: &Subscription, after: &Subscription) -> AuditEntry {
        let changes = differences(Some(before), Some(after));
        self.subscription(AuditKind::SubscriptionChanged, &after.id).changes(changes)
    }

    pub(crate) fn subscription_cancelled(&self, before: &Subscription, after: &Subscription) -> AuditEntry {
        let changes = differences(Some(before), Some(after));
        self.subscription(AuditKind::SubscriptionCancelled, &after.id).changes(changes)
    }

    pub(crate) fn key_rotated(
        &self,
        id: &SubscriptionId,
        slot: KeySlot,
        previous_valid_until: Ticks,
    ) -> AuditEntry {
        let until = new_value("previousValidUntil", previous_valid_until.iso());
        let changes = vec![secret(&format!("{}Key", slot.as_str())), until];
        self.subscription(AuditKind::SubscriptionKeyRotated, id).changes(changes)
    }

    pub(crate) fn key_revealed(&self, id: &SubscriptionId, slot: KeySlot) -> AuditEntry {
        let changes = vec![secret(&format!("{}Key", slot.as_str()))];
        self.subscription(AuditKind::SubscriptionKeyRevealed, id).changes(changes)
    }

    fn subscription(&self, kind: AuditKind, id: &SubscriptionId) -> AuditEntry {
        self.entry(kind).object("subscription", id)
    }

    pub(crate) fn team_added(&self, team: &Team) -> AuditEntry {
        self.team(AuditKind::TeamAdded, &team.id).changes(differences(None, Some(team)))
    }

    pub(crate) fn team_changed(&self, before: &Team, after: &Team) -> AuditEntry {
        self.team(AuditKind::TeamChanged, &after.id).changes(differences(Some(before), Some(after)))
    }

    pub(crate) fn team_member_added(&self, one: &TeamMember) -> AuditEntry {
        self.team(AuditKind::TeamMemberAdded, &one.team).changes(differences(None, Some(one)))
    }

    pub(crate) fn team_member_changed(&self, before: &TeamMember, after: &TeamMember) -> AuditEntry {
        let mut changes = vec![new_value("developer", after.account.as_str())];
        changes.extend(differences(Some(before), Some(after)));
        self.team(AuditKind::TeamMemberChanged, &after.team).changes(changes)
    }

    pub(crate) fn team_member_removed(&self, one: &TeamMember) -> AuditEntry {
        self.team(AuditKind::TeamMemberRemoved, &one.team).changes(differences(Some(one), None))
    }

    /// `before` and `after` are the kinds that come as mail.
    pub(crate) fn notice_preferences_changed(
        &self,
        team: &TeamId,
        account: &AccountId,
        before: NoticeKinds,
        after: NoticeKinds,
    ) -> AuditEntry {
        let names = |kinds: NoticeKinds| kinds.iter().map(NoticeKind::as_str).collect::<Vec<_>>().into();
        let mailed = MemberChange { member: "mailed".into(), from: names(before), to: names(after) };
        let entry = self.team(AuditKind::NoticePreferencesChanged, team);
        entry.changes(vec![mailed]).note(format!("developer {account}"))
    }

    pub(super) fn team(&self, kind: AuditKind, id: &TeamId) -> AuditEntry {
        self.entry(kind).object("team", id)
    }

    pub(crate) fn request_added(&self, one: &TeamRequest) -> AuditEntry {
        let entry = self.entry(AuditKind::RequestAdded).object("request", &one.id);
        entry.changes(differences(None, Some(one)))
    }

    pub(crate) fn request_decided(&self, before: &TeamRequest, after: &TeamRequest) -> AuditEntry {
        let kind = match after.state {
            RequestState::Pending => AuditKind::RequestAdded,
            RequestState::Approved => AuditKind::RequestApproved,
            RequestState::Refused => AuditKind::RequestRefused,
            RequestState::Withdrawn => AuditKind::RequestWithdrawn,
        };
        let entry = self.entry(kind).object("request", &after.id);
        entry.changes(differences(Some(before), Some(after))).note(format!("team {}", after.team))
    }

    pub(crate) fn operator_token_added(&self, token: &NamedToken) -> AuditEntry {
        let mut changes = differences(None, Some(token));
        changes.push(secret("secret"));
        self.operator_token(AuditKind::OperatorTokenAdded, token).changes(changes)
    }

    /// The token after its revocation.
    pub(crate) fn operator_token_revoked(&self, token: &NamedToken) -> AuditEntry {
        let before = NamedToken { revoked_at: None, ..token.clone() };
        let changes = differences(Some(&before), Some(token));
        self.operator_token(AuditKind::OperatorTokenRevoked, token).changes(changes)
    }

    fn operator_token(&self, kind: AuditKind, token: &NamedToken) -> AuditEntry {
        self.entry(kind).object("operator_token", &token.id).note(format!("token {}", token.name))
    }

    pub(crate) fn signing_key_added(&self, key: &SigningKey) -> AuditEntry {
        self.signing_key(AuditKind::SigningKeyRotated, &key.kid).changes(differences(None, Some(key)))
    }

    pub(crate) fn signing_key_retired(&self, kid: &str, at: Ticks) -> AuditEntry {
        let changes = vec![new_value("retiredAt", at.iso())];
        self.signing_key(AuditKind::SigningKeyRetired, kid).changes(changes)
    }

    pub(crate) fn signing_key_deleted(&self, kid: &str) -> AuditEntry {
        self.signing_key(AuditKind::SigningKeyDeleted, kid)
    }

    fn signing_key(&self, kind: AuditKind, kid: &str) -> AuditEntry {
        self.entry(kind).object("signing_key", kid)
    }

    pub(crate) fn code_issued(&self, code: &AuthorizationCode) -> AuditEntry {
        self.entry(AuditKind::CodeIssued).user(&code.user).tenant(&code.tenant).client(&code.client)
    }

    /// The new webhook, and a second entry where its receiver's host may not be the subscriber's.
    pub(crate) fn webhook_subscribed(&self, webhook: &Webhook) -> Vec<AuditEntry> {
        let (key, changes) = ((webhook.id, &webhook.owner), differences(None, Some(webhook)));
        let mut entries =
            vec![self.webhook(AuditKind::WebhookSubscribed, key, "subscribed").changes(changes)];
        if !webhook.host_mismatch.is_empty() {
            entries.push(self.webhook(AuditKind::WebhookHostMismatch, key, &webhook.host_mismatch));
        }
        entries
    }

    pub(crate) fn webhook_changed(
        &self,
        before: &Webhook,
        after: &Webhook,
        change: &WebhookChange,
    ) -> AuditEntry {
        let mut changes = differences(Some(before), Some(after));
        let (kind, what) = match change {
            WebhookChange::Enable => (AuditKind::WebhookChanged, "enabled"),
            WebhookChange::Disable => (AuditKind::WebhookChanged, "disabled"),
            WebhookChange::ChangeUrl(_) => (AuditKind::WebhookChanged, "sent to another URL"),
            WebhookChange::RotateSecret { previous_valid_until, .. } => {
                changes.push(secret("secret"));
                changes.push(new_value("previousValidUntil", previous_valid_until.iso()));
                (AuditKind::WebhookSecretRotated, "new secret")
            }
            WebhookChange::SubscribeAgain { .. } => (AuditKind::WebhookChanged, "subscribed again"),
            WebhookChange::Unsubscribe => (AuditKind::WebhookUnsubscribed, "unsubscribed"),
            WebhookChange::Delete => (AuditKind::WebhookDeleted, "deleted"),
        };
        self.webhook(kind, (after.id, &after.owner), what).changes(changes)
    }

    pub(crate) fn replay_requested(
        &self,
        webhook: (WebhookId, &WebhookOwner),
        kind: ReplayKind,
        (after, through): (u64, u64),
    ) -> AuditEntry {
        match kind {
            ReplayKind::Test => self.webhook(AuditKind::WebhookChanged, webhook, "test event requested"),
            ReplayKind::Events => {
                let first = after.saturating_add(1);
                let what = format!("replay of events {first} to {through} requested");
                self.webhook(AuditKind::WebhookReplayed, webhook, &what)
            }
        }
    }

    fn webhook(&self, kind: AuditKind, (id, owner): (WebhookId, &WebhookOwner), what: &str) -> AuditEntry {
        let entry = self.entry(kind).tenant(&owner.tenant).client(&owner.client);
        entry.object("webhook", id).note(format!("webhook {id}: {what}"))
    }

    /// `taken_at`: when the backup was taken.
    pub(crate) fn restored(&self, taken_at: &str, rows: u64, access: RestoredAccess) -> AuditEntry {
        let access = new_value("access", access.as_str());
        let changes = vec![new_value("takenAt", taken_at), new_value("rows", rows), access];
        self.entry(AuditKind::Restored).changes(changes)
    }
}
