//! `aldaba tenant`.

use domain::TenantId;
use operator::admin::Admin;
use serde::Serialize;
use serde_json::json;
use store::{Status, Tenant as Kept};

use super::{all_pages, status_name};
use crate::cli::Tenant;
use crate::config::Sources;
use crate::exit::{Failure, Outcome};
use crate::output::Output;

#[derive(Serialize)]
struct Shown {
    id: String,
    name: String,
    short_code: String,
    standing: String,
    created_at: String,
}

impl From<Kept> for Shown {
    fn from(tenant: Kept) -> Self {
        Self {
            id: tenant.id.to_string(),
            name: tenant.name,
            short_code: tenant.short_code,
            standing: status_name(tenant.status),
            created_at: tenant.created_at.iso(),
        }
    }
}

pub(crate) async fn run(command: Tenant, sources: &Sources, output: Output) -> Outcome {
    if let Tenant::Erase { id, confirm } = &command
        && id != confirm
    {
        return Err(Failure::Usage(format!("--confirm must repeat the tenant's id, {id:?}")));
    }
    let admin = super::admin(sources).await?;
    match command {
        Tenant::Add { name, id, short_code } => {
            let tenant: Shown = admin.add_tenant(id.as_deref(), &name, short_code.as_deref()).await?.into();
            output.result(&tenant, || tenant.id.clone());
        }
        Tenant::List => {
            let tenants = all_pages(async |query| admin.store.list_tenants(&query).await).await?;
            let all: Vec<Shown> = tenants.into_iter().map(Shown::from).collect();
            output.list(&all, &["ID", "NAME", "CODE", "STANDING", "CREATED"], |one| {
                vec![
                    one.id.clone(),
                    one.name.clone(),
                    one.short_code.clone(),
                    one.standing.clone(),
                    one.created_at.clone(),
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

async fn set_status(admin: &Admin, id: &str, standing: Status, output: Output) -> Outcome {
    admin.set_tenant_status(&TenantId::new(id), standing).await?;
    let word = standing.as_str();
    output.done(&json!({"id": id, "standing": word}), &format!("tenant {id} is {word}"));
    Ok(())
}
