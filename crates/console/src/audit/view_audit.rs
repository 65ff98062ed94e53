//! The page of the audit.

use std::collections::BTreeMap;

use domain::Ticks;
use maud::{Markup, html};
use operator::audit::{AuditRecordView, ChangeView};
use pages::{Csv, View};
use serde::Serialize;
use serde_json::Value;
use store::AuditKind;
use ui::app::{Column, Table, empty_state, id_end, number, parts_name, short_id, table};
use ui::{DisplayName, Lang, Severity, notice, safe_href, timestamp};

use super::kinds::{actor_text, kind_text};
use super::links;
use super::notes::note_text;
use super::text::AuditText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

/// An entry with more changes shows them on demand.
const CHANGES_SHOWN_MAX: usize = 3;

#[derive(Debug, Serialize)]
pub(crate) struct AuditView {
    pub(crate) records: Vec<AuditRecordView>,
    pub(crate) next: Option<String>,
    /// The names of what the entries name as `tenant:<id>`.
    #[serde(skip)]
    pub(crate) names: BTreeMap<String, String>,
    /// A filter is not valid.
    #[serde(skip)]
    pub(crate) is_refused: bool,
}

impl View<Context> for AuditView {
    fn section(&self) -> Section {
        Section::Audit
    }

    fn title(&self, lang: Lang) -> &'static str {
        AuditText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = AuditText::of(lang);
        let live = (!context.query.is_set("before")).then(|| context.here(&[], [("format", "events")]));
        html! {
            div.title-row { h1 { (text.title) } span.live hidden { (CommonText::of(lang).live) } }
            p.lead { (text.lead) }
            @if self.is_refused {
                (notice(Severity::Warning, "filter", &html! { (text.wrong_filter) }, Some(&html! { (text.wrong_filter_text) })))
            }
            (filters(context))
            div #entries data-live=[live] data-live-part {
                @if self.records.is_empty() { (self.empty(context)) } @else { (self.table(context)) }
            }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, context: &Context) -> Option<Csv> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let row = |one: &AuditRecordView| {
            let changes: Vec<String> = one.changes.iter().map(plain_change).collect();
            vec![
                one.at.clone(),
                one.kind.to_owned(),
                kind_text(context.lang(), one.kind).to_owned(),
                one.actor.clone(),
                text(&one.actor_email),
                text(&one.user),
                text(&one.email),
                text(&one.tenant),
                text(&one.client),
                text(&one.object),
                changes.join("; "),
                one.count.to_string(),
                one.note.clone(),
                one.address.clone(),
                one.request_id.clone(),
                one.id.clone(),
            ]
        };
        Some(Csv {
            name: "audit",
            columns: vec![
                "time",
                "kind",
                "words",
                "actor",
                "actor_email",
                "user",
                "user_email",
                "tenant",
                "client",
                "object",
                "changes",
                "count",
                "note",
                "address",
                "request_id",
                "id",
            ],
            rows: self.records.iter().map(row).collect(),
        })
    }
}

/// `status: active → disabled`
fn plain_change(change: &ChangeView) -> String {
    match (&change.from, &change.to) {
        (Value::Null, Value::Null) => change.member.clone(),
        (from, to) => format!("{}: {} → {}", change.member, plain_value(from), plain_value(to)),
    }
}

fn plain_value(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain_value).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn filters(context: &Context) -> Markup {
    let lang = context.lang();
    let (text, common) = (AuditText::of(lang), CommonText::of(lang));
    let kind = context.query.get("kind").unwrap_or_default();
    let mut kinds: Vec<(&str, &str)> =
        AuditKind::ALL.map(|kind| (kind.as_str(), kind_text(lang, kind.as_str()))).to_vec();
    kinds.sort_by_key(|(_, words)| words.to_lowercase());
    let input = |name: &'static str, label: &'static str, hint: &'static str| {
        html! {
            div.field {
                label for=(name) { (label) }
                input id=(name) name=(name) type="search" value=[context.query.get(name)] placeholder=(hint) spellcheck="false" autocapitalize="off";
            }
        }
    };
    let time = |name: &'static str, label: &'static str| {
        html! {
            div.field {
                label for=(name) { (label) }
                input id=(name) name=(name) type="datetime-local" value=[context.query.get(name)];
            }
        }
    };
    html! {
        form.filters method="get" {
            div.field {
                label for="kind" { (text.kind) }
                select #kind name="kind" data-submit {
                    option value="" { (common.all) }
                    @for (value, words) in kinds { option value=(value) selected[kind == value] { (words) } }
                }
            }
            (input("actor", text.actor, "operator, cli:ana"))
            (input("target", text.target, "webhook:…, user:…"))
            (input("tenant", text.tenant, ""))
            (input("request", text.request_id, ""))
            (time("since", text.since))
            (time("until", text.until))
            button type="submit" class="button secondary" { (common.filter) }
        }
    }
}

impl AuditView {
    fn empty(&self, context: &Context) -> Markup {
        let text = AuditText::of(context.lang());
        if let Some(next) = self.next_page(context) {
            return empty_state(text.none_here, text.none_here_text, Some((text.look_further, &next)));
        }
        let names = ["kind", "actor", "target", "tenant", "request", "since", "until"];
        if names.iter().any(|name| context.query.is_set(name)) {
            let clear = (CommonText::of(context.lang()).clear_filter, context.path());
            return empty_state(text.none_found, text.none_found_text, Some(clear));
        }
        empty_state(text.none, text.none_text, None)
    }

    fn next_page(&self, context: &Context) -> Option<String> {
        self.next.as_ref().map(|next| context.here(&["before"], [("before", next.as_str())]))
    }

    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (AuditText::of(lang), CommonText::of(lang));
        let columns = [
            Column::text(common.time),
            Column::main(text.what),
            Column::text(text.actor),
            Column::text(text.request_id),
        ];
        let cells = |one: &AuditRecordView| {
            vec![
                Ticks::parse_iso(&one.at).map_or_else(|| html! { (one.at) }, |at| timestamp(lang, at)),
                self.what(context, one),
                who(context, one),
                request(context, one),
            ]
        };
        let first = context.query.get("before").map(|_| context.here(&["before"], []));
        table(
            lang,
            &Table {
                caption: text.title,
                columns: &columns,
                rows: self.records.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                first,
                next: self.next_page(context),
            },
        )
    }
}

impl AuditView {
    /// What happened, to what, and what changed.
    fn what(&self, context: &Context, one: &AuditRecordView) -> Markup {
        let lang = context.lang();
        let text = AuditText::of(lang);
        html! {
            span title=(one.kind) { (kind_text(lang, one.kind)) }
            @if one.count > 1 { " " span.muted { "× " (number(lang, one.count)) } }
            (self.named(context, one))
            @if one.changes.len() > CHANGES_SHOWN_MAX {
                details.more id={ "changes-" (one.id) } {
                    summary { (number(lang, one.changes.len() as u64)) " " (text.members) }
                    @for change in &one.changes { (change_line(lang, change)) }
                }
            } @else {
                @for change in &one.changes { (change_line(lang, change)) }
            }
            @if !one.note.is_empty() { span.sub { (DisplayName(&note_text(lang, &one.note))) } }
        }
    }

    /// Links to what the entry names.
    fn named(&self, context: &Context, one: &AuditRecordView) -> Markup {
        let text = AuditText::of(context.lang());
        let link = |list: &str, id: &str, label: &str| {
            let href = links::one(context, list, id);
            html! { a href=(safe_href(&href)) title=(id) { (DisplayName(label)) } }
        };
        let own = |kind: &str, id: &Option<String>| {
            id.clone().filter(|id| one.object.as_deref() != Some(&*format!("{kind}:{id}")))
        };
        let user = |id: String| {
            html! { (text.user) " " (link("users", &id, one.email.as_deref().unwrap_or(&id))) }
        };
        let client =
            |id: String| html! { (text.client) " " (link("clients", &id, self.name("client", &id))) };
        let tenant =
            |id: String| html! { (text.tenant) " " (link("tenants", &id, self.name("tenant", &id))) };
        let all = [
            one.object.as_ref().map(|object| self.object_link(context, one, object)),
            own("user", &one.user).map(user),
            own("client", &one.client).map(client),
            own("tenant", &one.tenant).map(tenant),
        ];
        html! {
            span.sub {
                @for (index, part) in all.into_iter().flatten().enumerate() {
                    @if index > 0 { " · " }
                    (part)
                }
            }
        }
    }

    fn object_link(&self, context: &Context, one: &AuditRecordView, object: &str) -> Markup {
        let id = object.split_once(':').map_or(object, |(_, id)| id);
        let words = super::kinds::object_text(context.lang(), object);
        // The name of a backup is its time.
        let shown = if object.starts_with("backup:") {
            html! { code { (id) } }
        } else {
            html! { @if let Some(name) = self.names.get(object) { (DisplayName(name)) " " } (short_id(id)) }
        };
        html! {
            (words) " "
            @if let Some(href) = record_link(context, one).or_else(|| links::object(context, object)) { a href=(safe_href(&href)) { (shown) } }
            @else { (shown) }
        }
    }

    /// The name of a tenant or an application, or its id.
    fn name<'a>(&'a self, kind: &str, id: &'a str) -> &'a str {
        self.names.get(&format!("{kind}:{id}")).map_or(id, String::as_str)
    }
}

fn change_line(lang: Lang, change: &ChangeView) -> Markup {
    let text = AuditText::of(lang);
    let value = |value: &Value| {
        let plain = plain_value(value);
        // A time as the page shows times; the CSV file has it as it is stored.
        let at = Ticks::parse_iso(&plain).filter(|_| plain.contains('T'));
        at.map_or_else(|| html! { (DisplayName(&plain)) }, |at| timestamp(lang, at))
    };
    html! {
        span.sub.change {
            code { (change.member) } " "
            @match (&change.from, &change.to) {
                (Value::Null, Value::Null) => (text.not_shown),
                (Value::Null, to) => b { (value(to)) },
                (from, Value::Null) => { s { (value(from)) } },
                (from, to) => { (value(from)) " → " b { (value(to)) } },
            }
        }
    }
}

/// The page of a record that was edited: its id and its company are among the changes.
fn record_link(context: &Context, one: &AuditRecordView) -> Option<String> {
    let (area, resource) = one.object.as_deref()?.strip_prefix("record:")?.split_once('/')?;
    let new_value = |member: &str| {
        let change = one.changes.iter().find(|change| change.member == member)?;
        change.to.as_str()
    };
    Some(links::record(
        context,
        one.tenant.as_deref()?,
        (area, resource),
        new_value("company"),
        new_value("id")?,
    ))
}

fn who(context: &Context, one: &AuditRecordView) -> Markup {
    let (kind, id) =
        one.actor.split_once(':').map_or((one.actor.as_str(), None), |(kind, id)| (kind, Some(id)));
    let words = actor_text(context.lang(), kind);
    let href = id.and_then(|_| links::object(context, &one.actor));
    html! {
        (words)
        @if let Some(id) = id {
            " "
            @let label = one.actor_email.as_deref().unwrap_or(id);
            @if let Some(href) = href { a href=(safe_href(&href)) { (parts_name(label)) } }
            @else { (parts_name(label)) }
        }
        @if !one.address.is_empty() { span.sub { (one.address) } }
    }
}

fn request(context: &Context, one: &AuditRecordView) -> Markup {
    if one.request_id.is_empty() {
        return html! { "–" };
    }
    let href = links::with_query(context, "audit", &[("request", &one.request_id)]);
    html! { a href=(safe_href(&href)) { (id_end(&one.request_id)) } }
}
