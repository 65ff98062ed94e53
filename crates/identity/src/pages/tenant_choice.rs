//! The page on which users choose the tenant for an application and, if required, consent to its scopes.

use maud::{Markup, html};
use ui::{
    Button, ButtonStyle, DisplayName, Field, Icon, InputType, Lang, Layout, PageWidth, RadioOption, Severity,
    button, field, hidden_field, notice, page, radio_option, safe_href,
};

use super::{debug_only, i18n::messages, scopes};

#[derive(Clone, Copy)]
pub(crate) struct TenantChoicePage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    pub application: &'a str,
    pub email: &'a str,
    /// Present for users with many tenants.
    pub search: Option<Search<'a>>,
    /// In display order: recently used ones first.
    pub options: &'a [TenantOption<'a>],
    /// What the application asks for, if it needs consent.
    pub consent: Option<ConsentRequest<'a>>,
    /// URL for signing in with another account.
    pub other_account: &'a str,
    pub error: Option<TenantChoiceError>,
}

debug_only!(TenantChoicePage { lang, action, application, search, options, consent, error });

#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub action: &'a str,
    pub query: &'a str,
    pub shown_count: usize,
    pub total_count: usize,
}

/// What an application asks the user to allow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConsentRequest<'a> {
    pub scopes: &'a [&'a str],
    pub returns_to: ReturnsTo<'a>,
}

/// Where the answer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReturnsTo<'a> {
    /// A host, with its port where that is not the usual one.
    Host(&'a str),
    /// An application on the user's device.
    Device,
    /// The user copies a code.
    Code,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TenantOption<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub short_code: &'a str,
    pub is_last_used: bool,
    pub is_checked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TenantChoiceError {
    NothingChosen,
    NotYours,
}

const ERROR_ID: &str = "error";

pub(crate) fn tenant_choice(model: &TenantChoicePage<'_>) -> Markup {
    let messages = &messages(model.lang).choice;
    let TenantChoicePage { lang, assets, language_switch, .. } = *model;
    let title = match (model.error, model.consent) {
        (Some(_), _) => messages.title_with_error,
        (None, Some(_)) => messages.consent_title,
        (None, None) => messages.title,
    };
    let layout = Layout { lang, assets, language_switch, title, width: PageWidth::Medium };
    let content = html! {
        (heading(model))
        p.signed-in-as {
            span { ((messages.signed_in_as)(DisplayName(model.email))) }
            a href=(safe_href(model.other_account)) { (messages.other_account) }
        }
        @if let Some(error) = model.error { (notice_for(lang, error)) }
        @if model.consent.is_some() { h2 { (legend(model)) } }
        @if let Some(search) = &model.search { (search_form(model, search)) }
        (choice_form(model))
    };
    page(&layout, None, &content)
}

fn heading(model: &TenantChoicePage<'_>) -> Markup {
    let messages = &messages(model.lang).choice;
    let name = DisplayName(model.application);
    html! {
        @match model.consent {
            Some(ConsentRequest { scopes, returns_to }) => {
                @let heading = if scopes::has_data(scopes) { messages.consent_heading } else { messages.consent_heading_identity };
                h1 { (heading(name)) }
                p.returns-to {
                    (Icon::Globe)
                    span {
                        @match returns_to {
                            ReturnsTo::Host(host) => ((messages.returns_to)(DisplayName(host))),
                            ReturnsTo::Device => (messages.returns_to_device),
                            ReturnsTo::Code => (messages.returns_with_code),
                        }
                    }
                }
            },
            None => h1 { (messages.title) " " span.lead { ((messages.lead)(name)) } },
        }
    }
}

fn legend(model: &TenantChoicePage<'_>) -> &'static str {
    let messages = &messages(model.lang).choice;
    let is_one = model.search.is_none() && model.options.len() == 1;
    if is_one { messages.legend_of_one } else { messages.legend }
}

/// A separate form, so that searching does not submit the choice.
fn search_form(model: &TenantChoicePage<'_>, search: &Search<'_>) -> Markup {
    let messages = &messages(model.lang).choice;
    // Without a search the page must say that it shows only part of the list.
    let is_partial = search.query.trim().is_empty() && search.shown_count < search.total_count;
    let count = if is_partial { messages.count_cut } else { messages.count };
    html! {
        form.search role="search" method="get" action=(safe_href(search.action)) {
            (hidden_field("ticket", model.ticket))
            (hidden_field("lang", model.lang.tag()))
            (field(&Field {
                name: "q",
                label: messages.search,
                input_type: InputType::Search,
                value: Some(search.query),
                autocomplete: Some("off"),
                // No focus if there is a consent text or an error to read first.
                is_focused: model.consent.is_none() && model.error.is_none(),
                ..Field::default()
            }))
            (button(&Button { label: messages.search_submit, style: ButtonStyle::Secondary, ..Button::default() }))
            p.count role="status" { (count(search.shown_count, search.total_count)) }
        }
    }
}

/// The browser does not validate: its bubble would have its own language and look, and the page has an alert.
fn choice_form(model: &TenantChoicePage<'_>) -> Markup {
    html! {
        form.choice-form method="post" action=(safe_href(model.action)) novalidate {
            (hidden_field("ticket", model.ticket))
            @if model.options.is_empty() {
                (nothing_found(model))
            } @else {
                fieldset {
                    legend.visually-hidden { (legend(model)) }
                    div.choices { @for option in model.options { (row(model, option)) } }
                }
            }
            @if let Some(consent) = model.consent { (permissions(model.lang, consent.scopes)) }
            (form_actions(model))
        }
    }
}

/// What the application may do afterwards, and where that ends.
fn permissions(lang: Lang, scopes: &[&str]) -> Markup {
    let messages = messages(lang);
    html! {
        section {
            h2 { (messages.choice.allows) }
            (scopes::list(lang, scopes))
            p.small-print { ((messages.choice.revocable)(messages.permissions.title)) }
        }
    }
}

fn row(model: &TenantChoicePage<'_>, option: &TenantOption<'_>) -> Markup {
    let messages = &messages(model.lang).choice;
    let label = if is_tax_number(option.short_code) { messages.tax_number } else { messages.short_code };
    let note =
        if option.short_code.is_empty() { String::new() } else { format!("{label} {}", option.short_code) };
    radio_option(&RadioOption {
        name: "tenant",
        value: option.id,
        label: option.name,
        note: &note,
        badge: option.is_last_used.then_some(messages.last_used),
        error_id: model.error.map(|_| ERROR_ID),
        is_checked: option.is_checked,
    })
}

/// Whether a code has the form of a Spanish tax number: of a person (`12345678Z`, `X1234567L`) or of an entity (`B12345678`).
fn is_tax_number(code: &str) -> bool {
    let [first, middle @ .., last] = code.as_bytes() else { return false };
    let has_letter = first.is_ascii_uppercase() || last.is_ascii_uppercase();
    middle.len() == 7
        && middle.iter().all(u8::is_ascii_digit)
        && has_letter
        && [first, last].iter().all(|end| end.is_ascii_digit() || end.is_ascii_uppercase())
}

fn nothing_found(model: &TenantChoicePage<'_>) -> Markup {
    let messages = &messages(model.lang).choice;
    let query = model.search.map_or("", |search| search.query);
    html! {
        div.empty {
            p { b { ((messages.none_found)(DisplayName(query))) } (messages.none_found_advice) }
        }
    }
}

fn form_actions(model: &TenantChoicePage<'_>) -> Markup {
    let messages = &messages(model.lang).choice;
    let needs_consent = model.consent.is_some();
    let label = if needs_consent { messages.allow } else { messages.continue_label };
    html! {
        @if needs_consent || !model.options.is_empty() {
            div.form-actions {
                div.buttons {
                    @if !model.options.is_empty() {
                        (button(&Button { label, name_and_value: Some(("decision", "allow")), ..Button::default() }))
                    }
                    @if needs_consent {
                        (button(&Button {
                            label: messages.deny,
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

fn notice_for(lang: Lang, error: TenantChoiceError) -> Markup {
    let messages = &messages(lang).choice;
    let message = match error {
        TenantChoiceError::NothingChosen => messages.nothing_chosen,
        TenantChoiceError::NotYours => messages.not_yours,
    };
    notice(Severity::Error, ERROR_ID, &html! { (message.title) }, Some(&html! { (message.text) }))
}

#[cfg(test)]
mod tests {
    use super::is_tax_number;

    #[test]
    fn tax_numbers_are_told_from_codes() {
        for number in ["12345678Z", "X1234567L", "B12345678", "P0801500J"] {
            assert!(is_tax_number(number), "{number}");
        }
        for code in ["", "4101", "123456789", "B1234567", "b12345678", "Soler-Pons", "ÑÑÑÑÑ"] {
            assert!(!is_tax_number(code), "{code}");
        }
    }
}
