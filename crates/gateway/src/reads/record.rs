//! Single records of the accounting family, by their correlationId.

use bytes::Bytes;
use domain::catalogue::Owner;
use domain::ids::is_hyphenated_guid;
use domain::{ErrorCode, Resource};
use percent_encoding::percent_decode_str;
use store::CollectionVersion;
use web::ErrorResponse;

use super::{ReadRequest, StoreRead};
use crate::cached_response::CachedResponse;
use crate::context::Context;
use crate::{Gateway, errors};

/// One record.
pub(super) struct RecordRead<'a> {
    gateway: &'a Gateway,
    request: &'a ReadRequest,
    resource: Resource,
    /// Set if the resource belongs to companies.
    company: Option<Box<str>>,
    id: String,
}

impl<'a> RecordRead<'a> {
    #[allow(clippy::unused_async, reason = "a future, so that the cache can skip it")]
    pub(super) async fn prepare(
        gateway: &'a Gateway,
        resource: Resource,
        request: &'a ReadRequest,
    ) -> Result<Self, ErrorResponse> {
        let id = id_in_path(resource, request.uri.path()).ok_or_else(errors::no_record)?;
        let company = match (resource.owner(), Context::from_headers(&request.headers)?) {
            (Owner::Company, context) => Some(context.company()?),
            (Owner::Tenant, Context::Company(company)) if !is_same_id(&company, &id) => {
                let message = "The header context names another company than the path.";
                return Err(errors::invalid_context(ErrorCode::ContextMismatch, message));
            }
            (Owner::Tenant, _) => None,
        };
        Ok(Self { gateway, request, resource, company, id })
    }
}

impl StoreRead for RecordRead<'_> {
    /// The response has the record's own sequence number as its version, which only reading the record gives.
    async fn current_version(&self) -> Result<Option<CollectionVersion>, ErrorResponse> {
        Ok(None)
    }

    async fn read(self) -> Result<CachedResponse, ErrorResponse> {
        let Self { gateway, request, resource, company, id } = self;
        let tenant = &request.caller.tenant;
        let found = gateway.store.find_record(tenant, company.as_deref(), resource, &id).await;
        let Some(record) = found.map_err(|error| errors::store(&error))? else {
            if let Some(company) = &company {
                gateway.check_company(request, company).await?;
            }
            return Err(errors::no_record());
        };
        Ok(CachedResponse::new(request, record.sequence, &[], Bytes::from(String::from(record.body))))
    }
}

/// Whether two ids are equal; GUIDs in any case.
fn is_same_id(one: &str, other: &str) -> bool {
    one == other || (is_hyphenated_guid(one) && one.eq_ignore_ascii_case(other))
}

/// The correlationId at the end of the path; `None` if it is not UTF-8.
pub(super) fn id_in_path(resource: Resource, path: &str) -> Option<String> {
    let rest = path.strip_prefix(&*resource.path())?.strip_prefix('/')?;
    let segment = rest.strip_suffix('/').unwrap_or(rest);
    percent_decode_str(segment).decode_utf8().ok().map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_the_last_path_segment() {
        let accounts =
            Resource::accounting_family().find(|resource| resource.as_str() == "accounts").unwrap();
        let id = |rest: &str| id_in_path(accounts, &format!("/accounting/api/accounts{rest}"));
        assert_eq!(id("/abc").as_deref(), Some("abc"));
        assert_eq!(id("/abc/").as_deref(), Some("abc"));
        assert_eq!(id("/a%2Fb%20%C3%B1+").as_deref(), Some("a/b ñ+"));
        assert_eq!(id("/a%2F/").as_deref(), Some("a/"));
        assert_eq!(id("/%ff"), None);
        assert_eq!(id("").as_deref(), None);
    }
}
