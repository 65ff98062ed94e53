//! The lists of users, developers and operators.

use domain::{AccountId, OperatorRole, Realm, Ticks};
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{Csv, View};
use serde::Serialize;
use store::{Account, Status};
use ui::app::{Column, Table, empty_state, parts_name, short_id, table};
use ui::{DisplayName, Field, Lang, badge, field, safe_href, timestamp};

use super::forms::{
    ActionForm, account_state, action_form, filters, is_filtered, language_field, shown_link,
};
use crate::accounts::text::{AccountText, PeopleText, role_word};
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct PeoplePage {
    pub(crate) people: Vec<PersonRow>,
    pub(crate) next: Option<String>,
    /// With which the person of a new account chooses a password, where no mail carries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
    #[serde(skip)]
    pub(crate) realm: Realm,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PersonRow {
    id: String,
    email: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    state: &'static str,
    created: String,
    #[serde(skip)]
    operator_role: Option<OperatorRole>,
    #[serde(skip)]
    status: Status,
    #[serde(skip)]
    created_at: Ticks,
    #[serde(skip)]
    is_you: bool,
}

impl PersonRow {
    pub(crate) fn new(account: Account, own: &AccountId) -> Self {
        Self {
            is_you: account.id == *own,
            id: account.id.to_string(),
            name: account.full_name(),
            email: account.email,
            role: account.role.map(OperatorRole::as_str),
            state: account.status.as_str(),
            created: account.created_at.iso(),
            operator_role: account.role,
            status: account.status,
            created_at: account.created_at,
        }
    }
}

/// The section of the navigation.
pub(crate) fn section(realm: Realm) -> Section {
    match realm {
        Realm::Users => Section::Users,
        Realm::Developers => Section::Developers,
        Realm::Operators => Section::Operators,
    }
}

pub(crate) fn realm_title(lang: Lang, realm: Realm) -> &'static str {
    let common = CommonText::of(lang);
    match realm {
        Realm::Users => common.users,
        Realm::Developers => common.developers,
        Realm::Operators => common.operators,
    }
}

impl View<Context> for PeoplePage {
    fn section(&self) -> Section {
        section(self.realm)
    }

    fn title(&self, lang: Lang) -> &'static str {
        realm_title(lang, self.realm)
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, account, common) = (PeopleText::of(lang), AccountText::of(lang), CommonText::of(lang));
        let lead = match self.realm {
            Realm::Users => text.users_lead,
            Realm::Developers => text.developers_lead,
            Realm::Operators => text.operators_lead,
        };
        let states = [
            ("", common.all),
            ("active", text.active),
            ("disabled", text.disabled),
            ("unconfirmed", text.unconfirmed),
        ];
        html! {
            div.title-row {
                h1 { (self.title(lang)) }
                @if context.may(Permission::Accounts) {
                    p.actions { a.button.secondary href=(safe_href(&self.invite_path(context))) { (text.invite) } }
                }
            }
            p.lead { (lead) }
            @if let Some(link) = &self.link { (shown_link(lang, account.link_title, account.link_text, link)) }
            @if !self.people.is_empty() || is_filtered(context) { (filters(context, text.search, &states, &html! {})) }
            @if self.people.is_empty() { (self.empty(context)) } @else { (self.table(context)) }
            @if self.realm == Realm::Users && context.may(Permission::Accounts) { section.card { (add_form(context)) } }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &PersonRow| {
            vec![
                one.id.clone(),
                one.email.clone(),
                one.name.clone(),
                one.role.unwrap_or_default().to_owned(),
                one.state.to_owned(),
                one.created.clone(),
            ]
        };
        Some(Csv {
            name: self.realm.as_str(),
            columns: vec!["id", "email", "name", "role", "state", "created"],
            rows: self.people.iter().map(row).collect(),
        })
    }
}

impl PeoplePage {
    fn invite_path(&self, context: &Context) -> String {
        context.console_path(&format!("invitations?invite={}#invite", self.realm.as_str()))
    }

    fn empty(&self, context: &Context) -> Markup {
        let text = PeopleText::of(context.lang());
        if is_filtered(context) {
            let clear = (CommonText::of(context.lang()).clear_filter, context.path());
            return empty_state(text.none_found, text.none_found_text, Some(clear));
        }
        let (title, explanation) = match self.realm {
            Realm::Users => (text.no_users, text.no_users_text),
            Realm::Developers => (text.no_developers, text.no_developers_text),
            Realm::Operators => (text.no_operators, text.no_operators_text),
        };
        empty_state(title, explanation, None)
    }

    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (PeopleText::of(lang), CommonText::of(lang));
        let is_operators = self.realm == Realm::Operators;
        let mut columns = vec![
            Column::main(text.name),
            Column::text(text.email),
            Column::text(AccountText::of(lang).id),
            Column::text(common.state),
            Column::text(text.since),
        ];
        if is_operators {
            columns.insert(2, Column::text(text.role));
        }
        let cells = |one: &PersonRow| {
            let href = context.console_path(&format!("{}/{}", self.realm.as_str(), one.id));
            let mut cells = vec![
                html! { a href=(safe_href(&href)) { (DisplayName(&one.name)) } @if one.is_you { " " (badge(text.you)) } },
                parts_name(&one.email),
                short_id(&one.id),
                account_state(lang, one.status),
                timestamp(lang, one.created_at),
            ];
            if is_operators {
                cells.insert(2, html! { @if let Some(role) = one.operator_role { (role_word(lang, role)) } });
            }
            cells
        };
        table(
            lang,
            &Table {
                caption: realm_title(lang, self.realm),
                columns: &columns,
                rows: self.people.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                first: context.query.get("after").map(|_| context.here(&["after"], [])),
                next: self.next.as_ref().map(|next| context.here(&["after"], [("after", next.as_str())])),
            },
        )
    }
}

fn add_form(context: &Context) -> Markup {
    let text = PeopleText::of(context.lang());
    let typed = |name| context.typed(name);
    action_form(
        context,
        &ActionForm {
            name: "add",
            label: text.add_user,
            text: html! { (text.add_user_text) },
            fields: Some(html! {
                (field(&Field { name: "email", label: text.email, value: typed("email"), inputmode: Some("email"), placeholder: Some("ana@example.com"), is_required: true, ..Field::default() }))
                (field(&Field { name: "name", label: text.name, value: typed("name"), is_required: true, ..Field::default() }))
                (field(&Field { name: "family_name", label: text.family_name, value: typed("family_name"), ..Field::default() }))
                (field(&Field { name: "tenants", label: text.tenants, value: typed("tenants"), hint: Some(text.tenants_hint), ..Field::default() }))
                (language_field(context.lang(), text.language, typed("lang").unwrap_or("es")))
            }),
            needs_proof: true,
            ..ActionForm::default()
        },
    )
}
