//! Lists and single records of the accounting family: the same for every resource of the catalogue.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Response;
use bytes::Bytes;
use domain::Resource;
use domain::catalogue::Owner;
use percent_encoding::percent_decode_str;
use store::{Page, PageQuery};
use web::ErrorResponse;

use crate::asked::Asked;
use crate::context::Context;
use crate::kept::Slot;
use crate::paging::Paging;
use crate::query::Query;
use crate::ready::Ready;
use crate::{Gateway, refusal};

pub(crate) type Answer = Result<Response<Body>, ErrorResponse>;

impl Gateway {
    pub(crate) async fn list(&self, resource: Resource, asked: &Asked) -> Answer {
        let slot = self.slot(asked);
        if let Some(answer) = self.kept.again(&slot, asked).await {
            return Ok(answer);
        }
        let query = Query::of(&asked.uri);
        let paging = Paging::of(&query)?;
        let context = Context::of(&asked.headers)?;
        let company = match resource.owner() {
            Owner::Company => Some(context.company()?),
            Owner::Tenant => {
                self.check_context(asked, &context).await?;
                None
            }
        };
        let ready = if let Some(ready) = self.confirmed(&slot, resource, company.as_deref(), asked).await? {
            ready
        } else {
            let (offset, rows_max) = (paging.offset(), paging.rows_max());
            let tenant = asked.caller.tenant.clone();
            let page = self.store.page(&PageQuery { tenant, company, resource, offset, rows_max }).await;
            let page = page.map_err(|error| refusal::store(&error))?.ok_or_else(refusal::no_company)?;
            self.page(asked, &query, paging, page)
        };
        Ok(self.kept.give(slot, ready, asked).await)
    }

    /// What is kept for a call. How far the tenant's records have moved is looked up before anything is read.
    pub(crate) fn slot(&self, asked: &Asked) -> Slot {
        self.kept.slot(asked, self.store.invalidation().records_version(&asked.caller.tenant))
    }

    /// A kept list whose collection has not moved, told from where the log stands now.
    pub(crate) async fn confirmed(
        &self,
        slot: &Slot,
        resource: Resource,
        company: Option<&str>,
        asked: &Asked,
    ) -> Result<Option<Arc<Ready>>, ErrorResponse> {
        let Some(ready) = slot.unconfirmed() else { return Ok(None) };
        let mark = self.store.collection_version(&asked.caller.tenant, company, resource).await;
        let mark = mark.map_err(|error| refusal::store(&error))?.ok_or_else(refusal::no_company)?;
        if mark.version != ready.version {
            return Ok(None);
        }
        let is_there = ready.is_at(mark.head);
        Ok(Some(if is_there { ready.clone() } else { Arc::new(Ready::clone(ready).at(mark.head)) }))
    }

    /// A page with its headers.
    pub(crate) fn page(&self, asked: &Asked, query: &Query<'_>, paging: Paging, page: Page) -> Arc<Ready> {
        let address = [&self.settings.base_url, asked.uri.path()];
        let headers = paging.headers(page.total, address, query);
        let (Paging { number, size }, body) = (paging, page.bodies.into_json_array().into());
        let ready = Ready::new(asked, page.version, &[number, size], body);
        Arc::new(ready.with(headers).at(page.head))
    }

    pub(crate) async fn one(&self, resource: Resource, asked: &Asked) -> Answer {
        let slot = self.slot(asked);
        if let Some(answer) = self.kept.again(&slot, asked).await {
            return Ok(answer);
        }
        let id = id_of(resource, asked.uri.path()).ok_or_else(refusal::no_record)?;
        let company = match (resource.owner(), Context::of(&asked.headers)?) {
            (Owner::Company, context) => Some(context.company()?),
            (Owner::Tenant, Context::Company(company)) if *company != *id => {
                let message = "The header context names another company than the path.";
                return Err(refusal::bad("context", message));
            }
            (Owner::Tenant, _) => None,
        };
        let found = self.store.find_record(&asked.caller.tenant, company.as_deref(), resource, &id).await;
        let Some(record) = found.map_err(|error| refusal::store(&error))? else {
            if let Some(company) = &company {
                self.check_company(asked, company).await?;
            }
            return Err(refusal::no_record());
        };
        let ready = Arc::new(Ready::new(asked, record.sequence, &[], Bytes::from(String::from(record.body))));
        Ok(self.kept.give(slot, ready, asked).await)
    }

    /// A context that is not needed must still name a company that is there.
    async fn check_context(&self, asked: &Asked, context: &Context) -> Result<(), ErrorResponse> {
        match context {
            Context::Company(id) => self.check_company(asked, id).await,
            Context::Absent | Context::None => Ok(()),
        }
    }

    /// The same answer for a company that nobody has and for one that another tenant has.
    pub(crate) async fn check_company(&self, asked: &Asked, id: &str) -> Result<(), ErrorResponse> {
        let found = self.store.find_record(&asked.caller.tenant, None, Resource::companies(), id).await;
        match found.map_err(|error| refusal::store(&error))? {
            Some(_) => Ok(()),
            None => Err(refusal::no_company()),
        }
    }
}

/// The correlationId that an address ends with. What is no text is nobody's id.
fn id_of(resource: Resource, path: &str) -> Option<String> {
    let rest = path.strip_prefix(&*resource.path())?.strip_prefix('/')?;
    let segment = rest.strip_suffix('/').unwrap_or(rest);
    percent_decode_str(segment).decode_utf8().ok().map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_last_segment() {
        let accounts = Resource::accounting_family().find(|one| one.as_str() == "accounts").unwrap();
        let read = |rest: &str| id_of(accounts, &format!("/accounting/api/accounts{rest}"));
        assert_eq!(read("/abc").as_deref(), Some("abc"));
        assert_eq!(read("/abc/").as_deref(), Some("abc"));
        assert_eq!(read("/a%2Fb%20%C3%B1+").as_deref(), Some("a/b ñ+"));
        assert_eq!(read("/a%2F/").as_deref(), Some("a/"));
        assert_eq!(read("/%ff"), None);
        assert_eq!(read("").as_deref(), None);
    }
}
