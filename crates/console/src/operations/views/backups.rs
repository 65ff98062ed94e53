//! The backups of the directory, the one that is being made, and the forms for both.

use maud::{Markup, html};
use operator::admin::Permission;
use operator::operations::backups::{BackupFile, BackupList, BackupPhase, BackupRun};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, State, Table, empty_state, facts, meter, number, parts_code, percent, state, table};
use ui::{Button, ButtonStyle, DisplayName, Lang, button, hidden_field, timestamp};

use super::super::text::BackupText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct BackupsPage {
    #[serde(flatten)]
    pub(crate) list: BackupList,
    /// Who started the last one, for people.
    #[serde(skip)]
    pub(crate) started_by: String,
}

impl View<Context> for BackupsPage {
    fn section(&self) -> Section {
        Section::Backups
    }

    fn title(&self, lang: Lang) -> &'static str {
        CommonText::of(lang).backups
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = BackupText::of(lang);
        let live = self.is_running().then(|| context.here(&[], [("format", "events")]));
        html! {
            div.title-row { h1 { (self.title(lang)) } span.live hidden { (CommonText::of(lang).live) } }
            p.lead { (text.lead) }
            @if let Some(directory) = &self.list.directory {
                section.card {
                    (facts(&[
                        (text.directory, parts_code(directory)),
                        (text.kept, html! { (number(lang, self.list.keep as u64)) }),
                        (text.encryption, html! { (encryption(text, self.list.encrypts)) }),
                    ]))
                }
                div #backup-run data-live=[live] data-live-part {
                    @if let Some(run) = &self.list.run { (run_card(lang, run, &self.started_by)) }
                    @if !self.is_running() { (make_form(context)) }
                }
                div #backups data-live-part {
                    @if self.list.backups.is_empty() { (empty_state(text.none, text.none_text, None)) }
                    @else { (self.table(context)) }
                }
            } @else { (empty_state(text.no_directory, text.no_directory_text, None)) }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &BackupFile| {
            vec![
                one.name.to_string(),
                one.taken_at.iso(),
                one.bytes.to_string(),
                one.is_encrypted.to_string(),
            ]
        };
        Some(Csv {
            name: "backups",
            columns: vec!["name", "taken_at", "bytes", "encrypted"],
            rows: self.list.backups.iter().map(row).collect(),
        })
    }
}

fn encryption(text: &BackupText, is_encrypted: bool) -> &'static str {
    if is_encrypted { text.encrypted } else { text.plain }
}

/// `1.5 MiB`, `1,5 MiB`.
fn size(lang: Lang, bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut unit, mut tenths) = (0, bytes.saturating_mul(10));
    while tenths >= 10_240 && unit < units.len() - 1 {
        tenths /= 1024;
        unit += 1;
    }
    let (whole, rest) = (tenths / 10, tenths % 10);
    let point = if lang == Lang::Es { ',' } else { '.' };
    if unit == 0 || whole >= 100 {
        format!("{whole}\u{a0}{}", units[unit])
    } else {
        format!("{whole}{point}{rest}\u{a0}{}", units[unit])
    }
}

/// The backup that is being made, or the last one.
fn run_card(lang: Lang, run: &BackupRun, started_by: &str) -> Markup {
    let text = BackupText::of(lang);
    let (kind, word) = match run.phase {
        BackupPhase::Writing => (State::Waiting, text.writing),
        BackupPhase::Verifying => (State::Waiting, text.verifying),
        BackupPhase::Done => (State::Ok, text.done),
        BackupPhase::Failed => (State::Bad, text.failed),
    };
    let title = if run.phase.is_running() { text.running } else { text.last };
    let share = run.share().filter(|_| run.phase == BackupPhase::Writing);
    let mut rows = vec![
        (text.name, parts_code(&run.name.to_string())),
        (text.started_by, html! { (DisplayName(started_by)) }),
        (text.started, timestamp(lang, run.started_at)),
    ];
    rows.extend(run.ended_at.map(|at| (text.ended, timestamp(lang, at))));
    rows.push((text.rows, html! { (number(lang, run.rows)) }));
    rows.push((text.size, html! { (size(lang, run.bytes)) }));
    rows.extend(share.map(|share| (text.progress, html! { (percent(lang, share)) })));
    html! {
        section.card {
            div.title-row { h2 { (title) } (state(kind, word)) }
            @if let (Some(_), Some(expected)) = (share, run.expected_bytes) {
                (meter(text.progress, run.bytes.min(expected / 100 * 99), expected))
            }
            (facts(&rows))
            @if let Some(error) = &run.error { p.muted lang="en" { (error) } }
        }
    }
}

fn make_form(context: &Context) -> Markup {
    let lang = context.lang();
    let (text, common) = (BackupText::of(lang), CommonText::of(lang));
    html! {
        section.card {
            h2 { (text.make) }
            @if context.may(Permission::Backups) {
                p { (text.make_text) " " (common.fresh_needed) }
                form.inline method="post" action=(context.here(&[], [])) {
                    (context.form_token())
                    (button(&Button { label: text.make, name_and_value: Some(("do", "start")), ..Button::default() }))
                }
            } @else { p.muted { (text.admins_only) } }
        }
    }
}

impl BackupsPage {
    fn is_running(&self) -> bool {
        self.list.run.as_ref().is_some_and(|run| run.phase.is_running())
    }

    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = BackupText::of(lang);
        let may_download = context.may(Permission::Backups);
        let columns = [
            Column::main(text.name),
            Column::text(text.taken),
            Column::number(text.size),
            Column::text(text.encryption),
            Column::text(""),
        ];
        let cells = |one: &BackupFile| {
            vec![
                parts_code(&one.name.to_string()),
                timestamp(lang, one.taken_at),
                html! { (size(lang, one.bytes)) },
                html! { (encryption(text, one.is_encrypted)) },
                html! { @if may_download { (download_form(context, one)) } },
            ]
        };
        html! {
            @if may_download { p.muted.after { (text.download_text) " " (CommonText::of(lang).fresh_needed) } }
            (table(
                lang,
                &Table {
                    caption: self.title(lang),
                    columns: &columns,
                    rows: self.list.backups.iter().map(|one| (one.name.to_string(), cells(one))).collect(),
                    csv: Some(context.here(&[], [("format", "csv")])),
                    ..Table::default()
                },
            ))
        }
    }
}

fn download_form(context: &Context, backup: &BackupFile) -> Markup {
    let text = BackupText::of(context.lang());
    let download = Button {
        label: text.download,
        style: ButtonStyle::Secondary,
        name_and_value: Some(("do", "download")),
        ..Button::default()
    };
    html! {
        form method="post" action=(context.here(&[], [])) {
            (context.form_token())
            (hidden_field("backup", &backup.name.to_string()))
            (button(&download))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_language() {
        let both = |bytes| (size(Lang::Es, bytes), size(Lang::En, bytes));
        let pair = |es: &str, en: &str| (es.replace(' ', "\u{a0}"), en.replace(' ', "\u{a0}"));
        assert_eq!(both(0), pair("0 B", "0 B"));
        assert_eq!(both(1536), pair("1,5 KiB", "1.5 KiB"));
        assert_eq!(both(150 << 20), pair("150 MiB", "150 MiB"));
        assert_eq!(both(3 << 40), pair("3,0 TiB", "3.0 TiB"));
    }
}
