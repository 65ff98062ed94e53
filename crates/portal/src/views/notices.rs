//! The page of notices.

use domain::{NoticeKind, NoticeObject, Ticks};
use maud::{Markup, html};
use pages::{Csv, View, sentence};
use serde::Serialize;
use store::Notice;
use ui::app::{Column, Table, empty_state, table};
use ui::{
    Button, ButtonStyle, DisplayName, Lang, badge, button, hidden_field, notice_title, safe_href, timestamp,
};

use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;
use crate::text::notices::{NoticeText, advice};
use pages::webhooks::text::service_reason;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NoticesPage {
    pub(crate) notices: Vec<NoticeRow>,
    pub(crate) next: Option<String>,
    pub(crate) unread: usize,
    /// What a form that marks these notices as read says.
    pub(crate) read_up_to: Option<String>,
    /// The kinds that the developer gets as mail.
    pub(crate) mailed: Vec<&'static str>,
    #[serde(skip)]
    pub(crate) is_first: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NoticeRow {
    id: String,
    time: String,
    #[serde(skip)]
    at: Ticks,
    kind: NoticeKind,
    object: &'static str,
    subject: String,
    name: String,
    detail: String,
    since: String,
    #[serde(skip)]
    since_at: Ticks,
    is_unread: bool,
    #[serde(skip)]
    page: String,
}

impl NoticeRow {
    pub(crate) fn new(one: Notice, read_at: Ticks) -> Self {
        Self {
            page: page_of(&one),
            id: one.id.to_string(),
            time: one.at.iso(),
            at: one.at,
            kind: one.kind,
            object: one.object.as_str(),
            subject: one.subject,
            name: one.name,
            detail: one.detail,
            since: one.since.iso(),
            since_at: one.since,
            is_unread: one.at > read_at,
        }
    }

    fn what(&self, lang: Lang) -> Markup {
        let text = NoticeText::of(lang);
        html! {
            b { (notice_title(lang, self.kind)) }
            @if self.is_unread { " " (badge(text.new)) }
            @match self.kind {
                NoticeKind::RequestRefused => { p.muted { (text.reason) ": " (DisplayName(&self.detail)) } }
                NoticeKind::WebhookFailing => { p.muted { (text.since) ": " (timestamp(lang, self.since_at)) } }
                NoticeKind::KeyEnds | NoticeKind::ClientSecretEnds => {
                    p.muted { (text.ends) ": " (timestamp(lang, self.since_at)) }
                }
                NoticeKind::WebhookDisabled => {
                    @match service_reason::disabled(lang, &self.detail) {
                        Some(sentences) => { p.muted { (sentences) } }
                        None if self.detail.is_empty() => {}
                        None => { p.muted lang="en" { (sentence(&self.detail)) } }
                    }
                }
                _ => {}
            }
            p.muted { (advice(lang, self.kind)) }
        }
    }
}

/// The page of the team that shows what a notice is about.
fn page_of(notice: &Notice) -> String {
    match (notice.kind, notice.object) {
        (_, NoticeObject::Webhook) => format!("webhooks/{}", notice.subject),
        (NoticeKind::KeyEnds, _) => format!("subscriptions/{}", notice.subject),
        (NoticeKind::ClientSecretEnds, _) => format!("applications/{}", notice.subject),
        (_, NoticeObject::Subscription) => "subscriptions".into(),
        (_, NoticeObject::Client | NoticeObject::RedirectUri) => "applications".into(),
    }
}

impl View<Context> for NoticesPage {
    fn section(&self) -> Section {
        Section::Notices
    }

    fn title(&self, lang: Lang) -> &'static str {
        NoticeText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let text = NoticeText::of(context.lang());
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            @if let (true, Some(up_to)) = (self.unread > 0 && self.is_first, &self.read_up_to) {
                form.inline method="post" action=(safe_href(context.path())) {
                    (context.form_token()) (hidden_field("upTo", up_to))
                    (button(&Button {
                        label: text.mark_read,
                        style: ButtonStyle::Secondary,
                        name_and_value: Some(("do", "read")),
                        ..Button::default()
                    }))
                }
            }
            @if self.notices.is_empty() { (empty_state(text.none, text.none_text, None)) }
            @else { (self.table(context)) }
            section.card #mails { h2 { (text.by_mail) } (self.preferences(context)) }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &NoticeRow| {
            let NoticeRow { time, kind, object, subject, name, detail, since, .. } = one;
            let kind = kind.as_str().to_owned();
            vec![
                time.clone(),
                kind,
                (*object).to_owned(),
                subject.clone(),
                name.clone(),
                since.clone(),
                detail.clone(),
            ]
        };
        Some(Csv {
            name: "notices",
            columns: vec!["time", "kind", "object", "id", "name", "since", "detail"],
            rows: self.notices.iter().map(row).collect(),
        })
    }
}

impl NoticesPage {
    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = NoticeText::of(lang);
        let columns =
            [Column::text(CommonText::of(lang).time), Column::main(text.what), Column::text(text.about)];
        let cells = |one: &NoticeRow| {
            let name = if one.name.is_empty() { &one.subject } else { &one.name };
            vec![
                timestamp(lang, one.at),
                one.what(lang),
                html! { a href=(safe_href(&context.team_path(&one.page))) { (DisplayName(name)) } },
            ]
        };
        table(
            lang,
            &Table {
                caption: text.title,
                columns: &columns,
                rows: self.notices.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                csv: Some(context.here(&["before"], [("format", "csv")])),
                first: (!self.is_first).then(|| context.here(&["before"], [])),
                next: self.next.as_deref().map(|next| context.here(&["before"], [("before", next)])),
            },
        )
    }

    fn preferences(&self, context: &Context) -> Markup {
        let lang = context.lang();
        html! {
            form.stack method="post" action=(safe_href(context.path())) {
                (context.form_token())
                fieldset {
                    legend.plain { (NoticeText::of(lang).by_mail_text) }
                    @for kind in NoticeKind::ALL {
                        label.check {
                            input type="checkbox" name="kind" value=(kind.as_str()) checked[self.mailed.contains(&kind.as_str())];
                            span { (notice_title(lang, kind)) }
                        }
                    }
                }
                (button(&Button {
                    label: CommonText::of(lang).save,
                    name_and_value: Some(("do", "preferences")),
                    ..Button::default()
                }))
            }
        }
    }
}
