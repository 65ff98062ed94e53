//! `/permissions`: lists the applications with access in the user's name and withdraws it.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::{GrantId, Scopes, Ticks, UserId};
use store::Grant;

use super::authorize::ActiveSession;
use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::page_error::PageError;
use super::response::{self, Response};
use crate::Identity;
use crate::flow::ticket::{PendingRequest, TicketState};
use crate::grant::GrantDetails;
use crate::pages::{self, PermissionEntry, PermissionsPage};
use crate::params::{Params, query};

pub(super) async fn get(
    State(identity): State<Arc<Identity>>,
    browser: BrowserContext,
    params: Params,
) -> Response {
    identity.render(
        &browser,
        identity.show_permissions(&browser, params.get("withdrawn").zip(params.get("tenant"))).await,
    )
}

pub(super) async fn post(
    State(identity): State<Arc<Identity>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    identity.render(&browser, identity.withdraw(&browser, &form).await)
}

/// The user's grants for one application and one tenant.
struct ApplicationGrants {
    /// The id of the newest grant, which identifies the group on the page.
    key: GrantId,
    grants: Vec<GrantId>,
    access: store::ClientAccess,
    application: String,
    tenant: String,
    since: Ticks,
    last_used: Ticks,
    scopes: Vec<&'static str>,
}

impl Identity {
    async fn show_permissions(
        &self,
        browser: &BrowserContext,
        withdrawn: Option<(&str, &str)>,
    ) -> Result<Response, PageError> {
        let Some(ActiveSession { user, .. }) = self.active_session(browser).await? else {
            return Ok(response::redirect(&self.path_in(browser, "login")));
        };
        let groups = self.application_grants(&user.id).await?;
        let (ticket, browser_id) =
            self.issue_ticket(browser, PendingRequest::Permissions, self.clock.now())?;
        // The name comes from the store, not from the URL, and only if no access is left.
        let is_withdrawn = |(client, tenant): &(&str, &str)| {
            groups.iter().all(|group| {
                (group.access.client.as_str(), group.access.tenant.as_str()) != (*client, *tenant)
            })
        };
        let notice = match withdrawn.filter(is_withdrawn) {
            Some((client, _)) => self.application_name(client).await?,
            None => None,
        };
        let applications: Vec<PermissionEntry<'_>> = groups
            .iter()
            .map(|group| PermissionEntry {
                key: group.key.as_str(),
                application: &group.application,
                tenant: &group.tenant,
                since: group.since,
                last_used: group.last_used,
                scopes: &group.scopes,
            })
            .collect();
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
            applications: &applications,
            notice: notice.as_deref(),
            sign_out: &self.path(&format!("logout?{}", query([("lang", lang.tag())]))),
        };
        let page = response::page(StatusCode::OK, pages::permissions(&model));
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    async fn withdraw(&self, browser: &BrowserContext, form: &Params) -> Result<Response, PageError> {
        let text = form.get("ticket").unwrap_or_default();
        let is_valid = matches!(
            self.tickets.open(text, browser.browser_id.as_ref(), self.clock.now()),
            TicketState::Valid(ticket) if matches!(ticket.pending, PendingRequest::Permissions)
        );
        let Some(ActiveSession { user, .. }) = self.active_session(browser).await?.filter(|_| is_valid)
        else {
            return Ok(response::redirect(&self.path_in(browser, "permissions")));
        };
        let key = form.get("access").unwrap_or_default();
        let groups = self.application_grants(&user.id).await?;
        let Some(group) =
            groups.into_iter().find(|group| group.grants.iter().any(|grant| grant.as_str() == key))
        else {
            return Ok(response::redirect(&self.path_in(browser, "permissions")));
        };
        let note = "withdrawn by the user";
        let revoked =
            self.store.revoke_client_access(&group.access, self.clock.now(), &browser.audit, note).await?;
        for grant in &revoked {
            self.grant_status.mark_revoked(grant);
        }
        let store::ClientAccess { client, tenant, .. } = &group.access;
        let mut params = vec![("withdrawn", client.as_str()), ("tenant", tenant.as_str())];
        params.extend(browser.selected_lang().map(|lang| ("lang", lang)));
        Ok(response::redirect(&self.path(&format!("permissions?{}", query(params)))))
    }

    async fn application_name(&self, id: &str) -> Result<Option<String>, PageError> {
        Ok(self.store.find_client(&domain::ClientId::new(id)).await?.map(|client| client.name))
    }

    /// The user's live grants, grouped by application and tenant, last used first.
    async fn application_grants(&self, user: &UserId) -> Result<Vec<ApplicationGrants>, PageError> {
        let grants = self.store.live_grants(user, self.clock.now()).await?;
        let mut groups: Vec<ApplicationGrants> = Vec::new();
        let mut indexes: HashMap<(String, String), usize> = HashMap::new();
        for grant in grants {
            let pair = (grant.client.to_string(), grant.tenant.to_string());
            if let Some(group) = indexes.get(&pair).and_then(|index| groups.get_mut(*index)) {
                group.merge(&grant);
                continue;
            }
            let client = self.store.find_client(&grant.client).await?;
            let tenant = self.store.find_tenant(&grant.tenant).await?;
            let (Some(client), Some(tenant)) = (client, tenant) else { continue };
            indexes.insert(pair, groups.len());
            groups.push(ApplicationGrants::new(&grant, client.name, tenant.name));
        }
        Ok(groups)
    }
}

fn scopes(grant: &Grant) -> Scopes {
    GrantDetails::from_json(&grant.details).map(|details| details.scopes()).unwrap_or_default()
}

impl ApplicationGrants {
    fn new(grant: &Grant, application: String, tenant: String) -> Self {
        Self {
            key: grant.id.clone(),
            grants: vec![grant.id.clone()],
            access: store::ClientAccess {
                user: grant.user.clone(),
                client: grant.client.clone(),
                tenant: grant.tenant.clone(),
            },
            application,
            tenant,
            since: grant.created_at,
            last_used: grant.last_used_at,
            scopes: scopes(grant).names(),
        }
    }

    fn merge(&mut self, grant: &Grant) {
        self.grants.push(grant.id.clone());
        self.since = self.since.min(grant.created_at);
        self.last_used = self.last_used.max(grant.last_used_at);
        for scope in scopes(grant).names() {
            if !self.scopes.contains(&scope) {
                self.scopes.push(scope);
            }
        }
    }
}
