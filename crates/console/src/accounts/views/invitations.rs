//! Invitations: the list, and the form.

use std::collections::BTreeMap;

use domain::{OperatorRole, Realm, Ticks};
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{Csv, View};
use serde::Serialize;
use store::{Invitation, InvitationState};
use ui::app::{Column, State, Table, empty_state, parts_name, short_id, state, table, tabs};
use ui::{DisplayName, Field, Lang, field, hidden_field, safe_href, timestamp};

use super::forms::{ActionForm, action_form, filters, language_field, shown_link};
use super::person::role_choice;
use crate::accounts::text::{InvitationText, realm_word, role_word};
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct InvitationsPage {
    pub(crate) invitations: Vec<InvitationRow>,
    pub(crate) next: Option<String>,
    /// The link of a new invitation that no mail carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
    /// The realm that the form invites to.
    #[serde(skip)]
    pub(crate) invited: Realm,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvitationRow {
    pub(crate) id: String,
    realm: &'static str,
    email: String,
    name: String,
    role: Option<&'static str>,
    pub(crate) team: Option<String>,
    is_team_owner: bool,
    pub(crate) tenants: Vec<String>,
    state: &'static str,
    pub(crate) invited_by: String,
    /// The same for people.
    #[serde(skip)]
    pub(crate) inviter: String,
    /// The names of its team (`team:<id>`) and its tenants (`tenant:<id>`).
    #[serde(skip)]
    pub(crate) names: BTreeMap<String, String>,
    created: String,
    expires: String,
    #[serde(skip)]
    of: Realm,
    #[serde(skip)]
    operator_role: Option<OperatorRole>,
    #[serde(skip)]
    present_state: InvitationState,
    #[serde(skip)]
    pub(crate) created_at: Ticks,
    #[serde(skip)]
    expires_at: Ticks,
}

impl InvitationRow {
    pub(crate) fn new(one: Invitation, now: Ticks) -> Self {
        let present_state = one.state(now);
        Self {
            id: one.id.to_string(),
            realm: one.realm.as_str(),
            email: one.email,
            name: one.name,
            role: one.role.map(OperatorRole::as_str),
            team: Some(one.team).filter(|team| !team.is_empty()),
            is_team_owner: one.is_team_owner,
            tenants: one.tenants.iter().map(ToString::to_string).collect(),
            state: present_state.as_str(),
            invited_by: one.invited_by.to_string(),
            inviter: String::new(),
            names: BTreeMap::new(),
            created: one.created_at.iso(),
            expires: one.expires_at.iso(),
            of: one.realm,
            operator_role: one.role,
            present_state,
            created_at: one.created_at,
            expires_at: one.expires_at,
        }
    }

    pub(crate) fn state(&self, lang: Lang) -> Markup {
        let kind = match self.present_state {
            InvitationState::Pending => State::Waiting,
            InvitationState::Expired => State::Bad,
            InvitationState::Accepted => State::Ok,
            InvitationState::Revoked => State::Off,
        };
        state(kind, state_word(lang, self.present_state))
    }

    /// What the account may do at once.
    pub(crate) fn gets(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = InvitationText::of(lang);
        let link = |kind: &str, id: &str| {
            let href = context.console_path(&format!("{kind}s/{id}"));
            let name = self.names.get(&format!("{kind}:{id}"));
            html! {
                a href=(safe_href(&href)) title=(id) {
                    @match name { Some(name) => (DisplayName(name)), None => (short_id(id)) }
                }
            }
        };
        html! {
            (realm_word(lang, self.of))
            @if let Some(role) = self.operator_role { span.sub { (role_word(lang, role)) } }
            @if let Some(team) = &self.team { span.sub { (if self.is_team_owner { text.owner_of } else { text.member_of }) " " (link("team", team)) } }
            @if !self.tenants.is_empty() { span.sub { @for tenant in &self.tenants { (link("tenant", tenant)) " " } } }
        }
    }

    fn who(&self, lang: Lang) -> Markup {
        html! {
            @if self.email.is_empty() { (InvitationText::of(lang).first_operator) } @else { (parts_name(&self.email)) }
            @if !self.name.is_empty() { span.sub { (DisplayName(&self.name)) } }
        }
    }
}

fn state_word(lang: Lang, state: InvitationState) -> &'static str {
    let text = InvitationText::of(lang);
    match state {
        InvitationState::Pending => text.pending,
        InvitationState::Expired => text.expired,
        InvitationState::Accepted => text.accepted,
        InvitationState::Revoked => text.revoked,
    }
}

impl View<Context> for InvitationsPage {
    fn section(&self) -> Section {
        Section::Invitations
    }

    fn title(&self, lang: Lang) -> &'static str {
        CommonText::of(lang).invitations
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = InvitationText::of(lang);
        html! {
            h1 { (self.title(lang)) }
            p.lead { (text.lead) }
            @if let Some(link) = &self.link { (shown_link(lang, text.link_title, text.link_text, link)) }
            (list_filters(context))
            @if self.invitations.is_empty() { (empty(context)) } @else { (self.table(context)) }
            @if context.may(Permission::Accounts) { (self.form(context)) }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &InvitationRow| {
            vec![
                one.id.clone(),
                one.realm.to_owned(),
                one.email.clone(),
                one.name.clone(),
                one.role.unwrap_or_default().to_owned(),
                one.team.clone().unwrap_or_default(),
                one.tenants.join(" "),
                one.state.to_owned(),
                one.invited_by.clone(),
                one.created.clone(),
                one.expires.clone(),
            ]
        };
        let columns = "id realm email name role team tenants state invited_by created expires";
        Some(Csv {
            name: "invitations",
            columns: columns.split(' ').collect(),
            rows: self.invitations.iter().map(row).collect(),
        })
    }
}

fn list_filters(context: &Context) -> Markup {
    let lang = context.lang();
    let text = InvitationText::of(lang);
    let wanted = context.query.get("realm");
    // Without a state, those that are pending.
    let states = [
        ("", text.pending),
        ("expired", text.expired),
        ("accepted", text.accepted),
        ("revoked", text.revoked),
        ("any", text.any),
    ];
    let realm = html! {
        div.field {
            label for="realm" { (text.realm) }
            select #realm name="realm" data-submit {
                option value="" { (text.any) }
                @for realm in Realm::ALL { option value=(realm.as_str()) selected[wanted == Some(realm.as_str())] { (realm_word(lang, realm)) } }
            }
        }
    };
    filters(context, text.search, &states, &realm)
}

fn empty(context: &Context) -> Markup {
    let text = InvitationText::of(context.lang());
    if ["q", "state", "realm", "after"].iter().any(|name| context.query.is_set(name)) {
        let clear = (CommonText::of(context.lang()).clear_filter, context.path());
        return empty_state(text.none_found, text.none_found_text, Some(clear));
    }
    empty_state(text.none, text.none_text, None)
}

impl InvitationsPage {
    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (InvitationText::of(lang), CommonText::of(lang));
        let columns = [
            Column::main(text.email),
            Column::text(text.gets),
            Column::text(common.state),
            Column::text(text.valid_until),
            Column::text(text.invited_by),
            Column::text(""),
        ];
        let cells = |one: &InvitationRow| {
            vec![
                one.who(lang),
                one.gets(context),
                one.state(lang),
                timestamp(lang, one.expires_at),
                html! { (parts_name(&one.inviter)) span.sub { (timestamp(lang, one.created_at)) } },
                html! { @if context.may(Permission::Accounts) { (row_actions(context, one)) } },
            ]
        };
        table(
            lang,
            &Table {
                caption: common.invitations,
                columns: &columns,
                rows: self.invitations.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                first: context.query.get("after").map(|_| context.here(&["after"], [])),
                next: self.next.as_ref().map(|next| context.here(&["after"], [("after", next.as_str())])),
            },
        )
    }

    fn form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = InvitationText::of(lang);
        let tab = |realm: Realm, label| {
            let href = format!("{}#invite", context.here(&["invite"], [("invite", realm.as_str())]));
            (label, href, realm == self.invited)
        };
        let all = [
            tab(Realm::Users, text.users),
            tab(Realm::Developers, text.developers),
            tab(Realm::Operators, text.operators),
        ];
        let typed = |name| context.typed(name);
        html! {
            section.card #invite {
                h2 { (text.invite) }
                p.muted { (text.invite_text) }
                (tabs(text.realm, &all))
                form.stack method="post" action=(context.here(&[], [])) {
                    (context.form_token()) (hidden_field("realm", self.invited.as_str()))
                    (field(&Field { name: "email", label: text.email, value: typed("email"), inputmode: Some("email"), placeholder: Some("ana@example.com"), is_required: true, ..Field::default() }))
                    (field(&Field { name: "name", label: text.name, value: typed("name"), hint: Some(text.name_hint), ..Field::default() }))
                    (self.realm_fields(context))
                    (language_field(lang, text.language, typed("lang").unwrap_or("es")))
                    @if !context.visitor.is_fresh { p.muted { (CommonText::of(lang).fresh_needed) } }
                    button type="submit" class="button" name="do" value="invite" { (text.invite) }
                }
            }
        }
    }

    /// What the account of this realm may do at once.
    fn realm_fields(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = InvitationText::of(lang);
        let typed = |name| context.typed(name).or_else(|| context.query.get(name));
        html! {
            @match self.invited {
                Realm::Users => (field(&Field { name: "tenants", label: text.tenants, value: typed("tenants"), hint: Some(text.tenants_hint), ..Field::default() })),
                Realm::Developers => {
                    (field(&Field { name: "team", label: text.team, value: typed("team"), hint: Some(text.team_hint), ..Field::default() }))
                    label.check { input type="checkbox" name="team_owner" value="true" checked[context.typed("team_owner").is_some()]; span { (text.team_owner) } }
                },
                Realm::Operators => (role_choice(lang, text.role, typed("role").and_then(OperatorRole::from_name).or(Some(OperatorRole::Viewer)))),
            }
        }
    }
}

fn row_actions(context: &Context, one: &InvitationRow) -> Markup {
    let text = InvitationText::of(context.lang());
    let named = |explanation: &str| html! { (DisplayName(&one.email)) ": " (explanation) };
    html! {
        @if matches!(one.present_state, InvitationState::Pending | InvitationState::Expired) {
            (action_form(context, &ActionForm { name: "resend", row: &one.id, label: text.resend, text: named(text.resend_text), hidden: &[("invitation", &one.id)], needs_proof: true, ..ActionForm::default() }))
            (action_form(context, &ActionForm { name: "revoke", row: &one.id, label: text.revoke, text: named(text.revoke_text), hidden: &[("invitation", &one.id)], is_dangerous: true, needs_proof: true, ..ActionForm::default() }))
        }
    }
}
