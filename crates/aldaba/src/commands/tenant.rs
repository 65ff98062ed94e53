//! `aldaba tenant`: adds, lists, disables, enables and erases tenants.

use domain::TenantId;
use operator::admin::Admin;
use serde::Serialize;
use serde_json::json;
use store::{Status, Tenant as StoredTenant};

use super::{all_pages, status_name};
use crate::cli::Tenant;
use crate::config::Sources;
use crate::exit::{CommandResult, Failure};
use crate::output::Output;

#[derive(Serialize)]
struct TenantView {
    id: String,
    name: String,
    short_code: String,
    standing: String,
    created_at: String,
    /// The team whose sandbox it is.
    sandbox_of: Option<String>,
}

impl From<StoredTenant> for TenantView {
    fn from(tenant: StoredTenant) -> Self {
        Self {
            id: tenant.id.to_string(),
            name: tenant.name,
            short_code: tenant.short_code,
            standing: status_name(tenant.status),
            created_at: tenant.created_at.iso(),
            sandbox_of: tenant.sandbox_of.map(|team| team.to_string()),
        }
    }
}

pub(crate) async fn run(command: Tenant, sources: &Sources, output: Output) -> CommandResult {
    if let Tenant::Erase { id, confirm } = &command
        && id != confirm
    {
        return Err(Failure::Usage(format!("--confirm must be the tenant's id, {id:?}")));
    }
    let admin = super::admin(sources).await?;
    match command {
        Tenant::Add { name, id, short_code } => {
            let tenant: TenantView =
                admin.add_tenant(id.as_deref(), &name, short_code.as_deref()).await?.into();
            output.result(&tenant, || tenant.id.clone());
        }
        Tenant::List => {
            let tenants = all_pages(async |query| admin.store.list_tenants(&query).await).await?;
            let all: Vec<TenantView> = tenants.into_iter().map(TenantView::from).collect();
            output.list(&all, &["ID", "NAME", "CODE", "STATUS", "CREATED", "SANDBOX OF"], |tenant| {
                vec![
                    tenant.id.clone(),
                    tenant.name.clone(),
                    tenant.short_code.clone(),
                    tenant.standing.clone(),
                    tenant.created_at.clone(),
                    tenant.sandbox_of.clone().unwrap_or_default(),
                ]
            });
        }
        Tenant::Disable { id } => set_status(&admin, &id, Status::Disabled, output).await?,
        Tenant::Enable { id } => set_status(&admin, &id, Status::Active, output).await?,
        Tenant::Erase { id, .. } => {
            let rows = admin.erase_tenant(&TenantId::new(id.clone())).await?;
            output.result(&json!({"erased": id, "rows": rows}), || format!("erased {id}, {rows} rows"));
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn set_status(admin: &Admin, id: &str, status: Status, output: Output) -> CommandResult {
    admin.set_tenant_status(&TenantId::new(id), status).await?;
    let status = status.as_str();
    output.done(&json!({"id": id, "standing": status}), &format!("tenant {id} is {status}"));
    Ok(())
}
