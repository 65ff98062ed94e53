//! The event catalogue.

use maud::{Markup, html};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, Table, empty_state, number, parts_code, table};
use ui::{Field, InputType, Lang, field, safe_href};

use crate::catalogue::{Event, catalogue};
use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;
use crate::text::events::EventsText;

#[derive(Serialize)]
pub(crate) struct EventsPage {
    pub(crate) search: String,
    pub(crate) area: String,
    pub(crate) events: Vec<&'static Event>,
}

impl View<Context> for EventsPage {
    fn section(&self) -> Section {
        Section::Events
    }

    fn title(&self, lang: Lang) -> &'static str {
        EventsText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = EventsText::of(lang);
        let count = u64::try_from(self.events.len()).unwrap_or(u64::MAX);
        let unit = if count == 1 { text.count_one } else { text.count_many };
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) " " a href="/asyncapi.json" { (text.document) } }
            (self.filters(context))
            @if self.events.is_empty() {
                (empty_state(text.none, text.none_text, Some((text.clear, context.path()))))
            } @else {
                p.muted.after role="status" { (number(lang, count)) " " (unit) }
                @for area in catalogue().areas() { (self.of_area(context, area)) }
            }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |event: &&Event| {
            let subscription = event.subscription.as_ref().map(|call| call.path.clone());
            vec![
                event.name.clone(),
                event.area.clone(),
                event.resource.clone(),
                event.description.clone(),
                subscription.unwrap_or_default(),
            ]
        };
        Some(Csv {
            name: "events",
            columns: vec!["event", "area", "resource", "description", "subscribe_path"],
            rows: self.events.iter().map(row).collect(),
        })
    }
}

impl EventsPage {
    fn filters(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (EventsText::of(lang), CommonText::of(lang));
        html! {
            form.filters method="get" role="search" {
                div class="field wide" {
                    (field(&Field { name: "q", label: text.search, input_type: InputType::Search, value: Some(&self.search), ..Field::default() }))
                }
                div.field {
                    label for="area" { (text.area) }
                    select #area name="area" data-submit {
                        option value="" { (common.all) }
                        @for area in catalogue().areas() {
                            option value=(area) selected[area == self.area] { (EventsText::area_name(lang, area)) }
                        }
                    }
                }
                button type="submit" class="button secondary" { (common.filter) }
            }
        }
    }

    /// One row per resource, with its events.
    fn of_area(&self, context: &Context, area: &str) -> Markup {
        let lang = context.lang();
        let text = EventsText::of(lang);
        let mut resources: Vec<(&str, Vec<&Event>)> = Vec::new();
        for event in self.events.iter().filter(|event| event.area == area) {
            match resources.last_mut().filter(|(name, _)| *name == event.resource) {
                Some((_, events)) => events.push(event),
                None => resources.push((&event.resource, vec![event])),
            }
        }
        if resources.is_empty() {
            return html! {};
        }
        let rows = resources.into_iter().map(|(name, events)| {
            let links = html! {
                ul.links {
                    @for event in events {
                        li { a href=(safe_href(&context.team_path(&format!("events/{}", event.id)))) { (parts_code(&event.name)) } }
                    }
                }
            };
            (format!("{area}-{name}"), vec![html! { b { (name) } }, links])
        });
        let columns = [Column::text(text.resource), Column::text(text.events)];
        html! {
            h2.after #{ "area-" (area) } { (EventsText::area_name(lang, area)) }
            (table(lang, &Table {
                caption: EventsText::area_name(lang, area),
                columns: &columns,
                rows: rows.collect(),
                csv: Some(context.here(&["area"], [("area", area), ("format", "csv")])),
                ..Table::default()
            }))
        }
    }
}
