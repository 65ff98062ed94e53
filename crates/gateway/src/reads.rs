//! Lists and single records of the accounting family: the same for every resource of the catalogue.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Response, Uri};
use domain::catalogue::Owner;
use domain::{Caller, Resource};
use store::{Page, PageQuery};
use web::Refusal;

use crate::asked::Asked;
use crate::context::Context;
use crate::paging::Paging;
use crate::query::Query;
use crate::{Gateway, refusal, reply};

type Answer = Result<Response<Body>, Refusal>;

pub(crate) async fn list(
    resource: Resource,
    State(gateway): State<Arc<Gateway>>,
    Extension(caller): Extension<Caller>,
    uri: Uri,
    headers: HeaderMap,
) -> Answer {
    gateway.list(resource, &Asked { caller, uri, headers }).await
}

pub(crate) async fn one(
    resource: Resource,
    State(gateway): State<Arc<Gateway>>,
    Extension(caller): Extension<Caller>,
    id: Result<Path<String>, PathRejection>,
    uri: Uri,
    headers: HeaderMap,
) -> Answer {
    let Path(id) = id.map_err(|_| refusal::no_record())?;
    gateway.one(resource, &id, &Asked { caller, uri, headers }).await
}

impl Gateway {
    async fn list(&self, resource: Resource, asked: &Asked) -> Answer {
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
        let wanted = PageQuery {
            tenant: asked.caller.tenant.clone(),
            company,
            resource,
            offset: paging.offset(),
            rows_max: paging.rows_max(),
        };
        let page = self.store.page(&wanted).await.map_err(|error| refusal::store(&error))?;
        let page = page.ok_or_else(refusal::no_company)?;
        Ok(self.page(asked, &query, paging, &page))
    }

    /// A page with its headers.
    pub(crate) fn page(&self, asked: &Asked, query: &Query, paging: Paging, page: &Page) -> Response<Body> {
        let path = format!("{}{}", self.settings.base_url, asked.uri.path());
        let mut headers = paging.headers(page.total, &path, query);
        headers.push(reply::position(page.head));
        let etag = format!("{}-{}-{}", page.version, paging.number, paging.size);
        reply::json(asked, &etag, headers, || reply::array(&page.bodies))
    }

    async fn one(&self, resource: Resource, id: &str, asked: &Asked) -> Answer {
        let context = Context::of(&asked.headers)?;
        let company = match (resource.owner(), context) {
            (Owner::Company, context) => {
                let company = context.company()?;
                self.check_company(asked, &company).await?;
                Some(company)
            }
            (Owner::Tenant, Context::Company(company)) if *company != *id => {
                let message = "The header context names another company than the path.";
                return Err(refusal::bad("context", message));
            }
            (Owner::Tenant, _) => None,
        };
        let found = self.store.find_record(&asked.caller.tenant, company.as_deref(), resource, id).await;
        let record = found.map_err(|error| refusal::store(&error))?.ok_or_else(refusal::no_record)?;
        let etag = record.sequence.to_string();
        Ok(reply::json(asked, &etag, Vec::new(), || Body::from(String::from(record.body))))
    }

    /// A context that is not needed must still name a company that is there.
    async fn check_context(&self, asked: &Asked, context: &Context) -> Result<(), Refusal> {
        match context {
            Context::Company(id) => self.check_company(asked, id).await,
            Context::Absent | Context::None => Ok(()),
        }
    }

    /// The same answer for a company that nobody has and for one that another tenant has.
    pub(crate) async fn check_company(&self, asked: &Asked, id: &str) -> Result<(), Refusal> {
        let found = self.store.find_record(&asked.caller.tenant, None, Resource::companies(), id).await;
        match found.map_err(|error| refusal::store(&error))? {
            Some(_) => Ok(()),
            None => Err(refusal::no_company()),
        }
    }
}
