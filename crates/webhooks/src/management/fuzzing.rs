//! Checks of the bodies of subscriptions in both families, and of the query of the history.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::http::{HeaderMap, Uri};
use domain::delivery::{
    DELIVERIES_PER_PAGE_MAX, DeliveryCursor, DeliveryName, DeliveryPageQuery, DeliveryStatus,
};
use domain::event::parse_semantic_name;
use domain::receiver_url::ReceiverUrl;
use domain::{AccountId, Area, Caller, ClientId, GrantId, Resource, Scopes, TenantId, Ticks};
use serde_json::Value;
use web::ErrorResponse;

use super::accounting::{NAME_CHARS_MAX, parse_event_types};
use super::body::JsonBody;
use super::history::{parse_cursor, parse_page_query};
use super::invoicing::{DESCRIPTION_CHARS_MAX, parse_action, parse_entity};
use super::{ManagementRequest, SECRET_BYTES_MAX, secret};
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

/// Any bytes as the query of a page of deliveries, and as the name of one. The page is within its bounds, and the link to the next one
/// means the same; a name is the same when written again.
pub fn delivery_history(data: &[u8]) -> u64 {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let named = check_delivery_name(&String::from_utf8_lossy(data));
    let Ok(uri) = Uri::try_from([b"/deliveries?", data].concat()) else { return named };
    let query = match parse_page_query(&request(uri)) {
        Ok(query) => query,
        Err(error) => {
            let fields = ["pageSize", "before", "status", "since"];
            let field = error.problem.errors.first().and_then(|fault| fault.field.as_deref());
            assert!(field.is_some_and(|field| fields.contains(&field)), "{:?}", error.problem);
            return refused(&error).rotate_left(4) ^ named;
        }
    };
    assert!((1..=DELIVERIES_PER_PAGE_MAX).contains(&query.page_size), "{query:?}");
    assert!(query.status.is_none_or(|status| DeliveryStatus::LISTED.contains(&status)), "{query:?}");
    assert!(query.since.is_none_or(|since| since.0 >= 0), "{query:?}");
    if let Some(before) = query.before {
        assert!(before.at.0 >= 0, "{query:?}");
        assert_eq!(parse_cursor(&before.to_string()), Some(before));
        assert_eq!(before.to_string().parse::<DeliveryCursor>(), Ok(before));
    }
    check_next_link(&query);
    let parts = [query.status.is_some(), query.since.is_some(), query.before.is_some()];
    parts.into_iter().fold(1, |outcome, is_there| outcome << 1 | u64::from(is_there)) << 4 | named
}

fn request(uri: Uri) -> ManagementRequest {
    let caller = Caller {
        user: AccountId::new("user"),
        tenant: TenantId::new("tenant"),
        client: ClientId::new("app"),
        grant: GrantId::new("grant"),
        scopes: Scopes::default(),
        expires_at: Ticks(0),
    };
    ManagementRequest {
        caller: Arc::new(caller),
        path_params: Vec::new(),
        uri,
        headers: HeaderMap::new(),
        now: Ticks(0),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        request_id: String::new(),
    }
}

/// The page that a link with these values names is the same.
fn check_next_link(query: &DeliveryPageQuery) {
    const PATH: &str = "/deliveries?";
    let mut pairs = form_urlencoded::Serializer::for_suffix(PATH.to_owned(), PATH.len());
    pairs.append_pair("pageSize", &query.page_size.to_string());
    if let Some(before) = query.before {
        pairs.append_pair("before", &before.to_string());
    }
    if let Some(status) = query.status {
        pairs.append_pair("status", status.as_str());
    }
    if let Some(since) = query.since {
        pairs.append_pair("since", &since.iso());
    }
    let link = pairs.finish();
    let Ok(uri) = Uri::try_from(&*link) else { panic!("{link} is no address") };
    let Ok(again) = parse_page_query(&request(uri)) else { panic!("{link} is refused") };
    assert_eq!((again.page_size, again.before), (query.page_size, query.before), "{link}");
    assert_eq!((again.status, again.since), (query.status, query.since), "{link}");
}

fn check_delivery_name(text: &str) -> u64 {
    let Some(name) = DeliveryName::parse(text) else { return 0 };
    let written = match name {
        DeliveryName::Outgoing(id) => id.to_string(),
        DeliveryName::Sequence(number) => number.to_string(),
    };
    assert_eq!(DeliveryName::parse(&written), Some(name), "{text:?} is {written}");
    if matches!(name, DeliveryName::Outgoing(_)) { 1 } else { 2 }
}
