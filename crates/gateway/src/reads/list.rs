//! Lists of the accounting family: the same for every resource of the catalogue.

use domain::Resource;
use domain::catalogue::Owner;
use store::{CollectionVersion, Page, PageQuery};
use web::ErrorResponse;

use super::{ReadRequest, StoreRead};
use crate::cached_response::CachedResponse;
use crate::context::Context;
use crate::paging::Paging;
use crate::query::Query;
use crate::{Gateway, errors};

/// One page of a resource's list.
pub(super) struct ListRead<'a> {
    gateway: &'a Gateway,
    request: &'a ReadRequest,
    resource: Resource,
    /// Set if the resource belongs to companies.
    company: Option<Box<str>>,
    query: Query<'a>,
    paging: Paging,
}

impl<'a> ListRead<'a> {
    pub(super) async fn prepare(
        gateway: &'a Gateway,
        resource: Resource,
        request: &'a ReadRequest,
    ) -> Result<Self, ErrorResponse> {
        let query = Query::parse(&request.uri);
        let paging = Paging::parse(&query)?;
        let context = Context::from_headers(&request.headers)?;
        let company = match (resource.owner(), context) {
            (Owner::Company, context) => Some(context.company()?),
            (Owner::Tenant, Context::Company(id)) => {
                // The context is optional here, but the company it names must exist.
                gateway.check_company(request, &id).await?;
                None
            }
            (Owner::Tenant, Context::Absent | Context::None) => None,
        };
        Ok(Self { gateway, request, resource, company, query, paging })
    }
}

impl StoreRead for ListRead<'_> {
    async fn current_version(&self) -> Result<Option<CollectionVersion>, ErrorResponse> {
        let company = self.company.as_deref();
        self.gateway.collection_version(self.request, company, self.resource).await.map(Some)
    }

    async fn read(self) -> Result<CachedResponse, ErrorResponse> {
        let Self { gateway, request, resource, company, query, paging } = self;
        let tenant = request.caller.tenant.clone();
        let (offset, rows_max) = (paging.offset(), paging.rows_max());
        let page = gateway.store.page(&PageQuery { tenant, company, resource, offset, rows_max }).await;
        let page = page.map_err(|error| errors::store(&error))?.ok_or_else(errors::no_company)?;
        Ok(gateway.page_response(request, &query, paging, page))
    }
}

impl Gateway {
    pub(super) async fn collection_version(
        &self,
        request: &ReadRequest,
        company: Option<&str>,
        resource: Resource,
    ) -> Result<CollectionVersion, ErrorResponse> {
        let found = self.store.collection_version(&request.caller.tenant, company, resource).await;
        found.map_err(|error| errors::store(&error))?.ok_or_else(errors::no_company)
    }

    /// A page with its headers.
    pub(super) fn page_response(
        &self,
        request: &ReadRequest,
        query: &Query<'_>,
        paging: Paging,
        page: Page,
    ) -> CachedResponse {
        let address = [&self.settings.base_url, request.uri.path()];
        let headers = paging.headers(page.total, address, query);
        let (Paging { number, size }, body) = (paging, page.bodies.into_json_array().into());
        CachedResponse::new(request, page.version, &[number, size], body)
            .with_headers(headers)
            .with_log_position(page.head)
    }
}
