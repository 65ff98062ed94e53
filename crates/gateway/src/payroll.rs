//! Payroll companies: pages with a filter and an order.

use domain::Resource;
use domain::filter::{Filter, FilterError, OrderBy};
use store::{Page, PageQuery, PayrollQuery};
use web::ErrorResponse;

use crate::asked::Asked;
use crate::paging::Paging;
use crate::query::Query;
use crate::reads::Answer;
use crate::{Gateway, refusal};

impl Gateway {
    pub(crate) async fn payroll_companies(&self, asked: &Asked) -> Answer {
        let resource = Resource::payroll_companies();
        let slot = self.slot(asked);
        if let Some(answer) = self.kept.again(&slot, asked).await {
            return Ok(answer);
        }
        let query = Query::of(&asked.uri);
        let paging = Paging::of(&query)?;
        let error =
            |name: &'static str| move |error: FilterError| refusal::bad(name, format!("{name}, {error}."));
        let filter = query.one("filter")?.map(Filter::parse).transpose().map_err(error("filter"))?;
        let order = query.one("OrderBy")?.map(OrderBy::parse).transpose().map_err(error("OrderBy"))?;
        let ready = match self.confirmed(&slot, resource, None, asked).await? {
            Some(ready) => ready,
            None => self.page(asked, &query, paging, self.payroll_page(asked, paging, filter, order).await?),
        };
        Ok(self.kept.give(slot, ready, asked).await)
    }

    async fn payroll_page(
        &self,
        asked: &Asked,
        paging: Paging,
        filter: Option<Filter>,
        order: Option<OrderBy>,
    ) -> Result<Page, ErrorResponse> {
        let tenant = asked.caller.tenant.clone();
        let (offset, rows_max) = (paging.offset(), paging.rows_max());
        let page = if filter.is_none() && order.is_none() {
            let resource = Resource::payroll_companies();
            self.store.page(&PageQuery { tenant, company: None, resource, offset, rows_max }).await
        } else {
            self.store.payroll_page(&PayrollQuery { tenant, filter, order, offset, rows_max }).await.map(Some)
        };
        page.map_err(|error| refusal::store(&error))?.ok_or_else(refusal::no_company)
    }
}
