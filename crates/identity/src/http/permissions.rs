//! `/permissions`: lists the applications with access in the user's name, and for administrators in anybody's, and
//! withdraws it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::{AccountId, ClientId, TenantId};
use store::{Authorization, AuthorizationEnd, AuthorizationFacts, ClientAccess, WebhookOwner};

use super::application_access::{ApplicationAccess, WebhookLine, owner_of_key};
use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::page_error::PageError;
use super::response::{self, Response};
use super::session::ActiveSession;
use crate::flow::ticket::{PendingRequest, TicketState};
use crate::pages::{self, PermissionEntry, PermissionsPage, WebhookRow, WithdrawnNotice};
use crate::params::{Params, query};
use crate::site::Site;

/// The value of the form's field `for` that ends an application's access for the whole tenant.
const WHOLE_TENANT: &str = "tenant";

pub(super) async fn get(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    params: Params,
) -> Response {
    let withdrawn = params.get("withdrawn").zip(params.get("tenant"));
    let withdrawn = withdrawn.map(|(client, tenant)| WebhookOwner {
        tenant: TenantId::new(tenant),
        client: ClientId::new(client),
    });
    identity.render(&browser, identity.show_permissions(&browser, withdrawn).await)
}

pub(super) async fn post(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    identity.render(&browser, identity.withdraw(&browser, &form).await)
}

impl Site {
    async fn show_permissions(
        &self,
        browser: &BrowserContext,
        withdrawn: Option<WebhookOwner>,
    ) -> Result<Response, PageError> {
        let Some(ActiveSession { account: user, .. }) = self.active_session(browser).await? else {
            return Ok(self.to_sign_in(browser).await?);
        };
        let entries = self.application_access(&user.id).await?;
        let (ticket, browser_id) = self.issue_ticket(browser, PendingRequest::Home, self.clock.now())?;
        let notice = self.withdrawn_notice(&user.id, &entries, withdrawn).await?;
        let webhooks: Vec<Vec<WebhookRow<'_>>> = entries.iter().map(webhook_rows).collect();
        let rows: Vec<PermissionEntry<'_>> =
            entries.iter().zip(&webhooks).map(|(entry, webhooks)| page_entry(entry, webhooks)).collect();
        let lang = browser.lang(None);
        let other_lang = query([("lang", lang.other().tag())]);
        let model = PermissionsPage {
            lang,
            assets: &self.assets,
            language_switch: Some(&self.path(&format!("permissions?{other_lang}"))),
            action: &self.path(&format!("permissions?{}", query([("lang", lang.tag())]))),
            ticket: &ticket,
            email: &user.email,
            given_name: &user.given_name,
            entries: &rows,
            notice: notice.as_ref().map(|(application, tenant, webhooks_go_on)| WithdrawnNotice {
                application,
                tenant,
                webhooks_go_on: *webhooks_go_on,
            }),
            account: &self.path(&format!("account?{}", query([("lang", lang.tag())]))),
            sign_out: &self.path(&format!("logout?{}", query([("lang", lang.tag())]))),
        };
        let page = response::page_with_script(StatusCode::OK, pages::permissions(&model), "'self'");
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    /// The application and the tenant whose access has just been withdrawn, and whether its webhooks go on. All come from the store, not
    /// from the URL, and only if access has ended: the user's own, or everybody's in a tenant that the user administers.
    async fn withdrawn_notice(
        &self,
        user: &AccountId,
        entries: &[ApplicationAccess],
        withdrawn: Option<WebhookOwner>,
    ) -> Result<Option<(String, String, bool)>, PageError> {
        let Some(owner) = withdrawn else { return Ok(None) };
        if entries.iter().any(|entry| entry.is_own && entry.owner == owner) {
            return Ok(None);
        }
        let (is_member, is_admin) = self.role(user, &owner.tenant).await?;
        let access = self.store.owner_access(&owner).await?;
        let has_ended = |facts: &AuthorizationFacts| {
            let Authorization { access, ended, .. } = &facts.authorization;
            ended.is_some_and(|ended| {
                access.user == *user || (is_admin && ended.cause == AuthorizationEnd::WithdrawnForTenant)
            })
        };
        if !access.authorizations.iter().any(has_ended) {
            return Ok(None);
        }
        let Some(client) = self.store.find_client(&owner.client).await? else { return Ok(None) };
        let Some(tenant) = self.store.find_tenant(&owner.tenant).await? else { return Ok(None) };
        // Only members of the tenant may know.
        let webhooks_go_on = is_member && self.has_live_webhooks(&owner, &access).await?;
        Ok(Some((client.name, tenant.name, webhooks_go_on)))
    }

    /// Whether the user is a member of the tenant, and its administrator.
    async fn role(&self, user: &AccountId, tenant: &TenantId) -> Result<(bool, bool), PageError> {
        let found = self.store.find_tenant_membership(user, tenant).await?;
        let is_admin = found.as_ref().is_some_and(|found| found.is_active() && found.membership.is_admin);
        Ok((found.is_some(), is_admin))
    }

    /// Whether the user may end this access: the user's own, or everybody's.
    async fn may_withdraw(
        &self,
        user: &AccountId,
        owner: &WebhookOwner,
        is_for_tenant: bool,
    ) -> Result<bool, PageError> {
        if is_for_tenant {
            return Ok(self.role(user, &owner.tenant).await?.1);
        }
        let access = self.store.owner_access(owner).await?;
        Ok(access.standing().any(|one| one.access.user == *user))
    }

    async fn withdraw(&self, browser: &BrowserContext, form: &Params) -> Result<Response, PageError> {
        let text = form.get("ticket").unwrap_or_default();
        let is_valid = matches!(
            self.open_ticket(browser, text),
            TicketState::Valid(ticket) if matches!(ticket.pending, PendingRequest::Home)
        );
        let back = || Ok(response::redirect(&self.path_in(browser, "permissions")));
        let Some(ActiveSession { account: user, .. }) =
            self.active_session(browser).await?.filter(|_| is_valid)
        else {
            return back();
        };
        let (key, is_for_tenant) =
            (form.get("access").unwrap_or_default(), form.get("for") == Some(WHOLE_TENANT));
        let Some(owner) = owner_of_key(key) else { return back() };
        if !self.may_withdraw(&user.id, &owner, is_for_tenant).await? {
            return back();
        }
        let WebhookOwner { tenant, client } = &owner;
        let (now, audit) = (self.clock.now(), browser.audit_by(Some(user.id.clone())));
        let revoked = if is_for_tenant {
            let note = format!("withdrawn for the whole tenant by {}", user.id);
            self.store.revoke_tenant_access(tenant, client, now, &audit, &note).await?
        } else {
            let access =
                ClientAccess { user: user.id.clone(), client: client.clone(), tenant: tenant.clone() };
            self.store.revoke_client_access(&access, now, &audit, "withdrawn by the user").await?
        };
        for grant in &revoked {
            self.grant_status.mark_revoked(grant);
        }
        let mut params = vec![("withdrawn", client.as_str()), ("tenant", tenant.as_str())];
        params.extend(browser.selected_lang().map(|lang| ("lang", lang)));
        Ok(response::redirect(&self.path(&format!("permissions?{}", query(params)))))
    }
}

fn webhook_rows(entry: &ApplicationAccess) -> Vec<WebhookRow<'_>> {
    entry.webhooks.iter().map(webhook_row).collect()
}

fn webhook_row(line: &WebhookLine) -> WebhookRow<'_> {
    WebhookRow { resource: line.resource, host: &line.host, last_delivered_at: line.last_delivered_at }
}

fn page_entry<'a>(entry: &'a ApplicationAccess, webhooks: &'a [WebhookRow<'a>]) -> PermissionEntry<'a> {
    PermissionEntry {
        key: &entry.key,
        client: entry.owner.client.as_str(),
        application: &entry.application,
        tenant: &entry.tenant,
        since: entry.since,
        last_used: entry.last_used,
        scopes: &entry.scopes,
        is_own: entry.is_own,
        colleagues: entry.colleagues,
        is_admin: entry.is_admin,
        webhooks,
        webhooks_left_out: entry.webhooks_left_out,
        is_kept_by_colleague: entry.webhooks.iter().any(|line| line.is_kept_by_colleague),
    }
}
