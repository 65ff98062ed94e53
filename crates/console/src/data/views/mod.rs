//! What the pages of records show.

pub(super) mod data;
pub(super) mod diff;
mod forms;
pub(super) mod notified;
pub(super) mod record;
pub(super) mod records;

use domain::json::Object;
use maud::{Markup, html};
use operator::admin::{CollectionName, RecordChangeJson, RecordName};
use serde_json::value::RawValue;
use ui::app::{State, short_id, state};
use ui::{DisplayName, Lang, safe_href};

use super::paths;
use super::text::{DataText, RecordText};
use crate::context::Context;
use crate::text::CommonText;

/// The members that name a record for people, the best first.
const NAMES: [&str; 12] = [
    "vatName",
    "tradeName",
    "companyName",
    "fullName",
    "name",
    "Name",
    "description",
    "title",
    "fileName",
    "reference",
    "number",
    "code",
];
const TITLE_CHARS_MAX: usize = 80;

/// A name of the record for people, if it has one.
pub(super) fn title_of(data: &RawValue) -> Option<String> {
    let object = Object::parse(data.get().as_bytes()).ok()?;
    let text = |name: &&str| {
        let value = object.get(name)?;
        let text = match value.as_bytes().first()? {
            b'"' => serde_json::from_str(value).ok()?,
            b'0'..=b'9' => value.to_owned(),
            _ => return None,
        };
        (!text.trim().is_empty()).then_some(text)
    };
    let found = NAMES.iter().find_map(text)?;
    Some(found.chars().take(TITLE_CHARS_MAX).collect())
}

/// The word for the state of a record.
fn record_state(lang: Lang, name: &str) -> Markup {
    let text = RecordText::of(lang);
    match name {
        "Enabled" => state(State::Ok, text.enabled),
        "Disabled" => state(State::Off, text.disabled),
        other => html! { (other) },
    }
}

/// The word for the kind of a change.
fn kind_word(lang: Lang, kind: &str) -> &str {
    let text = RecordText::of(lang);
    match kind {
        "Created" => text.created,
        "Updated" => text.updated,
        "Disabled" => text.was_disabled,
        "Deleted" => text.was_deleted,
        "ErrorOccurred" => text.failed,
        other => other,
    }
}

/// Who made a change: as its sender wrote it.
fn who(lang: Lang, change: &RecordChangeJson) -> Markup {
    let text = RecordText::of(lang);
    html! {
        @if change.user.is_empty() { span.muted { (text.not_said) } } @else { (DisplayName(&change.user)) }
    }
}

fn source(change: &RecordChangeJson) -> Markup {
    let parts: Vec<&str> = [change.source_interface.as_str(), change.source_action.as_str()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    html! {
        @for (index, part) in parts.iter().enumerate() { @if index > 0 { " · " } (DisplayName(part)) }
        span.sub { (short_id(&change.process_id)) }
    }
}

/// The names of the tenant and of the company whose records a page shows.
#[derive(Debug)]
pub(super) struct Owners {
    pub(super) tenant: String,
    /// None for what belongs to the tenant.
    pub(super) company: Option<String>,
}

/// Links to the pages above a list or a record.
fn crumbs(context: &Context, owners: &Owners, of: &CollectionName, record: Option<&RecordName>) -> Markup {
    let lang = context.lang();
    let (common, text) = (CommonText::of(lang), DataText::of(lang));
    let tenant = of.tenant.as_str();
    let is_companies = of.resource == domain::Resource::companies();
    html! {
        p.crumbs {
            a href=(safe_href(&context.console_path("tenants"))) { (common.tenants) } " › "
            a href=(safe_href(&context.console_path(&format!("tenants/{tenant}")))) { (DisplayName(&owners.tenant)) } " › "
            a href=(safe_href(&paths::data(context, tenant, None))) { (text.title) }
            @if let Some(company) = &of.company {
                " › " a href=(safe_href(&paths::data(context, tenant, Some(company)))) { (DisplayName(owners.company.as_deref().unwrap_or(company))) }
            }
            @if record.is_some() && !is_companies {
                " › " a href=(safe_href(&paths::records(context, of))) { (of.resource.as_str()) }
            }
            @if let Some(name) = record {
                @if is_companies { " › " a href=(safe_href(&paths::data(context, tenant, Some(&name.id)))) { (DisplayName(&name.id)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(json: &str) -> Option<String> {
        title_of(&RawValue::from_string(json.to_owned()).unwrap())
    }

    #[test]
    fn best_name_is_the_title() {
        assert_eq!(title(r#"{"code":"430","description":"Clientes"}"#).as_deref(), Some("Clientes"));
        assert_eq!(title(r#"{"name":" ","number":17}"#).as_deref(), Some("17"));
        assert_eq!(title(r#"{"name":null,"lines":[]}"#), None);
        assert_eq!(title(&format!(r#"{{"name":"{}"}}"#, "ñ".repeat(200))).unwrap().chars().count(), 80);
    }
}
