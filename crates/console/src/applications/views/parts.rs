//! Parts that several pages of the area share.

use domain::subscription::{Product, Products};
use maud::{Markup, html};
use pages::FormValues;
use serde::Serialize;
use ui::app::{Column, Table, empty_state, table};
use ui::{DisplayName, Lang, hidden_field, safe_href};

use crate::applications::text::area::AreaText;
use crate::context::Context;
use crate::text::CommonText;

/// A team that something belongs to.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TeamRef {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
}

impl TeamRef {
    pub(crate) fn link(&self, context: &Context) -> Markup {
        let href = context.console_path(&format!("teams/{}", self.id));
        html! { a href=(safe_href(&href)) { (DisplayName(self.name.as_deref().unwrap_or(&self.id))) } }
    }
}

pub(crate) fn owner(context: &Context, team: Option<&TeamRef>, none: &str) -> Markup {
    html! { @match team { Some(team) => (team.link(context)), None => span.muted { (none) } } }
}

pub(crate) fn product_name(lang: Lang, product: &str) -> &'static str {
    let text = AreaText::of(lang);
    match product {
        "accounting" => text.accounting,
        "payroll" => text.payroll,
        _ => text.invoicing,
    }
}

pub(crate) fn product_names(lang: Lang, names: &[&'static str]) -> String {
    names.iter().map(|name| product_name(lang, name)).collect::<Vec<_>>().join(", ")
}

/// The boxes of the products.
pub(crate) fn products_field(lang: Lang, values: FormValues<'_>, stored: Products) -> Markup {
    html! {
        fieldset.stack {
            legend { (AreaText::of(lang).products) }
            @for product in Product::ALL {
                label.check {
                    input type="checkbox" name="product" value=(product.as_str()) checked[values.is_chosen("product", product.as_str(), stored.contains(product))];
                    span { (product_name(lang, product.as_str())) }
                }
            }
        }
    }
}

/// A box with an explanation.
pub(crate) fn check_field(name: &str, (label, hint): (&str, &str), is_checked: bool) -> Markup {
    html! {
        label.check {
            input type="checkbox" name=(name) value="true" checked[is_checked];
            span { (label) span.hint { (hint) } }
        }
    }
}

/// A field of several lines.
pub(crate) fn lines_field(name: &str, (label, hint): (&str, &str), value: &str, is_required: bool) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            textarea id=(name) name=(name) rows="3" spellcheck="false" autocapitalize="none" required[is_required] aria-describedby={ (name) "-hint" } { (value) }
            span.hint id={ (name) "-hint" } { (hint) }
        }
    }
}

/// A choice among few values; each has its name and its label.
pub(crate) fn select_field(
    id: &str,
    name: &str,
    label: &str,
    options: &[(&str, &str)],
    chosen: &str,
) -> Markup {
    html! {
        div.field {
            label for=(id) { (label) }
            select id=(id) name=(name) {
                @for (value, text) in options { option value=(value) selected[*value == chosen] { (text) } }
            }
        }
    }
}

/// How long the present key or secret stays valid.
pub(crate) fn overlap_field(lang: Lang, id: &str) -> Markup {
    let text = AreaText::of(lang);
    let options = [("day", text.day), ("hour", text.hour), ("week", text.week), ("none", text.overlap_none)];
    select_field(&format!("overlap-{id}"), "overlap", text.overlap, &options, "day")
}

/// The field in which an operator types the object's name to confirm.
pub(crate) fn confirm_field(id: &str, label: &str, name: &str) -> Markup {
    html! {
        div.field {
            label for={ "confirm-" (id) } { (label) ": " code { (name) } }
            input id={ "confirm-" (id) } name="confirm" type="text" autocomplete="off" autocapitalize="none" spellcheck="false" required;
        }
    }
}

/// A form behind a summary, which says first what the action does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Act<'a> {
    /// Names it on the page.
    pub(crate) id: &'a str,
    /// The value of `do`.
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    /// What it is done to; may be empty.
    pub(crate) what: &'a str,
    pub(crate) text: &'a str,
    pub(crate) is_dangerous: bool,
}

/// A form for one action of the present page that needs a fresh proof of identity. `fields` go before the button.
pub(crate) fn act(context: &Context, act: &Act<'_>, fields: &Markup) -> Markup {
    let button = if act.is_dangerous { "button destructive" } else { "button" };
    html! {
        details.more .danger[act.is_dangerous] id=(act.id) {
            summary { (act.label) }
            form method="post" action=(context.path()) {
                (context.form_token())
                p { @if !act.what.is_empty() { b { (DisplayName(act.what)) } ": " } (act.text) }
                (fields)
                p.muted { (CommonText::of(context.lang()).fresh_needed) }
                button type="submit" class=(button) name="do" value=(act.name) { (act.label) }
            }
        }
    }
}

/// Which filters a list has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filters<'a> {
    pub(crate) has_search: bool,
    pub(crate) has_team: bool,
    /// The value and the word of each state.
    pub(crate) states: &'a [(&'a str, &'a str)],
    /// The present state.
    pub(crate) state: &'a str,
}

/// The form that filters a list. The filter is in the URL.
pub(crate) fn filters(context: &Context, filters: &Filters<'_>) -> Markup {
    let lang = context.lang();
    let (text, common) = (AreaText::of(lang), CommonText::of(lang));
    html! {
        form.filters method="get" {
            @if filters.has_search {
                div.field.wide {
                    label for="q" { (text.search) }
                    input #q name="q" type="search" maxlength="200" value=[context.query.get("q")] placeholder=(text.search_hint) spellcheck="false" autocapitalize="none";
                }
            }
            div.field {
                label for="state" { (common.state) }
                select #state name="state" data-submit {
                    @for (value, word) in filters.states { option value=(value) selected[*value == filters.state] { (word) } }
                }
            }
            @if filters.has_team {
                div.field {
                    label for="filter-team" { (text.team_id) }
                    input #filter-team name="team" type="search" maxlength="100" value=[context.query.get("team")] spellcheck="false" autocapitalize="none";
                }
            }
            button type="submit" class="button secondary" { (common.filter) }
        }
    }
}

/// Whether the list is not the whole one.
pub(crate) fn is_filtered(context: &Context) -> bool {
    ["q", "state", "team", "after"].iter().any(|name| context.query.is_set(name))
}

/// Where a list has nothing: how to get the first row, or that the filter leaves none.
pub(crate) fn empty(context: &Context, none: (&str, &str), none_found: (&str, &str)) -> Markup {
    if is_filtered(context) {
        let clear = (CommonText::of(context.lang()).clear_filter, context.path());
        return empty_state(none_found.0, none_found.1, Some(clear));
    }
    empty_state(none.0, none.1, None)
}

/// A page of a list, with its CSV and the links to other pages.
pub(crate) fn paged(
    context: &Context,
    caption: &str,
    columns: &[Column],
    rows: Vec<(String, Vec<Markup>)>,
    next: Option<&str>,
) -> Markup {
    table(
        context.lang(),
        &Table {
            caption,
            columns,
            rows,
            csv: Some(context.here(&["after"], [("format", "csv")])),
            first: context.query.is_set("after").then(|| context.here(&["after"], [])),
            next: next.map(|next| context.here(&["after"], [("after", next)])),
        },
    )
}

/// The revision of what the page shows, so that a form changes that alone.
pub(crate) fn revision_field(values: FormValues<'_>, revision: u64) -> Markup {
    hidden_field("revision", values.text("revision", &revision.to_string()))
}

/// A text of several lines from people.
pub(crate) fn long_text(text: &str) -> Markup {
    html! { @for line in text.lines() { p { bdi { (line) } } } }
}
