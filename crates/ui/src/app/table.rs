//! Tables of data. On a phone every row becomes a card.

use maud::{Markup, html};

use crate::{Lang, safe_href};

#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub label: &'static str,
    pub is_number: bool,
    /// What the row is: the title of its card on a phone.
    pub is_main: bool,
}

impl Column {
    pub const fn text(label: &'static str) -> Self {
        Self { label, is_number: false, is_main: false }
    }

    pub const fn number(label: &'static str) -> Self {
        Self { label, is_number: true, is_main: false }
    }

    pub const fn main(label: &'static str) -> Self {
        Self { label, is_number: false, is_main: true }
    }
}

pub type Cell = Markup;

/// A page of rows.
#[derive(Clone, Debug, Default)]
pub struct Table<'a> {
    /// Says what the rows are; also for screen readers.
    pub caption: &'a str,
    pub columns: &'a [Column],
    /// A key that names the row across reloads, and its cells.
    pub rows: Vec<(String, Vec<Cell>)>,
    /// URL of the same rows as CSV.
    pub csv: Option<String>,
    /// URL of the first page, where this is another one.
    pub first: Option<String>,
    pub next: Option<String>,
}

/// A column of buttons has a header for those who hear the table.
fn head(lang: Lang, column: &Column) -> Markup {
    let actions = match lang {
        Lang::Es => "Acciones",
        Lang::En => "Actions",
    };
    html! {
        th scope="col" .number[column.is_number] {
            @if column.label.is_empty() { span.visually-hidden { (actions) } } @else { (column.label) }
        }
    }
}

pub fn table(lang: Lang, table: &Table<'_>) -> Markup {
    let (first, next, csv) = match lang {
        Lang::Es => ("Primera página", "Siguiente página", "Descargar CSV"),
        Lang::En => ("First page", "Next page", "Download CSV"),
    };
    let has_foot = table.csv.is_some() || table.first.is_some() || table.next.is_some();
    html! {
        div.table {
            table {
                caption.visually-hidden { (table.caption) }
                thead { tr { @for column in table.columns { (head(lang, column)) } } }
                tbody {
                    @for (key, cells) in &table.rows {
                        tr data-row=(key) {
                            @for (cell, column) in cells.iter().zip(table.columns) {
                                td .number[column.is_number] .main[column.is_main] .acts[column.label.is_empty()] data-label=(column.label) { div { (cell) } }
                            }
                        }
                    }
                }
            }
            @if has_foot {
                div.table-foot {
                    @if let Some(url) = &table.csv { a href=(safe_href(url)) download { (csv) } }
                    span.pager {
                        @if let Some(url) = &table.first { a href=(safe_href(url)) { (first) } }
                        @if let Some(url) = &table.next { a href=(safe_href(url)) rel="next" { (next) } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_header() {
        let columns = [Column::main("Name"), Column::number("Calls"), Column::text("")];
        let row = vec![html! { "a" }, html! { "1" }, html! { button { "x" } }];
        let rows = vec![("a".to_owned(), row)];
        let markup = table(Lang::En, &Table { columns: &columns, rows, ..Table::default() }).into_string();
        assert_eq!(markup.matches("<th ").count(), 3, "{markup}");
        assert!(markup.contains(">Actions</span></th></tr></thead>"), "{markup}");
        assert!(markup.contains(" main\" data-label=\"Name\">"), "{markup}");
        assert!(markup.contains(" acts\" data-label=\"\">"), "{markup}");
    }
}
