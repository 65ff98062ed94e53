//! The list of teams.

use domain::Ticks;
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{Csv, View};
use serde::Serialize;
use store::{Status, Team};
use ui::app::{Column, State, short_id, state};
use ui::{Button, DisplayName, Field, Lang, button, field, safe_href, timestamp};

use super::parts::{Filters, empty, filters, is_filtered, paged};
use crate::applications::text::area::AreaText;
use crate::applications::text::teams::TeamText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct TeamsPage {
    pub(crate) teams: Vec<TeamRow>,
    pub(crate) next: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TeamRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) is_active: bool,
    pub(crate) created: String,
    #[serde(skip)]
    pub(crate) created_at: Ticks,
}

impl TeamRow {
    pub(crate) fn new(team: &Team) -> Self {
        Self {
            id: team.id.to_string(),
            name: team.name.clone(),
            is_active: team.status == Status::Active,
            created: team.created_at.iso(),
            created_at: team.created_at,
        }
    }

    pub(crate) fn state(&self, lang: Lang) -> Markup {
        let text = TeamText::of(lang);
        if self.is_active { state(State::Ok, text.active) } else { state(State::Bad, text.disabled) }
    }
}

impl View<Context> for TeamsPage {
    fn section(&self) -> Section {
        Section::Teams
    }

    fn title(&self, lang: Lang) -> &'static str {
        TeamText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area) = (TeamText::of(lang), AreaText::of(lang));
        let states = [("", CommonText::of(lang).all), ("active", text.active), ("disabled", text.disabled)];
        let filter = Filters {
            has_search: true,
            has_team: false,
            states: &states,
            state: context.query.get("state").unwrap_or_default(),
        };
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            @if !self.teams.is_empty() || is_filtered(context) { (filters(context, &filter)) }
            @if self.teams.is_empty() { (empty(context, (text.none, text.none_text), (area.none_found, area.none_found_text))) }
            @else { (self.table(context)) }
            @if context.may(Permission::Accounts) { (new_form(context)) }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &TeamRow| {
            vec![one.id.clone(), one.name.clone(), one.is_active.to_string(), one.created.clone()]
        };
        Some(Csv {
            name: "teams",
            columns: vec!["id", "name", "active", "created"],
            rows: self.teams.iter().map(row).collect(),
        })
    }
}

impl TeamsPage {
    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area, common) = (TeamText::of(lang), AreaText::of(lang), CommonText::of(lang));
        let columns = [
            Column::main(area.name),
            Column::text(area.id),
            Column::text(common.state),
            Column::text(common.created),
        ];
        let cells = |one: &TeamRow| {
            let href = context.console_path(&format!("teams/{}", one.id));
            vec![
                html! { a href=(safe_href(&href)) { (DisplayName(&one.name)) } },
                short_id(&one.id),
                one.state(lang),
                timestamp(lang, one.created_at),
            ]
        };
        let rows = self.teams.iter().map(|one| (one.id.clone(), cells(one))).collect();
        paged(context, text.title, &columns, rows, self.next.as_deref())
    }
}

fn new_form(context: &Context) -> Markup {
    let lang = context.lang();
    let (text, area) = (TeamText::of(lang), AreaText::of(lang));
    html! {
        section.card {
            h2 { (text.new) }
            form.stack method="post" action=(context.path()) {
                (context.form_token())
                (field(&Field { name: "name", label: area.name, value: context.typed("name"), is_required: true, ..Field::default() }))
                (field(&Field { name: "id", label: area.id, value: context.typed("id"), hint: Some(text.id_hint), ..Field::default() }))
                (button(&Button { label: text.new, name_and_value: Some(("do", "add")), ..Button::default() }))
            }
        }
    }
}
