//! Checks of the bodies of subscriptions in both families.

use domain::event::parse_semantic_name;
use domain::receiver_url::ReceiverUrl;
use domain::{Area, Resource};
use serde_json::Value;
use web::ErrorResponse;

use super::accounting::{NAME_CHARS_MAX, parse_event_types};
use super::body::JsonBody;
use super::invoicing::{DESCRIPTION_CHARS_MAX, parse_action, parse_entity};
use super::{SECRET_BYTES_MAX, secret};
use crate::fuzzing::refused;

/// Any bytes as the body of a subscription. All faults are told at once, each with its member; what is accepted is within the limits and
/// what a second parser reads in the same members.
pub fn subscription(data: &[u8]) -> u64 {
    let accounting = parse_accounting(data);
    let invoicing = parse_invoicing(data);
    let rotation = parse_rotation(data);
    let outcome = |result: &Result<(), ErrorResponse>| result.as_ref().map_or_else(refused, |()| 1);
    outcome(&accounting) ^ outcome(&invoicing).rotate_left(20) ^ outcome(&rotation).rotate_left(40)
}

/// The members as another parser reads them.
fn second(data: &[u8]) -> Value {
    let data = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    serde_json::from_slice(data).unwrap_or_default()
}

fn parse_accounting(data: &[u8]) -> Result<(), ErrorResponse> {
    let Some(resource) = Resource::find(Area::Accounting, "customers") else { panic!("no customers") };
    let mut members = JsonBody::parse(data)?;
    let name = members.text("thirdPartyApplicationName", NAME_CHARS_MAX);
    let url = members.text("url", 8192).and_then(|text| ReceiverUrl::parse(&text, false).ok());
    let secret = members.secret();
    let kinds = parse_event_types(resource, &mut members);
    let read = name.zip(url).zip(secret.zip(kinds));
    let ((name, url), (secret, kinds)) = members.finish(read)?;
    let other = second(data);
    assert_eq!(other["thirdPartyApplicationName"], name.as_str());
    assert_eq!((&other["url"], &other["secret"]), (&url.as_str().into(), &secret.as_str().into()));
    assert!(name.chars().count() <= NAME_CHARS_MAX && !name.trim().is_empty() && !name.contains('\0'));
    assert!((1..=SECRET_BYTES_MAX).contains(&secret.len()) && !kinds.is_empty());
    let names = other["eventTypes"].as_array().cloned().unwrap_or_default();
    assert!(
        names.iter().all(|name| parse_semantic_name(resource, name.as_str().unwrap_or_default()).is_some())
    );
    Ok(())
}

fn parse_invoicing(data: &[u8]) -> Result<(), ErrorResponse> {
    let mut members = JsonBody::parse(data)?;
    let entity = parse_entity(&mut members);
    let action = parse_action(&mut members, entity);
    let secret = members.secret();
    let is_paused = members.flag_or_none("isPaused").unwrap_or_default();
    members.rename_similar("description", "desc");
    let description = members.text_or_none("description", DESCRIPTION_CHARS_MAX).unwrap_or_default();
    let ((entity, action), secret) = members.finish(entity.zip(action).zip(secret))?;
    let other = second(data);
    assert_eq!((&other["entity"], &other["action"]), (&entity.as_str().into(), &action.as_str().into()));
    assert_eq!((&other["secret"], is_paused), (&secret.into(), other["isPaused"] == true));
    assert!(entity.event_kinds().contains(&action));
    assert!(description.chars().count() <= DESCRIPTION_CHARS_MAX && !description.contains('\0'));
    Ok(())
}

fn parse_rotation(data: &[u8]) -> Result<(), ErrorResponse> {
    let mut members = JsonBody::parse(data)?;
    let secret = members.secret();
    let hours = members.number_or_none("overlapHours", 0, secret::HOURS_MAX).unwrap_or(secret::HOURS_DEFAULT);
    let from = members.time_or_none("from");
    members.finish(secret)?;
    let given = second(data)["overlapHours"].as_f64().unwrap_or(f64::from(secret::HOURS_DEFAULT));
    assert!((f64::from(hours) - given).abs() < f64::EPSILON, "{hours} for {given}");
    assert!(from.is_none_or(|time| time.0 >= 0));
    Ok(())
}
