//! `/account/second-factors`: the pages on which people see, add, name and remove their own second factors. Adding, removing
//! and new recovery codes need a session that has begun a short time ago.

mod add;

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::recovery_codes::RecoveryCode;
use domain::{Guid, SecondFactorPolicy, Secret, checked_name};
use store::{AccountFactors, FactorEffects, FactorMethod, FactorRemoval};
use ui::Lang;

use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::page_error::PageError;
use super::response::{self, Response};
use super::session::ActiveSession;
use crate::flow::ticket::{PendingRequest, Ticket, TicketState};
use crate::pages::{self, FactorFrame, FactorNews, FactorRow, OwnFactorsPage, RecoveryCodesPage};
use crate::params::{Params, query};
use crate::second_factor::FRESH;
use crate::site::Site;

pub(super) use add::{get_passkey, get_totp, post_passkey, post_totp};

pub(super) const PAGE: &str = "account/second-factors";
pub(super) const TOTP_PAGE: &str = "account/second-factors/totp";
pub(super) const PASSKEY_PAGE: &str = "account/second-factors/passkey";
pub(super) const FACTOR_NAME_CHARS_MAX: usize = 60;

pub(super) async fn get(State(site): State<Arc<Site>>, browser: BrowserContext, params: Params) -> Response {
    let news = match params.get("done") {
        Some("added") => Some(FactorNews::Added),
        Some("renamed") => Some(FactorNews::Renamed),
        Some("removed") => Some(FactorNews::Removed),
        _ => None,
    };
    let result = match site.visitor(&browser, params.get("ticket")).await {
        Ok(Ok(visitor)) => site.own_factors_page(&browser, &visitor, news, StatusCode::OK).await,
        Ok(Err(elsewhere)) => Ok(elsewhere),
        Err(error) => Err(error),
    };
    site.render(&browser, result)
}

pub(super) async fn post(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    site.render(&browser, Box::pin(site.change_own_factors(&browser, &form)).await)
}

/// Somebody who is signed in, perhaps only to add a second factor, and the request that waits meanwhile.
struct Visitor {
    active: ActiveSession,
    pending: PendingRequest,
    started_at: domain::Ticks,
    /// The ticket of the submitted form, if it is this browser's and has not expired.
    ticket: Option<Ticket>,
}

impl Site {
    /// The visitor, or the way to the sign-in page.
    async fn visitor(
        &self,
        browser: &BrowserContext,
        ticket: Option<&str>,
    ) -> Result<Result<Visitor, Response>, PageError> {
        let now = self.clock.now();
        let (pending, started_at, ticket) = match ticket.map(|text| self.open_ticket(browser, text)) {
            Some(TicketState::Valid(ticket)) => (ticket.pending.clone(), ticket.started_at(), Some(ticket)),
            Some(TicketState::Stale(pending)) => (pending, now, None),
            Some(TicketState::Unreadable) | None => (PendingRequest::SecondFactors, now, None),
        };
        match self.any_session(browser).await? {
            Some(active) => Ok(Ok(Visitor { active, pending, started_at, ticket })),
            None => self.redirect_with(browser, "login", pending, started_at, None).map(Err),
        }
    }

    /// Where the visitor proves again who they are, if the session is too old for a change.
    async fn reauthentication(
        &self,
        browser: &BrowserContext,
        visitor: &Visitor,
    ) -> Result<Option<Response>, PageError> {
        let session = &visitor.active.session;
        if self.clock.now().since(session.authenticated_at) <= FRESH {
            return Ok(None);
        }
        let is_enrolled = self.store.second_factors(&session.account).await?.is_enrolled();
        let page = if is_enrolled { "second-factor" } else { "login" };
        let (pending, started_at) = (visitor.pending.clone(), visitor.started_at);
        self.redirect_with(browser, page, pending, started_at, None).map(Some)
    }

    /// The frame of a page of the visitor's. `action` is the page that its form goes to.
    fn factor_frame<'a>(&'a self, links: &'a FrameLinks, news: Option<FactorNews>) -> FactorFrame<'a> {
        FactorFrame {
            lang: links.lang,
            assets: &self.assets,
            language_switch: Some(&links.language_switch),
            action: &links.action,
            ticket: &links.ticket,
            email: &links.email,
            sign_out: &links.sign_out,
            back: &links.back,
            news,
        }
    }

    fn frame_links(
        &self,
        browser: &BrowserContext,
        visitor: &Visitor,
        page: &str,
        ticket: &str,
    ) -> FrameLinks {
        let lang = browser.lang(Some(&visitor.active.account.lang));
        let link = |page: &str, params: &[(&str, &str)]| {
            self.path(&format!("{page}?{}", query(params.iter().copied())))
        };
        let back = if page == PAGE { "account" } else { PAGE };
        FrameLinks {
            lang,
            language_switch: link(page, &[("ticket", ticket), ("lang", lang.other().tag())]),
            action: link(page, &[("lang", lang.tag())]),
            ticket: ticket.to_owned(),
            email: visitor.active.account.email.clone(),
            sign_out: link("logout", &[("lang", lang.tag())]),
            back: link(back, &[("ticket", ticket), ("lang", lang.tag())]),
        }
    }

    async fn own_factors_page(
        &self,
        browser: &BrowserContext,
        visitor: &Visitor,
        news: Option<FactorNews>,
        status: StatusCode,
    ) -> Result<Response, PageError> {
        let account = &visitor.active.account;
        let AccountFactors { factors, recovery_codes_left } = self.store.second_factors(&account.id).await?;
        let ids: Vec<String> = factors.iter().map(|factor| factor.id.to_string()).collect();
        let rows: Vec<FactorRow<'_>> = factors
            .iter()
            .zip(&ids)
            .map(|(factor, id)| FactorRow {
                id,
                name: &factor.name,
                is_passkey: matches!(factor.method, FactorMethod::Passkey(_)),
                since: factor.created_at,
                last_used: factor.last_used_at,
            })
            .collect();
        let (ticket, browser_id) =
            self.issue_ticket_with(browser, visitor.pending.clone(), visitor.started_at, None)?;
        let links = self.frame_links(browser, visitor, PAGE, &ticket);
        let may_add = self.second_factor_policy() != SecondFactorPolicy::Off;
        let add = |page: &str| {
            let params = [("ticket", ticket.as_str()), ("lang", links.lang.tag())];
            may_add.then(|| self.path(&format!("{page}?{}", query(params))))
        };
        let passkey_page = add(PASSKEY_PAGE).filter(|_| self.relying_party(browser).is_some());
        let totp_page = add(TOTP_PAGE);
        let model = OwnFactorsPage {
            frame: self.factor_frame(&links, news),
            factors: &rows,
            recovery_codes_left,
            is_required: self.must_enrol(&visitor.active.session),
            add_totp: totp_page.as_deref(),
            add_passkey: passkey_page.as_deref(),
        };
        let page = response::page_with_script(status, pages::own_factors(&model), "'self'");
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    async fn change_own_factors(
        &self,
        browser: &BrowserContext,
        form: &Params,
    ) -> Result<Response, PageError> {
        let visitor = match self.visitor(browser, form.get("ticket")).await? {
            Ok(visitor) => visitor,
            Err(elsewhere) => return Ok(elsewhere),
        };
        let refused = |news| self.own_factors_page(browser, &visitor, Some(news), StatusCode::BAD_REQUEST);
        if visitor.ticket.is_none() {
            return refused(FactorNews::Expired).await;
        }
        let what = form.get("do").unwrap_or_default();
        if what != "rename"
            && let Some(elsewhere) = self.reauthentication(browser, &visitor).await?
        {
            return Ok(elsewhere);
        }
        let account = &visitor.active.account.id;
        let audit = browser.audit_by(Some(account.clone()));
        let factor = form.get("factor").and_then(Guid::parse);
        match (what, factor) {
            ("rename", Some(factor)) => {
                let Some(name) = form.get("name").and_then(|name| checked_name(name, FACTOR_NAME_CHARS_MAX))
                else {
                    return refused(FactorNews::NameRefused).await;
                };
                self.store.rename_second_factor(account, factor, name, &audit).await?;
                self.back_to_factors(browser, &visitor, "renamed")
            }
            ("remove", Some(factor)) => {
                let effects = self.factor_effects(&visitor.active);
                match self.store.remove_second_factor(account, factor, &effects, &audit).await? {
                    FactorRemoval::Removed { .. } => self.back_to_factors(browser, &visitor, "removed"),
                    FactorRemoval::NotFound | FactorRemoval::SessionVoid => {
                        refused(FactorNews::Expired).await
                    }
                }
            }
            ("codes", _) => {
                let codes = RecoveryCode::generate(&*self.random);
                let effects = self.factor_effects(&visitor.active);
                if !self.store.set_recovery_codes(account, &codes, &effects, &audit).await? {
                    return refused(FactorNews::Expired).await;
                }
                self.recovery_codes_page(browser, &visitor, &codes)
            }
            _ => self.back_to_factors(browser, &visitor, ""),
        }
    }

    /// Back to the list, by a redirect: reloading it repeats nothing.
    fn back_to_factors(
        &self,
        browser: &BrowserContext,
        visitor: &Visitor,
        done: &str,
    ) -> Result<Response, PageError> {
        let (ticket, browser_id) =
            self.issue_ticket_with(browser, visitor.pending.clone(), visitor.started_at, None)?;
        let mut params = vec![("ticket", ticket.as_str()), ("done", done)];
        params.extend(browser.selected_lang().map(|lang| ("lang", lang)));
        let next = response::redirect(&self.path(&format!("{PAGE}?{}", query(params))));
        Ok(self.with_browser_cookie(next, browser_id.as_ref()))
    }

    /// Shows new recovery codes, once.
    fn recovery_codes_page(
        &self,
        browser: &BrowserContext,
        visitor: &Visitor,
        codes: &[RecoveryCode],
    ) -> Result<Response, PageError> {
        let (ticket, browser_id) =
            self.issue_ticket_with(browser, visitor.pending.clone(), visitor.started_at, None)?;
        let links = self.frame_links(browser, visitor, PAGE, &ticket);
        let grouped: Vec<Secret> = codes.iter().map(RecoveryCode::grouped).collect();
        let codes: Vec<&str> = grouped.iter().map(Secret::reveal).collect();
        // A request that waits goes on; otherwise the list follows.
        let next =
            if matches!(visitor.pending, PendingRequest::SecondFactors) { PAGE } else { "second-factor" };
        let params = [("ticket", ticket.as_str()), ("lang", links.lang.tag())];
        let go_on = self.path(&format!("{next}?{}", query(params)));
        let mut frame = self.factor_frame(&links, None);
        // The language cannot be switched: the codes are not shown again.
        frame.language_switch = None;
        let page = pages::recovery_codes(&RecoveryCodesPage { frame, codes: &codes, go_on: &go_on });
        let page = response::page_with_script(StatusCode::OK, page, "'self'");
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    /// The visitor's session goes on; the others end, and a mail tells the person.
    fn factor_effects(&self, active: &ActiveSession) -> FactorEffects {
        FactorEffects {
            kept_session: Some(active.session.id),
            mail: self.account_mails.second_factor_changed(&active.account, self.clock.now()),
        }
    }
}

/// The texts that a frame refers to.
struct FrameLinks {
    lang: Lang,
    language_switch: String,
    action: String,
    ticket: String,
    email: String,
    sign_out: String,
    back: String,
}
