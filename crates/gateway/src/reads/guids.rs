//! GUIDs in any case: an id is stored as its writer gave it, and a request may write its letters differently.

use axum::http::{HeaderValue, Uri};
use domain::Resource;
use domain::ids::is_hyphenated_guid;
use web::ErrorResponse;

use super::ReadRequest;
use super::record::id_in_path;
use crate::context::{CONTEXT_HEADER, Context};
use crate::endpoint::Endpoint;
use crate::{Gateway, errors};

impl Gateway {
    /// The request with its GUIDs as they are stored; none if that makes no difference.
    pub(super) async fn with_stored_guids(
        &self,
        endpoint: Endpoint,
        request: &ReadRequest,
    ) -> Result<Option<ReadRequest>, ErrorResponse> {
        let mut headers = request.headers.clone();
        let mut company = None;
        if let Context::Company(id) = Context::from_headers(&request.headers)? {
            let stored = self.stored_guid(request, None, Resource::companies(), &id).await?;
            let context = serde_json::json!({ "clientId": stored.as_deref().unwrap_or(&id) }).to_string();
            if let Ok(context) = HeaderValue::from_str(&context) {
                headers.insert(CONTEXT_HEADER.clone(), context);
            }
            company = Some(stored.unwrap_or(id));
        }
        let mut uri = None;
        if let Endpoint::Record(resource) = endpoint
            && let Some(id) = id_in_path(resource, request.uri.path())
        {
            let company = company.as_deref().filter(|_| resource != Resource::companies());
            let stored = self.stored_guid(request, company, resource, &id).await?;
            uri = stored.and_then(|stored| replace_id(resource, &request.uri, &stored));
        }
        if uri.is_none() && headers == request.headers {
            return Ok(None);
        }
        let (caller, now) = (request.caller.clone(), request.now);
        Ok(Some(ReadRequest { caller, uri: uri.unwrap_or_else(|| request.uri.clone()), headers, now }))
    }

    /// How a GUID is stored, if not as it is written.
    async fn stored_guid(
        &self,
        request: &ReadRequest,
        company: Option<&str>,
        resource: Resource,
        id: &str,
    ) -> Result<Option<Box<str>>, ErrorResponse> {
        if !is_hyphenated_guid(id) {
            return Ok(None);
        }
        let lower = id.to_ascii_lowercase();
        let found = self.store.find_guid(&request.caller.tenant, company, resource, &lower).await;
        Ok(found.map_err(|error| errors::store(&error))?.filter(|stored| **stored != *id))
    }
}

/// The same address with another id at the end of its path.
fn replace_id(resource: Resource, uri: &Uri, id: &str) -> Option<Uri> {
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}/{id}{query}", resource.path()).parse().ok()
}
