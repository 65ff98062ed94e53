//! Users and their memberships in tenants.

use domain::{Guid, MembershipId, Secret, TenantId, UserId, password};
use store::{Membership, Status, User};

use super::{Admin, AdminError, Result, check_found};
use crate::checks::{checked_email, checked_lang, checked_name};

const DEFAULT_MODULES: &str = "ACC;COR;IMP;PAY;INV";

#[derive(Clone, Debug)]
pub struct NewUser {
    pub email: String,
    pub given_name: String,
    pub lang: String,
    pub password: Secret,
    pub tenants: Vec<TenantId>,
}

impl Admin {
    pub async fn add_user(&self, new: NewUser) -> Result<User> {
        let email = checked_email(&new.email)?;
        for tenant in &new.tenants {
            self.tenant(tenant).await?;
        }
        let (random, plain) = (self.random.clone(), new.password);
        let hashing = tokio::task::spawn_blocking(move || password::hash(&plain, &*random)).await;
        let password_hash = hashing
            .map_err(|error| AdminError::Invalid(error.to_string()))?
            .map_err(|why| AdminError::Invalid(why.into()))?;
        let user = User {
            id: UserId::from(self.random.guid()),
            email,
            given_name: checked_name(&new.given_name)?,
            lang: checked_lang(&new.lang)?,
            password_hash,
            status: Status::Active,
            created_at: self.now(),
        };
        self.store.add_user(&user).await?;
        for tenant in &new.tenants {
            self.add_membership(&user, tenant).await?;
        }
        Ok(user)
    }

    pub async fn user(&self, email: &str) -> Result<User> {
        let email = checked_email(email)?;
        let user = self.store.find_user_by_email(&email).await?;
        user.ok_or_else(|| AdminError::NotFound(format!("user \"{email}\"")))
    }

    /// The user with this id or e-mail address.
    pub async fn find_user(&self, name: &str) -> Result<User> {
        let user = if name.contains('@') {
            self.store.find_user_by_email(&name.to_lowercase()).await?
        } else {
            self.store.find_user(&UserId::new(name)).await?
        };
        user.ok_or_else(|| AdminError::NotFound(format!("user \"{name}\"")))
    }

    pub async fn set_user_status(&self, email: &str, status: Status) -> Result<()> {
        let user = self.user(email).await?;
        check_found(self.store.set_user_status(&user.id, status).await?, || format!("user \"{email}\""))
    }

    pub async fn set_password(&self, email: &str, plain: Secret) -> Result<()> {
        let user = self.user(email).await?;
        let random = self.random.clone();
        let hashing = tokio::task::spawn_blocking(move || password::hash(&plain, &*random)).await;
        let hash = hashing
            .map_err(|error| AdminError::Invalid(error.to_string()))?
            .map_err(|why| AdminError::Invalid(why.into()))?;
        check_found(self.store.set_password_hash(&user.id, &hash).await?, || format!("user \"{email}\""))
    }

    pub async fn add_membership(&self, user: &User, tenant: &TenantId) -> Result<Membership> {
        self.tenant(tenant).await?;
        let membership = Membership {
            id: MembershipId::from(self.random.guid()),
            user: user.id.clone(),
            tenant: tenant.clone(),
            modules: DEFAULT_MODULES.into(),
            key_user_correlation_id: self.random.guid(),
            equipo_user_id: short_number(self.random.guid()),
            second_client_id: short_number(self.random.guid()),
            created_at: self.now(),
            last_used_at: None,
        };
        self.store.add_membership(&membership).await?;
        Ok(membership)
    }

    pub async fn remove_membership(&self, email: &str, tenant: &TenantId) -> Result<()> {
        let user = self.user(email).await?;
        let gone = self.store.remove_membership(&user.id, tenant).await?;
        check_found(gone, || format!("membership of \"{email}\" in \"{tenant}\""))
    }
}

fn short_number(guid: Guid) -> String {
    let [a, b, c, ..] = *guid.as_bytes();
    u32::from_be_bytes([0, a, b, c]).to_string()
}
