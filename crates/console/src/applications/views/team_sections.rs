//! The sections of a team's page: requests, members, clients, subscriptions, sandbox.

use maud::{Markup, html};
use operator::admin::Permission;
use ui::app::{Column, State, Table, facts, parts_name, short_id, state, table};
use ui::{Button, DisplayName, Field, badge, button, field, hidden_field, safe_href, timestamp};

use super::parts::{Act, act, select_field};
use super::team::{MemberRow, SandboxFacts, TeamPage};
use super::{clients, requests, subscriptions};
use crate::applications::text::area::AreaText;
use crate::applications::text::teams::TeamText;
use crate::context::Context;
use crate::text::CommonText;

impl TeamPage {
    pub(super) fn requests(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = TeamText::of(lang);
        let all = context.console_path(&format!("requests?state=all&team={}", self.team.id));
        let rows = self.requests.iter().map(|row| (row.id.clone(), requests::cells(context, row)));
        html! {
            section.card {
                h2 { (text.requests) }
                @if self.requests.is_empty() { p.muted { (text.no_requests) } }
                @else { (table(lang, &Table { caption: text.requests, columns: &requests::columns(lang), rows: rows.collect(), ..Table::default() })) }
                p { a href=(safe_href(&all)) { (text.all_requests) } }
            }
        }
    }

    pub(super) fn members(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = TeamText::of(lang);
        let columns = [
            Column::main(AreaText::of(lang).name),
            Column::text(text.email),
            Column::text(text.role),
            Column::text(text.since),
            Column::text(""),
        ];
        let rows = self.members.iter().map(|one| (one.id.clone(), member_cells(context, one)));
        html! {
            section.card {
                h2 { (text.members) }
                @if self.members.is_empty() { p.muted { (text.no_members) } }
                @else {
                    (table(lang, &Table {
                        caption: text.members,
                        columns: &columns,
                        rows: rows.collect(),
                        csv: Some(context.here(&[], [("format", "csv")])),
                        ..Table::default()
                    }))
                }
                @if context.may(Permission::Accounts) { (add_form(context)) }
            }
        }
    }

    pub(super) fn clients(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = TeamText::of(lang);
        let all = context.console_path(&format!("clients?team={}", self.team.id));
        let rows = self.clients.iter().map(|row| (row.id.clone(), clients::cells(context, row)));
        html! {
            section.card {
                h2 { (text.clients) }
                @if self.clients.is_empty() { p.muted { (text.no_clients) } }
                @else { (table(lang, &Table { caption: text.clients, columns: &clients::columns(lang), rows: rows.collect(), ..Table::default() })) }
                @if self.has_more_clients { p { a href=(safe_href(&all)) { (AreaText::of(lang).see_all) } } }
            }
        }
    }

    pub(super) fn subscriptions(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = TeamText::of(lang);
        let all = context.console_path(&format!("subscriptions?team={}", self.team.id));
        let rows = self.subscriptions.iter().map(|row| (row.id.clone(), subscriptions::cells(context, row)));
        html! {
            section.card {
                h2 { (text.subscriptions) }
                @if self.subscriptions.is_empty() { p.muted { (text.no_subscriptions) } }
                @else { (table(lang, &Table { caption: text.subscriptions, columns: &subscriptions::columns(lang), rows: rows.collect(), ..Table::default() })) }
                @if self.has_more_subscriptions { p { a href=(safe_href(&all)) { (AreaText::of(lang).see_all) } } }
            }
        }
    }

    pub(super) fn sandbox(&self, context: &Context) -> Markup {
        let text = TeamText::of(context.lang());
        html! {
            section.card {
                h2 { (text.sandbox) }
                @match &self.sandbox {
                    Some(sandbox) => (sandbox_card(context, sandbox)),
                    None => p.muted { (text.no_sandbox) },
                }
            }
        }
    }
}

fn sandbox_card(context: &Context, sandbox: &SandboxFacts) -> Markup {
    let lang = context.lang();
    let text = TeamText::of(lang);
    let (kind, word) = match sandbox.state {
        "open" => (State::Ok, text.sandbox_open),
        "loading" => (State::Waiting, text.sandbox_loading),
        "closed" => (State::Bad, text.sandbox_closed),
        _ => (State::Off, text.sandbox_erased),
    };
    let tenant = context.console_path(&format!("tenants/{}", sandbox.tenant));
    let user = context.console_path(&format!("users/{}", sandbox.user));
    let mut rows = vec![(CommonText::of(lang).state, state(kind, word))];
    if sandbox.state != "erased" {
        rows.push((
            text.sandbox_tenant,
            html! { a href=(safe_href(&tenant)) { (short_id(&sandbox.tenant)) } },
        ));
    }
    rows.push((text.sandbox_user, html! { a href=(safe_href(&user)) { (DisplayName(&sandbox.email)) } }));
    if let Some(at) = sandbox.loaded_at {
        rows.push((text.sandbox_loaded, timestamp(lang, at)));
    }
    let is_closed = sandbox.state == "closed";
    let (label, what, name) = if is_closed {
        (text.open_sandbox, text.open_sandbox_text, "open_sandbox")
    } else {
        (text.close_sandbox, text.close_sandbox_text, "close_sandbox")
    };
    let change = Act { id: "sandbox", name, label, what: "", text: what, is_dangerous: !is_closed };
    html! {
        (facts(&rows))
        @if sandbox.state != "erased" && context.may(Permission::Configuration) { (act(context, &change, &html! {})) }
    }
}

fn member_cells(context: &Context, member: &MemberRow) -> Vec<Markup> {
    let lang = context.lang();
    let text = TeamText::of(lang);
    let href = context.console_path(&format!("developers/{}", member.id));
    let name = if member.name.trim().is_empty() { &member.email } else { &member.name };
    vec![
        html! { a href=(safe_href(&href)) { (DisplayName(name)) } @if !member.is_active { " " (badge(text.account_disabled)) } },
        parts_name(&member.email),
        html! { (if member.role == "owner" { text.owner } else { text.member }) },
        timestamp(lang, member.since_at),
        html! { @if context.may(Permission::Accounts) { (member_actions(context, member)) } },
    ]
}

fn member_actions(context: &Context, member: &MemberRow) -> Markup {
    let text = TeamText::of(context.lang());
    let (role, label, explanation) = if member.role == "owner" {
        ("member", text.make_member, text.make_member_text)
    } else {
        ("owner", text.make_owner, text.make_owner_text)
    };
    let id = format!("role-{}", member.id);
    let change =
        Act { id: &id, name: "set_role", label, what: &member.email, text: explanation, is_dangerous: false };
    let id = format!("remove-{}", member.id);
    let remove = Act {
        id: &id,
        name: "remove_member",
        label: text.remove,
        what: &member.email,
        text: text.remove_text,
        is_dangerous: true,
    };
    let this = hidden_field("member", &member.id);
    html! {
        (act(context, &change, &html! { (this) (hidden_field("role", role)) }))
        (act(context, &remove, &this))
    }
}

fn add_form(context: &Context) -> Markup {
    let lang = context.lang();
    let text = TeamText::of(lang);
    let roles = [("member", text.member), ("owner", text.owner)];
    html! {
        details.more #add-member open[context.is_refused("add_member")] {
            summary { (text.add) }
            form method="post" action=(context.path()) {
                (context.form_token())
                p { (text.add_text) }
                (field(&Field { name: "member", label: text.email, value: context.typed("member"), inputmode: Some("email"), is_required: true, ..Field::default() }))
                (select_field("new-role", "role", text.role, &roles, context.typed("role").unwrap_or("member")))
                p.muted { (CommonText::of(lang).fresh_needed) }
                (button(&Button { label: text.add, name_and_value: Some(("do", "add_member")), ..Button::default() }))
            }
        }
    }
}
