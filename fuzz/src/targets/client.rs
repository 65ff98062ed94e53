//! Responses of the service as the client library reads them: pages, records, the change feed, and errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aldaba_client::api::Api;
use aldaba_client::api::filter::Filter;
use aldaba_client::sign_in::StaticToken;
use aldaba_client::{Error, RetryPolicy, Secret, Transport, TransportError, async_trait};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use serde::de::IgnoredAny;

use super::{refused, text};

const KEY: &str = "subscription-key-of-the-fuzzer";
const TOKEN: &str = "access-token-of-the-fuzzer";
/// The printed form of a longer filter may be refused.
const FILTER_CHARS_MAX: usize = 4000;

/// A service that gives every request the same response.
struct Service {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    requests: Arc<AtomicU64>,
}

#[async_trait]
impl Transport for Service {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        assert_eq!(request.uri().scheme_str(), Some("https"));
        let mut response = Response::new(self.body.clone());
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers.clone();
        Ok(response)
    }
}

/// A line with the status, one with headers (`name: value`, separated by `|`), and the body. What the library returns is what another
/// parser reads in the body, it asks once, and no error repeats the key or the token.
pub(crate) fn client_responses(data: &[u8]) -> u64 {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else { return 0 };
    let mut parts = data.splitn(3, |byte| *byte == b'\n');
    let mut part = || parts.next().unwrap_or_default();
    let (status, header_line, body) = (part(), part(), part());
    let status = text(status).trim().parse().ok().and_then(|code: u16| StatusCode::from_u16(code).ok());
    let status = status.unwrap_or(StatusCode::OK);
    check_filter(&text(body));
    let requests = Arc::new(AtomicU64::new(0));
    let service = Service {
        status,
        headers: headers(header_line),
        body: Bytes::copy_from_slice(body),
        requests: requests.clone(),
    };
    let policy = RetryPolicy { attempts_max: 1, wait_max: Duration::ZERO };
    let api = Api::builder("https://api.example", Secret::new(KEY), StaticToken(Secret::new(TOKEN)))
        .transport(service)
        .retry_policy(policy)
        .build();
    let Ok(api) = api else { panic!("no client") };
    let outcome = runtime.block_on(read_all(&api, status, body));
    assert_eq!(requests.load(Ordering::Relaxed), 4, "a call that is not retried is sent once");
    outcome
}

fn headers(line: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for header in line.split(|byte| *byte == b'|') {
        let at = header.iter().position(|byte| *byte == b':').unwrap_or(header.len());
        let (name, value) = header.split_at(at);
        let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii();
        let name = HeaderName::from_bytes(name.trim_ascii());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value)) {
            headers.append(name, value);
        }
    }
    headers
}

/// A page, a page that may be unchanged, a record and a page of the feed.
async fn read_all(api: &Api, status: StatusCode, body: &[u8]) -> u64 {
    let items = serde_json::from_slice::<Vec<IgnoredAny>>(body).map_or(0, |items| items.len());
    let page = api.companies().page(1).await;
    if let Ok(page) = &page {
        assert!(status.is_success() && page.number == 1, "{page:?}");
        assert_eq!(page.items.len(), items);
    }
    let changed = api.customers("c").page_if_changed(1, "\"e\"").await;
    match &changed {
        Ok(None) => assert_eq!(status, StatusCode::NOT_MODIFIED),
        Ok(Some(page)) => assert_eq!(page.items.len(), items),
        Err(_) => {}
    }
    let record = api.company("../x?y#z").await;
    match &record {
        Ok(None) => assert_eq!(status, StatusCode::NOT_FOUND),
        Ok(Some(_)) => assert!(status.is_success()),
        Err(_) => {}
    }
    let mut feed = api.invoicing_changes(5);
    let changes = feed.next_page().await;
    match &changes {
        Ok(changes) => {
            assert_eq!(changes.len(), items);
            assert_eq!(feed.position(), changes.last().map_or(5, |last| last.sequence_version));
        }
        Err(_) => assert_eq!(feed.position(), 5),
    }
    let outcomes =
        [check(page, status), check(changed, status), check(record, status), check(changes, status)];
    outcomes.into_iter().fold(1_u64, |all, outcome| all.rotate_left(9) ^ outcome)
}

/// An error tells its status and no secret.
fn check<T>(result: Result<T, Error>, status: StatusCode) -> u64 {
    let Err(error) = result else { return 1 };
    let message = error.to_string();
    assert!(!message.is_empty() && !message.contains(KEY) && !message.contains(TOKEN), "{message}");
    if let Error::Api(api) = &error {
        assert_eq!(api.status, status.as_u16(), "{message}");
        assert!(!status.is_success(), "{message}");
        let facts = [!api.code.is_empty(), !api.errors.is_empty(), api.retry_after.is_some()];
        return facts.into_iter().fold(u64::from(api.status), |all, fact| all << 1 | u64::from(fact));
    }
    refused(message)
}

/// A filter is the same when it is printed and parsed again.
fn check_filter(text: &str) {
    let Ok(filter) = text.parse::<Filter>() else { return };
    let printed = filter.to_string();
    if printed.chars().count() <= FILTER_CHARS_MAX {
        assert_eq!(printed.parse::<Filter>().ok(), Some(filter), "{printed}");
    }
}
