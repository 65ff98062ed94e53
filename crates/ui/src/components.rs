//! Form fields, buttons, notices and badges.

use maud::{Markup, html};

use crate::{DisplayName, Icon};

/// The `type` of an input element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputType {
    #[default]
    Text,
    Password,
    Search,
}

impl InputType {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Password => "password",
            Self::Search => "search",
        }
    }
}

/// A labelled input. Its name is also its element id, so a name may occur once per page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Field<'a> {
    pub name: &'a str,
    pub label: &'a str,
    pub input_type: InputType,
    pub value: Option<&'a str>,
    pub autocomplete: Option<&'a str>,
    pub inputmode: Option<&'a str>,
    /// An example of the format, where one is expected.
    pub placeholder: Option<&'a str>,
    /// What the value must be like; it stands beside the field from the beginning.
    pub hint: Option<&'a str>,
    /// The element id of the notice that explains why the value was rejected.
    pub error_id: Option<&'a str>,
    pub is_focused: bool,
    pub is_required: bool,
    /// For a password: the label of the box that shows it. The box needs [`crate::asset::page_script`]; without it, there is none.
    pub reveal: Option<&'a str>,
}

pub fn field(field: &Field<'_>) -> Markup {
    let hint_id = field.hint.map(|_| format!("{}-hint", field.name));
    let described_by = match (field.error_id, &hint_id) {
        (Some(error), Some(hint)) => Some(format!("{error} {hint}")),
        (error, hint) => error.map(str::to_owned).or_else(|| hint.clone()),
    };
    // Names, addresses and passwords are not prose: the browser must not correct them.
    html! {
        div.field {
            label for=(field.name) { (field.label) }
            input id=(field.name) name=(field.name) type=(field.input_type.as_str()) value=[field.value]
                autocomplete=[field.autocomplete] inputmode=[field.inputmode] placeholder=[field.placeholder] autocapitalize="none"
                spellcheck="false" aria-invalid=[field.error_id.map(|_| "true")] aria-describedby=[described_by]
                autofocus[field.is_focused] required[field.is_required];
            @if let (Some(id), Some(hint)) = (&hint_id, field.hint) { span.hint id=(id) { (hint) } }
            @if let Some(text) = field.reveal {
                label.reveal hidden { input type="checkbox" data-reveals=(field.name) autocomplete="off"; (text) }
            }
        }
    }
}

pub fn hidden_field(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// The account that a new password belongs to, for password managers. They ignore fields of the type `hidden`.
pub fn username_field(username: &str) -> Markup {
    html! { input type="text" name="username" value=(username) autocomplete="username" readonly hidden; }
}

/// The visual style of a button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ButtonStyle {
    #[default]
    Primary,
    Secondary,
    /// For actions that remove something.
    Destructive,
}

impl ButtonStyle {
    pub const fn class(self) -> &'static str {
        match self {
            Self::Primary => "button",
            Self::Secondary => "button secondary",
            Self::Destructive => "button destructive",
        }
    }
}

/// A button that submits its form.
#[derive(Clone, Copy, Debug, Default)]
pub struct Button<'a> {
    pub label: &'a str,
    pub style: ButtonStyle,
    /// The form parameter that the button adds.
    pub name_and_value: Option<(&'a str, &'a str)>,
    /// Submits the form even if required fields are empty.
    pub skips_validation: bool,
    pub is_focused: bool,
}

pub fn button(button: &Button<'_>) -> Markup {
    html! {
        button type="submit" class=(button.style.class()) name=[button.name_and_value.map(|(name, _)| name)]
            value=[button.name_and_value.map(|(_, value)| value)] formnovalidate[button.skips_validation]
            autofocus[button.is_focused] { (button.label) }
    }
}

/// The severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The user has to correct something.
    Error,
    /// The user did nothing wrong but has to wait or repeat a step.
    Warning,
    /// The action succeeded.
    Success,
}

/// A message box that screen readers announce when the page opens. Fields refer to its `id` as their `error_id`.
pub fn notice(severity: Severity, id: &str, title: &Markup, text: Option<&Markup>) -> Markup {
    let (class, role, icon) = match severity {
        Severity::Error => ("notice error", "alert", Icon::Alert),
        Severity::Warning => ("notice warning", "alert", Icon::Clock),
        Severity::Success => ("notice success", "status", Icon::Check),
    };
    html! {
        div class=(class) role=(role) id=(id) {
            (icon)
            div {
                p.notice-title { (title) }
                @if let Some(text) = text { p { (text) } }
            }
        }
    }
}

pub fn badge(text: &str) -> Markup {
    html! { span.badge { (text) } }
}

/// One option of a radio group.
#[derive(Clone, Copy, Debug)]
pub struct RadioOption<'a> {
    pub name: &'a str,
    pub value: &'a str,
    pub label: &'a str,
    /// A secondary label; may be empty.
    pub note: &'a str,
    pub badge: Option<&'a str>,
    /// The element id of the notice that explains why the choice was rejected.
    pub error_id: Option<&'a str>,
    pub is_checked: bool,
}

/// Renders an option as a row that is large enough for touch.
pub fn radio_option(option: &RadioOption<'_>) -> Markup {
    html! {
        label.choice {
            input type="radio" name=(option.name) value=(option.value) required checked[option.is_checked]
                aria-describedby=[option.error_id];
            span.choice-text {
                span.choice-label { (DisplayName(option.label)) }
                @if !option.note.is_empty() { span.choice-note { (DisplayName(option.note)) } }
            }
            @if let Some(text) = option.badge { (badge(text)) }
        }
    }
}
