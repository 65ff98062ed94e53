//! Views and the shell around them: navigation, account, errors.

use axum::http::StatusCode;
use axum::http::request::Parts;
use maud::{Markup, html};
use serde::Serialize;
use ui::app::{NavGroup, NavItem, Shell, app_page, plain_app_page};
use ui::{DisplayName, Icon, Lang, Severity, notice, safe_href};

use crate::Portal;
use crate::context::{Context, Format, team_path};
use crate::csv::Csv;
use crate::error::PortalError;
use crate::form::TOKEN_FIELD;
use crate::live;
use crate::params::Params;
use crate::response::{self, Response};
use crate::text::common::{CommonText, ErrorText};
use crate::text::done::done;

/// The sections of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Home,
    Subscriptions,
    Applications,
    Sandbox,
    Calls,
    Webhooks,
    Events,
    Reference,
    Signature,
    Notices,
    Team,
}

/// What a page shows. The same values are the page's JSON.
pub(crate) trait View: Serialize {
    fn section(&self) -> Section;
    /// Without text from users or clients.
    fn title(&self, lang: Lang) -> &'static str;
    fn content(&self, context: &Context) -> Markup;
    /// The page's main table.
    fn csv(&self, _context: &Context) -> Option<Csv> {
        None
    }
}

impl Context {
    /// The response with a view, in the format that was asked for.
    pub(crate) fn show(&self, view: &impl View) -> Response {
        self.show_with_status(StatusCode::OK, view)
    }

    pub(crate) fn show_with_status(&self, status: StatusCode, view: &impl View) -> Response {
        match self.format {
            Format::Json | Format::Events => response::json(status, view),
            Format::Csv => match view.csv(self) {
                Some(csv) => response::csv(&csv),
                None => self.error_response(&PortalError::NotFound),
            },
            Format::Html => {
                let lang = self.lang();
                let news = self.query.get("done").and_then(|code| done(lang, code));
                // A live page compares it with what its stream says.
                let version = serde_json::to_vec(view).map(|json| live::version(&json)).unwrap_or_default();
                let content = html! {
                    @if let Some(text) = news { (notice(Severity::Success, "done", &html! { (text) }, None)) }
                    (view.content(self))
                    div hidden data-version=(format!("{version:x}")) {}
                };
                let title = view.title(lang);
                response::page(status, self.page(title, Some(view.section()), &content))
            }
        }
    }

    /// After an action: back to a page, which says that it is done; for programs, the values.
    pub(crate) fn done(&self, page: &str, code: &'static str, values: &impl Serialize) -> Response {
        match self.format {
            Format::Html => {
                let separator = if page.contains('?') { '&' } else { '?' };
                response::see_other(&format!("{page}{separator}done={code}"))
            }
            _ => response::json(StatusCode::OK, values),
        }
    }

    fn page(&self, title: &str, section: Option<Section>, content: &Markup) -> Markup {
        let lang = self.lang();
        let nav = self.navigation(section);
        let text = CommonText::of(lang);
        let base = self.portal.base_path();
        let place = self.team_links();
        let account_links = html! {
            a href=(safe_href(&format!("{base}/account"))) { (DisplayName(&self.visitor.account.email)) }
            a href=(safe_href(&format!("{base}/logout"))) { (text.sign_out) }
        };
        app_page(
            &Shell {
                lang,
                assets: self.portal.pages.assets(),
                brand: self.portal.brand(),
                place: &place,
                title,
                home: &self.team_path(""),
                language_switch: &self.here(&["lang"], [("lang", lang.other().tag())]),
                nav: &nav,
                account_links: &account_links,
                footer: &self.portal.footer(lang),
            },
            content,
        )
    }

    /// The team; who belongs to several chooses here.
    fn team_links(&self) -> Markup {
        html! {
            @if self.teams.len() > 1 {
                details.teams {
                    summary { small { (DisplayName(&self.team.name)) } }
                    ul {
                        @for (team, _) in &self.teams {
                            li {
                                a href=(safe_href(&team_path(&self.portal, team, ""))) aria-current=[(team.id == self.team.id).then_some("true")] {
                                    (DisplayName(&team.name))
                                }
                            }
                        }
                    }
                }
            } @else {
                small { (DisplayName(&self.team.name)) }
            }
        }
    }

    fn navigation(&self, current: Option<Section>) -> Vec<NavGroup> {
        let text = CommonText::of(self.lang());
        let item = |label, page: &str, icon, section| NavItem {
            label,
            href: self.team_path(page),
            icon,
            is_current: current == Some(section),
            badge: None,
        };
        let mut build = vec![
            item(text.subscriptions, "subscriptions", Icon::Key, Section::Subscriptions),
            item(text.applications, "applications", Icon::Card, Section::Applications),
            item(text.events, "events", Icon::Envelope, Section::Events),
            item(text.reference, "reference", Icon::Book, Section::Reference),
        ];
        if self.portal.settings.sandbox.is_open {
            build.insert(0, item(text.sandbox, "sandbox", Icon::Flask, Section::Sandbox));
        }
        vec![
            NavGroup { label: "", items: vec![item(text.home, "", Icon::Home, Section::Home)] },
            NavGroup { label: text.build, items: build },
            NavGroup {
                label: text.observe,
                items: vec![
                    item(text.calls, "calls", Icon::List, Section::Calls),
                    item(text.webhooks, "webhooks", Icon::Send, Section::Webhooks),
                    item(text.signature, "signature", Icon::Shield, Section::Signature),
                ],
            },
            NavGroup {
                label: text.manage,
                items: vec![
                    NavItem {
                        badge: self.unread_badge(),
                        ..item(text.notices, "notices", Icon::Bell, Section::Notices)
                    },
                    item(text.team, "team", Icon::People, Section::Team),
                ],
            },
        ]
    }

    /// How many notices the developer has not read.
    fn unread_badge(&self) -> Option<String> {
        match self.unread_notices {
            0 => None,
            store::UNREAD_NOTICES_MAX.. => Some(format!("{}+", store::UNREAD_NOTICES_MAX - 1)),
            unread => Some(unread.to_string()),
        }
    }

    /// The hidden field that protects a form.
    pub(crate) fn form_token(&self) -> Markup {
        ui::hidden_field(TOKEN_FIELD, &self.visitor.form_token)
    }

    /// The response, or the error as a page or JSON.
    pub(crate) async fn render(&self, result: Result<Response, PortalError>) -> Response {
        match result {
            Ok(response) => response,
            Err(PortalError::Reauthenticate) if self.format == Format::Html => {
                let next = self.here(&[], []);
                self.portal.pages.reauthenticate(&mut self.parts.clone(), &self.visitor, &next).await
            }
            Err(error) => self.error_response(&error),
        }
    }

    fn error_response(&self, error: &PortalError) -> Response {
        log_error(error, &self.request_id);
        if self.format != Format::Html {
            return json_error(error, &self.request_id);
        }
        let content = error_content(self.lang(), error, &self.request_id, &self.team_path(""));
        response::page(error.status(), self.page(error_title(self.lang(), error), None, &content))
    }
}

impl Portal {
    /// An error without a team's page around it. Who is not signed in is led to the sign-in page and back.
    pub(crate) async fn anonymous_error(
        &self,
        parts: &mut Parts,
        format: Format,
        error: PortalError,
    ) -> Response {
        let request = parts.extensions.get::<web::RequestContext>();
        let request_id = request.map(|request| request.id.as_str().to_owned()).unwrap_or_default();
        if matches!(error, PortalError::SignIn) && format == Format::Html {
            let query = Params::parse(parts.uri.query().unwrap_or_default().as_bytes()).with(&["done"], []);
            let separator = if query.is_empty() { "" } else { "?" };
            let next = format!("{}{separator}{query}", parts.uri.path());
            return self.pages.sign_in(parts, &next).await;
        }
        log_error(&error, &request_id);
        if format != Format::Html {
            return json_error(&error, &request_id);
        }
        let lang = self.pages.lang(parts).await;
        let home = format!("{}/", self.base_path());
        let content = error_content(lang, &error, &request_id, &home);
        response::page(
            error.status(),
            self.plain_page(lang, error_title(lang, &error), "?", &content, &html! {}),
        )
    }

    /// A page without navigation. `switch` is its URL without the parameter of the language.
    pub(crate) fn plain_page(
        &self,
        lang: Lang,
        title: &str,
        switch: &str,
        content: &Markup,
        account_links: &Markup,
    ) -> Markup {
        let separator = if switch.contains('?') { '&' } else { '?' };
        let language_switch = format!("{switch}{separator}lang={}", lang.other().tag());
        plain_app_page(
            &Shell {
                lang,
                assets: self.pages.assets(),
                brand: self.brand(),
                place: &html! {},
                title,
                home: "/",
                language_switch: &language_switch,
                nav: &[],
                account_links,
                footer: &self.footer(lang),
            },
            content,
        )
    }

    fn footer(&self, lang: Lang) -> Markup {
        let contact = &self.settings.brand.contact;
        let href = if contact.contains('@') { format!("mailto:{contact}") } else { contact.clone() };
        html! {
            @if !contact.is_empty() { span { (CommonText::of(lang).contact) ": " a href=(safe_href(&href)) { (contact) } } }
        }
    }
}

fn log_error(error: &PortalError, request_id: &str) {
    if let PortalError::Store(error) = error {
        tracing::error!(%error, request_id, "the portal could not use the store");
    }
}

fn json_error(error: &PortalError, request_id: &str) -> Response {
    let message = match error {
        // A failure of the service carries its request id and nothing else.
        PortalError::Store(_) => String::new(),
        error => error.to_string(),
    };
    let body = serde_json::json!({ "error": error.code(), "message": message, "requestId": request_id });
    response::json(error.status(), &body)
}

fn error_title(lang: Lang, error: &PortalError) -> &'static str {
    let text = ErrorText::of(lang);
    match error {
        PortalError::NotFound => text.not_found,
        PortalError::Refused(_) => text.refused,
        PortalError::Forbidden(_) => text.forbidden,
        PortalError::FormExpired | PortalError::SignIn | PortalError::Reauthenticate => text.expired,
        PortalError::Store(_) if error.status() == StatusCode::SERVICE_UNAVAILABLE => text.unavailable,
        PortalError::Store(_) => text.internal,
    }
}

fn error_content(lang: Lang, error: &PortalError, request_id: &str, home: &str) -> Markup {
    let text = ErrorText::of(lang);
    let explanation = match error {
        PortalError::NotFound => text.not_found_text.to_owned(),
        PortalError::Refused(why) | PortalError::Forbidden(why) => sentence(why),
        PortalError::FormExpired | PortalError::SignIn | PortalError::Reauthenticate => {
            text.expired_text.to_owned()
        }
        PortalError::Store(_) if error.status() == StatusCode::SERVICE_UNAVAILABLE => {
            text.unavailable_text.to_owned()
        }
        PortalError::Store(_) => text.internal_text.to_owned(),
    };
    html! {
        h1 { (error_title(lang, error)) }
        p.lead { (explanation) }
        p.after { a.button href=(safe_href(home)) { (text.back) } }
        @if !request_id.is_empty() { p.reference { (text.request_id) ": " code { (request_id) } } }
    }
}

/// With a capital letter and a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}
