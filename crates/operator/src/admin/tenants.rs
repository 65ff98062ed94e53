//! Tenants.

use domain::{Guid, TenantId};
use store::{FIRST_REVISION, Status, Tenant, TenantUpdate};

use super::{Admin, AdminError, Permission, Result, check_found, check_revision, updated};
use crate::checks::{checked_id, checked_name};

const PURGE_ROWS: usize = 5000;

impl Admin {
    pub async fn add_tenant(&self, id: Option<&str>, name: &str, short_code: Option<&str>) -> Result<Tenant> {
        let context = self.require(Permission::Configuration)?;
        let id = match id {
            Some(id) => TenantId::new(checked_id("a tenant id", id)?),
            None => TenantId::from(self.random.guid()),
        };
        let short_code = short_code.unwrap_or_else(|| match Guid::parse(id.as_str()) {
            Some(_) => id.as_str().split('-').next().unwrap_or_default(),
            None => id.as_str(),
        });
        let tenant = Tenant {
            name: checked_name(name)?,
            short_code: checked_id("a short code", short_code)?,
            id,
            status: Status::Active,
            created_at: self.now(),
            revision: FIRST_REVISION,
            sandbox_of: None,
        };
        self.store.add_tenant(&tenant, context).await?;
        Ok(tenant)
    }

    /// Changes a tenant, if it has the expected revision (any by default).
    pub async fn update_tenant(
        &self,
        id: &TenantId,
        update: &TenantUpdate,
        expected_revision: Option<u64>,
    ) -> Result<Tenant> {
        let context = self.require(Permission::Configuration)?;
        let what = || format!("tenant \"{id}\"");
        if update.status.is_none() {
            let tenant = self.tenant(id).await?;
            check_revision(tenant.revision, expected_revision, what)?;
            return Ok(tenant);
        }
        updated(self.store.update_tenant(id, update, expected_revision, context).await?, what)
    }

    pub async fn set_tenant_status(&self, id: &TenantId, status: Status) -> Result<Tenant> {
        self.update_tenant(id, &TenantUpdate { status: Some(status) }, None).await
    }

    /// Erases a tenant: it disappears at once, and maintenance deletes its rows.
    pub async fn begin_erasing_tenant(&self, id: &TenantId) -> Result<()> {
        let context = self.require(Permission::Configuration)?;
        check_found(self.store.erase_tenant(id, context).await?, || format!("tenant \"{id}\""))
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
