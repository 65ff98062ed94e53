//! The handlers of tenants: the list, and one with everything that hangs on it.

use domain::TenantId;
use operator::admin::{Permission, WebhookListQuery};
use pages::{PageContext, PageError, Params, Response};
use serde_json::json;
use store::Status;

use super::parts::{form_error, list_query, next_text, require, search_filter};
use super::views::tenant::{ClientRow, MemberRow, TenantPage};
use super::views::tenants::{TenantRow, TenantsPage};
use crate::context::Context;

/// How many applications and webhooks of a tenant its page reads.
pub(super) const CLIENTS_MAX: usize = 20;
const WEBHOOKS_COUNTED_MAX: usize = 100;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let page = context.admin().tenants(&search_filter(context), &list_query(context, "after")?).await?;
    let next = next_text(page.next.as_ref());
    Ok(context.show(&TenantsPage { tenants: page.rows.into_iter().map(TenantRow::new).collect(), next }))
}

pub(crate) async fn post_list(context: &Context, form: &Params) -> Result<Response, PageError> {
    match form.get("do") {
        Some("add") => {
            let name = form.get("name").unwrap_or_default();
            let tenant = context.admin().add_tenant(form.get("id"), name, form.get("short_code")).await?;
            let page = context.console_path(&format!("tenants/{}", tenant.id));
            Ok(context.done(&page, "tenant_added", &TenantRow::new(tenant)))
        }
        _ => Err(PageError::no_action()),
    }
}

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    let admin = context.admin();
    let tenant = admin.tenant(&TenantId::new(context.segment("tenant"))).await?;
    let members = admin.tenant_members(&tenant.id, &list_query(context, "after")?).await?;
    let mut clients = admin.tenant_clients(&tenant.id, CLIENTS_MAX + 1).await?;
    let has_more_clients = clients.len() > CLIENTS_MAX;
    clients.truncate(CLIENTS_MAX);
    let query = WebhookListQuery {
        tenant: Some(tenant.id.to_string()),
        rows_max: Some(WEBHOOKS_COUNTED_MAX),
        ..WebhookListQuery::default()
    };
    let webhooks = context.console.ports.webhook_admin.list(&query).await?;
    Ok(context.show(&TenantPage {
        members_next: next_text(members.next.as_ref()),
        members: members.rows.into_iter().map(MemberRow::new).collect(),
        clients: clients.into_iter().map(ClientRow::new).collect(),
        has_more_clients,
        webhooks: webhooks.webhooks.len(),
        has_more_webhooks: webhooks.next.is_some(),
        tenant: TenantRow::new(tenant),
    }))
}

pub(crate) async fn post_one(context: &Context, form: &Params) -> Result<Response, PageError> {
    let id = TenantId::new(context.segment("tenant"));
    match form.get("do") {
        Some("disable") => set_status(context, &id, Status::Disabled, "tenant_disabled").await,
        Some("enable") => set_status(context, &id, Status::Active, "tenant_enabled").await,
        Some("erase") => erase(context, &id, form).await,
        Some("add_member" | "remove_member" | "make_admin" | "make_member") => {
            change_member(context, &id, form).await
        }
        _ => Err(PageError::no_action()),
    }
}

fn path(context: &Context, id: &TenantId) -> String {
    context.console_path(&format!("tenants/{id}"))
}

async fn set_status(
    context: &Context,
    id: &TenantId,
    status: Status,
    code: &'static str,
) -> Result<Response, PageError> {
    let tenant = context.admin().set_tenant_status(id, status).await?;
    Ok(context.done(&path(context, id), code, &TenantRow::new(tenant)))
}

async fn erase(context: &Context, id: &TenantId, form: &Params) -> Result<Response, PageError> {
    require(context, Permission::Configuration)?;
    if form.get("confirm") != Some(id.as_str()) {
        return Err(PageError::Refused(format!("type the id of the tenant, {id}, to erase it")));
    }
    context.admin().begin_erasing_tenant(id).await?;
    Ok(context.done(&context.console_path("tenants"), "tenant_erased", &json!({ "erased": id.as_str() })))
}

async fn change_member(context: &Context, id: &TenantId, form: &Params) -> Result<Response, PageError> {
    require(context, Permission::Accounts)?;
    let admin = context.admin();
    let user = admin.find_user(form.get("user").unwrap_or_default()).await.map_err(form_error)?;
    let code = match form.get("do") {
        Some("add_member") => {
            admin.add_membership(&user, id).await?;
            "tenant_member_added"
        }
        Some("remove_member") => {
            admin.remove_membership(&user.email, id).await.map_err(form_error)?;
            "tenant_member_removed"
        }
        what => {
            let is_admin = what == Some("make_admin");
            admin.set_membership_admin(&user, id, is_admin).await.map_err(form_error)?;
            "tenant_member_changed"
        }
    };
    Ok(context.done(&path(context, id), code, &json!({ "tenant": id.as_str(), "user": user.id.as_str() })))
}

/// Changes a membership from the page of its user.
pub(super) async fn change_tenant_of(
    context: &Context,
    user: &store::Account,
    form: &Params,
) -> Result<&'static str, PageError> {
    let admin = context.admin();
    let tenant = TenantId::new(form.get("tenant").unwrap_or_default());
    match form.get("do") {
        Some("add_tenant") => {
            admin.add_membership(user, &tenant).await.map_err(form_error)?;
            Ok("tenant_member_added")
        }
        Some("remove_tenant") => {
            admin.remove_membership(&user.email, &tenant).await.map_err(form_error)?;
            Ok("tenant_member_removed")
        }
        what => {
            let is_admin = what == Some("make_admin");
            admin.set_membership_admin(user, &tenant, is_admin).await.map_err(form_error)?;
            Ok("tenant_member_changed")
        }
    }
}
