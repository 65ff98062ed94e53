//! Filters of lists, and the forms of actions.

use maud::{Markup, html};
use store::Status;
use ui::app::{State, state};
use ui::{Lang, hidden_field};

use crate::accounts::text::PeopleText;
use crate::context::Context;
use crate::text::CommonText;

/// A field to search in, and a choice of states. `more` are further fields.
pub(crate) fn filters(context: &Context, label: &str, states: &[(&str, &str)], more: &Markup) -> Markup {
    let common = CommonText::of(context.lang());
    let wanted = context.query.get("state").unwrap_or_default();
    html! {
        form.filters method="get" role="search" {
            div.field.wide {
                label for="q" { (label) }
                input #q name="q" type="search" maxlength="254" value=[context.query.get("q")] spellcheck="false" autocapitalize="none"
                    placeholder=(PeopleText::of(context.lang()).search_hint);
            }
            (more)
            div.field {
                label for="state" { (common.state) }
                select #state name="state" data-submit {
                    @for (value, label) in states { option value=(value) selected[wanted == *value] { (label) } }
                }
            }
            button type="submit" class="button secondary" { (common.filter) }
        }
    }
}

pub(crate) fn is_filtered(context: &Context) -> bool {
    ["q", "state", "realm", "after"].iter().any(|name| context.query.is_set(name))
}

/// The state of an account as a word.
pub(crate) fn account_state(lang: Lang, status: Status) -> Markup {
    let text = PeopleText::of(lang);
    match status {
        Status::Active => state(State::Ok, text.active),
        Status::Disabled => state(State::Off, text.disabled),
        Status::Unconfirmed => state(State::Waiting, text.unconfirmed),
    }
}

/// A form behind a summary that names the action. It says what will happen.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActionForm<'a> {
    /// The value of its button.
    pub(crate) name: &'static str,
    /// Names the form on the page where the action is there for several rows.
    pub(crate) row: &'a str,
    pub(crate) label: &'a str,
    /// What will happen.
    pub(crate) text: Markup,
    /// Names and values of hidden fields.
    pub(crate) hidden: &'a [(&'static str, &'a str)],
    pub(crate) fields: Option<Markup>,
    /// It takes something away.
    pub(crate) is_dangerous: bool,
    /// It asks for a proof of identity first.
    pub(crate) needs_proof: bool,
}

pub(crate) fn action_form(context: &Context, action: &ActionForm<'_>) -> Markup {
    let common = CommonText::of(context.lang());
    let is_refused = context.is_refused(action.name)
        && action.hidden.iter().all(|(name, value)| context.typed(name) == Some(value));
    let id = if action.row.is_empty() {
        action.name.to_owned()
    } else {
        format!("{}-{}", action.name, action.row)
    };
    let class = if action.is_dangerous { "button destructive" } else { "button" };
    html! {
        details.more .danger[action.is_dangerous] id=(id) open[is_refused] {
            summary { (action.label) }
            form method="post" action=(context.here(&[], [])) {
                (context.form_token())
                @for (name, value) in action.hidden { (hidden_field(name, value)) }
                p { (action.text) }
                @if let Some(fields) = &action.fields { (fields) }
                @if action.needs_proof && !context.visitor.is_fresh { p.muted { (common.fresh_needed) } }
                button type="submit" class=(class) name="do" value=(action.name) { (action.label) }
            }
        }
    }
}

/// A choice of a language.
pub(crate) fn language_field(lang: Lang, label: &str, selected: &str) -> Markup {
    let text = PeopleText::of(lang);
    html! {
        div.field {
            label for="lang" { (label) }
            select #lang name="lang" {
                option value="es" selected[selected == "es"] { (text.spanish) }
                option value="en" selected[selected == "en"] { (text.english) }
            }
        }
    }
}

pub(crate) fn language_word(lang: Lang, of: &str) -> &'static str {
    let text = PeopleText::of(lang);
    if of == "en" { text.english } else { text.spanish }
}

/// A link that is shown once.
pub(crate) fn shown_link(lang: Lang, title: &str, text: &str, link: &str) -> Markup {
    html! {
        section.card.secret-once role="status" {
            h2 { (title) }
            p { (text) }
            (ui::app::copy_block(lang, "shown-link", link))
        }
    }
}
