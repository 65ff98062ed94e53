//! The shell around the pages: navigation, account, errors.

use axum::http::request::Parts;
use maud::{Markup, html};
use pages::{Format, PageContext, PageError, Response};
use ui::app::{NavGroup, NavItem, Shell, app_page, plain_app_page};
use ui::{DisplayName, Icon, Lang, safe_href};

use crate::Portal;
use crate::context::{Context, team_path};
use crate::text::common::CommonText;
use crate::text::done::done;
use crate::text::refusals::refusal;

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

impl PageContext for Context {
    type Section = Section;

    fn shell(&self, title: &str, section: Option<Section>, content: &Markup) -> Markup {
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
                assets: self.site.realm.assets(),
                brand: self.portal.brand(),
                place: &place,
                title,
                home: &self.team_path(""),
                language_switch: self.language_switch().as_deref(),
                nav: &nav,
                account_links: &account_links,
                footer: &self.portal.footer(lang),
            },
            content,
        )
    }

    fn home(&self) -> String {
        self.team_path("")
    }

    fn refusal_text(&self, why: &str) -> String {
        refusal(self.lang(), why)
    }

    fn done_text(&self, code: &str) -> Option<&'static str> {
        done(self.lang(), code)
    }
}

impl Context {
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
}

impl Portal {
    /// An error without a team's page around it. Who is not signed in is led to the sign-in page and back.
    pub(crate) async fn anonymous_error(&self, parts: &mut Parts, error: PageError) -> Response {
        let format = Format::of(parts);
        if matches!(error, PageError::SignIn) && format == Format::Html {
            return self.site.to_sign_in(parts).await;
        }
        let lang = self.site.realm.lang(parts).await;
        let home = format!("{}/", self.base_path());
        let shell = |title: &str, content: &Markup| self.plain_page(lang, title, "?", content, &html! {});
        pages::error_page(&error, format, &pages::request_id(parts), (lang, home), shell)
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
                assets: self.site.realm.assets(),
                brand: self.brand(),
                place: &html! {},
                title,
                home: "/",
                language_switch: Some(&language_switch),
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
