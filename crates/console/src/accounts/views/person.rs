//! One developer, and one operator.

use domain::{OperatorRole, Ticks};
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{Csv, View};
use serde::Serialize;
use store::{NamedToken, Team, TeamRole, TokenState};
use ui::app::{Column, State, Table, parts_name, state, table};
use ui::{DisplayName, Lang, badge, safe_href, timestamp};

use super::account::AccountPart;
use super::forms::{ActionForm, action_form};
use super::invitations::InvitationRow;
use crate::accounts::text::{AccountText, InvitationText, PeopleText, role_meaning, role_word};
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeveloperPage {
    #[serde(flatten)]
    pub(crate) account: AccountPart,
    pub(crate) teams: Vec<TeamRow>,
    pub(crate) invitations: Vec<InvitationRow>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TeamRow {
    id: String,
    name: String,
    role: &'static str,
    #[serde(skip)]
    is_owner: bool,
}

impl TeamRow {
    pub(crate) fn new(team: Team, role: TeamRole) -> Self {
        Self {
            id: team.id.to_string(),
            name: team.name,
            role: role.as_str(),
            is_owner: role == TeamRole::Owner,
        }
    }
}

impl View<Context> for DeveloperPage {
    fn section(&self) -> Section {
        Section::Developers
    }

    fn title(&self, lang: Lang) -> &'static str {
        PeopleText::of(lang).developer
    }

    fn content(&self, context: &Context) -> Markup {
        html! {
            (self.account.head(context))
            (self.teams(context))
            @if !self.invitations.is_empty() { (self.invitations(context)) }
            (self.account.sessions(context))
            (self.account.factors(context))
            (self.account.records(context))
            (self.account.actions(context, &html! {}))
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &TeamRow| vec![one.id.clone(), one.name.clone(), one.role.to_owned()];
        Some(Csv {
            name: "developer-teams",
            columns: vec!["id", "name", "role"],
            rows: self.teams.iter().map(row).collect(),
        })
    }
}

impl DeveloperPage {
    fn teams(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = AccountText::of(lang);
        let columns = [Column::main(text.team), Column::text(text.role)];
        let cells = |one: &TeamRow| {
            let href = context.console_path(&format!("teams/{}", one.id));
            vec![
                html! { a href=(safe_href(&href)) { (DisplayName(&one.name)) } span.sub { code { (one.id) } } },
                html! { (if one.is_owner { text.owner } else { text.member }) },
            ]
        };
        html! {
            section.card {
                h2 { (text.teams) }
                @if self.teams.is_empty() { p.muted { (text.no_teams) } }
                @else {
                    (table(lang, &Table {
                        caption: text.teams,
                        columns: &columns,
                        rows: self.teams.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                        csv: Some(context.here(&[], [("format", "csv")])),
                        ..Table::default()
                    }))
                }
            }
        }
    }

    fn invitations(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, words) = (AccountText::of(lang), InvitationText::of(lang));
        let columns = [
            Column::main(words.gets),
            Column::text(CommonText::of(lang).state),
            Column::text(CommonText::of(lang).created),
            Column::text(words.invited_by),
        ];
        let cells = |one: &InvitationRow| {
            vec![
                one.gets(context),
                one.state(lang),
                timestamp(lang, one.created_at),
                parts_name(&one.inviter),
            ]
        };
        html! {
            section.card {
                h2 { (text.invitations) }
                (table(lang, &Table {
                    caption: text.invitations,
                    columns: &columns,
                    rows: self.invitations.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                    ..Table::default()
                }))
            }
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperatorPage {
    #[serde(flatten)]
    pub(crate) account: AccountPart,
    pub(crate) is_you: bool,
    pub(crate) tokens: Vec<TokenRow>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TokenRow {
    id: String,
    name: String,
    role: &'static str,
    state: &'static str,
    created: String,
    #[serde(skip)]
    operator_role: OperatorRole,
    #[serde(skip)]
    token_state: TokenState,
    #[serde(skip)]
    created_at: Ticks,
}

impl TokenRow {
    pub(crate) fn new(token: NamedToken, now: Ticks) -> Self {
        let token_state = token.state(now);
        Self {
            id: token.id.to_string(),
            name: token.name,
            role: token.role.as_str(),
            state: match token_state {
                TokenState::Live => "live",
                TokenState::Expired => "expired",
                TokenState::Revoked => "revoked",
            },
            created: token.created_at.iso(),
            operator_role: token.role,
            token_state,
            created_at: token.created_at,
        }
    }

    fn state(&self, lang: Lang) -> Markup {
        let text = AccountText::of(lang);
        match self.token_state {
            TokenState::Live => state(State::Ok, text.live),
            TokenState::Expired => state(State::Off, text.expired),
            TokenState::Revoked => state(State::Off, text.revoked),
        }
    }
}

impl View<Context> for OperatorPage {
    fn section(&self) -> Section {
        Section::Operators
    }

    fn title(&self, lang: Lang) -> &'static str {
        PeopleText::of(lang).operator
    }

    fn content(&self, context: &Context) -> Markup {
        html! {
            (self.account.head(context))
            @if self.is_you { p { (badge(PeopleText::of(context.lang()).you)) } }
            (self.tokens(context))
            (self.account.sessions(context))
            (self.account.factors(context))
            (self.account.records(context))
            (self.account.actions(context, &self.role_form(context)))
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &TokenRow| {
            vec![
                one.id.clone(),
                one.name.clone(),
                one.role.to_owned(),
                one.state.to_owned(),
                one.created.clone(),
            ]
        };
        Some(Csv {
            name: "operator-tokens",
            columns: vec!["id", "name", "role", "state", "created"],
            rows: self.tokens.iter().map(row).collect(),
        })
    }
}

impl OperatorPage {
    fn tokens(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = AccountText::of(lang);
        let columns = [
            Column::main(text.token),
            Column::text(text.role),
            Column::text(CommonText::of(lang).state),
            Column::text(CommonText::of(lang).created),
        ];
        let cells = |one: &TokenRow| {
            vec![
                html! { code { (one.name) } },
                html! { (role_word(lang, one.operator_role)) },
                one.state(lang),
                timestamp(lang, one.created_at),
            ]
        };
        html! {
            section.card {
                h2 { (text.tokens) }
                @if self.tokens.is_empty() { p.muted { (text.no_tokens) } }
                @else {
                    (table(lang, &Table {
                        caption: text.tokens,
                        columns: &columns,
                        rows: self.tokens.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                        csv: Some(context.here(&[], [("format", "csv")])),
                        ..Table::default()
                    }))
                }
                p { a href=(safe_href(&context.console_path("tokens"))) { (text.all_tokens) } }
            }
        }
    }

    fn role_form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = AccountText::of(lang);
        html! {
            @if context.may(Permission::Accounts) {
                (action_form(context, &ActionForm {
                    name: "change_role",
                    label: text.change_role,
                    text: html! { b { (DisplayName(&self.account.email)) } ": " (text.change_role_text) },
                    fields: Some(role_choice(lang, text.role, self.account.operator_role)),
                    needs_proof: true,
                    ..ActionForm::default()
                }))
            }
        }
    }
}

/// A choice of a role, with the permissions of each.
pub(crate) fn role_choice(lang: Lang, label: &str, selected: Option<OperatorRole>) -> Markup {
    html! {
        div.field {
            label for="role" { (label) }
            select #role name="role" required {
                @for role in OperatorRole::ALL {
                    option value=(role.as_str()) selected[selected == Some(role)] { (role_word(lang, role)) ": " (role_meaning(lang, role)) }
                }
            }
        }
    }
}
