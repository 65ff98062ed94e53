//! Small parts: states, facts, numbers, text to copy, tabs, empty states.

use maud::{Markup, html};

use crate::format::has_long_word;
use crate::{Lang, plain_name, safe_href};

/// A domain of so many characters is not broken.
const DOMAIN_CHARS_MAX: usize = 16;

/// How a thing is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Ok,
    Waiting,
    Bad,
    Off,
}

/// A word with a coloured dot; the colour only repeats what the word says.
pub fn state(kind: State, text: &str) -> Markup {
    let class = match kind {
        State::Ok => "ok",
        State::Waiting => "wait",
        State::Bad => "bad",
        State::Off => "off",
    };
    html! { span class={ "state " (class) } { (text) } }
}

/// A list of labelled values.
pub fn facts(rows: &[(&str, Markup)]) -> Markup {
    html! { dl.facts { @for (label, value) in rows { div { dt { (label) } dd { (value) } } } } }
}

/// The same one below the other, for long values.
pub fn fact_lines(rows: &[(&str, Markup)]) -> Markup {
    html! { dl.facts.lines { @for (label, value) in rows { div { dt { (label) } dd { (value) } } } } }
}

/// A whole number with the language's separator: `12.345`, `12,345`. Spanish separates from five digits on.
pub fn number(lang: Lang, value: u64) -> String {
    let digits = value.to_string();
    let (separator, digits_min) = match lang {
        Lang::Es => ('.', 5),
        Lang::En => (',', 4),
    };
    if digits.len() < digits_min {
        return digits;
    }
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(separator);
        }
        text.push(digit);
    }
    text
}

/// A share between 0 and 1: `99,5 %`, `99.5%`. Only all of it is 100, only none of it is 0.
pub fn percent(lang: Lang, share: f64) -> String {
    let tenths = (share.clamp(0.0, 1.0) * 1000.0).floor();
    let tenths = if share > 0.0 && tenths < 1.0 { 1.0 } else { tenths } / 10.0;
    let text = if tenths.fract() == 0.0 { format!("{tenths:.0}") } else { format!("{tenths:.1}") };
    match lang {
        Lang::Es => format!("{}\u{a0}%", text.replace('.', ",")),
        Lang::En => format!("{text}%"),
    }
}

/// Text that people copy. `id` names it on the page. The button appears where the script runs.
pub fn copy_block(lang: Lang, id: &str, text: &str) -> Markup {
    html! { div.copy { pre tabindex="0" { code #(id) { (text) } } (copy_button(lang, id)) } }
}

/// The same for long lines, which are not broken: the block scrolls.
pub fn copy_lines(lang: Lang, id: &str, text: &str) -> Markup {
    html! { div class="copy lines" { pre tabindex="0" { code #(id) { (text) } } (copy_button(lang, id)) } }
}

/// A short value that people copy, within a line or a cell.
pub fn copy_inline(lang: Lang, id: &str, text: &str) -> Markup {
    html! { span.copy-inline { code #(id) { (text) } " " (copy_button(lang, id)) } }
}

/// Copies the text of the element with this id; it appears where [`crate::asset::page_script`] runs.
pub fn copy_button(lang: Lang, id: &str) -> Markup {
    let (copy, copied) = match lang {
        Lang::Es => ("Copiar", "Copiado"),
        Lang::En => ("Copy", "Copied"),
    };
    html! {
        button type="button" class="button secondary small" data-copy=(id) data-copied=(copied) hidden { (copy) }
    }
}

/// Saves the text of the element with this id as a file; it appears where [`crate::asset::page_script`] runs.
pub fn download_button(lang: Lang, id: &str, file: &str) -> Markup {
    let label = match lang {
        Lang::Es => "Descargar",
        Lang::En => "Download",
    };
    html! { button type="button" class="button secondary small" data-download=(id) data-file=(file) hidden { (label) } }
}

/// A long name of parts (an address, a dotted name, the name of an event) as code that breaks between them, not within a word.
pub fn parts_code(text: &str) -> Markup {
    html! { code class=[has_long_part(text).then_some("long")] { (with_breaks(text)) } }
}

/// The same of an address or a host that somebody chose, as [`crate::DisplayName`] shows names.
pub fn parts_name(text: &str) -> Markup {
    let name = plain_name(text);
    html! { bdi class=[has_long_part(&name).then_some("long")] { (with_breaks(&name)) } }
}

fn with_breaks(text: &str) -> Markup {
    html! {
        @for (index, part) in parts(text).into_iter().enumerate() {
            @if index > 0 { wbr; }
            (part)
        }
    }
}

fn has_long_part(text: &str) -> bool {
    parts(text).into_iter().any(has_long_word)
}

/// A part ends after a separator, and before a capital that follows another letter: `invoice.`, `Customer`, `Created`. The
/// short domain of an address of mail stays whole: `com` alone in a line helps nobody.
fn parts(text: &str) -> Vec<&str> {
    match text.rsplit_once('@').filter(|(_, domain)| domain.chars().count() <= DOMAIN_CHARS_MAX) {
        Some((_, domain)) => {
            let local = text.get(..text.len() - domain.len()).unwrap_or_default();
            let mut parts = words(local);
            parts.push(domain);
            parts
        }
        None => words(text),
    }
}

fn words(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut before, mut is_number) = (Vec::new(), 0, None, false);
    for (at, c) in text.char_indices() {
        let is_start = match before {
            // No break within numbers with dots: versions, addresses, ports.
            Some('.' | ':') => c.is_alphabetic() || c.is_ascii_digit() && !is_number,
            Some('/' | '?' | '&' | '=' | '_' | '@' | '-') => c.is_alphanumeric(),
            Some(before) => before.is_lowercase() && c.is_uppercase(),
            None => false,
        };
        if is_start {
            parts.extend(text.get(start..at));
            start = at;
        }
        is_number = before.is_some_and(|before: char| before.is_ascii_digit());
        before = Some(c);
    }
    parts.extend(text.get(start..));
    parts
}

/// An id of which a list shows the beginning. All of it is there to copy, to search for and to hear.
pub fn short_id(text: &str) -> Markup {
    html! { code.id title=(text) { (text) } }
}

/// The same of an id that begins with its time: a list shows the end.
pub fn id_end(text: &str) -> Markup {
    html! { code.id.end title=(text) { bdi dir="ltr" { (text) } } }
}

/// What stands where a list has nothing yet: what it is, and how to get the first one.
pub fn empty_state(title: &str, text: &str, action: Option<(&str, &str)>) -> Markup {
    html! {
        div.empty {
            b { (title) }
            p { (text) }
            @if let Some((label, href)) = action { a.button href=(safe_href(href)) { (label) } }
        }
    }
}

/// A sentence of a document, in which `` ` `` encloses code.
pub fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Links to views of the same thing; each has a label, a URL and whether it is the present one.
pub fn tabs(label: &str, tabs: &[(&str, String, bool)]) -> Markup {
    html! {
        nav.tabs aria-label=(label) {
            @for (text, href, is_current) in tabs {
                a href=(safe_href(href)) aria-current=[is_current.then_some("page")] { (text) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_language() {
        let both = |value| (number(Lang::Es, value), number(Lang::En, value));
        assert_eq!(both(0), ("0".into(), "0".into()));
        assert_eq!(both(1234), ("1234".into(), "1,234".into()));
        assert_eq!(both(12345), ("12.345".into(), "12,345".into()));
        assert_eq!(both(1_234_567), ("1.234.567".into(), "1,234,567".into()));
    }

    #[test]
    fn prose_marks_code_and_escapes() {
        let markup = prose("Read `/a/<id>` & answer `200`.").into_string();
        assert_eq!(markup, "Read <code>/a/&lt;id&gt;</code> &amp; answer <code>200</code>.");
        assert_eq!(prose("plain").into_string(), "plain");
    }

    #[test]
    fn long_names_break_between_their_parts() {
        assert_eq!(parts_code("a.b<").into_string(), "<code>a.<wbr>b&lt;</code>");
        assert_eq!(parts("https://a.example/b?c=D"), ["https://", "a.", "example/", "b?", "c=", "D"]);
        assert_eq!(parts("InvoiceCreated"), ["Invoice", "Created"]);
        assert_eq!(parts("ana.soler@example.com"), ["ana.", "soler@", "example.com"]);
        assert_eq!(parts("ana.2549c0@example.com"), ["ana.", "2549c0@", "example.com"]);
        let long = "x".repeat(30);
        assert_eq!(parts(&format!("ana@{long}.com")), ["ana@", &format!("{long}."), "com"]);
        assert_eq!(parts("DNS"), ["DNS"]);
        assert_eq!(parts("http://127.0.0.1:8080/a"), ["http://", "127.0.0.1:8080/", "a"]);
        assert_eq!(parts_name("a@b\u{202e}").into_string(), "<bdi>a@<wbr>b</bdi>");
        let long = parts_code(&"x".repeat(40)).into_string();
        assert!(long.starts_with("<code class=\"long\">"), "{long}");
        assert_eq!(short_id("a\"b").into_string(), "<code class=\"id\" title=\"a&quot;b\">a&quot;b</code>");
    }

    #[test]
    fn shares_are_never_rounded_to_all_or_nothing() {
        let both = |share| (percent(Lang::Es, share), percent(Lang::En, share));
        assert_eq!(both(1.0), ("100\u{a0}%".into(), "100%".into()));
        assert_eq!(both(0.99999).1, "99.9%");
        assert_eq!(both(0.00001).1, "0.1%");
        assert_eq!(both(0.0).1, "0%");
        assert_eq!(both(0.5).0, "50\u{a0}%");
        assert_eq!(both(0.125).0, "12,5\u{a0}%");
    }
}
