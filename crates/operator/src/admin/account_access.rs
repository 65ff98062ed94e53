//! Sessions of an account, links that set a new password, and what a user has authorized.

use domain::{ClientId, Realm, Secret, Suspension, TenantId, Ticks};
use store::{
    Account, Authorization, AuthorizationFacts, ClientAccess, EndedSessions, PASSWORD_RESET_LIFE, Session,
    Status, WebhookOwner,
};

use super::{Admin, AdminError, Permission, Result};

/// A link with which a person sets a new password.
#[derive(Clone, Debug)]
pub struct SentReset {
    pub account: Account,
    /// The link works until then.
    pub expires_at: Ticks,
    /// The link, where no mail carries it. It is shown this once.
    pub link: Option<Secret>,
}

/// What a user has allowed an application for a tenant.
#[derive(Clone, Debug)]
pub struct UserAuthorization {
    pub authorization: Authorization,
    /// Why it is not valid now, apart from a disabled tenant or client.
    pub obstacle: Option<Suspension>,
}

impl Admin {
    /// The sessions of an account that have not expired, the latest first.
    pub async fn sessions(&self, account: &Account) -> Result<Vec<Session>> {
        Ok(self.store.list_sessions(&account.id, self.now()).await?)
    }

    /// Ends all sessions of an account: the person has to sign in again. Returns how many there were; without any, nothing
    /// happens.
    pub async fn end_sessions(&self, realm: Realm, name: &str) -> Result<u64> {
        let context = self.require(Permission::Accounts)?;
        let account = self.find_account_of(realm, name).await?;
        Ok(self.store.end_sessions(&account.id, EndedSessions::All, context).await?)
    }

    /// Makes a link with which a person sets a new password, and mails it where a mail server is configured. An earlier link
    /// is void; the password stays until the person sets another one.
    pub async fn send_password_reset(&self, realm: Realm, name: &str) -> Result<SentReset> {
        let context = self.require(Permission::Accounts)?;
        let account = self.find_account_of(realm, name).await?;
        if account.status == Status::Disabled {
            let (person, email) = (realm.person(), &account.email);
            return Err(AdminError::Invalid(format!(
                "the {person} \"{email}\" is disabled and cannot sign in; enable the account first"
            )));
        }
        let (now, token) = (self.now(), self.secret());
        let expires_at = now + PASSWORD_RESET_LIFE;
        let url = self.links.reset_url(realm, &token);
        let mail = self.links.reset_mail(&account, &url, now);
        let found = self
            .store
            .request_password_reset(&account.id, &token, expires_at, mail.as_ref(), context)
            .await?;
        super::check_found(found, || format!("{} \"{name}\"", realm.person()))?;
        Ok(SentReset { account, expires_at, link: mail.is_none().then_some(url) })
    }

    /// What a user has allowed applications and not ended, by tenant and application: those after the cursor, at most
    /// `rows_max`.
    pub async fn user_authorizations(
        &self,
        user: &Account,
        after: Option<&WebhookOwner>,
        rows_max: usize,
    ) -> Result<Vec<UserAuthorization>> {
        let found = self.store.list_authorizations(&user.id, after, rows_max).await?;
        let view = |facts: AuthorizationFacts| UserAuthorization {
            obstacle: facts.obstacle(),
            authorization: facts.authorization,
        };
        Ok(found.into_iter().map(view).collect())
    }

    /// Ends what a user has allowed an application for a tenant, as the user can: its tokens are refused within two seconds.
    pub async fn withdraw_authorization(&self, user: &Account, tenant: &str, client: &str) -> Result<()> {
        let context = self.require(Permission::Accounts)?;
        let access = ClientAccess {
            user: user.id.clone(),
            client: ClientId::new(client),
            tenant: TenantId::new(tenant),
        };
        let found = self.store.find_authorization(&access).await?;
        super::check_found(found.is_some_and(|found| found.ended.is_none()), || {
            format!("authorization of \"{client}\" for \"{tenant}\" by \"{}\"", user.email)
        })?;
        self.store.revoke_client_access(&access, self.now(), context, "withdrawn by an operator").await?;
        Ok(())
    }
}
