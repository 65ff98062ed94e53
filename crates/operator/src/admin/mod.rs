//! The administration of tenants, users, clients and subscriptions: what the command line and the console
//! do. Secrets are made here, shown once, and kept as hashes.

use std::sync::Arc;
use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::subscription::Products;
use domain::{ClientId, Clock, Guid, MembershipId, Random, Secret, TenantId, Ticks, UserId, password};
use store::{
    Client, ClientSecret, Consent, KeySlot, Membership, Pkce, Standing, Store, StoreError, Subscription,
    Tenant, User,
};

use crate::checks::{
    check_redirect, checked_email, checked_id, checked_lang, checked_logout_uris, checked_name,
};

/// Why something could not be administered.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    #[error("{0}")]
    Invalid(String),
    #[error("there is no {0}")]
    Missing(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(crate) type Result<T> = std::result::Result<T, AdminError>;

#[derive(Clone)]
pub struct Admin {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Admin")
    }
}

#[derive(Clone, Debug)]
pub struct NewUser {
    pub email: String,
    pub given_name: String,
    pub lang: String,
    pub password: Secret,
    pub tenants: Vec<TenantId>,
}

#[derive(Clone, Debug)]
pub struct NewClient {
    pub id: Option<String>,
    pub name: String,
    pub redirect_uris: Vec<String>,
    pub post_logout_uris: Vec<String>,
    pub pkce: Pkce,
    pub consent: Consent,
    pub callback_id_token: bool,
}

/// What is to be changed of a client; what is not given stays.
#[derive(Clone, Debug, Default)]
pub struct ClientChange {
    pub name: Option<String>,
    pub redirect_uris: Option<Vec<String>>,
    pub pkce: Option<Pkce>,
    pub consent: Option<Consent>,
    pub callback_id_token: Option<bool>,
    pub post_logout_uris: Option<Vec<String>>,
    pub standing: Option<Standing>,
}

/// What took another's place, in plain; shown once.
#[derive(Clone, Debug)]
pub struct Replacement {
    pub secret: Secret,
    /// Until when what it replaces stays valid.
    pub old_until: Ticks,
}

/// A pair of keys, in plain; shown once.
#[derive(Clone, Debug)]
pub struct Keys {
    pub primary: Secret,
    pub secondary: Secret,
}

impl Admin {
    fn now(&self) -> Ticks {
        self.clock.now()
    }

    fn secret(&self) -> Secret {
        Secret::new(self.random.token())
    }

    /// 32 hexadecimal digits, as subscription keys look.
    fn key(&self) -> Secret {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes);
        Secret::new(domain::secret::hex(&bytes))
    }

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
            standing: Standing::Active,
            created_at: self.now(),
        };
        self.store.add_tenant(&tenant).await?;
        Ok(tenant)
    }

    pub async fn set_tenant_standing(&self, id: &TenantId, standing: Standing) -> Result<()> {
        found(self.store.set_tenant_standing(id, standing).await?, || format!("tenant \"{id}\""))
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
            standing: Standing::Active,
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

    pub async fn set_user_standing(&self, email: &str, standing: Standing) -> Result<()> {
        let user = self.user(email).await?;
        found(self.store.set_user_standing(&user.id, standing).await?, || format!("user \"{email}\""))
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

    pub async fn add_client(&self, new: NewClient) -> Result<(Client, Secret)> {
        let id = match &new.id {
            Some(id) => ClientId::new(checked_id("client id", id)?),
            None => ClientId::from(self.random.guid()),
        };
        for uri in &new.redirect_uris {
            check_redirect(uri)?;
        }
        let client = Client {
            id,
            guid: self.random.guid(),
            name: checked_name(&new.name)?,
            redirect_uris: new.redirect_uris,
            post_logout_uris: checked_logout_uris(new.post_logout_uris)?,
            pkce: new.pkce,
            consent: new.consent,
            callback_id_token: new.callback_id_token,
            standing: Standing::Active,
            created_at: self.now(),
        };
        let secret = self.secret();
        self.store.add_client(&client, &secret).await?;
        Ok((client, secret))
    }

    pub async fn client(&self, id: &str) -> Result<Client> {
        let client = self.store.find_client(&ClientId::new(id)).await?;
        client.ok_or_else(|| AdminError::Missing(format!("client \"{id}\"")))
    }

    pub async fn set_client_standing(&self, id: &str, standing: Standing) -> Result<()> {
        let client = Client { standing, ..self.client(id).await? };
        found(self.store.update_client(&client).await?, || format!("client \"{id}\""))
    }

    /// Adds addresses to those that a client may be sent back to; ones it has are left as they are.
    pub async fn add_redirect_uris(&self, id: &str, uris: &[String]) -> Result<Client> {
        let mut client = self.client(id).await?;
        for uri in uris {
            check_redirect(uri)?;
            if !client.redirect_uris.contains(uri) {
                client.redirect_uris.push(uri.clone());
            }
        }
        found(self.store.update_client(&client).await?, || format!("client \"{id}\""))?;
        Ok(client)
    }

    /// Takes addresses from those that a client may be sent back to; one stays.
    pub async fn remove_redirect_uris(&self, id: &str, uris: &[String]) -> Result<Client> {
        let mut client = self.client(id).await?;
        if let Some(uri) = uris.iter().find(|uri| !client.redirect_uris.contains(uri)) {
            return Err(AdminError::Missing(format!("redirect address \"{uri}\" at client \"{id}\"")));
        }
        client.redirect_uris.retain(|uri| !uris.contains(uri));
        if client.redirect_uris.is_empty() {
            let why = "needs one redirect address at least; add another before you remove the last";
            return Err(AdminError::Invalid(format!("client \"{id}\" {why}")));
        }
        found(self.store.update_client(&client).await?, || format!("client \"{id}\""))?;
        Ok(client)
    }

    /// Changes what is given of how a client signs users in.
    pub async fn set_client(&self, id: &str, change: ClientChange) -> Result<Client> {
        let mut client = self.client(id).await?;
        if let Some(name) = change.name {
            client.name = checked_name(&name)?;
        }
        if let Some(uris) = change.redirect_uris {
            uris.iter().try_for_each(|uri| check_redirect(uri))?;
            client.redirect_uris = uris;
        }
        client.standing = change.standing.unwrap_or(client.standing);
        client.pkce = change.pkce.unwrap_or(client.pkce);
        client.consent = change.consent.unwrap_or(client.consent);
        client.callback_id_token = change.callback_id_token.unwrap_or(client.callback_id_token);
        if let Some(uris) = change.post_logout_uris {
            client.post_logout_uris = checked_logout_uris(uris)?;
        }
        found(self.store.update_client(&client).await?, || format!("client \"{id}\""))?;
        Ok(client)
    }

    /// A new secret; the old one stays valid for `overlap`.
    pub async fn rotate_client_secret(&self, id: &str, overlap: Duration) -> Result<Replacement> {
        let (secret, old_until) = (self.secret(), self.now() + overlap);
        let new = ClientSecret { secret: secret.clone(), old_until };
        found(self.store.set_client_secret(&ClientId::new(id), &new).await?, || format!("client \"{id}\""))?;
        Ok(Replacement { secret, old_until })
    }

    pub async fn add_subscription(&self, name: &str, products: Products) -> Result<(Subscription, Keys)> {
        if products == Products::default() {
            return Err(AdminError::Invalid("a subscription needs one product at least".into()));
        }
        let subscription = Subscription {
            id: SubscriptionId::from(self.random.guid()),
            name: checked_name(name)?,
            products,
            standing: Standing::Active,
            created_at: self.now(),
            daily_quota: None,
            cancelled_at: None,
        };
        let keys = Keys { primary: self.key(), secondary: self.key() };
        self.store.add_subscription(&subscription, &keys.primary, &keys.secondary).await?;
        Ok((subscription, keys))
    }

    pub async fn subscription(&self, id: &str) -> Result<Subscription> {
        let all = self.store.subscriptions().await?;
        let one = all.into_iter().find(|one| one.id.as_str() == id);
        one.ok_or_else(|| AdminError::Missing(format!("subscription \"{id}\"")))
    }

    pub async fn set_subscription_standing(&self, id: &str, standing: Standing) -> Result<()> {
        let changed = self.store.set_subscription_standing(&SubscriptionId::new(id), standing).await?;
        found(changed, || format!("subscription \"{id}\""))
    }

    /// A new key in a slot; the old one stays valid for `overlap`.
    pub async fn rotate_key(&self, id: &str, slot: KeySlot, overlap: Duration) -> Result<Replacement> {
        let (secret, old_until) = (self.key(), self.now() + overlap);
        let rotated = self.store.rotate_key(&SubscriptionId::new(id), slot, &secret, old_until).await?;
        found(rotated, || format!("subscription \"{id}\""))?;
        Ok(Replacement { secret, old_until })
    }
}

const PURGE_ROWS: usize = 5000;
const DEFAULT_MODULES: &str = "ACC;COR;IMP;PAY;INV";

fn found(there: bool, what: impl FnOnce() -> String) -> Result<()> {
    if there { Ok(()) } else { Err(AdminError::Missing(what())) }
}

fn short_number(guid: Guid) -> String {
    let [a, b, c, ..] = *guid.as_bytes();
    u32::from_be_bytes([0, a, b, c]).to_string()
}
