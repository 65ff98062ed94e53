//! Where a person chooses the tenant that an application will work with and, for applications that must ask,
//! sees what it asks for.

use maud::{Markup, html};
use ui::{
    Button, ButtonStyle, DisplayName, Field, InputType, Lang, Layout, PageWidth, RadioOption, Severity,
    button, field, hidden_field, notice, page, radio_option, safe_href,
};

use super::{debug_only, scopes, words::words};

#[derive(Clone, Copy)]
pub(crate) struct TenantChoice<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    pub application: &'a str,
    pub email: &'a str,
    /// For who has more tenants than one looks through.
    pub search: Option<Search<'a>>,
    /// In the order in which they are shown: the recent ones first.
    pub options: &'a [TenantOption<'a>],
    /// The scopes that the application asks for, where it must ask.
    pub consent: Option<&'a [&'a str]>,
    /// Where to sign in with another account.
    pub other_account: &'a str,
    pub problem: Option<ChoiceProblem>,
}

debug_only!(TenantChoice { lang, action, application, search, options, consent, problem });

#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub action: &'a str,
    pub query: &'a str,
    pub shown: usize,
    pub total: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TenantOption<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub short_code: &'a str,
    pub is_recent: bool,
    pub is_checked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChoiceProblem {
    NothingChosen,
    NotYours,
}

const ERROR_ID: &str = "error";

pub(crate) fn tenant_choice(model: &TenantChoice<'_>) -> Markup {
    let words = &words(model.lang).choice;
    let TenantChoice { lang, assets, language_switch, .. } = *model;
    let title = match (model.problem, model.consent) {
        (Some(_), _) => words.title_with_problem,
        (None, Some(_)) => words.consent_title,
        (None, None) => words.title,
    };
    let layout = Layout { lang, assets, language_switch, title, width: PageWidth::Medium };
    let content = html! {
        (heading(model))
        p.signed-in-as {
            span { ((words.signed_in_as)(DisplayName(model.email))) }
            a href=(safe_href(model.other_account)) { (words.other_account) }
        }
        @if let Some(problem) = model.problem { (told(lang, problem)) }
        @if let Some(asked) = model.consent {
            section {
                h2 { (words.allows) }
                (scopes::list(lang, asked))
                p.small-print { (words.revocable) }
            }
            h2 { (words.legend) }
        }
        @if let Some(search) = &model.search { (search_form(model, search)) }
        (choice_form(model))
    };
    page(&layout, None, &content)
}

fn heading(model: &TenantChoice<'_>) -> Markup {
    let words = &words(model.lang).choice;
    let name = DisplayName(model.application);
    html! {
        @if model.consent.is_some() {
            h1 { ((words.consent_heading)(name)) }
        } @else {
            h1 { (words.title) " " span.lead { ((words.lead)(name)) } }
        }
    }
}

/// A form of its own: looking for a tenant is no decision.
fn search_form(model: &TenantChoice<'_>, search: &Search<'_>) -> Markup {
    let words = &words(model.lang).choice;
    // Who has not searched yet must not take a part of the list for all of it.
    let is_cut = search.query.trim().is_empty() && search.shown < search.total;
    let count = if is_cut { words.count_cut } else { words.count };
    html! {
        form.search role="search" method="get" action=(safe_href(search.action)) {
            (hidden_field("ticket", model.ticket))
            (hidden_field("lang", model.lang.tag()))
            (field(&Field {
                name: "q",
                label: words.search,
                input_type: InputType::Search,
                value: Some(search.query),
                autocomplete: Some("off"),
                // Who must read first, what they allow or what went wrong, is not led past it.
                is_focused: model.consent.is_none() && model.problem.is_none(),
                ..Field::default()
            }))
            (button(&Button { label: words.search_submit, style: ButtonStyle::Secondary, ..Button::default() }))
            p.count role="status" { (count(search.shown, search.total)) }
        }
    }
}

fn choice_form(model: &TenantChoice<'_>) -> Markup {
    let words = &words(model.lang).choice;
    html! {
        form.choice-form method="post" action=(safe_href(model.action)) {
            (hidden_field("ticket", model.ticket))
            @if model.options.is_empty() {
                (nothing_found(model))
            } @else {
                fieldset {
                    legend.visually-hidden { (words.legend) }
                    div.choices { @for option in model.options { (row(model, option)) } }
                }
            }
            (foot(model))
        }
    }
}

fn row(model: &TenantChoice<'_>, option: &TenantOption<'_>) -> Markup {
    radio_option(&RadioOption {
        name: "tenant",
        value: option.id,
        label: option.name,
        note: option.short_code,
        badge: option.is_recent.then_some(words(model.lang).choice.recent),
        error_id: model.problem.map(|_| ERROR_ID),
        is_checked: option.is_checked,
    })
}

fn nothing_found(model: &TenantChoice<'_>) -> Markup {
    let words = &words(model.lang).choice;
    let query = model.search.map_or("", |search| search.query);
    html! {
        div.empty {
            p { b { ((words.none_found)(DisplayName(query))) } (words.none_found_advice) }
        }
    }
}

fn foot(model: &TenantChoice<'_>) -> Markup {
    let words = &words(model.lang).choice;
    let asks = model.consent.is_some();
    let label = if asks { words.allow } else { words.go_on };
    html! {
        @if asks || !model.options.is_empty() {
            div.form-actions {
                div.buttons {
                    @if !model.options.is_empty() {
                        (button(&Button { label, name_and_value: Some(("decision", "allow")), ..Button::default() }))
                    }
                    @if asks {
                        (button(&Button {
                            label: words.deny,
                            style: ButtonStyle::Secondary,
                            name_and_value: Some(("decision", "deny")),
                            skips_validation: true,
                            ..Button::default()
                        }))
                    }
                }
            }
        }
    }
}

fn told(lang: Lang, problem: ChoiceProblem) -> Markup {
    let words = &words(lang).choice;
    let said = match problem {
        ChoiceProblem::NothingChosen => words.nothing_chosen,
        ChoiceProblem::NotYours => words.not_yours,
    };
    notice(Severity::Error, ERROR_ID, &html! { (said.title) }, Some(&html! { (said.text) }))
}
