//! The page of error codes: the catalogue of `domain`, in the language of the page.

use domain::error_code::{ErrorEntry, ErrorGroup};
use maud::{Markup, html};
use ui::app::{Column, Table, table};
use ui::{Lang, safe_href};

use crate::Portal;
use crate::http::errors::PATH;
use crate::text::common::CommonText;
use crate::text::errors::{ErrorCodesText, group_name};

impl Portal {
    pub(crate) fn error_codes_page(&self, lang: Lang) -> Markup {
        let text = ErrorCodesText::of(lang);
        let base = self.base_path();
        let links = html! { a href=(safe_href(&format!("{base}/"))) { (CommonText::of(lang).portal) } };
        let content = html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            p.muted { (text.oauth) }
            nav aria-label=(text.title) {
                ul.links { @for group in ErrorGroup::ALL { li { a href={ "#" (anchor(group)) } { (group_name(lang, group)) } } } }
            }
            @for group in ErrorGroup::ALL {
                section.card aria-labelledby=(anchor(group)) {
                    h2 id=(anchor(group)) { (group_name(lang, group)) }
                    @if group == ErrorGroup::Changes { p.muted { (text.in_reports) } }
                    (codes(lang, group))
                }
            }
        };
        self.plain_page(lang, text.title, PATH, &content, &links)
    }
}

fn anchor(group: ErrorGroup) -> &'static str {
    match group {
        ErrorGroup::Access => "access",
        ErrorGroup::Requests => "requests",
        ErrorGroup::Webhooks => "webhooks",
        ErrorGroup::Changes => "changes",
        ErrorGroup::Operator => "administration",
    }
}

fn codes(lang: Lang, group: ErrorGroup) -> Markup {
    let text = ErrorCodesText::of(lang);
    let columns = [
        Column::text(text.code),
        Column::number(text.status),
        Column::text(text.cause),
        Column::text(text.cure),
    ];
    let row = |entry: &ErrorEntry| {
        let explained = match lang {
            Lang::Es => entry.spanish,
            Lang::En => entry.english,
        };
        let code = entry.code.as_str();
        let cells = vec![
            html! { code id=(code) { (code) } },
            html! { (entry.code.status()) },
            with_code(explained.cause),
            with_code(explained.cure),
        ];
        (code.to_owned(), cells)
    };
    let rows = group.entries().iter().map(row).collect();
    table(lang, &Table { caption: group_name(lang, group), columns: &columns, rows, ..Table::default() })
}

/// A text whose parts between backticks are code.
fn with_code(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_become_code_and_nothing_is_markup() {
        assert_eq!(with_code("Send `a<b>` now.").into_string(), "Send <code>a&lt;b&gt;</code> now.");
    }

    #[test]
    fn every_code_is_on_the_page_once() {
        for lang in Lang::ALL {
            let all: String = ErrorGroup::ALL.map(|group| codes(lang, group).into_string()).concat();
            for code in domain::ErrorCode::ALL {
                assert_eq!(all.matches(&format!("id=\"{code}\"")).count(), 1, "{code}");
            }
        }
    }
}
