//! The named tokens of the operator's API.

use domain::{OperatorRole, Ticks};
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{Csv, View};
use serde::Serialize;
use store::{NamedToken, TokenState};
use ui::app::{Column, State, empty_state, parts_name, state};
use ui::{DisplayName, Field, Lang, field, hidden_field, timestamp};

use super::parts::{Act, act, confirm_field, paged, select_field};
use crate::accounts::{role_meaning, role_word};
use crate::applications::text::area::AreaText;
use crate::applications::text::tokens::TokenText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct TokensPage {
    pub(crate) tokens: Vec<TokenRow>,
    pub(crate) next: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenRow {
    id: String,
    name: String,
    role: &'static str,
    /// `live`, `expired` or `revoked`.
    state: &'static str,
    created: String,
    created_by: String,
    /// The address of who created it, or what else did.
    #[serde(skip)]
    pub(crate) creator: String,
    expires: Option<String>,
    last_used: Option<String>,
    revoked: Option<String>,
    #[serde(skip)]
    expires_at: Option<Ticks>,
    #[serde(skip)]
    last_used_at: Option<Ticks>,
}

impl TokenRow {
    pub(crate) fn new(token: &NamedToken, state: TokenState) -> Self {
        Self {
            id: token.id.to_string(),
            name: token.name.clone(),
            role: token.role.as_str(),
            state: match state {
                TokenState::Live => "live",
                TokenState::Expired => "expired",
                TokenState::Revoked => "revoked",
            },
            created: token.created_at.iso(),
            created_by: token.created_by.clone(),
            creator: token.created_by.clone(),
            expires: token.expires_at.map(Ticks::iso),
            last_used: token.last_used_at.map(Ticks::iso),
            revoked: token.revoked_at.map(Ticks::iso),
            expires_at: token.expires_at,
            last_used_at: token.last_used_at,
        }
    }
}

impl View<Context> for TokensPage {
    fn section(&self) -> Section {
        Section::Tokens
    }

    fn title(&self, lang: Lang) -> &'static str {
        TokenText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let text = TokenText::of(context.lang());
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            @if self.tokens.is_empty() { (empty_state(text.none, text.none_text, None)) }
            @else { (self.table(context)) }
            @if context.may(Permission::Keys) { (new_form(context)) }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let row = |one: &TokenRow| {
            vec![
                one.id.clone(),
                one.name.clone(),
                one.role.to_owned(),
                one.state.to_owned(),
                one.created.clone(),
                one.created_by.clone(),
                text(&one.expires),
                text(&one.last_used),
                text(&one.revoked),
            ]
        };
        let columns = "id name role state created created_by expires last_used revoked";
        Some(Csv {
            name: "tokens",
            columns: columns.split(' ').collect(),
            rows: self.tokens.iter().map(row).collect(),
        })
    }
}

impl TokensPage {
    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area, common) = (TokenText::of(lang), AreaText::of(lang), CommonText::of(lang));
        let columns = [
            Column::main(area.name),
            Column::text(text.role),
            Column::text(common.state),
            Column::text(text.created_by),
            Column::text(text.expires),
            Column::text(text.last_used),
            Column::text(""),
        ];
        let at = |at: Option<Ticks>| html! { @match at { Some(at) => (timestamp(lang, at)), None => (common.never) } };
        let cells = |one: &TokenRow| {
            let (kind, word) = match one.state {
                "live" => (State::Ok, text.live),
                "expired" => (State::Off, text.expired),
                _ => (State::Off, text.revoked),
            };
            vec![
                html! { (DisplayName(&one.name)) },
                html! { @match OperatorRole::from_name(one.role) { Some(role) => (role_word(lang, role)), None => (one.role) } },
                state(kind, word),
                parts_name(&one.creator),
                at(one.expires_at),
                at(one.last_used_at),
                html! { @if one.state != "revoked" && context.may(Permission::Keys) { (revoke_form(context, one)) } },
            ]
        };
        let rows = self.tokens.iter().map(|one| (one.id.clone(), cells(one))).collect();
        paged(context, text.title, &columns, rows, self.next.as_deref())
    }
}

fn revoke_form(context: &Context, token: &TokenRow) -> Markup {
    let text = TokenText::of(context.lang());
    let id = format!("revoke-{}", token.id);
    let revoke = Act {
        id: &id,
        name: "revoke",
        label: text.revoke,
        what: &token.name,
        text: text.revoke_text,
        is_dangerous: true,
    };
    let fields =
        html! { (hidden_field("token_id", &token.id)) (confirm_field(&token.id, text.confirm, &token.name)) };
    act(context, &revoke, &fields)
}

fn new_form(context: &Context) -> Markup {
    let lang = context.lang();
    let (text, area, common) = (TokenText::of(lang), AreaText::of(lang), CommonText::of(lang));
    let words =
        OperatorRole::ALL.map(|role| format!("{}: {}", role_word(lang, role), role_meaning(lang, role)));
    let roles: Vec<(&str, &str)> =
        OperatorRole::ALL.iter().zip(&words).map(|(role, words)| (role.as_str(), words.as_str())).collect();
    let lifetimes =
        [("month", area.month), ("quarter", area.quarter), ("year", area.year), ("never", area.no_end)];
    let is_refused = context.is_refused("add");
    // A refused revocation has no name to type again.
    let typed = |name| if is_refused { context.typed(name) } else { None };
    html! {
        section.card {
            h2 { (text.new) }
            form.stack method="post" action=(context.path()) {
                (context.form_token())
                (field(&Field { name: "name", label: area.name, value: typed("name"), hint: Some(text.name_hint), is_required: true, ..Field::default() }))
                (select_field("token-role", "role", text.role, &roles, typed("role").unwrap_or("viewer")))
                (select_field("lifetime", "lifetime", text.lifetime, &lifetimes, typed("lifetime").unwrap_or("quarter")))
                p.muted { (common.fresh_needed) }
                button type="submit" class="button" name="do" value="add" { (text.new) }
            }
        }
    }
}
