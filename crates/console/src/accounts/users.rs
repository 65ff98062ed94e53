//! The handlers of one user.

use domain::{ClientId, TenantId};
use pages::{Format, PageContext, PageError, Params, Response};
use serde_json::json;
use store::{Account, LIST_ROWS_MAX, WebhookOwner};

use super::account::{self, ActionOutcome};
use super::parts::{form_error, list_query, next_text};
use super::tenants::change_tenant_of;
use super::views::user::{AuthorizationRow, UserPage, UserTenantRow};
use crate::context::Context;

/// How many authorizations a page shows.
const AUTHORIZATIONS: usize = 20;

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    let user = context.admin().find_user(context.segment("user")).await?;
    show(context, &user, None).await
}

async fn show(context: &Context, user: &Account, link: Option<String>) -> Result<Response, PageError> {
    let tenants = context.admin().user_tenants(user, &list_query(context, "after")?).await?;
    let (authorizations, authorizations_next) = authorizations(context, user).await?;
    Ok(context.show(&UserPage {
        account: account::read(context, user, link).await?,
        next: next_text(tenants.next.as_ref()),
        tenants: tenants.rows.into_iter().map(UserTenantRow::new).collect(),
        authorizations,
        authorizations_next,
    }))
}

/// The page of authorizations that the URL asks for, and the cursor of the next one: `<tenant>:<client>`.
async fn authorizations(
    context: &Context,
    user: &Account,
) -> Result<(Vec<AuthorizationRow>, Option<String>), PageError> {
    let admin = context.admin();
    let after = context.query.get("authorizations_after").and_then(|text| text.split_once(':'));
    let after = after.map(|(tenant, client)| WebhookOwner {
        tenant: TenantId::new(tenant),
        client: ClientId::new(client),
    });
    let rows_max = if context.format == Format::Csv { LIST_ROWS_MAX } else { AUTHORIZATIONS };
    let mut found = admin.user_authorizations(user, after.as_ref(), rows_max + 1).await?;
    let has_more = found.len() > rows_max;
    found.truncate(rows_max);
    let last = found.last().filter(|_| has_more).map(|last| &last.authorization.access);
    let next = last.map(|access| format!("{}:{}", access.tenant, access.client));
    let mut rows: Vec<AuthorizationRow> = Vec::new();
    for one in found {
        let known = rows.iter().find(|row| row.client == one.authorization.access.client.as_str());
        let name = match known {
            Some(row) => row.client_name.clone(),
            // A download has no names, so that it costs one read.
            None if context.format == Format::Csv => String::new(),
            None => admin.client_name(&one.authorization.access.client).await?,
        };
        rows.push(AuthorizationRow::new(&one, name));
    }
    Ok((rows, next))
}

pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let user = context.admin().find_user(context.segment("user")).await?;
    let here = context.console_path(&format!("users/{}", user.id));
    match account::act(context, &user, &here, form).await? {
        ActionOutcome::Done(response) => return Ok(response),
        ActionOutcome::ShowLink(link) => return show(context, &user, Some(link)).await,
        ActionOutcome::Other => {}
    }
    match form.get("do") {
        Some("add_tenant" | "remove_tenant" | "make_admin" | "make_member") => {
            let code = change_tenant_of(context, &user, form).await?;
            Ok(context.done(&here, code, &json!({ "user": user.id.as_str(), "tenant": form.get("tenant") })))
        }
        Some("withdraw") => {
            let (tenant, client) =
                (form.get("tenant").unwrap_or_default(), form.get("client").unwrap_or_default());
            let withdrawn = context.admin().withdraw_authorization(&user, tenant, client).await;
            withdrawn.map_err(form_error)?;
            let values = json!({ "user": user.id.as_str(), "tenant": tenant, "client": client });
            Ok(context.done(&here, "account_access_withdrawn", &values))
        }
        _ => Err(PageError::no_action()),
    }
}
