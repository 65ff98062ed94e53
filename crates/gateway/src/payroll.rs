//! Payroll companies: pages with a filter and an order.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, Uri};
use domain::filter::{Filter, Misread, OrderBy};
use domain::{Caller, Resource};
use store::{PageQuery, PayrollQuery};
use web::Refusal;

use crate::asked::Asked;
use crate::paging::Paging;
use crate::query::Query;
use crate::{Gateway, refusal};

pub(crate) async fn companies(
    State(gateway): State<Arc<Gateway>>,
    Extension(caller): Extension<Caller>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response<Body>, Refusal> {
    gateway.payroll_companies(&Asked { caller, uri, headers }).await
}

impl Gateway {
    async fn payroll_companies(&self, asked: &Asked) -> Result<Response<Body>, Refusal> {
        let query = Query::of(&asked.uri);
        let paging = Paging::of(&query)?;
        let misread =
            |name: &'static str| move |misread: Misread| refusal::bad(name, format!("{name}, {misread}."));
        let filter = query.one("filter")?.map(Filter::parse).transpose().map_err(misread("filter"))?;
        let order = query.one("OrderBy")?.map(OrderBy::parse).transpose().map_err(misread("OrderBy"))?;
        let (tenant, offset, rows_max) = (asked.caller.tenant.clone(), paging.offset(), paging.rows_max());
        let page = if filter.is_none() && order.is_none() {
            let resource = Resource::payroll_companies();
            self.store.page(&PageQuery { tenant, company: None, resource, offset, rows_max }).await
        } else {
            self.store.payroll_page(&PayrollQuery { tenant, filter, order, offset, rows_max }).await.map(Some)
        };
        let page = page.map_err(|error| refusal::store(&error))?.ok_or_else(refusal::no_company)?;
        Ok(self.page(asked, &query, paging, &page))
    }
}
