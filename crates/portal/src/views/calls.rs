//! The requests' page: the team's last calls, and why some were refused.

use domain::ids::SubscriptionId;
use domain::{Refusal, Ticks};
use maud::{Markup, html};
use pages::{Csv, View};
use serde::Serialize;
use store::{Client, NumberedCall};
use ui::app::{Column, Table, copy_block, empty_state, id_end, number, parts_code, short_id, table};
use ui::{DisplayName, Lang, Severity, notice, safe_href, timestamp};

use crate::context::Context;
use crate::shell::Section;
use crate::text::calls::{CallText, refusal};
use crate::text::common::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct CallsPage {
    pub(crate) calls: Vec<CallRow>,
    pub(crate) next: Option<u64>,
    /// For the filter: ids and names.
    #[serde(skip)]
    pub(crate) subscriptions: Vec<(String, String)>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallRow {
    pub(crate) number: u64,
    pub(crate) time: String,
    #[serde(skip)]
    at: Ticks,
    method: String,
    route: String,
    status: u16,
    latency_micros: u64,
    request_id: String,
    client: Option<String>,
    client_name: Option<String>,
    tenant: Option<String>,
    subscription: String,
    subscription_name: String,
    refusal: Option<&'static str>,
    #[serde(skip)]
    why: Option<Refusal>,
}

impl CallRow {
    pub(crate) fn new(
        one: NumberedCall,
        name_of: impl Fn(&SubscriptionId) -> String,
        clients: &[Client],
    ) -> Self {
        let NumberedCall { number, call } = one;
        let client = call.client.as_ref().and_then(|id| clients.iter().find(|client| client.id == *id));
        Self {
            number,
            client_name: client.map(|client| client.name.clone()),
            time: call.at.iso(),
            at: call.at,
            method: call.method,
            route: call.route,
            status: call.status,
            latency_micros: call.latency_micros,
            request_id: call.request_id,
            client: call.client.map(|client| client.to_string()),
            tenant: call.tenant.map(|tenant| tenant.to_string()),
            subscription_name: name_of(&call.subscription),
            subscription: call.subscription.to_string(),
            refusal: call.refusal.map(Refusal::as_str),
            why: call.refusal,
        }
    }

    /// With which key, by which application, for which tenant.
    fn origin(&self, context: &Context) -> Markup {
        let text = CallText::of(context.lang());
        let client = self.client.as_ref().map(|id| (id, context.team_path(&format!("applications/{id}"))));
        html! {
            span.sub {
                (text.key) " " (DisplayName(&self.subscription_name))
                @if let Some((id, href)) = client {
                    " · " (text.client) " " a href=(safe_href(&href)) { (DisplayName(self.client_name.as_ref().unwrap_or(id))) }
                }
                @if let Some(tenant) = &self.tenant { " · " (text.tenant) " " (short_id(tenant)) }
            }
        }
    }

    fn milliseconds(&self, lang: Lang) -> String {
        let (whole, tenths) = (self.latency_micros / 1000, self.latency_micros % 1000 / 100);
        match lang {
            _ if whole == 0 && tenths == 0 => {
                format!("<\u{a0}{}\u{a0}ms", if lang == Lang::Es { "0,1" } else { "0.1" })
            }
            _ if whole >= 100 => format!("{}\u{a0}ms", number(lang, whole)),
            Lang::Es => format!("{whole},{tenths}\u{a0}ms"),
            Lang::En => format!("{whole}.{tenths}\u{a0}ms"),
        }
    }
}

impl View<Context> for CallsPage {
    fn section(&self) -> Section {
        Section::Calls
    }

    fn title(&self, lang: Lang) -> &'static str {
        CallText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = CallText::of(lang);
        let is_first_page = context.query.get("before").is_none();
        let live = is_first_page.then(|| context.here(&[], [("format", "events")]));
        html! {
            div.title-row { h1 { (text.title) } span.live hidden { (CommonText::of(lang).live) } }
            p.lead { (text.lead) }
            @if !context.portal.settings.has_call_log {
                (notice(Severity::Warning, "switched-off", &html! { (text.switched_off) }, Some(&html! { (text.switched_off_text) })))
            }
            @if !self.calls.is_empty() || context.query.has_any() { (self.filters(context)) }
            div #calls data-live=[live] data-live-part {
                @if self.calls.is_empty() { (Self::empty(context)) } @else { (self.table(context)) }
            }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, context: &Context) -> Option<Csv> {
        let row = |one: &CallRow| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            vec![
                one.time.clone(),
                one.method.clone(),
                one.route.clone(),
                one.status.to_string(),
                one.latency_micros.to_string(),
                one.request_id.clone(),
                text(&one.client),
                text(&one.tenant),
                one.subscription.clone(),
                one.refusal.unwrap_or_default().to_owned(),
                one.why.map_or("", |why| refusal(context.lang(), why)).to_owned(),
            ]
        };
        Some(Csv {
            name: "requests",
            columns: vec![
                "time",
                "method",
                "route",
                "status",
                "latency_us",
                "request_id",
                "client",
                "tenant",
                "subscription",
                "refusal",
                "explanation",
            ],
            rows: self.calls.iter().map(row).collect(),
        })
    }
}

impl CallsPage {
    fn filters(&self, context: &Context) -> Markup {
        let (text, common) = (CallText::of(context.lang()), CommonText::of(context.lang()));
        let (result, wanted) = (context.query.get("result"), context.query.get("subscription"));
        let results = [
            ("", text.any),
            ("refused", text.only_refused),
            ("2xx", text.succeeded),
            ("4xx", text.caller_errors),
            ("5xx", text.service_errors),
        ];
        html! {
            form.filters method="get" {
                div.field {
                    label for="result" { (text.result) }
                    select #result name="result" data-submit {
                        @for (value, label) in results { option value=(value) selected[result.unwrap_or_default() == value] { (label) } }
                    }
                }
                div.field {
                    label for="subscription" { (text.subscription) }
                    select #subscription name="subscription" data-submit {
                        option value="" { (text.any) }
                        @for (id, name) in &self.subscriptions { option value=(id) selected[wanted == Some(id)] { (name) } }
                    }
                }
                div.field.wide {
                    label for="request_id" { (text.request_id) }
                    input #request_id name="request_id" type="search" value=[context.query.get("request_id")] spellcheck="false";
                }
                button type="submit" class="button secondary" { (common.filter) }
            }
        }
    }

    fn empty(context: &Context) -> Markup {
        let lang = context.lang();
        let text = CallText::of(lang);
        let is_filtered =
            ["result", "subscription", "request_id", "route"].iter().any(|name| context.query.is_set(name));
        if is_filtered {
            let clear = (CommonText::of(lang).clear_filter, context.path());
            return empty_state(text.none_found, text.none_found_text, Some(clear));
        }
        let line = format!(
            "curl {}/accounting/api/companies \\\n  -H 'Ocp-Apim-Subscription-Key: …' \\\n  -H 'Authorization: Bearer …'",
            context.portal.settings.base_url
        );
        html! { (empty_state(text.none, text.none_text, None)) div.card { (copy_block(lang, "first-call", &line)) } }
    }

    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (CallText::of(lang), CommonText::of(lang));
        let columns = [
            Column::text(common.time),
            Column::main(text.route),
            Column::text(text.status),
            Column::number(text.latency),
            Column::text(text.request_id),
        ];
        let cells = |one: &CallRow| {
            let class = format!("status-{}", one.status / 100);
            vec![
                timestamp(lang, one.at),
                html! {
                    code { (one.method) " " } (parts_code(&one.route))
                    @if let Some(why) = one.why { span.sub.why { (refusal(lang, why)) } }
                    (one.origin(context))
                },
                html! { b class=(class) { (one.status) } },
                html! { (one.milliseconds(lang)) },
                id_end(&one.request_id),
            ]
        };
        let next =
            self.next.map(|before| context.here(&["before"], [("before", before.to_string().as_str())]));
        let first = context.query.get("before").map(|_| context.here(&["before"], []));
        table(
            lang,
            &Table {
                caption: text.title,
                columns: &columns,
                rows: self.calls.iter().map(|one| (one.number.to_string(), cells(one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                first,
                next,
            },
        )
    }
}
