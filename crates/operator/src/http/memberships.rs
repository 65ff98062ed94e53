//! `/operator/v1/users/{user}/tenants`: the memberships of a user.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use domain::{TenantId, Ticks};
use serde::{Deserialize, Serialize};
use store::StoreError;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::document::{BadBody, BadQuery, NotFound, SandboxApart};
use super::input::{JsonBody, PathParams, QueryParams, RequestOrigin};
use super::paging::{ListParams, next_text};
use super::schema_types::Status;
use super::{HandlerResult, Routes, SharedState};
use crate::error::AdminError;

/// A user's membership in a tenant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Membership {
    /// The tenant's id.
    #[schema(examples("asesoria-penalver"))]
    tenant: String,
    /// The claim `svc.es.modules` of the user's tokens.
    #[schema(examples(json!(["ACC", "PAY"])))]
    modules: Vec<String>,
    #[schema(format = DateTime)]
    created_at: String,
    /// When the user last chose this tenant at a sign-in.
    #[schema(format = DateTime, required = true)]
    last_used_at: Option<String>,
    /// Whether the user sees and ends applications' access for the whole tenant.
    admin: bool,
}

/// Changes to a membership.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MembershipChange {
    /// Whether the user sees and ends applications' access for the whole tenant.
    admin: bool,
}

impl From<store::Membership> for Membership {
    fn from(stored: store::Membership) -> Self {
        Self {
            tenant: stored.tenant.to_string(),
            modules: stored
                .modules
                .split(';')
                .filter(|module| !module.is_empty())
                .map(str::to_owned)
                .collect(),
            created_at: stored.created_at.iso(),
            last_used_at: stored.last_used_at.map(Ticks::iso),
            admin: stored.is_admin,
        }
    }
}

/// Memberships, oldest first.
#[derive(Serialize, ToSchema)]
struct MembershipPage {
    tenants: Vec<Membership>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    next: Option<String>,
}

/// A member of a tenant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TenantMember {
    /// The user's id.
    #[schema(examples("0b5e0a51-6a5c-4d0e-9d0f-6f6f4c6f7a11"))]
    user: String,
    #[schema(examples("lucia@example.com"))]
    email: String,
    #[schema(examples("Lucía"))]
    given_name: String,
    /// The user's; a disabled user cannot sign in.
    standing: Status,
    #[schema(format = DateTime)]
    created_at: String,
    /// When the user last chose this tenant at a sign-in.
    #[schema(format = DateTime, required = true)]
    last_used_at: Option<String>,
    /// Whether the user sees and ends applications' access for the whole tenant.
    admin: bool,
}

impl From<store::TenantMembership> for TenantMember {
    fn from(stored: store::TenantMembership) -> Self {
        let store::TenantMembership { user, membership, .. } = stored;
        Self {
            user: user.id.to_string(),
            email: user.email,
            given_name: user.given_name,
            standing: user.status.into(),
            created_at: membership.created_at.iso(),
            last_used_at: membership.last_used_at.map(Ticks::iso),
            admin: membership.is_admin,
        }
    }
}

/// Members, oldest membership first.
#[derive(Serialize, ToSchema)]
struct TenantMemberPage {
    users: Vec<TenantMember>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    next: Option<String>,
}

pub(super) fn routes() -> Routes {
    vec![routes!(list), routes!(list_members), routes!(join, change, leave)]
}

/// List a tenant's users
#[utoipa::path(
    get,
    path = "/operator/v1/tenants/{tenant}/users",
    operation_id = "listTenantUsers",
    tag = "Tenants",
    params(("tenant" = String, Path, description = "The tenant's id"), ListParams),
    responses((status = 200, description = "A page of members", body = TenantMemberPage), BadQuery, NotFound)
)]
async fn list_members(
    State(state): SharedState,
    PathParams(tenant): PathParams<String>,
    QueryParams(params): QueryParams<ListParams>,
) -> HandlerResult {
    let tenant = state.admin.tenant(&TenantId::new(tenant)).await?;
    let page = state.admin.tenant_members(&tenant.id, &params.into()).await?;
    let next = next_text(page.next.as_ref());
    let users = page.rows.into_iter().map(TenantMember::from).collect();
    Ok(Json(TenantMemberPage { users, next }).into_response())
}

/// List a user's tenants
#[utoipa::path(
    get,
    path = "/operator/v1/users/{user}/tenants",
    operation_id = "listUserTenants",
    tag = "Users",
    params(("user" = String, Path, description = "The user's id or e-mail address"), ListParams),
    responses((status = 200, description = "A page of memberships", body = MembershipPage), BadQuery, NotFound)
)]
async fn list(
    State(state): SharedState,
    PathParams(user): PathParams<String>,
    QueryParams(params): QueryParams<ListParams>,
) -> HandlerResult {
    let user = state.admin.find_user(&user).await?;
    let page =
        state.admin.store.list_memberships(&user.id, &params.into()).await.map_err(AdminError::from)?;
    let next = next_text(page.next.as_ref());
    let tenants = page.rows.into_iter().map(Membership::from).collect();
    Ok(Json(MembershipPage { tenants, next }).into_response())
}

/// Add a user to a tenant
///
/// Idempotent.
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
        (status = 200, description = "The user was a member already", body = Membership),
        (status = 201, description = "The user is now a member", body = Membership),
        NotFound,
        SandboxApart
    )
)]
async fn join(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams((user, tenant)): PathParams<(String, String)>,
) -> HandlerResult {
    let user = state.admin.find_user(&user).await?;
    let tenant = state.admin.tenant(&TenantId::new(tenant)).await?.id;
    let status = match state.admin.acting(authority).add_membership(&user, &tenant).await {
        Ok(_) => StatusCode::CREATED,
        Err(AdminError::Store(StoreError::Exists(_))) => StatusCode::OK,
        Err(error) => return Err(error.into()),
    };
    let found =
        state.admin.store.find_tenant_membership(&user.id, &tenant).await.map_err(AdminError::from)?;
    // A concurrent request may have removed it.
    let found = found.ok_or_else(|| AdminError::NotFound(format!("tenant \"{tenant}\" of this user")))?;
    Ok((status, Json(Membership::from(found.membership))).into_response())
}

/// Make a user an administrator of a tenant, or no longer one
///
/// An administrator sees at `/permissions` which applications have access in the name of any user of the tenant, and
/// ends it for all of them.
#[utoipa::path(
    patch,
    path = "/operator/v1/users/{user}/tenants/{tenant}",
    operation_id = "changeUserInTenant",
    tag = "Users",
    params(
        ("user" = String, Path, description = "The user's id or e-mail address"),
        ("tenant" = String, Path, description = "The tenant's id")
    ),
    request_body = MembershipChange,
    responses((status = 200, description = "The changed membership", body = Membership), BadBody, NotFound)
)]
async fn change(
    State(state): SharedState,
    PathParams((user, tenant)): PathParams<(String, String)>,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(change): JsonBody<MembershipChange>,
) -> HandlerResult {
    let user = state.admin.find_user(&user).await?;
    let tenant = state.admin.tenant(&TenantId::new(tenant)).await?.id;
    state.admin.acting(authority).set_membership_admin(&user, &tenant, change.admin).await?;
    let found =
        state.admin.store.find_tenant_membership(&user.id, &tenant).await.map_err(AdminError::from)?;
    let found = found.ok_or_else(|| AdminError::NotFound(format!("tenant \"{tenant}\" of this user")))?;
    Ok(Json(Membership::from(found.membership)).into_response())
}

/// Remove a user from a tenant
///
/// Idempotent. What the user allowed applications for this tenant ends: tokens are refused and webhooks that no other
/// user's authorization covers are suspended, within two seconds. A membership that is added again is another one.
#[utoipa::path(
    delete,
    path = "/operator/v1/users/{user}/tenants/{tenant}",
    operation_id = "removeUserFromTenant",
    tag = "Users",
    params(
        ("user" = String, Path, description = "The user's id or e-mail address"),
        ("tenant" = String, Path, description = "The tenant's id")
    ),
    responses((status = 204, description = "The user is not a member"), NotFound)
)]
async fn leave(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams((user, tenant)): PathParams<(String, String)>,
) -> HandlerResult {
    let user = state.admin.find_user(&user).await?;
    let tenant = state.admin.tenant(&TenantId::new(tenant)).await?.id;
    match state.admin.acting(authority).remove_membership(&user.email, &tenant).await {
        Ok(()) | Err(AdminError::NotFound(_)) => Ok(StatusCode::NO_CONTENT.into_response()),
        Err(error) => Err(error.into()),
    }
}
