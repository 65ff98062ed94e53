//! The parts that pages are put together from.

use maud::{Markup, html};

use crate::{Glyph, Name};

/// What a field takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Text,
    Password,
    Search,
}

impl Kind {
    const fn of_input(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Password => "password",
            Self::Search => "search",
        }
    }
}

/// A labelled field. Its id is its name: a page asks for a thing once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Field<'a> {
    pub name: &'a str,
    pub label: &'a str,
    pub kind: Kind,
    pub value: Option<&'a str>,
    pub autocomplete: Option<&'a str>,
    pub inputmode: Option<&'a str>,
    /// The id of the notice that says what is wrong with this field.
    pub problem: Option<&'a str>,
    pub is_focused: bool,
    pub is_required: bool,
}

pub fn field(field: &Field<'_>) -> Markup {
    // Names, addresses and passwords are no prose: nothing may correct them.
    html! {
        div.field {
            label for=(field.name) { (field.label) }
            input id=(field.name) name=(field.name) type=(field.kind.of_input()) value=[field.value]
                autocomplete=[field.autocomplete] inputmode=[field.inputmode] autocapitalize="none"
                spellcheck="false" aria-invalid=[field.problem.map(|_| "true")] aria-describedby=[field.problem]
                autofocus[field.is_focused] required[field.is_required];
        }
    }
}

pub fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// How loud a button is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emphasis {
    #[default]
    Main,
    Quiet,
    /// Takes something away.
    Grave,
}

impl Emphasis {
    pub const fn class(self) -> &'static str {
        match self {
            Self::Main => "button",
            Self::Quiet => "button quiet",
            Self::Grave => "button grave",
        }
    }
}

/// A button that sends its form.
#[derive(Clone, Copy, Debug, Default)]
pub struct Button<'a> {
    pub label: &'a str,
    pub emphasis: Emphasis,
    /// Name and value that go with the form.
    pub sends: Option<(&'a str, &'a str)>,
    /// Sends the form as it stands, required fields or not.
    pub is_lenient: bool,
    pub is_focused: bool,
}

pub fn button(button: &Button<'_>) -> Markup {
    html! {
        button type="submit" class=(button.emphasis.class()) name=[button.sends.map(|(name, _)| name)]
            value=[button.sends.map(|(_, value)| value)] formnovalidate[button.is_lenient]
            autofocus[button.is_focused] { (button.label) }
    }
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Something is wrong and the reader can right it.
    Problem,
    /// Nobody did anything wrong; it needs a little patience.
    Caution,
    /// It is done.
    Done,
}

/// A notice that is read aloud as the page opens. Its id is what fields name as their problem.
pub fn notice(tone: Tone, id: &str, title: &Markup, text: Option<&Markup>) -> Markup {
    let (class, role, glyph) = match tone {
        Tone::Problem => ("notice problem", "alert", Glyph::Alert),
        Tone::Caution => ("notice caution", "alert", Glyph::Clock),
        Tone::Done => ("notice done", "status", Glyph::Check),
    };
    html! {
        div class=(class) role=(role) id=(id) {
            (glyph)
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

/// One of a list of which one is chosen.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    pub name: &'a str,
    pub value: &'a str,
    pub label: &'a str,
    /// A second, quieter name; may be empty.
    pub note: &'a str,
    pub badge: Option<&'a str>,
    /// The id of the notice that says what is wrong with the choice.
    pub problem: Option<&'a str>,
    pub is_checked: bool,
}

/// A row as large as a finger, with the browser's own radio button inside.
pub fn choice(choice: &Choice<'_>) -> Markup {
    html! {
        label.choice {
            input type="radio" name=(choice.name) value=(choice.value) required checked[choice.is_checked]
                aria-describedby=[choice.problem];
            span.choice-text {
                span.choice-label { (Name(choice.label)) }
                @if !choice.note.is_empty() { span.choice-note { (Name(choice.note)) } }
            }
            @if let Some(text) = choice.badge { (badge(text)) }
        }
    }
}
