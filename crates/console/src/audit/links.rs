//! The pages of what the audit and the search name.

use pages::Params;

use crate::context::Context;

/// A segment of a path: every character that has a meaning in a URL is encoded.
pub(super) fn segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_~".contains(&byte) || (byte == b'.' && text.len() > 2) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            let digit = |value: u8| char::from(b"0123456789ABCDEF"[usize::from(value & 15)]);
            encoded.extend([digit(byte >> 4), digit(byte)]);
        }
    }
    encoded
}

/// A page with a query.
pub(super) fn with_query(context: &Context, page: &str, query: &[(&str, &str)]) -> String {
    let query = Params::default().with(&[], query.iter().copied());
    context.console_path(&format!("{page}?{query}"))
}

/// The page of one thing of a list: `tenants/<id>`.
pub(super) fn one(context: &Context, list: &str, id: &str) -> String {
    context.console_path(&format!("{list}/{}", segment(id)))
}

/// The page of what an audit entry names as `webhook:<id>`; none for what has no page.
pub(super) fn object(context: &Context, object: &str) -> Option<String> {
    let (kind, id) = object.split_once(':')?;
    let list = match kind {
        "user" => "users",
        "developer" => "developers",
        "operator" => "operators",
        "tenant" => "tenants",
        "client" => "clients",
        "team" => "teams",
        "subscription" => "subscriptions",
        "request" => "requests",
        "webhook" => "webhooks",
        "invitation" => return Some(context.console_path("invitations")),
        "operator_token" | "token" => return Some(context.console_path("tokens")),
        "backup" => return Some(context.console_path("backups")),
        "signing_key" => return Some(context.console_path("signing-keys")),
        _ => return None,
    };
    Some(one(context, list, id))
}

/// The page of a record.
pub(super) fn record(
    context: &Context,
    tenant: &str,
    (area, resource): (&str, &str),
    company: Option<&str>,
    id: &str,
) -> String {
    let page = format!("tenants/{}/records/{area}/{resource}/{}", segment(tenant), segment(id));
    match company {
        Some(company) => with_query(context, &page, &[("company", company)]),
        None => context.console_path(&page),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_stay_within_their_place() {
        assert_eq!(segment("asesoria-penalver_1.2"), "asesoria-penalver_1.2");
        assert_eq!(segment("a/b?c#d e%ñ"), "a%2Fb%3Fc%23d%20e%25%C3%B1");
        assert_eq!(segment(".."), "%2E%2E");
        assert_eq!(segment("."), "%2E");
    }
}
