//! Repeats ends of access in a restored store. It takes away and gives nothing back, but for the team of a client or of a
//! subscription, which becomes the last one. What the store refuses is listed.

use std::collections::BTreeSet;

use domain::ids::{OperatorTokenId, SubscriptionId};
use domain::subscription::Product;
use domain::{AccountId, ClientId, GrantId, Guid, TeamId, TenantId, Ticks};
use serde_json::Value;
use store::{
    Account, AccountUpdate, AuditContext, Client, ClientAccess, ClientUpdate, MemberStep, Status, Store,
    Subscription, SubscriptionUpdate, TeamMemberChange, TeamMemberOutcome, TeamRole, TeamUpdate,
    UpdateOutcome, WebhookChange, WebhookChangeOutcome,
};

use super::entry::oldest_first;
use super::{Ends, Subject};

const NOTE: &str = "repeated from the audit after a restore";

impl Ends {
    /// Repeats the ends; returns how many took effect, and lists what was refused. What does not exist in the backup had
    /// begun after it.
    pub(in super::super) async fn repeat(
        &mut self,
        store: &dyn Store,
        now: Ticks,
        context: &AuditContext,
    ) -> store::Result<usize> {
        let mut refused = Vec::new();
        let repeated = self.repeat_revocations(store, now, context).await?
            + self.repeat_statuses(store, context, &mut refused).await?
            + self.repeat_operator_roles(store, context, &mut refused).await?
            + self.repeat_webhooks(store, context).await?
            + self.repeat_team_members(store, context, &mut refused).await?
            + self.repeat_limits(store, context, &mut refused).await?;
        self.not_repeated.extend(refused);
        Ok(repeated)
    }

    async fn repeat_revocations(
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
        for ((user, tenant), _) in self.admins.iter().filter(|(_, (_, is_admin))| !is_admin) {
            let (user, tenant) = (AccountId::new(user.as_str()), TenantId::new(tenant.as_str()));
            repeated += usize::from(store.set_membership_admin(&user, &tenant, false, context).await?);
        }
        for id in &self.cancelled {
            let id = SubscriptionId::new(id.as_str());
            repeated += usize::from(store.cancel_subscription(&id, now, context).await?);
        }
        for id in &self.tokens {
            let id = OperatorTokenId::new(id.as_str());
            repeated += usize::from(store.revoke_operator_token(&id, now, context).await?);
        }
        Ok(repeated)
    }

    /// Disables what was disabled. The last admin stays enabled, and is listed.
    async fn repeat_statuses(
        &self,
        store: &dyn Store,
        context: &AuditContext,
        refused: &mut Vec<String>,
    ) -> store::Result<usize> {
        let (mut repeated, disabled) = (0, Status::Disabled);
        for (subject, _) in oldest_first(&self.statuses).into_iter().filter(|(_, is_active)| !**is_active) {
            repeated += usize::from(match subject {
                Subject::Account(id) => {
                    store.set_account_status(&AccountId::new(id.as_str()), disabled, context).await?
                }
                Subject::Operator(id) => {
                    let update = AccountUpdate { status: Some(disabled), ..AccountUpdate::default() };
                    change_operator(store, id, &update, context, refused).await?
                }
                Subject::Tenant(id) => {
                    store.set_tenant_status(&TenantId::new(id.as_str()), disabled, context).await?
                }
                Subject::Team(id) => {
                    let update = TeamUpdate { status: Some(disabled), ..TeamUpdate::default() };
                    store.update_team(&TeamId::new(id.as_str()), &update, None, context).await?.is_updated()
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

    /// Gives operators their last role where it permits less.
    async fn repeat_operator_roles(
        &self,
        store: &dyn Store,
        context: &AuditContext,
        refused: &mut Vec<String>,
    ) -> store::Result<usize> {
        let mut repeated = 0;
        for (id, role) in oldest_first(&self.operator_roles) {
            let current = store.find_account(&AccountId::new(id.as_str())).await?.and_then(|one| one.role);
            if current.is_some_and(|current| role.code() < current.code()) {
                let update = AccountUpdate { role: Some(*role), ..AccountUpdate::default() };
                repeated += usize::from(change_operator(store, id, &update, context, refused).await?);
            }
        }
        Ok(repeated)
    }

    async fn repeat_webhooks(&self, store: &dyn Store, context: &AuditContext) -> store::Result<usize> {
        let mut repeated = 0;
        let disabled = self.enabled_webhooks.iter().filter(|(_, (_, is_enabled))| !is_enabled);
        let disabled: BTreeSet<Guid> =
            disabled.map(|(id, _)| *id).chain(self.moved_webhooks.iter().copied()).collect();
        let ended = self.webhooks.iter().map(|id| (*id, WebhookChange::Unsubscribe));
        for (id, change) in disabled.into_iter().map(|id| (id, WebhookChange::Disable)).chain(ended) {
            let change = store.change_webhook(id, None, change, context).await?;
            repeated += usize::from(matches!(change, WebhookChangeOutcome::Changed(_)));
        }
        Ok(repeated)
    }

    /// Removes members who were removed, and makes members of owners who no longer are. A team's last owner stays, and is
    /// listed.
    async fn repeat_team_members(
        &self,
        store: &dyn Store,
        context: &AuditContext,
        refused: &mut Vec<String>,
    ) -> store::Result<usize> {
        let mut repeated = 0;
        for ((team, developer), role) in oldest_first(&self.team_members) {
            let (id, account) = (TeamId::new(team.as_str()), AccountId::new(developer.as_str()));
            let Some(current) = store.find_team_member(&id, &account).await? else { continue };
            let step = match (role, current.role) {
                (None, _) => MemberStep::Remove,
                (Some(TeamRole::Member), TeamRole::Owner) => MemberStep::SetRole(TeamRole::Member),
                (Some(_), _) => continue,
            };
            let change = TeamMemberChange { team: id, account, step };
            match store.change_team_member(&change, context).await? {
                TeamMemberOutcome::Done(_) => repeated += 1,
                TeamMemberOutcome::LastOwner => {
                    let account = store.find_account(&change.account).await?;
                    refused.push(last_owner(team, &name_of(account, developer), step));
                }
                _ => {}
            }
        }
        Ok(repeated)
    }

    /// Takes away what clients and subscriptions had lost. A team that the backup does not have is listed.
    async fn repeat_limits(
        &self,
        store: &dyn Store,
        context: &AuditContext,
        refused: &mut Vec<String>,
    ) -> store::Result<usize> {
        let mut repeated = 0;
        for ((subject, member), (_, last)) in &self.limits {
            let Some(change) = limit(store, subject, member, last).await? else { continue };
            if let Some(team) = change.team()
                && store.find_team(team).await?.is_none()
            {
                refused.push(missing_team(subject, team));
                continue;
            }
            repeated += usize::from(match change {
                Limit::Client(id, update) => {
                    store.update_client(&id, &update, None, context).await?.is_updated()
                }
                Limit::Subscription(id, update) => {
                    store.update_subscription(&id, &update, None, context).await?.is_updated()
                }
            });
        }
        Ok(repeated)
    }
}

/// What a client or a subscription loses.
enum Limit {
    Client(ClientId, ClientUpdate),
    Subscription(SubscriptionId, SubscriptionUpdate),
}

impl Limit {
    /// The team that it belongs to from then on.
    fn team(&self) -> Option<&TeamId> {
        match self {
            Self::Client(_, update) => update.team.as_ref()?.as_ref(),
            Self::Subscription(_, update) => update.team.as_ref()?.as_ref(),
        }
    }
}

/// What the last value of a member takes away from a client or a subscription that the backup has.
async fn limit(
    store: &dyn Store,
    subject: &Subject,
    member: &str,
    last: &Value,
) -> store::Result<Option<Limit>> {
    Ok(match subject {
        Subject::Client(id) => {
            let found = store.find_client(&ClientId::new(id.as_str())).await?;
            found.and_then(|one| Some(Limit::Client(one.id.clone(), client_update(&one, member, last)?)))
        }
        Subject::Subscription(id) => {
            let found = store.find_subscription(&SubscriptionId::new(id.as_str())).await?;
            found.and_then(|one| {
                Some(Limit::Subscription(one.id.clone(), subscription_update(&one, member, last)?))
            })
        }
        _ => None,
    })
}

/// What a client loses by the last value of a member, if it has it still.
fn client_update(client: &Client, member: &str, last: &Value) -> Option<ClientUpdate> {
    let is_left = |name: &str| last.as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let (unchanged, mut update) = (ClientUpdate::default(), ClientUpdate::default());
    match member {
        "products" => {
            let left = Product::ALL.into_iter().filter(|one| client.products.contains(*one));
            let left = left.filter(|one| is_left(one.as_str())).collect();
            update.products = Some(left).filter(|left| *left != client.products);
        }
        "redirectUris" => {
            let left: Vec<String> = client.redirect_uris.iter().filter(|uri| is_left(uri)).cloned().collect();
            update.redirect_uris = Some(left).filter(|left| *left != client.redirect_uris);
        }
        "team" => update.team = Some(last.as_str().map(TeamId::new)).filter(|team| *team != client.team),
        _ => update.is_sandbox = Some(true).filter(|_| last.as_bool() == Some(true) && !client.is_sandbox),
    }
    Some(update).filter(|update| *update != unchanged)
}

/// What a subscription loses by the last value of a member, if it has it still.
fn subscription_update(one: &Subscription, member: &str, last: &Value) -> Option<SubscriptionUpdate> {
    let (unchanged, mut update) = (SubscriptionUpdate::default(), SubscriptionUpdate::default());
    match member {
        "team" => update.team = Some(last.as_str().map(TeamId::new)).filter(|team| *team != one.team),
        "sandbox" => {
            update.is_sandbox = Some(true).filter(|_| last.as_bool() == Some(true) && !one.is_sandbox);
        }
        _ => {}
    }
    Some(update).filter(|update| *update != unchanged)
}

/// Changes an operator, unless nobody else could do everything then.
async fn change_operator(
    store: &dyn Store,
    id: &str,
    update: &AccountUpdate,
    context: &AuditContext,
    refused: &mut Vec<String>,
) -> store::Result<bool> {
    let account = AccountId::new(id);
    let outcome = store.update_operator(&account, update, None, context).await?;
    if outcome != UpdateOutcome::LastAdmin {
        return Ok(outcome.is_updated());
    }
    let name = name_of(store.find_account(&account).await?, id);
    let (what, command) = match update.role {
        Some(role) => (format!("became {}", role.as_str()), format!("role {name} {}", role.as_str())),
        None => ("was disabled".to_owned(), format!("disable {name}")),
    };
    refused.push(format!(
        "operator {name} {what}, but is the only admin of the backup who can sign in (make another operator an admin, \
         then: aldaba operator {command})"
    ));
    Ok(false)
}

fn name_of(account: Option<Account>, id: &str) -> String {
    account.map_or_else(|| id.to_owned(), |account| account.email)
}

fn last_owner(team: &str, developer: &str, step: MemberStep) -> String {
    let (what, command) = match step {
        MemberStep::Remove => (format!("was removed from team {team}"), "leave"),
        _ => (format!("is no longer an owner of team {team}"), "join"),
    };
    format!(
        "developer {developer} {what}, but is its only owner in the backup (make another member an owner, then: \
         aldaba team {command} {team} {developer})"
    )
}

fn missing_team(subject: &Subject, team: &TeamId) -> String {
    let (what, command) = match subject {
        Subject::Client(id) => (format!("client {id}"), format!("client set {id} --team {team}")),
        Subject::Subscription(id) => (format!("subscription {id}"), format!("key team {id} {team}")),
        _ => (String::new(), String::new()),
    };
    format!(
        "{what} was moved to team {team}, which is not in the backup (add the team, then: aldaba {command})"
    )
}
