//! Tenants, users and who belongs where.

use domain::{Guid, MembershipId, Secret, TenantId, UserId, password};
use store::{Membership, Status, Tenant, User};

use super::{Admin, AdminError, Result, found};
use crate::checks::{checked_email, checked_id, checked_lang, checked_name};

const PURGE_ROWS: usize = 5000;
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
    pub async fn add_tenant(&self, id: Option<&str>, name: &str, short_code: Option<&str>) -> Result<Tenant> {
        let id = match id {
            Some(id) => TenantId::new(checked_id("tenant id", id)?),
            None => TenantId::from(self.random.guid()),
        };
        let short_code = short_code.unwrap_or_else(|| match Guid::parse(id.as_str()) {
            Some(_) => id.as_str().split('-').next().unwrap_or_default(),
            None => id.as_str(),
        });
        let tenant = Tenant {
            name: checked_name(name)?,
            short_code: checked_id("short code", short_code)?,
            id,
            status: Status::Active,
            created_at: self.now(),
        };
        self.store.add_tenant(&tenant).await?;
        Ok(tenant)
    }

    pub async fn set_tenant_status(&self, id: &TenantId, status: Status) -> Result<()> {
        found(self.store.set_tenant_status(id, status).await?, || format!("tenant \"{id}\""))
    }

    /// Erases a tenant: gone for everybody at once, while its rows are left to the housekeeping.
    pub async fn begin_erasing_tenant(&self, id: &TenantId) -> Result<()> {
        found(self.store.erase_tenant(id).await?, || format!("tenant \"{id}\""))
    }

    /// Erases a tenant and waits until the last of its rows is gone.
    pub async fn erase_tenant(&self, id: &TenantId) -> Result<usize> {
        self.begin_erasing_tenant(id).await?;
        let mut rows = 0;
        loop {
            match self.store.purge(PURGE_ROWS).await? {
                0 => return Ok(rows),
                gone => rows += gone,
            }
        }
    }

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
        user.ok_or_else(|| AdminError::Missing(format!("user \"{email}\"")))
    }

    /// The user of this id or e-mail address. A name that no user can have is a name that nobody has.
    pub async fn user_named(&self, name: &str) -> Result<User> {
        let user = if name.contains('@') {
            self.store.find_user_by_email(&name.to_lowercase()).await?
        } else {
            self.store.find_user(&UserId::new(name)).await?
        };
        user.ok_or_else(|| AdminError::Missing(format!("user \"{name}\"")))
    }

    pub async fn set_user_status(&self, email: &str, status: Status) -> Result<()> {
        let user = self.user(email).await?;
        found(self.store.set_user_status(&user.id, status).await?, || format!("user \"{email}\""))
    }

    pub async fn set_password(&self, email: &str, plain: Secret) -> Result<()> {
        let user = self.user(email).await?;
        let random = self.random.clone();
        let hashing = tokio::task::spawn_blocking(move || password::hash(&plain, &*random)).await;
        let hash = hashing
            .map_err(|error| AdminError::Invalid(error.to_string()))?
            .map_err(|why| AdminError::Invalid(why.into()))?;
        found(self.store.set_password_hash(&user.id, &hash).await?, || format!("user \"{email}\""))
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
        found(gone, || format!("membership of \"{email}\" in \"{tenant}\""))
    }

    pub async fn tenant(&self, id: &TenantId) -> Result<Tenant> {
        let tenant = self.store.find_tenant(id).await?;
        tenant.ok_or_else(|| AdminError::Missing(format!("tenant \"{id}\"")))
    }
}

fn short_number(guid: Guid) -> String {
    let [a, b, c, ..] = *guid.as_bytes();
    u32::from_be_bytes([0, a, b, c]).to_string()
}
