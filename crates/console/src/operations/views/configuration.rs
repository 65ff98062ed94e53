//! Every key of the configuration with its value, default and source. Secrets are not in the view.

use maud::{Markup, html};
use operator::operations::configuration::{ConfigurationKey, ConfigurationLayer};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, Table, empty_state, parts_code, table};
use ui::{Lang, badge};

use super::super::text::ConfigurationText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct ConfigurationPage {
    pub(crate) keys: Vec<ConfigurationKey>,
}

impl View<Context> for ConfigurationPage {
    fn section(&self) -> Section {
        Section::Configuration
    }

    fn title(&self, lang: Lang) -> &'static str {
        CommonText::of(lang).configuration
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (ConfigurationText::of(lang), CommonText::of(lang));
        html! {
            h1 { (self.title(lang)) }
            p.lead { (text.lead) " " (text.explained) }
            form.filters method="get" {
                div.field.wide {
                    label for="q" { (text.search) }
                    input #q name="q" type="search" value=[context.query.get("q")] spellcheck="false" autocapitalize="none";
                }
                label.check {
                    input type="checkbox" name="changed" value="true" data-submit checked[context.query.is_set("changed")];
                    span { (text.only_changed) }
                }
                button type="submit" class="button secondary" { (common.filter) }
            }
            @if self.keys.is_empty() {
                (empty_state(text.none, text.none_text, Some((common.clear_filter, context.path()))))
            } @else { (self.table(context)) }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &ConfigurationKey| {
            vec![
                one.key.clone(),
                one.value_text(),
                one.default_text(),
                one.source.layer.as_str().to_owned(),
                one.source.name.clone().unwrap_or_default(),
                one.is_changed.to_string(),
                one.is_set.to_string(),
                one.explanation.clone(),
            ]
        };
        let columns = "key value default layer source changed set explanation";
        Some(Csv {
            name: "configuration",
            columns: columns.split(' ').collect(),
            rows: self.keys.iter().map(row).collect(),
        })
    }
}

impl ConfigurationPage {
    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ConfigurationText::of(lang);
        let columns = [
            Column::main(text.key),
            Column::text(text.value),
            Column::text(text.default),
            Column::text(text.source),
        ];
        let cells = |one: &ConfigurationKey| {
            vec![
                html! {
                    (parts_code(&one.key))
                    @if one.is_changed { " " (badge(text.changed)) }
                    span.sub lang="en" { (one.explanation) }
                },
                value(text, one),
                shown(text, &one.default_text()),
                source(text, one),
            ]
        };
        table(
            lang,
            &Table {
                caption: self.title(lang),
                columns: &columns,
                rows: self.keys.iter().map(|one| (one.key.clone(), cells(one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                ..Table::default()
            },
        )
    }
}

fn value(text: &ConfigurationText, key: &ConfigurationKey) -> Markup {
    if key.is_secret && key.is_set {
        return html! { span.muted { (text.hidden) } };
    }
    shown(text, &key.value_text())
}

fn shown(text: &ConfigurationText, value: &str) -> Markup {
    html! { @if value.is_empty() { span.muted { (text.empty) } } @else { (parts_code(value)) } }
}

fn source(text: &ConfigurationText, key: &ConfigurationKey) -> Markup {
    let layer = match key.source.layer {
        ConfigurationLayer::Default => text.from_default,
        ConfigurationLayer::File => text.from_file,
        ConfigurationLayer::Environment => text.from_environment,
        ConfigurationLayer::CommandLine => text.from_command_line,
    };
    html! { (layer) @if let Some(name) = &key.source.name { span.sub { (parts_code(name)) } } }
}
