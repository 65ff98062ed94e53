//! One team with everything that hangs on it.

use domain::Ticks;
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{Csv, View};
use serde::Serialize;
use store::{ListedMember, Sandbox, Status};
use ui::app::{copy_inline, facts};
use ui::{Button, DisplayName, Field, Lang, button, field, safe_href, timestamp};

use super::clients::ClientRow;
use super::parts::{Act, act};
use super::requests::RequestRow;
use super::subscriptions::SubscriptionRow;
use super::teams::TeamRow;
use crate::applications::text::area::AreaText;
use crate::applications::text::teams::TeamText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TeamPage {
    pub(crate) team: TeamRow,
    pub(crate) members: Vec<MemberRow>,
    pub(crate) clients: Vec<ClientRow>,
    pub(crate) has_more_clients: bool,
    pub(crate) subscriptions: Vec<SubscriptionRow>,
    pub(crate) has_more_subscriptions: bool,
    /// Those that wait for a decision.
    pub(crate) requests: Vec<RequestRow>,
    pub(crate) sandbox: Option<SandboxFacts>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemberRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) role: &'static str,
    pub(crate) is_active: bool,
    pub(crate) since: String,
    #[serde(skip)]
    pub(crate) since_at: Ticks,
}

impl MemberRow {
    pub(crate) fn new(listed: ListedMember) -> Self {
        Self {
            id: listed.member.account.to_string(),
            name: listed.given_name,
            email: listed.email,
            role: listed.member.role.as_str(),
            is_active: listed.status == Status::Active,
            since: listed.member.created_at.iso(),
            since_at: listed.member.created_at,
        }
    }
}

/// The sandbox without its password.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SandboxFacts {
    pub(crate) tenant: String,
    /// `open`, `closed`, `loading` or `erased`.
    pub(crate) state: &'static str,
    pub(crate) user: String,
    pub(crate) email: String,
    pub(crate) loaded: Option<String>,
    #[serde(skip)]
    pub(crate) loaded_at: Option<Ticks>,
}

impl SandboxFacts {
    pub(crate) fn new(sandbox: &Sandbox) -> Self {
        let state = match (sandbox.tenant_status, sandbox.loaded_at) {
            (None, _) => "erased",
            (Some(Status::Active), Some(_)) => "open",
            (Some(Status::Active), None) => "loading",
            (Some(_), _) => "closed",
        };
        Self {
            tenant: sandbox.tenant.to_string(),
            state,
            user: sandbox.user.to_string(),
            email: sandbox.email.clone(),
            loaded: sandbox.loaded_at.map(Ticks::iso),
            loaded_at: sandbox.loaded_at,
        }
    }
}

impl View<Context> for TeamPage {
    fn section(&self) -> Section {
        Section::Teams
    }

    fn title(&self, lang: Lang) -> &'static str {
        TeamText::of(lang).one
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area) = (TeamText::of(lang), AreaText::of(lang));
        let webhooks = context.console_path(&format!("webhooks?team={}", self.team.id));
        html! {
            p.crumbs { a href=(safe_href(&context.console_path("teams"))) { (text.title) } }
            div.title-row { h1 { (DisplayName(&self.team.name)) } (self.team.state(lang)) }
            @if !self.team.is_active { p.lead { (text.disabled_text) } }
            section.card {
                (facts(&[
                    (area.id, copy_inline(lang, "team-id", &self.team.id)),
                    (CommonText::of(lang).created, timestamp(lang, self.team.created_at)),
                ]))
                p { a href=(safe_href(&webhooks)) { (text.webhooks) } }
            }
            (self.requests(context))
            (self.members(context))
            (self.clients(context))
            (self.subscriptions(context))
            (self.sandbox(context))
            @if context.may(Permission::Accounts) { (self.actions(context)) }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &MemberRow| {
            let is_active = one.is_active.to_string();
            vec![
                one.id.clone(),
                one.name.clone(),
                one.email.clone(),
                one.role.to_owned(),
                is_active,
                one.since.clone(),
            ]
        };
        Some(Csv {
            name: "members",
            columns: vec!["developer", "name", "email", "role", "active", "since"],
            rows: self.members.iter().map(row).collect(),
        })
    }
}

impl TeamPage {
    fn actions(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (TeamText::of(lang), CommonText::of(lang));
        let (label, what, is_dangerous, name) = if self.team.is_active {
            (text.disable, text.disable_text, true, "disable")
        } else {
            (text.enable, text.enable_text, false, "enable")
        };
        let name_value = context.typed("name").unwrap_or(&self.team.name);
        let status = Act { id: "status", name, label, what: &self.team.name, text: what, is_dangerous };
        html! {
            section.card {
                h2 { (common.actions) }
                details.more #rename open[context.is_refused("rename")] {
                    summary { (text.rename) }
                    form method="post" action=(context.path()) {
                        (context.form_token())
                        (field(&Field { name: "name", label: AreaText::of(lang).name, value: Some(name_value), is_required: true, ..Field::default() }))
                        (button(&Button { label: common.save, name_and_value: Some(("do", "rename")), ..Button::default() }))
                    }
                }
                (act(context, &status, &html! {}))
            }
        }
    }
}
