//! The shell around the pages: navigation, account, errors.

use axum::http::request::Parts;
use maud::{Markup, html};
use pages::{Format, PageContext, PageError, Response};
use ui::app::{Brand, NavGroup, NavItem, Shell, app_page, plain_app_page};
use ui::{DisplayName, Icon, Lang, safe_href};

use crate::Console;
use crate::actions::action_of;
use crate::context::Context;
use crate::text::{CommonText, done, refusal};

/// The sections of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Overview,
    Search,
    Requests,
    Tenants,
    Users,
    Developers,
    Teams,
    Operators,
    Invitations,
    Clients,
    Subscriptions,
    Tokens,
    Webhooks,
    Audit,
    Reads,
    SigningKeys,
    Configuration,
    Backups,
    Doctor,
}

impl PageContext for Context {
    type Section = Section;

    fn shell(&self, title: &str, section: Option<Section>, content: &Markup) -> Markup {
        let lang = self.lang();
        let nav = self.navigation(section);
        let text = CommonText::of(lang);
        let place = html! { small { (text.console) } };
        let account_links = html! {
            a href=(safe_href(&self.console_path("account"))) { (DisplayName(&self.visitor.account.email)) }
            a href=(safe_href(&self.console_path("logout"))) { (text.sign_out) }
        };
        app_page(
            &Shell {
                lang,
                assets: self.site.realm.assets(),
                brand: self.console.brand(),
                place: &place,
                title,
                home: &self.console_path(""),
                language_switch: self.language_switch().as_deref(),
                nav: &nav,
                account_links: &account_links,
                footer: &html! {},
            },
            content,
        )
    }

    fn home(&self) -> String {
        self.console_path("")
    }

    fn refusal_text(&self, why: &str) -> String {
        refusal(self.lang(), why)
    }

    fn check_action(&self, path: &'static str, do_it: &str) -> Result<(), PageError> {
        if action_of(path, do_it)?.is_dangerous { self.require_fresh() } else { Ok(()) }
    }

    fn done_text(&self, code: &str) -> Option<&'static str> {
        done(self.lang(), code)
    }
}

impl Context {
    fn navigation(&self, current: Option<Section>) -> Vec<NavGroup> {
        let text = CommonText::of(self.lang());
        let item = |label, page: &str, icon, section| NavItem {
            label,
            href: self.console_path(page),
            icon,
            is_current: current == Some(section),
            badge: None,
        };
        let badge = (self.pending_requests > 0).then(|| self.pending_requests.to_string());
        vec![
            NavGroup {
                label: "",
                items: vec![
                    item(text.overview, "", Icon::Home, Section::Overview),
                    item(text.search, "search", Icon::Globe, Section::Search),
                    NavItem { badge, ..item(text.requests, "requests", Icon::Bell, Section::Requests) },
                ],
            },
            NavGroup {
                label: text.people,
                items: vec![
                    item(text.tenants, "tenants", Icon::Building, Section::Tenants),
                    item(text.users, "users", Icon::Person, Section::Users),
                    item(text.developers, "developers", Icon::Person, Section::Developers),
                    item(text.teams, "teams", Icon::People, Section::Teams),
                    item(text.operators, "operators", Icon::Shield, Section::Operators),
                    item(text.invitations, "invitations", Icon::Envelope, Section::Invitations),
                ],
            },
            NavGroup {
                label: text.integrations,
                items: vec![
                    item(text.clients, "clients", Icon::Card, Section::Clients),
                    item(text.subscriptions, "subscriptions", Icon::Key, Section::Subscriptions),
                    item(text.webhooks, "webhooks", Icon::Send, Section::Webhooks),
                    item(text.tokens, "tokens", Icon::Key, Section::Tokens),
                ],
            },
            NavGroup {
                label: text.records,
                items: vec![
                    item(text.audit, "audit", Icon::List, Section::Audit),
                    item(text.reads, "reads", Icon::Book, Section::Reads),
                ],
            },
            NavGroup {
                label: text.service,
                items: vec![
                    item(text.doctor, "doctor", Icon::Check, Section::Doctor),
                    item(text.configuration, "configuration", Icon::Sliders, Section::Configuration),
                    item(text.backups, "backups", Icon::Clock, Section::Backups),
                    item(text.signing_keys, "signing-keys", Icon::Key, Section::SigningKeys),
                ],
            },
        ]
    }
}

impl Console {
    fn brand(&self) -> Brand<'_> {
        Brand { name: &self.settings.service_name, logo: None, stylesheet: None }
    }

    /// An error without a page around it. Who is not signed in is led to the sign-in page and back.
    pub(crate) async fn anonymous_error(&self, parts: &mut Parts, error: PageError) -> Response {
        let format = Format::of(parts);
        if matches!(error, PageError::SignIn) && format == Format::Html {
            return self.site.to_sign_in(parts).await;
        }
        let lang = self.site.realm.lang(parts).await;
        let home = format!("{}/", self.base_path());
        let shell = |title: &str, content: &Markup| self.plain_page(lang, title, content);
        pages::error_page(&error, format, &pages::request_id(parts), (lang, home.clone()), shell)
    }

    /// A page without navigation.
    fn plain_page(&self, lang: Lang, title: &str, content: &Markup) -> Markup {
        plain_app_page(
            &Shell {
                lang,
                assets: self.site.realm.assets(),
                brand: self.brand(),
                place: &html! { small { (CommonText::of(lang).console) } },
                title,
                home: &format!("{}/", self.base_path()),
                language_switch: Some(&format!("?lang={}", lang.other().tag())),
                nav: &[],
                account_links: &html! {},
                footer: &html! {},
            },
            content,
        )
    }
}
