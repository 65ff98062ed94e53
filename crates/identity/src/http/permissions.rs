//! `/permissions`: which applications have access, and taking it back.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::{GrantId, Scopes, Ticks, UserId};
use store::Grant;

use super::answer::{self, Answer};
use super::authorize::SignedIn;
use super::failed::Failed;
use super::form::OwnForm;
use super::login::other_language;
use super::visit::Visit;
use crate::Identity;
use crate::flow::ticket::{Errand, Opened};
use crate::grant::Details;
use crate::pages::{self, Access, Permissions};
use crate::params::{Params, query};

pub(super) async fn get(State(identity): State<Arc<Identity>>, visit: Visit, params: Params) -> Answer {
    identity.shown(
        &visit,
        identity.show_permissions(&visit, params.get("withdrawn").zip(params.get("tenant"))).await,
    )
}

pub(super) async fn post(
    State(identity): State<Arc<Identity>>,
    visit: Visit,
    OwnForm(form): OwnForm,
) -> Answer {
    identity.shown(&visit, identity.withdraw(&visit, &form).await)
}

/// All that one application may do for one tenant.
struct Held {
    /// The newest grant's id stands for all of them.
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
        visit: &Visit,
        withdrawn: Option<(&str, &str)>,
    ) -> Result<Answer, Failed> {
        let Some(SignedIn { user, .. }) = self.signed_in(visit).await? else {
            return Ok(answer::redirect(&self.path_in(visit, "login")));
        };
        let held = self.held(&user.id).await?;
        let (ticket, browser) = self.ticket(visit, Errand::Permissions, self.clock.now())?;
        // A name comes from the store, never from the address; and only where nothing is left to withdraw.
        let is_gone = |(client, tenant): &(&str, &str)| {
            held.iter()
                .all(|one| (one.access.client.as_str(), one.access.tenant.as_str()) != (*client, *tenant))
        };
        let notice = match withdrawn.filter(is_gone) {
            Some((client, _)) => self.application_name(client).await?,
            None => None,
        };
        let applications: Vec<Access<'_>> = held
            .iter()
            .map(|one| Access {
                key: one.key.as_str(),
                application: &one.application,
                tenant: &one.tenant,
                since: one.since,
                last_used: one.last_used,
                scopes: &one.scopes,
            })
            .collect();
        let lang = visit.lang(None);
        let other = query([("lang", other_language(lang).tag())]);
        let model = Permissions {
            lang,
            assets: &self.assets,
            language_switch: Some(&self.path(&format!("permissions?{other}"))),
            action: &self.path(&format!("permissions?{}", query([("lang", lang.tag())]))),
            ticket: &ticket,
            email: &user.email,
            given_name: &user.given_name,
            applications: &applications,
            notice: notice.as_deref(),
            sign_out: &self.path(&format!("logout?{}", query([("lang", lang.tag())]))),
        };
        let page = answer::page(StatusCode::OK, pages::permissions(&model), None);
        Ok(self.with_browser(page, browser.as_ref()))
    }

    async fn withdraw(&self, visit: &Visit, form: &Params) -> Result<Answer, Failed> {
        let text = form.get("ticket").unwrap_or_default();
        let is_theirs = matches!(
            self.tickets.open(text, visit.browser.as_ref(), self.clock.now()),
            Opened::Valid(ticket) if matches!(ticket.errand, Errand::Permissions)
        );
        let Some(SignedIn { user, .. }) = self.signed_in(visit).await?.filter(|_| is_theirs) else {
            return Ok(answer::redirect(&self.path_in(visit, "permissions")));
        };
        let key = form.get("access").unwrap_or_default();
        let held = self.held(&user.id).await?;
        let Some(one) = held.into_iter().find(|one| one.grants.iter().any(|grant| grant.as_str() == key))
        else {
            return Ok(answer::redirect(&self.path_in(visit, "permissions")));
        };
        let note = "withdrawn by the user";
        let gone =
            self.store.revoke_client_access(&one.access, self.clock.now(), &visit.context, note).await?;
        for grant in &gone {
            self.liveness.revoked(grant);
        }
        let store::ClientAccess { client, tenant, .. } = &one.access;
        let mut params = vec![("withdrawn", client.as_str()), ("tenant", tenant.as_str())];
        params.extend(visit.picked().map(|lang| ("lang", lang)));
        Ok(answer::redirect(&self.path(&format!("permissions?{}", query(params)))))
    }

    async fn application_name(&self, id: &str) -> Result<Option<String>, Failed> {
        Ok(self.store.find_client(&domain::ClientId::new(id)).await?.map(|client| client.name))
    }

    /// The user's live grants, those of one application for one tenant together; last used first.
    async fn held(&self, user: &UserId) -> Result<Vec<Held>, Failed> {
        let grants = self.store.live_grants(user, self.clock.now()).await?;
        let mut held: Vec<Held> = Vec::new();
        let mut places: HashMap<(String, String), usize> = HashMap::new();
        for grant in grants {
            let place = (grant.client.to_string(), grant.tenant.to_string());
            if let Some(one) = places.get(&place).and_then(|index| held.get_mut(*index)) {
                one.join(&grant);
                continue;
            }
            let client = self.store.find_client(&grant.client).await?;
            let tenant = self.store.find_tenant(&grant.tenant).await?;
            let (Some(client), Some(tenant)) = (client, tenant) else { continue };
            places.insert(place, held.len());
            held.push(Held::new(&grant, client.name, tenant.name));
        }
        Ok(held)
    }
}

fn scopes(grant: &Grant) -> Scopes {
    Details::read(&grant.details).map(|details| details.scopes()).unwrap_or_default()
}

impl Held {
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

    fn join(&mut self, grant: &Grant) {
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
