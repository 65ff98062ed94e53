//! Two versions of a record, compared as far as the log has their values.

use maud::{Markup, html};
use operator::admin::{MemberDiffJson, RecordChangeJson, RecordDiffJson, RecordName};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, Table, empty_state, facts, number, table};
use ui::{DisplayName, Lang, safe_href, timestamp};

use super::{Owners, crumbs, kind_word, source, who};
use crate::context::Context;
use crate::data::paths;
use crate::data::text::{DataText, DiffText, RecordText};
use crate::shell::Section;

#[derive(Debug, Serialize)]
pub(crate) struct DiffPage {
    #[serde(skip)]
    pub(crate) name: RecordName,
    #[serde(skip)]
    pub(crate) owners: Owners,
    #[serde(flatten)]
    pub(crate) diff: RecordDiffJson,
}

impl View<Context> for DiffPage {
    fn section(&self) -> Section {
        Section::Tenants
    }

    fn title(&self, lang: Lang) -> &'static str {
        DiffText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, record) = (DiffText::of(lang), RecordText::of(lang));
        html! {
            (crumbs(context, &self.owners, &self.name.collection, Some(&self.name)))
            h1 { (text.title) }
            p.lead {
                a href=(safe_href(&paths::record(context, &self.name, ""))) { code { (DisplayName(&self.name.id)) } } ": "
                (number(lang, self.diff.changes)) " " (if self.diff.changes == 1 { text.change_between } else { text.changes_between })
            }
            div.cards {
                section.card { h2 { (record.older) } (version(lang, &self.diff.from)) }
                section.card { h2 { (record.newer) } (version(lang, &self.diff.to)) }
            }
            h2.after { (text.members) }
            @match &self.diff.members {
                None => (empty_state(text.no_values, text.no_values_text, None)),
                Some(members) if members.is_empty() => (empty_state(text.same, text.same_text, None)),
                Some(members) => { p.muted { (text.members_text) } (members_table(context, members)) }
            }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let members = self.diff.members.as_ref()?;
        let row = |one: &MemberDiffJson| {
            vec![one.name.clone(), one.from.clone().unwrap_or_default(), one.to.clone().unwrap_or_default()]
        };
        Some(Csv {
            name: "diff",
            columns: vec!["member", "from", "to"],
            rows: members.iter().map(row).collect(),
        })
    }
}

fn version(lang: Lang, change: &RecordChangeJson) -> Markup {
    let (text, data) = (RecordText::of(lang), DataText::of(lang));
    facts(&[
        (data.sequence, html! { code { (change.sequence_version) } }),
        (text.when, timestamp(lang, change.at)),
        (text.what, html! { (kind_word(lang, change.kind)) }),
        (text.who, who(lang, change)),
        (text.source, source(change)),
    ])
}

fn members_table(context: &Context, members: &[MemberDiffJson]) -> Markup {
    let lang = context.lang();
    let (text, record) = (DiffText::of(lang), RecordText::of(lang));
    let value = |value: &Option<String>| {
        html! {
            @match value.as_deref() {
                None => span.muted { (text.unknown) },
                Some("") => i { (record.empty) },
                Some(value) => (DisplayName(value)),
            }
        }
    };
    let columns = [Column::main(text.member), Column::text(record.older), Column::text(record.newer)];
    let cells = |one: &MemberDiffJson| {
        vec![html! { code { (DisplayName(&one.name)) } }, value(&one.from), value(&one.to)]
    };
    table(
        lang,
        &Table {
            caption: text.members,
            columns: &columns,
            rows: members.iter().map(|one| (one.name.clone(), cells(one))).collect(),
            csv: Some(context.here(&[], [("format", "csv")])),
            ..Table::default()
        },
    )
}
