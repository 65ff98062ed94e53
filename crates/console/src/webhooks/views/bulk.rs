//! The webhooks that an action would change, and the result of each.

use domain::WebhookStatus;
use maud::{Markup, html};
use operator::admin::{BulkResultJson, Permission};
use pages::webhooks::WebhookPages as _;
use pages::webhooks::text::webhooks::{OneWebhookText, WebhookText};
use pages::{Csv, PageContext as _, View};
use serde::Serialize;
use ui::app::{Column, State, Table, empty_state, number, parts_code, state, table, tabs};
use ui::{Lang, Severity, hidden_field, notice, safe_href};

use super::super::filter::ListedRow;
use super::super::text::{BulkText, WebhooksText};
use super::list::{receiver, tenant};
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

/// What is done to each webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::webhooks) enum Action {
    Disable,
    Enable,
    Replay,
}

/// What an action would do to one webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Changes,
    Stays,
    Refused,
}

impl Action {
    const ALL: [Self; 3] = [Self::Disable, Self::Enable, Self::Replay];

    pub(in crate::webhooks) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Enable => "enable",
            Self::Replay => "replay",
        }
    }

    /// Its name, and what it does.
    fn words(self, text: &BulkText) -> (&'static str, &'static str) {
        match self {
            Self::Disable => (text.disable, text.disable_text),
            Self::Enable => (text.enable, text.enable_text),
            Self::Replay => (text.replay, text.replay_text),
        }
    }

    fn effect(self, status: WebhookStatus) -> Effect {
        let is_off = matches!(status, WebhookStatus::Disabled | WebhookStatus::DisabledByService);
        match self {
            _ if status.is_final() => Effect::Refused,
            Self::Disable if status == WebhookStatus::Disabled => Effect::Stays,
            Self::Disable => Effect::Changes,
            Self::Enable if is_off => Effect::Changes,
            Self::Enable => Effect::Stays,
            Self::Replay if status == WebhookStatus::Active => Effect::Changes,
            Self::Replay => Effect::Refused,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::webhooks) struct BulkPage {
    pub(in crate::webhooks) action: Action,
    /// Stands for the set.
    pub(in crate::webhooks) digest: String,
    pub(in crate::webhooks) webhooks: Vec<ListedRow>,
    pub(in crate::webhooks) is_too_wide: bool,
}

/// The list with the same filter.
fn list_path(context: &Context) -> String {
    let query = context.query.with(&["action", "done", "format", "lang"], []);
    let separator = if query.is_empty() { "" } else { "?" };
    format!("{}{separator}{query}", context.webhooks_path())
}

fn crumbs(context: &Context) -> Markup {
    let title = WebhookText::of(context.lang()).title;
    html! { p.crumbs { a href=(safe_href(&list_path(context))) { (title) } } }
}

impl View<Context> for BulkPage {
    fn section(&self) -> Section {
        Section::Webhooks
    }

    fn title(&self, lang: Lang) -> &'static str {
        BulkText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let text = BulkText::of(context.lang());
        let here = |action: Action| context.here(&["action"], [("action", action.as_str())]);
        let actions = Action::ALL.map(|one| (one.words(text).0, here(one), one == self.action));
        let back = (text.back, list_path(context));
        html! {
            (crumbs(context))
            h1 { (text.title) }
            @if self.is_too_wide { (empty_state(text.too_wide, text.too_wide_text, Some((back.0, &back.1)))) }
            @else if self.webhooks.is_empty() { (empty_state(text.none, text.none_text, Some((back.0, &back.1)))) }
            @else {
                p.lead { (text.lead) }
                (tabs(text.action, &actions))
                @if context.may(Permission::Webhooks) { (self.form(context)) }
                (self.table(context))
            }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &ListedRow| {
            let row = &one.row;
            vec![
                row.id.clone(),
                one.host.clone(),
                row.tenant.clone(),
                row.client.clone(),
                row.status.as_str().to_owned(),
            ]
        };
        Some(Csv {
            name: "webhooks",
            columns: vec!["id", "host", "tenant", "client", "status"],
            rows: self.webhooks.iter().map(row).collect(),
        })
    }
}

impl BulkPage {
    fn form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, own) = (BulkText::of(lang), OneWebhookText::of(lang));
        let (name, what) = self.action.words(text);
        let count = u64::try_from(self.webhooks.len()).unwrap_or(u64::MAX);
        let class = if self.action == Action::Disable { "button destructive" } else { "button" };
        html! {
            section.card {
                h2 { (name) }
                form.stack method="post" action=(context.here(&[], [])) {
                    (context.form_token())
                    (hidden_field("digest", &self.digest))
                    p { (what) }
                    p { (text.count_before) " " b { (number(lang, count)) } "." }
                    @if self.action == Action::Replay {
                        div.field {
                            label for="from" { (own.from) }
                            input #from name="from" type="datetime-local" value=[context.typed("from")] required;
                        }
                        div.field {
                            label for="to" { (own.to) }
                            input #to name="to" type="datetime-local" value=[context.typed("to")] aria-describedby="to-hint";
                            span.hint #to-hint { (own.to_hint) }
                        }
                    }
                    p.muted { (CommonText::of(lang).fresh_needed) }
                    button type="submit" class=(class) name="do" value=(self.action.as_str()) { (name) }
                }
            }
        }
    }

    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, shared, words) = (BulkText::of(lang), WebhookText::of(lang), WebhooksText::of(lang));
        let columns = [
            Column::main(words.receiver),
            Column::text(shared.tenant),
            Column::text(words.client),
            Column::text(shared.state),
            Column::text(text.what_happens),
        ];
        let effect = |one: &ListedRow| match self.action.effect(one.row.status) {
            Effect::Changes if self.action == Action::Replay => state(State::Ok, text.will_replay),
            Effect::Changes => state(State::Ok, text.will_change),
            Effect::Stays => state(State::Off, text.stays),
            Effect::Refused => state(State::Bad, text.refused),
        };
        let cells = |one: &ListedRow| {
            vec![
                receiver(context, one),
                tenant(context, one),
                one.row.application(context),
                one.row.state(lang),
                effect(one),
            ]
        };
        table(
            lang,
            &Table {
                caption: shared.title,
                columns: &columns,
                rows: self.webhooks.iter().map(|one| (one.row.id.clone(), cells(one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                ..Table::default()
            },
        )
    }
}

#[derive(Debug, Serialize)]
pub(in crate::webhooks) struct ResultsPage {
    pub(in crate::webhooks) action: Action,
    pub(in crate::webhooks) results: Vec<BulkResultJson>,
}

impl View<Context> for ResultsPage {
    fn section(&self) -> Section {
        Section::Webhooks
    }

    fn title(&self, lang: Lang) -> &'static str {
        BulkText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, words) = (BulkText::of(lang), WebhooksText::of(lang));
        let done = self.results.iter().filter(|one| one.done).count();
        let severity = if done == self.results.len() { Severity::Success } else { Severity::Warning };
        let summary = html! { (summary(lang, self.action, done, self.results.len())) };
        let columns = [Column::main(words.receiver), Column::text(text.results), Column::text(text.reason)];
        let cells = |one: &BulkResultJson| {
            let href = context.webhook_path(&one.id);
            vec![
                html! { a href=(safe_href(&href)) { (parts_code(&one.url)) } },
                if one.done { state(State::Ok, text.done) } else { state(State::Bad, text.not_done) },
                html! { @if let Some(why) = &one.message { (context.refusal_text(why)) } },
            ]
        };
        html! {
            (crumbs(context))
            h1 { (text.title) }
            (notice(severity, "results", &summary, None))
            (table(lang, &Table {
                caption: text.results,
                columns: &columns,
                rows: self.results.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                ..Table::default()
            }))
            p.after { a class="button secondary" href=(safe_href(&list_path(context))) { (text.back) } }
        }
    }
}

/// How many of the webhooks the action was done to.
fn summary(lang: Lang, action: Action, done: usize, all: usize) -> String {
    let name = action.words(BulkText::of(lang)).0;
    let count = |value| number(lang, u64::try_from(value).unwrap_or(u64::MAX));
    match (lang, done, all) {
        (Lang::Es, 1, 1) => format!("{name}: hecho en el webhook elegido."),
        (Lang::En, 1, 1) => format!("{name}: done for the webhook."),
        (Lang::Es, 0, _) => format!("{name}: no se ha hecho en ningún webhook."),
        (Lang::En, 0, _) => format!("{name}: done for no webhook."),
        (Lang::Es, ..) => format!("{name}: hecho en {} de {} webhooks.", count(done), count(all)),
        (Lang::En, ..) => format!("{name}: done for {} of {} webhooks.", count(done), count(all)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_counts_in_words() {
        assert_eq!(summary(Lang::En, Action::Disable, 2, 3), "Pause: done for 2 of 3 webhooks.");
        assert_eq!(summary(Lang::Es, Action::Disable, 1, 1), "Pausar: hecho en el webhook elegido.");
        assert_eq!(summary(Lang::Es, Action::Enable, 0, 2), "Activar: no se ha hecho en ningún webhook.");
    }

    #[test]
    fn page_says_what_an_action_does_to_each_webhook() {
        use WebhookStatus::{Active, Deleted, Disabled, DisabledByService, Suspended};
        for (action, status, effect) in [
            (Action::Disable, Active, Effect::Changes),
            (Action::Disable, Disabled, Effect::Stays),
            (Action::Disable, Deleted, Effect::Refused),
            (Action::Enable, DisabledByService, Effect::Changes),
            (Action::Enable, Suspended, Effect::Stays),
            (Action::Replay, Active, Effect::Changes),
            (Action::Replay, Suspended, Effect::Refused),
        ] {
            assert_eq!(action.effect(status), effect, "{action:?} {status:?}");
            assert_eq!(Action::parse(action.as_str()), Some(action));
        }
    }
}
