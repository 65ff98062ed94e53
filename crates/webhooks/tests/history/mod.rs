//! The history of webhooks over a memory store, as every API calls it.

mod deliveries;
mod figures;
mod health;
mod replays;

use domain::TenantId;
use store::{AuditContext, Directory as _, Status};

use crate::fixture::Fixture;

/// Suspends the webhooks of tenant-a.
async fn disable_tenant(fixture: &Fixture) {
    let tenant = TenantId::new("tenant-a");
    assert!(
        fixture.store.set_tenant_status(&tenant, Status::Disabled, &AuditContext::default()).await.unwrap()
    );
}
