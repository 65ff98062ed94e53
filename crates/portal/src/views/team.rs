//! The team page.

use domain::Ticks;
use maud::{Markup, html};
use pages::{Csv, View};
use serde::Serialize;
use store::{Invitation, TeamRole};
use ui::app::{Column, Table, copy_block, parts_name, table};
use ui::{Button, ButtonStyle, DisplayName, Field, Lang, badge, button, field, hidden_field, timestamp};

use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;
use crate::text::team::TeamText;

#[derive(Debug, Serialize)]
pub(crate) struct TeamPage {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) members: Vec<MemberRow>,
    pub(crate) invitations: Vec<InvitationRow>,
    /// The link of a new invitation that no mail carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct MemberRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) role: &'static str,
    pub(crate) is_active: bool,
    pub(crate) is_you: bool,
    pub(crate) since: String,
    #[serde(skip)]
    pub(crate) since_at: Ticks,
}

/// An invitation that nobody has accepted or revoked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvitationRow {
    id: String,
    email: String,
    role: &'static str,
    invited: String,
    expires: String,
    #[serde(skip)]
    expires_at: Ticks,
    is_expired: bool,
}

impl InvitationRow {
    pub(crate) fn new(one: &Invitation, now: Ticks) -> Self {
        let role = if one.is_team_owner { TeamRole::Owner } else { TeamRole::Member };
        Self {
            id: one.id.to_string(),
            email: one.email.clone(),
            role: role.as_str(),
            invited: one.created_at.iso(),
            expires: one.expires_at.iso(),
            expires_at: one.expires_at,
            is_expired: one.expires_at <= now,
        }
    }
}

impl View<Context> for TeamPage {
    fn section(&self) -> Section {
        Section::Team
    }

    fn title(&self, lang: Lang) -> &'static str {
        TeamText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let text = TeamText::of(context.lang());
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            @if let Some(link) = &self.link {
                section.card.secret-once role="status" {
                    h2 { (text.link_title) }
                    p { (text.link_text) }
                    (copy_block(context.lang(), "invitation-link", link))
                }
            }
            (self.members(context))
            @if !self.invitations.is_empty() { (self.invitations(context)) }
            @if context.is_owner() { (invite_form(context)) (self.rename_form(context)) }
            @else { p.muted.after { (text.owners_only) } }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |member: &MemberRow| {
            vec![member.name.clone(), member.email.clone(), member.role.to_owned(), member.since.clone()]
        };
        Some(Csv {
            name: "team",
            columns: vec!["name", "email", "role", "since"],
            rows: self.members.iter().map(row).collect(),
        })
    }
}

impl TeamPage {
    fn members(&self, context: &Context) -> Markup {
        let text = TeamText::of(context.lang());
        let columns = [
            Column::main(text.name),
            Column::text(text.email),
            Column::text(text.role),
            Column::text(text.since),
            Column::text(""),
        ];
        let rows = self.members.iter().map(|member| (member.id.clone(), member_cells(context, member)));
        html! {
            h2.after { (text.members) }
            (table(context.lang(), &Table {
                caption: text.members,
                columns: &columns,
                rows: rows.collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                ..Table::default()
            }))
        }
    }

    fn invitations(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = TeamText::of(lang);
        let columns = [
            Column::main(text.email),
            Column::text(text.role),
            Column::text(text.valid_until),
            Column::text(""),
        ];
        let cells = |one: &InvitationRow| {
            let role = if one.role == "owner" { text.owner } else { text.member };
            vec![
                parts_name(&one.email),
                html! { (role) },
                html! { (timestamp(lang, one.expires_at)) @if one.is_expired { " " (badge(text.expired)) } },
                invitation_actions(context, one),
            ]
        };
        let rows = self.invitations.iter().map(|one| (one.id.clone(), cells(one)));
        html! {
            h2.after { (text.invitations) }
            (table(lang, &Table {
                caption: text.invitations,
                columns: &columns,
                rows: rows.collect(),
                ..Table::default()
            }))
        }
    }

    fn rename_form(&self, context: &Context) -> Markup {
        let text = TeamText::of(context.lang());
        html! {
            section.card {
                h2 { (text.rename) }
                form.stack method="post" action=(context.here(&[], [])) {
                    (context.form_token())
                    (field(&Field { name: "name", label: text.name, value: Some(&self.name), is_required: true, ..Field::default() }))
                    (button(&Button { label: CommonText::of(context.lang()).save, name_and_value: Some(("do", "rename")), ..Button::default() }))
                }
            }
        }
    }
}

fn member_cells(context: &Context, member: &MemberRow) -> Vec<Markup> {
    let lang = context.lang();
    let text = TeamText::of(lang);
    let role = if member.role == "owner" { text.owner } else { text.member };
    vec![
        html! { (DisplayName(&member.name)) @if member.is_you { " " (badge(text.you)) } @if !member.is_active { " " (badge(text.disabled)) } },
        html! { (member.email) },
        html! { (role) },
        timestamp(lang, member.since_at),
        member_actions(context, member),
    ]
}

fn member_actions(context: &Context, member: &MemberRow) -> Markup {
    let text = TeamText::of(context.lang());
    let (other_role, label) =
        if member.role == "owner" { ("member", text.make_member) } else { ("owner", text.make_owner) };
    let (remove, explanation) =
        if member.is_you { (text.leave, text.leave_text) } else { (text.remove, text.remove_text) };
    html! {
        @if context.is_owner() && !member.is_you {
            form.inline method="post" action=(context.here(&[], [])) {
                (context.form_token()) (hidden_field("member", &member.id)) (hidden_field("role", other_role))
                button type="submit" class="button secondary small" name="do" value="role" { (label) }
            }
        }
        @if context.is_owner() || member.is_you {
            details.more.danger id={ "remove-" (member.id) } {
                summary { (remove) }
                form method="post" action=(context.here(&[], [])) {
                    (context.form_token()) (hidden_field("member", &member.id))
                    p { (DisplayName(&member.email)) ": " (explanation) }
                    (button(&Button { label: remove, style: ButtonStyle::Destructive, name_and_value: Some(("do", "remove")), ..Button::default() }))
                }
            }
        }
    }
}

fn invitation_actions(context: &Context, one: &InvitationRow) -> Markup {
    let text = TeamText::of(context.lang());
    html! {
        @if context.is_owner() {
            form.inline method="post" action=(context.here(&[], [])) {
                (context.form_token()) (hidden_field("invitation", &one.id))
                button type="submit" class="button secondary small" name="do" value="resend" { (text.resend) }
            }
            details.more.danger id={ "revoke-" (one.id) } {
                summary { (text.revoke) }
                form method="post" action=(context.here(&[], [])) {
                    (context.form_token()) (hidden_field("invitation", &one.id))
                    p { (DisplayName(&one.email)) ": " (text.revoke_text) }
                    (button(&Button { label: text.revoke, style: ButtonStyle::Destructive, name_and_value: Some(("do", "revoke")), ..Button::default() }))
                }
            }
        }
    }
}

fn invite_form(context: &Context) -> Markup {
    let text = TeamText::of(context.lang());
    html! {
        section.card {
            h2 { (text.invite) }
            p.muted { (text.invite_text) }
            form.stack method="post" action=(context.here(&[], [])) {
                (context.form_token())
                (field(&Field { name: "email", label: text.email, value: context.typed("email"), inputmode: Some("email"), placeholder: Some("ana@example.com"), is_required: true, ..Field::default() }))
                div.field {
                    label for="role" { (text.role) }
                    select #role name="role" { option value="member" { (text.member) } option value="owner" { (text.owner) } }
                }
                (button(&Button { label: text.send, name_and_value: Some(("do", "invite")), ..Button::default() }))
            }
        }
    }
}
