//! The read APIs: one GET or HEAD request from the gate to its response.
//!
//! 1. [`Gateway::admit`] checks the key, the token, the scope, the rate limit and the quota.
//! 2. [`ResponseCache::get_or_read`] serves the cached response, or confirms it with the store, or reads it anew.
//!    The change feed is not cached.
//! 3. What was read successfully is counted for the auditor.
//! 4. [`Gateway::finish`] counts and records the call, and adds the rate limit's headers.
//!
//! [`ResponseCache::get_or_read`]: crate::response_cache::ResponseCache::get_or_read

pub(crate) mod feed;
mod guids;
mod list;
mod payroll_companies;
mod record;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use axum::response::IntoResponse as _;
use domain::catalogue::Owner;
use domain::{Caller, Resource, Ticks};
use store::CollectionVersion;
use web::ErrorResponse;

use crate::cached_response::CachedResponse;
use crate::context::Context;
use crate::endpoint::Endpoint;
use crate::gate::Requirements;
use crate::{Gateway, errors};
use list::ListRead;
use payroll_companies::PayrollCompaniesRead;
use record::RecordRead;

/// A read request that the gate has admitted.
#[derive(Debug)]
pub(crate) struct ReadRequest {
    pub(crate) caller: Arc<Caller>,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) now: Ticks,
}

/// A read whose parameters have been checked and that asks the store.
pub(crate) trait StoreRead {
    /// The current version of the collection that the response is made from. `None` if there is no such version: then
    /// only reading shows whether a cached response is still current.
    async fn current_version(&self) -> Result<Option<CollectionVersion>, ErrorResponse>;

    async fn read(self) -> Result<CachedResponse, ErrorResponse>;
}

impl Gateway {
    /// Handles one read. `route` is the endpoint's index among the counted paths.
    pub(crate) async fn handle_read(
        &self,
        endpoint: Endpoint,
        route: usize,
        request: Request,
    ) -> Response<Body> {
        let (parts, _) = request.into_parts();
        let arrival = self.arrival(endpoint.area(), route, &parts);
        let now = arrival.at;
        let admission = match self.admit(Requirements::of_area(endpoint.area()), &parts, now).await {
            Ok(admission) => admission,
            Err(rejection) => return self.reject(arrival, *rejection),
        };
        let caller = admission.caller.clone();
        let request = ReadRequest { caller, uri: parts.uri, headers: parts.headers, now };
        let response = match self.read(endpoint, &request).await {
            Ok(response) => response,
            Err(error) => error.into_response(),
        };
        self.finish(arrival, admission, response)
    }

    /// Reads with the ids as they are written; where that finds nothing, GUIDs are looked up in any case.
    async fn read(&self, endpoint: Endpoint, request: &ReadRequest) -> Result<Response<Body>, ErrorResponse> {
        match self.read_and_count(endpoint, request).await {
            Err(error) if error.problem.status == StatusCode::NOT_FOUND.as_u16() => {
                match self.with_stored_guids(endpoint, request).await? {
                    Some(request) => self.read_and_count(endpoint, &request).await,
                    None => Err(error),
                }
            }
            response => response,
        }
    }

    /// Counts a read that succeeded, also where the reader has the response already (304). Sandboxes do not count.
    async fn read_and_count(
        &self,
        endpoint: Endpoint,
        request: &ReadRequest,
    ) -> Result<Response<Body>, ErrorResponse> {
        let response = self.read_as_written(endpoint, request).await?;
        if !self.calling_clients.is_sandbox(&request.caller.tenant) {
            let company = company_of(endpoint, request);
            self.reads.count(&request.caller, endpoint.read_target(), company, request.now);
        }
        Ok(response)
    }

    async fn read_as_written(
        &self,
        endpoint: Endpoint,
        request: &ReadRequest,
    ) -> Result<Response<Body>, ErrorResponse> {
        let (cache, counters) = (&self.response_cache, self.store.invalidation());
        // `prepare` is a future: it checks the parameters only if the cache has no fresh response.
        match endpoint {
            Endpoint::List(resource) => {
                cache.get_or_read(request, counters, ListRead::prepare(self, resource, request)).await
            }
            Endpoint::Record(resource) => {
                cache.get_or_read(request, counters, RecordRead::prepare(self, resource, request)).await
            }
            Endpoint::PayrollCompanies => {
                cache.get_or_read(request, counters, PayrollCompaniesRead::prepare(self, request)).await
            }
            Endpoint::Feed(resource) => self.read_feed(&[resource], request).await,
            Endpoint::InvoicingFeed => {
                let entities: Vec<Resource> = Resource::invoicing().collect();
                self.read_feed(&entities, request).await
            }
        }
    }

    /// Checks that the tenant has this company. Unknown companies and those of other tenants get the same error.
    async fn check_company(&self, request: &ReadRequest, id: &str) -> Result<(), ErrorResponse> {
        let found = self.store.find_record(&request.caller.tenant, None, Resource::companies(), id).await;
        match found.map_err(|error| errors::store(&error))? {
            Some(_) => Ok(()),
            None => Err(errors::no_company()),
        }
    }
}

/// The company whose data a successful read was about; none where it was about the tenant.
fn company_of(endpoint: Endpoint, request: &ReadRequest) -> Option<Box<str>> {
    let of_context = || match Context::from_headers(&request.headers) {
        Ok(Context::Company(id)) => Some(id),
        _ => None,
    };
    match endpoint {
        Endpoint::Record(resource) if resource == Resource::companies() => {
            record::id_in_path(resource, request.uri.path()).map(String::into_boxed_str)
        }
        // With a context, the list of companies is still the whole list.
        Endpoint::List(resource) if resource.owner() == Owner::Tenant => None,
        Endpoint::List(_) | Endpoint::Record(_) | Endpoint::Feed(_) | Endpoint::InvoicingFeed => of_context(),
        Endpoint::PayrollCompanies => None,
    }
}
