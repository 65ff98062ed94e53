//! Tenants.

use domain::{Guid, TenantId};
use store::{Status, Tenant};

use super::{Admin, AdminError, Result, check_found};
use crate::checks::{checked_id, checked_name};

const PURGE_ROWS: usize = 5000;

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
        check_found(self.store.set_tenant_status(id, status).await?, || format!("tenant \"{id}\""))
    }

    /// Erases a tenant: it disappears at once, and maintenance deletes its rows.
    pub async fn begin_erasing_tenant(&self, id: &TenantId) -> Result<()> {
        check_found(self.store.erase_tenant(id).await?, || format!("tenant \"{id}\""))
    }

    /// Erases a tenant and waits until its last row is deleted.
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

    pub async fn tenant(&self, id: &TenantId) -> Result<Tenant> {
        let tenant = self.store.find_tenant(id).await?;
        tenant.ok_or_else(|| AdminError::NotFound(format!("tenant \"{id}\"")))
    }
}
