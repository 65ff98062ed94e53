//! `/operator/v1/tenants`: who the operator's customers are.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use domain::{TenantId, Ticks};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::document::{BadBody, BadQuery, Missing, Taken, Unconfirmed};
use super::input::{Asked, Body, Named};
use super::paging::{Listed, PageAsk, page};
use super::refusal::at_field;
use super::words::{ChosenId, Name, Standing};
use super::{Answered, Desk, Operator, Routes, made};
use crate::admin::AdminError;

/// A customer of the operator: a set of companies.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Tenant {
    #[schema(examples("asesoria-penalver"))]
    id: String,
    #[schema(examples("Asesoría Peñalver"))]
    name: String,
    /// What tokens carry as `svc.es.idcda`.
    #[schema(examples("4101"))]
    short_code: String,
    standing: Standing,
    #[schema(format = DateTime)]
    created_at: String,
}

impl From<store::Tenant> for Tenant {
    fn from(kept: store::Tenant) -> Self {
        Self {
            id: kept.id.to_string(),
            name: kept.name,
            short_code: kept.short_code,
            standing: kept.status.into(),
            created_at: kept.created_at.iso(),
        }
    }
}

/// Tenants, oldest first.
#[derive(Serialize, ToSchema)]
struct TenantPage {
    tenants: Vec<Tenant>,
    /// Ask with `after` for what follows; null at the end.
    #[schema(required = true)]
    next: Option<String>,
}

/// A tenant to be made.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewTenant {
    name: Name,
    /// A GUID is made where none is given.
    id: Option<ChosenId>,
    /// Follows from the id where none is given.
    short_code: Option<ChosenId>,
}

/// What is to be changed; what is not given stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TenantChange {
    standing: Option<Standing>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct EraseAsk {
    /// The tenant's id again: what is erased does not come back.
    #[param(value_type = String, required = true)]
    confirm: Option<String>,
}

impl Listed for store::Tenant {
    fn place(&self) -> (Ticks, &str) {
        (self.created_at, self.id.as_str())
    }
}

pub(super) fn routes() -> Routes {
    vec![routes!(list, add), routes!(show, change, erase)]
}

/// List tenants
#[utoipa::path(
    get,
    path = "/operator/v1/tenants",
    operation_id = "listTenants",
    tag = "Tenants",
    params(PageAsk),
    responses((status = 200, description = "A page of tenants", body = TenantPage), BadQuery)
)]
async fn list(State(desk): Desk, Asked(ask): Asked<PageAsk>) -> Answered {
    let all = desk.admin.store.tenants().await.map_err(AdminError::from)?;
    let (some, next) = page(all, &ask);
    Ok(Json(TenantPage { tenants: some.into_iter().map(Tenant::from).collect(), next }).into_response())
}

/// Make a tenant
#[utoipa::path(
    post,
    path = "/operator/v1/tenants",
    operation_id = "addTenant",
    tag = "Tenants",
    request_body = NewTenant,
    responses(
        (status = 201, description = "The tenant is there", body = Tenant,
            headers(("Location" = String, description = "The tenant's path")),
            links(("erase" = (
                operation_id = "eraseTenant",
                parameters(("tenant" = "$response.body#/id"), ("confirm" = "$response.body#/id"))
            )))),
        BadBody,
        Taken
    )
)]
async fn add(State(desk): Desk, Body(new): Body<NewTenant>) -> Answered {
    let id = new.id.as_ref().map(|id| id.0.as_str());
    let short_code = new.short_code.as_ref().map(|code| code.0.as_str());
    let tenant: Tenant = desk.admin.add_tenant(id, &new.name.0, short_code).await?.into();
    Ok(made(&["tenants", &tenant.id], &tenant))
}

/// Show a tenant
#[utoipa::path(
    get,
    path = "/operator/v1/tenants/{tenant}",
    operation_id = "getTenant",
    tag = "Tenants",
    params(("tenant" = String, Path, description = "The tenant's id")),
    responses((status = 200, description = "The tenant", body = Tenant), Missing)
)]
async fn show(State(desk): Desk, Named(id): Named<String>) -> Answered {
    shown(&desk, &TenantId::new(id)).await
}

/// Disable or enable a tenant
///
/// Nobody signs in to a disabled tenant, and tokens for it are refused within two seconds. Enabling it brings
/// back every token that has not ended by itself meanwhile.
#[utoipa::path(
    patch,
    path = "/operator/v1/tenants/{tenant}",
    operation_id = "changeTenant",
    tag = "Tenants",
    params(("tenant" = String, Path, description = "The tenant's id")),
    request_body = TenantChange,
    responses((status = 200, description = "The tenant as it is now", body = Tenant), BadBody, Missing)
)]
async fn change(State(desk): Desk, Named(id): Named<String>, Body(change): Body<TenantChange>) -> Answered {
    let id = TenantId::new(id);
    if let Some(standing) = change.standing {
        desk.admin.set_tenant_status(&id, standing.into()).await?;
    }
    shown(&desk, &id).await
}

async fn shown(desk: &Operator, id: &TenantId) -> Answered {
    let tenant = desk.admin.tenant(id).await?;
    Ok(Json(Tenant::from(tenant)).into_response())
}

/// Erase a tenant
///
/// It is gone for everybody at once, with its records, its log and all that was granted for it; the rows are
/// removed soon after. It does not come back.
#[utoipa::path(
    delete,
    path = "/operator/v1/tenants/{tenant}",
    operation_id = "eraseTenant",
    tag = "Tenants",
    params(("tenant" = String, Path, description = "The tenant's id"), EraseAsk),
    responses((status = 204, description = "The tenant is gone"), BadQuery, Missing, Unconfirmed)
)]
async fn erase(State(desk): Desk, Named(id): Named<String>, Asked(ask): Asked<EraseAsk>) -> Answered {
    let tenant = desk.admin.tenant(&TenantId::new(id)).await?;
    let message = format!("To erase this tenant for good, ask with ?confirm={}.", tenant.id);
    let Some(confirm) = ask.confirm else {
        return Err(at_field(400, "missing_parameter", "confirm", message));
    };
    if confirm != tenant.id.as_str() {
        return Err(at_field(409, "not_confirmed", "confirm", message));
    }
    desk.admin.begin_erasing_tenant(&tenant.id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
