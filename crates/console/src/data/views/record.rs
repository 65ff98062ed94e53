//! One record: what is stored, its history from the change log, and the forms of edits.

use maud::{Markup, html};
use operator::admin::{
    ChangedMemberJson, Permission, RecordChangeJson, RecordHistoryJson, RecordJson, RecordName, RecordStatus,
};
use pages::webhooks::request_text::pretty;
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, State, Table, copy_block, copy_inline, empty_state, facts, state, table, tabs};
use ui::{DisplayName, Lang, Severity, hidden_field, notice, safe_href, timestamp};

use super::{Owners, crumbs, forms, kind_word, record_state, source, title_of, who};
use crate::context::Context;
use crate::data::paths;
use crate::data::text::{DataText, RecordText};
use crate::shell::Section;

/// The source of edits by hand, as the log names it.
const EDIT_SOURCE: (&str, &str) = ("aldaba", "edit");
/// Longer values of members are cut in the history.
const VALUE_CHARS_MAX: usize = 120;

#[derive(Debug, Serialize)]
pub(crate) struct RecordPage {
    #[serde(skip)]
    pub(crate) name: RecordName,
    #[serde(skip)]
    pub(crate) owners: Owners,
    pub(crate) record: RecordJson,
    pub(crate) history: RecordHistoryJson,
}

impl View<Context> for RecordPage {
    fn section(&self) -> Section {
        Section::Tenants
    }

    fn title(&self, lang: Lang) -> &'static str {
        RecordText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let title = self.record.data.as_deref().and_then(title_of);
        html! {
            (crumbs(context, &self.owners, &self.name.collection, Some(&self.name)))
            div.title-row {
                h1 { (DisplayName(title.as_deref().unwrap_or(&self.record.id))) }
                (self.status(context.lang()))
            }
            (record_tabs(context, &self.name, false))
            (self.gone(context))
            section.card { (self.facts(context)) }
            (self.body(context))
            (self.history(context))
            @if context.may(Permission::Changes) { (forms::edits(context, &self.name, &self.record)) }
        }
    }

    /// The history.
    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &RecordChangeJson| {
            let members = one.members.as_ref().and_then(|members| serde_json::to_string(members).ok());
            vec![
                one.sequence_version.clone(),
                one.at.iso(),
                one.kind.to_owned(),
                one.event.clone(),
                one.user.clone(),
                one.source_interface.clone(),
                one.source_action.clone(),
                one.process_id.clone(),
                members.unwrap_or_default(),
            ]
        };
        Some(Csv {
            name: "history",
            columns: vec![
                "sequence_version",
                "at",
                "kind",
                "event",
                "user",
                "source_interface",
                "source_action",
                "process_id",
                "members",
            ],
            rows: self.history.changes.iter().map(row).collect(),
        })
    }
}

/// The pages of one record.
pub(super) fn record_tabs(context: &Context, name: &RecordName, is_notified: bool) -> Markup {
    let text = RecordText::of(context.lang());
    let pages = [
        (text.title, paths::record(context, name, ""), !is_notified),
        (text.notified, paths::record(context, name, "/notified"), is_notified),
    ];
    tabs(text.title, &pages)
}

impl RecordPage {
    fn status(&self, lang: Lang) -> Markup {
        let text = RecordText::of(lang);
        match (self.record.status, &self.record.state) {
            (RecordStatus::Stored, Some(name)) => record_state(lang, name),
            (RecordStatus::Stored, None) => html! {},
            (RecordStatus::Deleted | RecordStatus::DeletedWithCompany, _) => state(State::Off, text.deleted),
            (RecordStatus::OnlyFailures, _) => state(State::Off, text.never_stored),
        }
    }

    /// What became of a record that is not stored.
    fn gone(&self, context: &Context) -> Markup {
        let text = RecordText::of(context.lang());
        let (title, explanation) = match self.record.status {
            RecordStatus::Stored => return html! {},
            RecordStatus::Deleted => (text.deleted_title, text.deleted_text),
            RecordStatus::DeletedWithCompany => (text.deleted_title, text.deleted_with_company_text),
            RecordStatus::OnlyFailures => (text.never_stored, text.never_stored_text),
        };
        notice(Severity::Warning, "gone", &html! { (title) }, Some(&html! { (explanation) }))
    }

    fn facts(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, data) = (RecordText::of(lang), DataText::of(lang));
        let record = &self.record;
        let mut rows = vec![
            (text.id, copy_inline(lang, "record-id", &record.id)),
            (data.resource, html! { (record.resource) " · " (DataText::area_name(lang, record.area)) }),
        ];
        if let Some(company) = &record.company {
            let href = paths::data(context, &record.tenant, Some(company));
            rows.push((
                data.company,
                html! { a href=(safe_href(&href)) { code { (DisplayName(company)) } } },
            ));
        }
        if record.status == RecordStatus::Stored {
            rows.push((data.sequence, html! { code { (record.sequence_version) } }));
        }
        if let Some(change) = &record.last_change {
            rows.push((
                text.last_change,
                html! { (kind_word(lang, change.kind)) ", " (timestamp(lang, change.at)) },
            ));
        }
        facts(&rows)
    }

    fn body(&self, context: &Context) -> Markup {
        let text = RecordText::of(context.lang());
        let Some(data) = &self.record.data else { return html! {} };
        html! {
            section.card #body {
                h2 { (text.body) }
                p.muted { (text.body_text) }
                (copy_block(context.lang(), "body-text", &pretty(data.get())))
            }
        }
    }

    fn history(&self, context: &Context) -> Markup {
        let text = RecordText::of(context.lang());
        html! {
            h2.after #history { (text.history) }
            p.muted {
                (text.history_text)
                @if self.history.pruned_through != "0" {
                    " " (text.pruned) " " code { (self.history.pruned_through) } "."
                }
            }
            @if self.history.changes.is_empty() {
                (empty_state(text.no_history, text.no_history_text, None))
            } @else {
                (self.history_table(context))
                (self.compare_form(context))
            }
        }
    }

    fn history_table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, data) = (RecordText::of(lang), DataText::of(lang));
        let columns = [
            Column::number(data.sequence),
            Column::text(text.when),
            Column::main(text.what),
            Column::text(text.who),
            Column::text(text.source),
            Column::text(""),
        ];
        let cells = |one: &RecordChangeJson| {
            let notified = paths::record(context, &self.name, "/notified");
            let separator = if notified.contains('?') { '&' } else { '?' };
            let notified = format!("{notified}{separator}change={}", one.sequence_version);
            vec![
                html! { code { (one.sequence_version) } },
                timestamp(lang, one.at),
                html! {
                    b { (kind_word(lang, one.kind)) }
                    @if let Some(members) = &one.members { (changed(lang, members)) }
                },
                html! { (who(lang, one)) @if is_edit(one) { span.sub { (edit_link(context, &self.record.tenant)) } } },
                source(one),
                html! { a href=(safe_href(&notified)) { (text.notified) } },
            ]
        };
        let history = &self.history;
        let rows = history.changes.iter().map(|one| (one.sequence_version.clone(), cells(one))).collect();
        let next = history.next.as_ref();
        table(
            lang,
            &Table {
                caption: text.history,
                columns: &columns,
                rows,
                csv: Some(context.here(&[], [("format", "csv")])),
                first: context.query.get("before").map(|_| context.here(&["before"], [])),
                next: next.map(|next| context.here(&["before"], [("before", next.as_str())])),
            },
        )
    }

    /// Chooses two of the listed versions.
    fn compare_form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = RecordText::of(lang);
        if self.history.changes.len() < 2 {
            return html! {};
        }
        let path = paths::record(context, &self.name, "/diff");
        let choice = |id: &str, label: &str, selected: usize| {
            html! {
                div.field {
                    label for=(id) { (label) }
                    select id=(id) name=(id) {
                        @for (index, one) in self.history.changes.iter().enumerate() {
                            option value=(one.sequence_version) selected[index == selected] {
                                (one.sequence_version) " · " (kind_word(lang, one.kind))
                            }
                        }
                    }
                }
            }
        };
        html! {
            form.filters method="get" action=(safe_href(path.split('?').next().unwrap_or_default())) {
                @if let Some(company) = &self.record.company { (hidden_field("company", company)) }
                (choice("from", text.older, 1))
                (choice("to", text.newer, 0))
                button type="submit" class="button secondary" { (text.compare) }
            }
        }
    }
}

fn is_edit(change: &RecordChangeJson) -> bool {
    (change.source_interface.as_str(), change.source_action.as_str()) == EDIT_SOURCE
}

/// Who edited it by hand is in the audit.
fn edit_link(context: &Context, tenant: &str) -> Markup {
    let href = context.console_path(&format!("audit?tenant={tenant}&kind=record_edited"));
    html! { a href=(safe_href(&href)) { (RecordText::of(context.lang()).edited_by_hand) } }
}

/// The members that a change of invoicing lists.
fn changed(lang: Lang, members: &[ChangedMemberJson]) -> Markup {
    let text = RecordText::of(lang);
    let shown = |value: &str| {
        let mut shown: String = value.chars().take(VALUE_CHARS_MAX).collect();
        if shown.len() < value.len() {
            shown.push('…');
        }
        shown
    };
    html! {
        @for member in members {
            span.sub {
                code { (DisplayName(&member.name)) } ": "
                @if member.value.is_empty() { i { (text.empty) } } @else { (DisplayName(&shown(&member.value))) }
            }
        }
    }
}
