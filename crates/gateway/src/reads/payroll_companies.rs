//! The list of payroll companies, with a filter and an order.

use domain::Resource;
use domain::filter::{Filter, FilterError, OrderBy};
use store::{CollectionVersion, PageQuery, PayrollQuery};
use web::ErrorResponse;

use super::{ReadRequest, StoreRead};
use crate::cached_response::CachedResponse;
use crate::paging::Paging;
use crate::query::Query;
use crate::{Gateway, errors};

/// One page of payroll companies.
pub(super) struct PayrollCompaniesRead<'a> {
    gateway: &'a Gateway,
    request: &'a ReadRequest,
    query: Query<'a>,
    paging: Paging,
    filter: Option<Filter>,
    order: Option<OrderBy>,
}

impl<'a> PayrollCompaniesRead<'a> {
    #[allow(clippy::unused_async, reason = "a future, so that the cache can skip it")]
    pub(super) async fn prepare(
        gateway: &'a Gateway,
        request: &'a ReadRequest,
    ) -> Result<Self, ErrorResponse> {
        let query = Query::parse(&request.uri);
        let paging = Paging::parse(&query)?;
        let invalid = |name: &'static str| {
            move |error: FilterError| errors::invalid_parameter(name, format!("{name}, {error}."))
        };
        let filter = query.non_empty("filter")?.map(Filter::parse).transpose().map_err(invalid("filter"))?;
        let order =
            query.non_empty("OrderBy")?.map(OrderBy::parse).transpose().map_err(invalid("OrderBy"))?;
        Ok(Self { gateway, request, query, paging, filter, order })
    }
}

impl StoreRead for PayrollCompaniesRead<'_> {
    async fn current_version(&self) -> Result<Option<CollectionVersion>, ErrorResponse> {
        let resource = Resource::payroll_companies();
        self.gateway.collection_version(self.request, None, resource).await.map(Some)
    }

    async fn read(self) -> Result<CachedResponse, ErrorResponse> {
        let Self { gateway, request, query, paging, filter, order } = self;
        let tenant = request.caller.tenant.clone();
        let (offset, rows_max) = (paging.offset(), paging.rows_max());
        let page = if filter.is_none() && order.is_none() {
            let resource = Resource::payroll_companies();
            gateway.store.page(&PageQuery { tenant, company: None, resource, offset, rows_max }).await
        } else {
            let query = PayrollQuery { tenant, filter, order, offset, rows_max };
            gateway.store.payroll_page(&query).await.map(Some)
        };
        let page = page.map_err(|error| errors::store(&error))?.ok_or_else(errors::no_company)?;
        Ok(gateway.page_response(request, &query, paging, page))
    }
}
