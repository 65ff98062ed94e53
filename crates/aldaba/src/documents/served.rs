//! The public OpenAPI document as it is served: whole, or with the tags of the query.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::body::Body;
use axum::http::header::HeaderMap;
use axum::http::{Response, Uri};
use axum::response::IntoResponse as _;
use domain::problem::Problem;
use domain::{ErrorCode, FieldError};
use utoipa::openapi::OpenApi;
use web::ErrorResponse;

use super::slim;
use super::static_response::{REVALIDATE, StaticResponse};

const PARAMETER: &str = "tags";
/// More tags than any document has.
const TAGS_MAX: usize = 100;
/// How many slim documents are stored; when there are more, all are made anew.
const SLIM_MAX: usize = 32;

/// Builds the document; called once, on the first request.
pub(super) type Build = Box<dyn FnOnce() -> OpenApi + Send>;

pub(super) struct ServedDocument {
    document: LazyLock<OpenApi, Build>,
    whole: Mutex<Option<Arc<StaticResponse>>>,
    slim: Mutex<BTreeMap<BTreeSet<String>, Arc<StaticResponse>>>,
}

impl ServedDocument {
    pub(super) fn new(build: Build) -> Self {
        Self { document: LazyLock::new(build), whole: Mutex::default(), slim: Mutex::default() }
    }

    /// Rendering takes some milliseconds, so it runs beside the requests.
    pub(super) async fn respond(self: Arc<Self>, uri: Uri, headers: HeaderMap) -> Response<Body> {
        let rendering = tokio::task::spawn_blocking(move || self.response(&uri));
        match rendering.await {
            Ok(Ok(response)) => response.respond(&headers),
            Ok(Err(error)) => error.into_response(),
            Err(error) => {
                tracing::error!(%error, "the OpenAPI document could not be rendered");
                ErrorResponse::new(ErrorCode::InternalError, "Something went wrong on our side.")
                    .into_response()
            }
        }
    }

    fn response(&self, uri: &Uri) -> Result<Arc<StaticResponse>, ErrorResponse> {
        let wanted = wanted_tags(uri)?;
        if wanted.is_empty() {
            let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
            return Ok(whole.get_or_insert_with(|| Arc::new(render(&self.document))).clone());
        }
        let tags = slim::known_tags(&self.document, &wanted)
            .map_err(|unknown| invalid(format!("{PARAMETER}: {unknown}.")))?;
        let mut stored = self.slim.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(response) = stored.get(&tags) {
            return Ok(response.clone());
        }
        let mut document = self.document.clone();
        slim::keep_tags(&mut document, &tags);
        let response = Arc::new(render(&document));
        if stored.len() >= SLIM_MAX {
            stored.clear();
        }
        stored.insert(tags, response.clone());
        Ok(response)
    }
}

fn render(document: &OpenApi) -> StaticResponse {
    StaticResponse::new("application/json", REVALIDATE, super::text(document) + "\n")
}

/// The tags of the query: comma-separated, in one or several parameters.
pub(super) fn wanted_tags(uri: &Uri) -> Result<Vec<String>, ErrorResponse> {
    let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let values = pairs.filter(|(name, _)| name.eq_ignore_ascii_case(PARAMETER)).map(|(_, value)| value);
    let mut tags = Vec::new();
    for value in values {
        tags.extend(value.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(ToOwned::to_owned));
        if tags.len() > TAGS_MAX {
            return Err(invalid(format!("{PARAMETER} may have {TAGS_MAX} names at most.")));
        }
    }
    Ok(tags)
}

fn invalid(message: String) -> ErrorResponse {
    let fault = FieldError::new(ErrorCode::InvalidParameter, message.clone()).at(PARAMETER);
    Problem::new(ErrorCode::InvalidParameter, message).with(fault).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served() -> ServedDocument {
        let config = crate::config::load(&crate::config::Sources::default()).unwrap();
        ServedDocument::new(Box::new(move || super::super::public(&config)))
    }

    fn get(served: &ServedDocument, query: &str) -> Result<serde_json::Value, ErrorResponse> {
        let uri = format!("/openapi.json{query}").parse().unwrap();
        served.response(&uri).map(|response| serde_json::from_slice(&response.plain).unwrap())
    }

    #[test]
    fn slim_document_has_the_operations_of_its_tags() {
        let served = served();
        let whole = get(&served, "?other=1").unwrap();
        for query in
            ["?tags=Customers,Invoicing", "?tags=customers&TAGS=+invoicing", "?tags=Invoicing,Customers,"]
        {
            let slim = get(&served, query).unwrap();
            let paths: Vec<&String> = slim["paths"].as_object().unwrap().keys().collect();
            let expected = whole["paths"].as_object().unwrap().keys();
            let expected: Vec<&String> = expected
                .filter(|path| path.contains("/api/customers") || path.starts_with("/invoicing"))
                .collect();
            assert_eq!(paths, expected, "{query}");
            assert_eq!(slim["paths"][paths[0]], whole["paths"][paths[0]]);
        }
        assert_eq!(served.slim.lock().unwrap().len(), 1, "the same tags are one document");
    }

    #[test]
    fn unknown_tag_is_refused_with_the_known_ones() {
        let served = served();
        let problem = get(&served, "?tags=Custmers").unwrap_err().problem;
        assert_eq!((problem.status, problem.code), (400, ErrorCode::InvalidParameter));
        assert!(problem.message.contains("did you mean \"Customers\"?"), "{}", problem.message);
        assert!(problem.message.contains("IssuedInvoices"), "{}", problem.message);
        let many = format!("?tags={}", "Customers,".repeat(TAGS_MAX + 1));
        assert_eq!(get(&served, &many).unwrap_err().problem.status, 400);
    }

    #[test]
    fn stored_documents_are_bounded() {
        let served = served();
        let tags = ["Customers", "Accounts", "Companies", "Suppliers", "Invoicing", "Payments"];
        for mask in 1..64_u32 {
            let chosen: Vec<&str> = tags
                .iter()
                .enumerate()
                .filter(|(bit, _)| mask & (1 << bit) != 0)
                .map(|(_, tag)| *tag)
                .collect();
            get(&served, &format!("?tags={}", chosen.join(","))).unwrap();
            assert!(served.slim.lock().unwrap().len() <= SLIM_MAX);
        }
    }
}
