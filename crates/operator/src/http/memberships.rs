//! `/operator/v1/users/{user}/tenants`: which tenants a user belongs to.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use domain::{TenantId, Ticks};
use serde::Serialize;
use store::StoreError;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::document::{BadQuery, Missing};
use super::input::{Asked, Named};
use super::paging::{Listed, PageAsk, page};
use super::{Answered, Desk, Routes};
use crate::admin::AdminError;

/// That a user belongs to a tenant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Membership {
    /// The tenant's id.
    #[schema(examples("asesoria-penalver"))]
    tenant: String,
    /// What tokens carry as `svc.es.modules`.
    #[schema(examples(json!(["ACC", "PAY"])))]
    modules: Vec<String>,
    #[schema(format = DateTime)]
    created_at: String,
    /// When the user last chose this tenant at a sign-in.
    #[schema(format = DateTime, required = true)]
    last_used_at: Option<String>,
}

impl From<store::Membership> for Membership {
    fn from(kept: store::Membership) -> Self {
        Self {
            tenant: kept.tenant.to_string(),
            modules: kept.modules.split(';').filter(|word| !word.is_empty()).map(str::to_owned).collect(),
            created_at: kept.created_at.iso(),
            last_used_at: kept.last_used_at.map(Ticks::iso),
        }
    }
}

/// Memberships, oldest first.
#[derive(Serialize, ToSchema)]
struct MembershipPage {
    tenants: Vec<Membership>,
    /// Ask with `after` for what follows; null at the end.
    #[schema(required = true)]
    next: Option<String>,
}

impl Listed for store::Membership {
    fn place(&self) -> (Ticks, &str) {
        (self.created_at, self.id.as_str())
    }
}

pub(super) fn routes() -> Routes {
    vec![routes!(list), routes!(join, leave)]
}

/// List a user's tenants
#[utoipa::path(
    get,
    path = "/operator/v1/users/{user}/tenants",
    operation_id = "listUserTenants",
    tag = "Users",
    params(("user" = String, Path, description = "The user's id or e-mail address"), PageAsk),
    responses((status = 200, description = "A page of memberships", body = MembershipPage), BadQuery, Missing)
)]
async fn list(State(desk): Desk, Named(user): Named<String>, Asked(ask): Asked<PageAsk>) -> Answered {
    let user = desk.admin.user_named(&user).await?;
    let all = desk.admin.store.memberships(&user.id).await.map_err(AdminError::from)?;
    let (some, next) = page(all, &ask);
    let tenants = some.into_iter().map(Membership::from).collect();
    Ok(Json(MembershipPage { tenants, next }).into_response())
}

/// Let a user belong to a tenant
///
/// Asked again, it changes nothing.
#[utoipa::path(
    put,
    path = "/operator/v1/users/{user}/tenants/{tenant}",
    operation_id = "addUserToTenant",
    tag = "Users",
    params(
        ("user" = String, Path, description = "The user's id or e-mail address"),
        ("tenant" = String, Path, description = "The tenant's id")
    ),
    responses(
        (status = 200, description = "The user belonged to the tenant already", body = Membership),
        (status = 201, description = "The user belongs to the tenant from now on", body = Membership),
        Missing
    )
)]
async fn join(State(desk): Desk, Named((user, tenant)): Named<(String, String)>) -> Answered {
    let user = desk.admin.user_named(&user).await?;
    let tenant = desk.admin.tenant(&TenantId::new(tenant)).await?.id;
    let status = match desk.admin.add_membership(&user, &tenant).await {
        Ok(_) => StatusCode::CREATED,
        Err(AdminError::Store(StoreError::Exists(_))) => StatusCode::OK,
        Err(error) => return Err(error.into()),
    };
    let seat = desk.admin.store.find_tenant_membership(&user.id, &tenant).await.map_err(AdminError::from)?;
    // Somebody may have taken it away meanwhile.
    let seat = seat.ok_or_else(|| AdminError::Missing(format!("tenant \"{tenant}\" of this user")))?;
    Ok((status, Json(Membership::from(seat.membership))).into_response())
}

/// Let a user belong to a tenant no more
///
/// Asked again, it changes nothing. Tokens for this user and tenant are refused within two seconds.
#[utoipa::path(
    delete,
    path = "/operator/v1/users/{user}/tenants/{tenant}",
    operation_id = "removeUserFromTenant",
    tag = "Users",
    params(
        ("user" = String, Path, description = "The user's id or e-mail address"),
        ("tenant" = String, Path, description = "The tenant's id")
    ),
    responses((status = 204, description = "The user does not belong to the tenant"), Missing)
)]
async fn leave(State(desk): Desk, Named((user, tenant)): Named<(String, String)>) -> Answered {
    let user = desk.admin.user_named(&user).await?;
    let tenant = desk.admin.tenant(&TenantId::new(tenant)).await?.id;
    match desk.admin.remove_membership(&user.email, &tenant).await {
        Ok(()) | Err(AdminError::Missing(_)) => Ok(StatusCode::NO_CONTENT.into_response()),
        Err(error) => Err(error.into()),
    }
}
