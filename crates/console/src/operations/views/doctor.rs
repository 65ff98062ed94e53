//! What the doctor found, with what to do.

use std::sync::Arc;

use maud::{Markup, html};
use operator::operations::doctor::{DoctorReport, Examination, Finding, Verdict};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, State, Table, state, table};
use ui::{Lang, Severity, notice, safe_href, timestamp};

use super::super::text::DoctorText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct DoctorPage {
    #[serde(flatten)]
    pub(crate) report: DoctorReport,
    #[serde(skip)]
    pub(crate) examination: Arc<Examination>,
}

impl View<Context> for DoctorPage {
    fn section(&self) -> Section {
        Section::Doctor
    }

    fn title(&self, lang: Lang) -> &'static str {
        CommonText::of(lang).doctor
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = DoctorText::of(lang);
        let (severity, summary) = match self.examination.verdict() {
            Verdict::Failure => (Severity::Error, text.some_failures),
            Verdict::Warning => (Severity::Warning, text.some_warnings),
            Verdict::Ok | Verdict::NotChecked => (Severity::Success, text.all_good),
        };
        let checked =
            html! { (text.examined) " " (timestamp(lang, self.examination.at)) ". " (text.again_text) };
        html! {
            h1 { (self.title(lang)) }
            p.lead { (text.lead) }
            (notice(severity, "verdict", &html! { (summary) }, Some(&checked)))
            p.after { a.button.secondary href=(safe_href(&context.here(&[], []))) { (text.again) } }
            (self.table(context))
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &operator::operations::doctor::DoctorFinding| {
            vec![
                one.check.clone(),
                one.verdict.clone(),
                one.code.clone(),
                one.message.clone(),
                one.remedy.clone().unwrap_or_default(),
            ]
        };
        Some(Csv {
            name: "doctor",
            columns: vec!["check", "verdict", "code", "message", "remedy"],
            rows: self.report.findings.iter().map(row).collect(),
        })
    }
}

impl DoctorPage {
    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = DoctorText::of(lang);
        let columns = [Column::main(text.check), Column::text(text.result), Column::text(text.what)];
        let cells = |finding: &Finding| {
            vec![
                html! { (finding.check.title(lang)) },
                verdict_state(lang, finding.verdict()),
                html! {
                    (finding.sentence(lang))
                    @if let Some(remedy) = finding.remedy(lang) { span.sub { (text.to_do) " " (remedy) } }
                },
            ]
        };
        let findings = self.examination.findings.iter().enumerate();
        let rows = findings.map(|(index, one)| (format!("{index}-{}", one.code()), cells(one))).collect();
        table(
            lang,
            &Table {
                caption: self.title(lang),
                columns: &columns,
                rows,
                csv: Some(context.here(&[], [("format", "csv")])),
                ..Table::default()
            },
        )
    }
}

fn verdict_state(lang: Lang, verdict: Verdict) -> Markup {
    let text = DoctorText::of(lang);
    match verdict {
        Verdict::Ok => state(State::Ok, text.ok),
        Verdict::Warning => state(State::Waiting, text.warning),
        Verdict::Failure => state(State::Bad, text.failure),
        Verdict::NotChecked => state(State::Off, text.not_checked),
    }
}
