//! Events of the sandbox on demand, and its built-in receiver with what came.

use domain::event::EventKind;
use domain::{Area, Resource, WebhookStatus};
use maud::{Markup, html};
use operator::admin::TeamWebhook;
use serde::Serialize;
use store::ReceiverMode;
use ui::app::{Column, Table, copy_block, empty_state, fact_lines, parts_code, table};
use ui::{Button, DisplayName, Lang, button, safe_href};

use super::sandbox::{SandboxState, head, missing};
use super::sandbox_received::ReceivedRow;
use super::sandbox_token::{Application, application_field};
use crate::catalogue::{Event, catalogue};
use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;
use crate::text::events::EventsText;
use crate::text::sandbox::{ReceiverText, SandboxText, TokenText, mode_words};
use pages::webhooks::row::WebhookRow;
use pages::{Csv, View};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReceiverPage {
    pub(crate) state: SandboxState,
    pub(crate) receiver_url: String,
    pub(crate) receiver_mode: &'static str,
    #[serde(skip)]
    pub(crate) mode: ReceiverMode,
    pub(crate) tenant: String,
    /// The event that was made last.
    pub(crate) made: Option<MadeEvents>,
    /// Webhooks that were made just now; their secret is shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subscribed: Option<SubscribedWebhooks>,
    /// Those whose URL is the receiver's.
    pub(crate) webhooks: Vec<BuiltInWebhook>,
    pub(crate) has_more_webhooks: bool,
    /// Newest first.
    pub(crate) received: Vec<ReceivedRow>,
    pub(crate) next: Option<u64>,
    #[serde(skip)]
    pub(crate) applications: Vec<Application>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MadeEvents {
    /// The wanted one last.
    pub(crate) events: Vec<String>,
    pub(crate) record: String,
    pub(crate) company: Option<String>,
    pub(crate) sequence: u64,
    /// Those of the sandbox that subscribe to it.
    pub(crate) webhooks: Vec<WebhookRow>,
    #[serde(skip)]
    pub(crate) resource: Resource,
}

/// A webhook to the receiver.
#[derive(Debug, Serialize)]
pub(crate) struct BuiltInWebhook {
    #[serde(flatten)]
    row: WebhookRow,
    /// The kinds of its events.
    events: Vec<&'static str>,
    #[serde(skip)]
    has_all_events: bool,
}

impl BuiltInWebhook {
    pub(crate) fn new(one: &TeamWebhook) -> Self {
        let events: Vec<&str> = one.webhook.kinds.iter().map(EventKind::as_str).collect();
        let has_all_events = events.len() == one.webhook.resource.event_kinds().len();
        Self { row: WebhookRow::new(one, None), events, has_all_events }
    }

    fn link(&self, context: &Context) -> Markup {
        let href = context.team_path(&format!("webhooks/{}", self.row.id));
        html! {
            a href=(safe_href(&href)) {
                (DisplayName(&self.row.name)) " · " (self.row.resource)
                @if !self.has_all_events { " · " (self.events.join(", ")) }
            }
            " " (self.row.state(context.lang()))
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct SubscribedWebhooks {
    pub(crate) webhooks: Vec<String>,
    pub(crate) secret: String,
}

impl ReceiverPage {
    /// While there is no sandbox to use.
    pub(crate) fn unavailable(state: SandboxState) -> Self {
        Self {
            state,
            receiver_url: String::new(),
            receiver_mode: ReceiverMode::default().as_str(),
            mode: ReceiverMode::default(),
            tenant: String::new(),
            made: None,
            subscribed: None,
            webhooks: Vec::new(),
            has_more_webhooks: false,
            received: Vec::new(),
            next: None,
            applications: Vec::new(),
        }
    }
}

impl View<Context> for ReceiverPage {
    fn section(&self) -> Section {
        Section::Sandbox
    }

    fn title(&self, lang: Lang) -> &'static str {
        SandboxText::of(lang).tab_receiver
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (sandbox, text) = (SandboxText::of(lang), ReceiverText::of(lang));
        if self.state != SandboxState::Ready {
            return html! { h1 { (sandbox.title) } p.lead { (sandbox.lead) } (self.state.obstacle(context)) };
        }
        let live = html! { span.live hidden { (CommonText::of(lang).live) } };
        html! {
            (head(context, true, text.lead, &live))
            @if let Some(subscribed) = &self.subscribed { (subscribed.markup(context)) }
            @if let Some(made) = &self.made { (made.markup(context, &self.receiver_url)) }
            // Without a webhook nothing arrives: that comes first.
            @if self.webhooks.is_empty() { (self.subscribe_form(context)) }
            (self.make_form(context))
            (self.came(context))
            (self.receiver(context))
            @if !self.webhooks.is_empty() { (self.subscribe_form(context)) }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        Some(ReceivedRow::csv(&self.received))
    }
}

impl MadeEvents {
    fn markup(&self, context: &Context, receiver_url: &str) -> Markup {
        let text = ReceiverText::of(context.lang());
        let (last, before) = self.events.split_last().map_or(("", &[][..]), |(last, before)| (last, before));
        let event = catalogue().all().find(|event| event.name == *last);
        let mut rows = vec![
            (text.event, parts_code(last)),
            (text.record, html! { code { (DisplayName(&self.record)) } }),
        ];
        rows.extend(
            self.company.as_ref().map(|company| (text.company, html! { code { (DisplayName(company)) } })),
        );
        rows.push((text.sequence, html! { code { (self.sequence) } }));
        html! {
            section.card #made role="status" {
                h2 { (text.made) }
                (fact_lines(&rows))
                @if let Some(event) = event {
                    p { a href=(safe_href(&context.team_path(&format!("events/{}", event.id)))) { (text.see_event) } }
                }
                @if !before.is_empty() { p.small.muted { (text.made_before) " " @for name in before { (parts_code(name)) " " } } }
                h3 { (text.goes_to) }
                div #goes-to data-live-part {
                    @if self.webhooks.is_empty() { p.muted { (text.goes_nowhere) } }
                    @else { ul.links { @for one in &self.webhooks { li { (self.target(context, one, receiver_url)) } } } }
                }
            }
        }
    }

    /// A webhook that gets the event, with the way to its delivery.
    fn target(&self, context: &Context, one: &WebhookRow, receiver_url: &str) -> Markup {
        let lang = context.lang();
        let text = ReceiverText::of(lang);
        let page = format!("webhooks/{}", one.id);
        let receiver = if one.url == receiver_url { text.receiver } else { &one.url };
        let is_active = one.status == WebhookStatus::Active;
        let delivery = context.team_path(&format!("{page}/deliveries/{}", self.sequence));
        html! {
            a href=(safe_href(&context.team_path(&page))) { (DisplayName(&one.name)) " · " (receiver) }
            " " (one.state(lang)) " · "
            @if is_active { a href=(safe_href(&delivery)) { (text.see_delivery) } }
            @else { span.small.muted { (text.waits) } }
        }
    }
}

impl SubscribedWebhooks {
    fn markup(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ReceiverText::of(lang);
        let title = if self.webhooks.len() == 1 { text.subscribed } else { text.subscribed_many };
        html! {
            section.card.secret-once #subscribed role="status" {
                h2 { (title) }
                p { (text.subscribed_text) }
                (copy_block(lang, "new-secret", &self.secret))
                ul.links {
                    @for id in &self.webhooks {
                        li { a href=(safe_href(&context.team_path(&format!("webhooks/{id}")))) { (text.see_webhook) } " " code { (id) } }
                    }
                }
            }
        }
    }
}

impl ReceiverPage {
    fn make_form(&self, context: &Context) -> Markup {
        let text = ReceiverText::of(context.lang());
        let made = self.made.as_ref().and_then(|made| made.events.last());
        let asked = context.query.get("event");
        let is_chosen = |event: &Event| match (asked, made) {
            (Some(id), _) => event.id == id,
            (None, Some(name)) => event.name == *name,
            (None, None) => event.name == "Svc.ACC.Customers.CustomerCreated",
        };
        html! {
            section.card #make {
                h2 { (text.make) }
                p.muted { (text.make_text) }
                form.stack method="post" action=(here(context)) {
                    (context.form_token())
                    div.field hidden {
                        label for="find-event" { (text.find) }
                        input #find-event type="search" data-filter="event" autocomplete="off" spellcheck="false";
                    }
                    div.field {
                        label for="event" { (text.event) }
                        select #event name="event" {
                            @for (label, events) in event_groups(context.lang()) {
                                optgroup label=(label) {
                                    @for event in events { option value=(event.id) selected[is_chosen(event)] { (event.name) } }
                                }
                            }
                        }
                    }
                    (button(&Button { label: text.make_button, name_and_value: Some(("do", "make")), ..Button::default() }))
                }
            }
        }
    }

    fn came(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (ReceiverText::of(lang), CommonText::of(lang));
        let is_first_page = context.query.get("before").is_none();
        let live = is_first_page.then(|| context.here(&[], [("format", "events")]));
        let columns = [
            Column::text(common.time),
            Column::text(text.event),
            Column::text(text.signature),
            Column::text(text.answered),
        ];
        let next =
            self.next.map(|number| context.here(&["before"], [("before", number.to_string().as_str())]));
        html! {
            h2.after { (text.received) }
            div #received data-live=[live] data-live-part {
                @if self.received.is_empty() && is_first_page { (empty_state(text.none, text.none_text, None)) }
                @else {
                    (table(lang, &Table {
                        caption: text.received,
                        columns: &columns,
                        rows: self.received.iter().map(|one| (one.number.to_string(), one.cells(context))).collect(),
                        csv: Some(context.here(&[], [("format", "csv")])),
                        first: (!is_first_page).then(|| context.here(&["before"], [])),
                        next,
                    }))
                }
            }
        }
    }

    fn receiver(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ReceiverText::of(lang);
        let all = context.team_path(&format!("webhooks?tenant={}", self.tenant));
        html! {
            section.card #receiver {
                h2 { (text.receiver) }
                p.muted { (text.receiver_text) }
                h3 { (text.url) }
                (copy_block(lang, "receiver-url", &self.receiver_url))
                h3 { (text.behaviour) }
                p.muted { (text.behaviour_text) }
                form.inline.modes method="post" action=(here(context)) {
                    (context.form_token()) (ui::hidden_field("do", "mode"))
                    @for mode in ReceiverMode::ALL {
                        button type="submit" class="button secondary" name="mode" value=(mode.as_str()) aria-pressed=(mode == self.mode) {
                            (mode_words(lang, mode).0)
                        }
                    }
                }
                p { (mode_words(lang, self.mode).1) }
                h3 { (text.webhooks) }
                div #receiver-webhooks data-live-part {
                    @if self.webhooks.is_empty() { p.muted { (text.no_webhooks) } }
                    @else { ul.links { @for one in &self.webhooks { li { (one.link(context)) } } } }
                }
                @if self.has_more_webhooks { p { a href=(safe_href(&all)) { (text.more_webhooks) } } }
            }
        }
    }

    fn subscribe_form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, token) = (ReceiverText::of(lang), TokenText::of(lang));
        let made = self.made.as_ref().map(|made| made.resource);
        let chosen = made.unwrap_or_else(Resource::customers);
        html! {
            section.card #subscribe {
                h2 { (text.subscribe) }
                @if self.applications.is_empty() {
                    (missing(context, "no-client", token.no_client, token.no_client_text, (token.ask_client, "applications")))
                } @else {
                    p.muted { (text.subscribe_text) }
                    form.stack method="post" action=(here(context)) {
                        (context.form_token())
                        (application_field(context, &self.applications))
                        div.field {
                            label for="resource" { (text.resource) }
                            select #resource name="resource" aria-describedby="resource-hint" {
                                @for area in Area::ALL {
                                    @if subscribable(area).next().is_some() {
                                        optgroup label=(EventsText::area_name(lang, area.as_str())) {
                                            @for one in subscribable(area) {
                                                option value={ (area.as_str()) "." (one.as_str()) } selected[one == chosen] { (one.as_str()) }
                                            }
                                        }
                                    }
                                }
                            }
                            span.hint #resource-hint { (text.one_each) }
                        }
                        (button(&Button { label: text.subscribe_button, name_and_value: Some(("do", "subscribe")), ..Button::default() }))
                    }
                }
            }
        }
    }
}

/// The page's own URL, for its forms: without what was made before.
fn here(context: &Context) -> String {
    context.here(&["made", "event", "before"], [])
}

/// The resources of an area that have events.
fn subscribable(area: Area) -> impl Iterator<Item = Resource> {
    Resource::all().filter(move |one| one.area() == area && !one.event_kinds().is_empty())
}

/// The events that can be made, by area and resource.
fn event_groups(lang: Lang) -> Vec<(String, Vec<&'static Event>)> {
    let mut groups: Vec<(String, Vec<&Event>)> = Vec::new();
    for event in catalogue().all().filter(|event| event.subscription.is_some()) {
        let label = format!("{} · {}", EventsText::area_name(lang, &event.area), event.resource);
        match groups.last_mut().filter(|(last, _)| *last == label) {
            Some((_, events)) => events.push(event),
            None => groups.push((label, vec![event])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use operator::ingest::{find_event, known_events};

    use super::*;

    #[test]
    fn every_event_that_can_be_made_is_offered() {
        let groups = event_groups(Lang::Es);
        let offered: Vec<&&Event> = groups.iter().flat_map(|(_, events)| events).collect();
        assert_eq!(offered.len(), known_events().count());
        for event in offered {
            assert_eq!(find_event(&event.name), event.subscribable(), "{}", event.name);
        }
    }
}
