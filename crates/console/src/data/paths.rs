//! The URLs of the pages of records. Ids are any text, so that every part is percent-encoded.

use std::fmt::Write as _;

use operator::admin::{CollectionName, RecordName};

use crate::context::Context;

/// The text as a segment of a path or a value of a query.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The data of a tenant, or of one of its companies.
pub(super) fn data(context: &Context, tenant: &str, company: Option<&str>) -> String {
    let query = company.map(|company| format!("?company={}", encoded(company))).unwrap_or_default();
    context.console_path(&format!("tenants/{}/data{query}", encoded(tenant)))
}

/// The records of a resource.
pub(super) fn records(context: &Context, of: &CollectionName) -> String {
    let (area, resource) = (of.resource.area().as_str(), of.resource.as_str());
    let company = of.company.as_deref().map(|company| format!("&company={}", encoded(company)));
    let tenant = encoded(of.tenant.as_str());
    let query = format!("area={area}{}", company.unwrap_or_default());
    context.console_path(&format!("tenants/{tenant}/data/{resource}?{query}"))
}

/// The page of a record, or one below it.
pub(super) fn record(context: &Context, name: &RecordName, below: &str) -> String {
    let of = &name.collection;
    let (area, resource) = (of.resource.area().as_str(), of.resource.as_str());
    let company = of.company.as_deref().map(|company| format!("?company={}", encoded(company)));
    let (tenant, id) = (encoded(of.tenant.as_str()), encoded(&name.id));
    let query = company.unwrap_or_default();
    context.console_path(&format!("tenants/{tenant}/records/{area}/{resource}/{id}{below}{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_any_text_are_one_part_of_a_url() {
        assert_eq!(encoded("a-b.c_d~1"), "a-b.c_d~1");
        assert_eq!(encoded("ñ/1?#% +&="), "%C3%B1%2F1%3F%23%25%20%2B%26%3D");
    }
}
