//! The records of one resource.

use domain::Ticks;
use maud::{Markup, html};
use operator::admin::{CollectionName, ListedRecordJson, RecordPageJson};
use pages::{Csv, View};
use serde::{Serialize, Serializer, ser::SerializeStruct as _};
use ui::app::{Column, Table, empty_state, number, table};
use ui::{DisplayName, Lang, Severity, notice, safe_href, timestamp};

use super::data::find_form;
use super::{Owners, crumbs, record_state, title_of};
use crate::context::Context;
use crate::data::paths;
use crate::data::text::DataText;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug)]
pub(crate) struct RecordsPage {
    pub(crate) of: CollectionName,
    pub(crate) owners: Owners,
    pub(crate) page: RecordPageJson,
    pub(crate) offset: u64,
    /// The id that was looked for in vain.
    pub(crate) not_found: Option<String>,
}

impl Serialize for RecordsPage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values = serializer.serialize_struct("RecordsPage", 8)?;
        values.serialize_field("tenant", self.of.tenant.as_str())?;
        values.serialize_field("area", self.of.resource.area().as_str())?;
        values.serialize_field("resource", self.of.resource.as_str())?;
        values.serialize_field("company", &self.of.company)?;
        values.serialize_field("records", &self.page.records)?;
        values.serialize_field("total", &self.page.total)?;
        values.serialize_field("next", &self.page.next)?;
        values.serialize_field("notFound", &self.not_found)?;
        values.end()
    }
}

impl View<Context> for RecordsPage {
    fn section(&self) -> Section {
        Section::Tenants
    }

    fn title(&self, lang: Lang) -> &'static str {
        DataText::of(lang).records_title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = DataText::of(lang);
        let area = self.of.resource.area().as_str();
        let mut hidden = vec![("area", area)];
        hidden.extend(self.of.company.as_deref().map(|company| ("company", company)));
        html! {
            (crumbs(context, &self.owners, &self.of, None))
            h1 { (self.of.resource.as_str()) }
            p.lead { @if let Some(company) = &self.owners.company { (DisplayName(company)) " · " } (DataText::area_name(lang, area)) " · " (number(lang, self.page.total)) " " (text.in_all) }
            @if let Some(id) = &self.not_found {
                (notice(Severity::Warning, "not-found", &html! { (text.not_found) }, Some(&html! { code { (DisplayName(id)) } ": " (text.not_found_text) })))
            }
            (find_form(context, text.find_record, context.path(), &hidden))
            @if self.page.records.is_empty() {
                @if self.page.total == 0 { (empty_state(text.no_records, text.no_records_text, None)) }
                @else { (empty_state(text.past_the_end, text.past_the_end_text, Some((text.first_page, &context.here(&["offset"], []))))) }
            } @else {
                (self.table(context))
            }
        }
    }

    fn has_more(&self) -> bool {
        self.page.next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        Some(Csv {
            name: "records",
            columns: vec!["id", "name", "state", "version", "sequence_version", "data"],
            rows: self.page.records.iter().map(csv_row).collect(),
        })
    }
}

impl RecordsPage {
    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (DataText::of(lang), CommonText::of(lang));
        let has_state = self.of.resource.has_state();
        let mut columns = vec![Column::main(text.record)];
        columns.extend(has_state.then_some(Column::text(common.state)));
        columns.extend([Column::text(text.changed), Column::number(text.sequence)]);
        let cells = |one: &ListedRecordJson| {
            let href = paths::record(context, &self.of.record(&one.id), "");
            let title = title_of(&one.data);
            let mut cells = vec![html! {
                a href=(safe_href(&href)) { (DisplayName(title.as_deref().unwrap_or(&one.id))) }
                @if title.is_some() { span.sub { code { (DisplayName(&one.id)) } } }
            }];
            cells.extend(has_state.then(|| record_state(lang, one.state.as_deref().unwrap_or_default())));
            let at = one.version.as_deref().and_then(Ticks::parse_iso);
            cells.push(html! { @match at { Some(at) => (timestamp(lang, at)), None => "–" } });
            cells.push(html! { (one.sequence_version.as_deref().unwrap_or("–")) });
            cells
        };
        table(
            lang,
            &Table {
                caption: text.records_title,
                columns: &columns,
                rows: self.page.records.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                ..pager(context, self.offset, self.page.next)
            },
        )
    }
}

/// The links below a list: to the first and the next page, and to the file.
pub(super) fn pager(context: &Context, offset: u64, next: Option<u64>) -> Table<'static> {
    let next = next.map(|next| context.here(&["offset", "record"], [("offset", next.to_string().as_str())]));
    Table {
        csv: Some(context.here(&["record"], [("format", "csv")])),
        first: (offset > 0).then(|| context.here(&["offset", "record"], [])),
        next,
        ..Table::default()
    }
}

pub(super) fn csv_row(one: &ListedRecordJson) -> Vec<String> {
    vec![
        one.id.clone(),
        title_of(&one.data).unwrap_or_default(),
        one.state.clone().unwrap_or_default(),
        one.version.clone().unwrap_or_default(),
        one.sequence_version.clone().unwrap_or_default(),
        one.data.get().to_owned(),
    ]
}
