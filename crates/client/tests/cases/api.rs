//! API calls: headers, paging, retries and errors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aldaba_client::api::{Api, filter};
use aldaba_client::sign_in::{StaticToken, TokenSource};
use aldaba_client::{
    Area, Error, Resource, RetryPolicy, Secret, Ticks, TransportError, TryStreamExt, async_trait,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::fake_network::{FakeTransport, ok, pairs, response};

pub(super) fn api(net: &FakeTransport) -> Api {
    builder(net, StaticToken(Secret::new("token-1"))).build().unwrap()
}

fn builder(net: &FakeTransport, tokens: impl TokenSource) -> aldaba_client::api::ApiBuilder {
    Api::builder("https://api.example/", Secret::new("key-1"), tokens).transport(net.clone())
}

fn company(number: usize) -> Value {
    json!({
        "vatName": "Núñez", "vatNumber": "B1", "state": "Enabled", "chartOfAccountId": 1, "accountLength": 9,
        "correlationId": format!("c{number}"), "version": "2026-11-15T08:30:00.1234567Z", "sequenceVersion": "7",
        "somethingNew": true,
    })
}

/// A list of `count` companies, in pages of the requested size.
fn companies(count: usize) -> FakeTransport {
    FakeTransport::new(move |request| {
        let query = pairs(request.uri().query().unwrap());
        let [number, size] = ["pageNumber", "pageSize"].map(|name| query[name].parse::<usize>().unwrap());
        let items: Vec<Value> = (0..count).skip((number - 1) * size).take(size).map(company).collect();
        let pages = count.div_ceil(size);
        let result =
            json!({"totalCount": count, "pageSize": size, "currentPage": number, "totalPages": pages});
        let headers = [
            ("x-pagination", result.to_string()),
            ("x-sequence-version", "42".into()),
            ("etag", "W/\"1\"".into()),
        ];
        response(200, &headers.each_ref().map(|(name, value)| (*name, value.as_str())), &json!(items))
    })
}

#[tokio::test]
async fn stream_reads_every_page_once() {
    for (count, size, pages) in [(0, 10, 1), (1, 10, 1), (10, 10, 1), (11, 10, 2), (25, 10, 3)] {
        let net = companies(count);
        let all: Vec<_> = api(&net).companies().page_size(size).stream().try_collect().await.unwrap();
        let ids: Vec<String> = all.into_iter().map(|company| company.correlation_id).collect();
        assert_eq!(ids, (0..count).map(|number| format!("c{number}")).collect::<Vec<_>>());
        assert_eq!(net.requests().len(), pages, "{count}");
    }
}

#[tokio::test]
async fn pages_are_read_lazily() {
    let net = companies(30);
    let mut stream = api(&net).companies().page_size(10).stream();
    for _ in 0..10 {
        stream.try_next().await.unwrap().unwrap();
    }
    assert_eq!(net.requests().len(), 1);
}

#[tokio::test]
async fn every_call_has_key_token_and_context() {
    let net = FakeTransport::new(|_| {
        ok(&json!({
            "correlationId": "a/b", "code": "1", "description": "d", "state": "Odd", "version": "v", "sequenceVersion": "1",
        }))
    });
    let account = api(&net).account("empresa \"ñ\" €", "a/b?#%").await.unwrap().unwrap();
    assert_eq!(account.state.as_str(), "Odd", "a newer service's words do no harm");
    let asked = &net.requests()[0];
    let header = |name: &str| asked.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(asked.uri(), "https://api.example/accounting/api/accounts/a%2Fb%3F%23%25");
    assert_eq!(
        (header("ocp-apim-subscription-key"), header("authorization")),
        ("key-1".into(), "Bearer token-1".into())
    );
    assert_eq!(header("context"), r#"{"clientId":"empresa \"\u00f1\" \u20ac"}"#);
    assert!(
        asked.headers()["authorization"].is_sensitive()
            && asked.headers()["ocp-apim-subscription-key"].is_sensitive()
    );
}

#[tokio::test]
async fn all_resources_have_their_path_and_only_companies_lack_a_context() {
    for resource in Resource::accounting_family() {
        let net = FakeTransport::new(|_| {
            ok(&json!({
                "correlationId": "x", "version": "v", "sequenceVersion": "9", "amount": 1.50, "nested": {"a": [1]},
            }))
        });
        let record = api(&net).record(resource, "c", "x").await.unwrap().unwrap();
        assert_eq!((record.fields["amount"].to_string().as_str(), record.sequence_version), ("1.5", 9));
        let asked = &net.requests()[0];
        assert_eq!(asked.uri().path(), format!("{}/x", resource.path()));
        assert_eq!(asked.headers().contains_key("context"), resource != Resource::companies());
    }
    assert!(Resource::find(Area::Core, "prorates").is_some());
}

#[tokio::test]
async fn missing_record_is_none() {
    let net = FakeTransport::new(|_| {
        response(404, &[], &json!({"statusCode": 404, "message": "No.", "requestId": "r"}))
    });
    assert_eq!(api(&net).customer("c", "x").await.unwrap(), None);
    assert_eq!(api(&net).company("x").await.unwrap(), None);
    let result = api(&net).customers("c").page(1).await.unwrap_err();
    assert!(result.is_not_found(), "a list of an unknown company is one");
}

#[tokio::test]
async fn filter_and_order_are_sent_encoded() {
    let net = companies(0);
    let wanted = filter::name()
        .contains("O'Brien & Söhne")
        .and(filter::last_update().after(Ticks::from_unix_seconds(0)));
    let list = api(&net).payroll_companies().filter(&wanted).order_by(&filter::code().descending());
    list.page(1).await.unwrap();
    let query = pairs(net.requests()[0].uri().query().unwrap());
    assert_eq!(query["filter"], "contains(companyName,'O''Brien & Söhne') and lastUpdate gt 1970-01-01");
    assert_eq!(query["OrderBy"], "companyCode desc");
}

#[tokio::test]
async fn unchanged_page_is_none() {
    let net = FakeTransport::new(|request| {
        assert_eq!(request.headers()["if-none-match"], "W/\"1\"");
        response(304, &[], &Value::Null)
    });
    assert_eq!(api(&net).companies().page_if_changed(1, "W/\"1\"").await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn busy_service_is_retried_after_retry_after() {
    let tries = AtomicUsize::new(0);
    let net = FakeTransport::new(move |_| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => response(429, &[("retry-after", "7")], &json!({})),
        1 => response(503, &[("retry-after", "2")], &json!({})),
        _ => ok(&json!([])),
    });
    let before = Instant::now();
    let events = api(&net).webhooks(Resource::customers()).events().await.unwrap();
    assert_eq!((events.len(), before.elapsed().as_secs()), (0, 9));
}

#[tokio::test(start_paused = true)]
async fn retry_policy_bounds_retries() {
    let busy = || {
        FakeTransport::new(|_| {
            let body = json!({"statusCode": 429, "message": "Rate limit is exceeded.", "requestId": "r-1"});
            response(429, &[("retry-after", "20")], &body)
        })
    };
    let net = busy();
    let before = Instant::now();
    let result = api(&net).companies().page(1).await.unwrap_err();
    let refused = result.api_error().unwrap();
    assert_eq!((refused.status, refused.retry_after), (429, Some(Duration::from_secs(20))));
    assert!(result.is_temporary() && result.to_string().contains("r-1"), "{result}");
    assert_eq!((net.requests().len(), before.elapsed().as_secs()), (4, 60));

    let net = busy();
    let retry_policy = RetryPolicy { attempts_max: 10, wait_max: Duration::from_secs(30) };
    let api = builder(&net, StaticToken(Secret::new("t"))).retry_policy(retry_policy).build().unwrap();
    api.companies().page(1).await.unwrap_err();
    assert_eq!(net.requests().len(), 2, "a third would have waited for more than 30 s");
}

#[tokio::test(start_paused = true)]
async fn unreachable_service_is_retried_for_idempotent_calls_only() {
    let gone = || FakeTransport::new(|_| Err(TransportError::Unreachable("connection refused".into())));
    let net = gone();
    let result = api(&net).companies().page(1).await.unwrap_err();
    assert!(
        result.to_string().starts_with("GET api.example/accounting/api/companies: no response"),
        "{result}"
    );
    assert_eq!(net.requests().len(), 4);
    let net = gone();
    let history = api(&net).webhooks(Resource::customers()).history(aldaba_client::Guid::from_bytes([1; 16]));
    history.test().await.unwrap_err();
    assert_eq!(net.requests().len(), 1, "a test that was perhaps sent is not sent again");
}

/// A token source that renews once.
struct Renewing(AtomicUsize);

#[async_trait]
impl TokenSource for Renewing {
    async fn access_token(&self) -> Result<Secret, Error> {
        Ok(Secret::new("stale"))
    }

    async fn replace_token(&self, refused: &Secret) -> Result<Secret, Error> {
        assert_eq!(refused.reveal(), "stale");
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Secret::new("fresh"))
    }
}

#[tokio::test]
async fn refused_token_is_renewed_once_and_refused_key_is_not() {
    let net = FakeTransport::new(|request| {
        let challenge = [("www-authenticate", "Bearer error=\"invalid_token\"")];
        if request.headers()["authorization"] == "Bearer fresh" {
            return ok(&json!([]));
        }
        response(401, &challenge, &json!({"statusCode": 401, "message": "No.", "requestId": "r"}))
    });
    let api = builder(&net, Renewing(AtomicUsize::new(0))).build().unwrap();
    api.webhooks(Resource::customers()).list().await.unwrap();
    assert_eq!(net.requests().len(), 2);
    let net = FakeTransport::new(|_| response(401, &[], &json!({"message": "invalid subscription key"})));
    let api = builder(&net, Renewing(AtomicUsize::new(0))).build().unwrap();
    let result = api.companies().page(1).await.unwrap_err();
    assert_eq!((result.status(), net.requests().len()), (Some(401), 1));
    assert!(result.to_string().contains("check the subscription key"), "{result}");
}

#[tokio::test]
async fn invalid_page_size_is_refused_before_sending() {
    let net = companies(1);
    for size in [0, 1001] {
        let result = api(&net).companies().page_size(size).page(1).await.unwrap_err();
        assert!(matches!(result, Error::InvalidInput { what: "the page size", .. }));
    }
    assert_eq!(net.requests().len(), 0);
}

#[tokio::test]
async fn response_of_another_server_is_an_invalid_response() {
    let net = FakeTransport::new(|_| ok(&json!({"hello": "world"})));
    let result = api(&net).companies().page(1).await.unwrap_err();
    assert!(matches!(result, Error::InvalidResponse { .. }), "{result:?}");
    let net = FakeTransport::new(|_| response(502, &[], &json!("<html>")));
    let result = api(&net).companies().page(1).await.unwrap_err();
    assert_eq!(result.status(), Some(502));
}
