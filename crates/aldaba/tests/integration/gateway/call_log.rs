//! The log of calls: each call with a known key, with the true reason of its refusal; and the figures of calls.

use std::collections::BTreeSet;

use domain::figures::{FigureCounts, Outcome, Resolution, Series};
use domain::ids::SubscriptionId;
use domain::{Area, CallRecord, ClientId, Refusal, TenantId};
use hyper::Method;
use serde_json::json;
use store::{CallQuery, Calls as _, Figures as _, NumberedCall};

use crate::harness::{
    ALL_SCOPES, ApiFixture, EmbeddedServer, HttpRequest, Installation, OperatorApi, Server, SubscriptionKeys,
    run_concurrently, unlimited_server, wait_for,
};

const COMPANIES: &str = "/accounting/api/companies";
const ACCOUNTS: &str = "/accounting/api/accounts";

fn calls_of(server: &Server, subscription: &str) -> Vec<CallRecord> {
    let subscriptions = vec![SubscriptionId::new(subscription)];
    let query = CallQuery { subscriptions, rows_max: 1000, ..CallQuery::default() };
    let page = server.installation.in_store(async |store| store.list_calls(&query).await.unwrap());
    page.calls.into_iter().map(|numbered| numbered.call).collect()
}

/// Waits until a subscription has this many calls; newest first.
#[track_caller]
fn wait_for_calls(server: &Server, subscription: &str, count: usize) -> Vec<CallRecord> {
    wait_for("the calls to be recorded", || {
        let calls = calls_of(server, subscription);
        assert!(calls.len() <= count, "{calls:?}");
        (calls.len() == count).then_some(calls)
    })
}

fn with_key(api: &ApiFixture<'_>, keys: &SubscriptionKeys, path: &str) -> HttpRequest {
    api.get(path).header("ocp-apim-subscription-key", &keys.primary)
}

#[test]
fn every_refusal_is_recorded_with_its_reason_and_request_id() {
    let (api, server) = (ApiFixture::new(), unlimited_server());
    let keys = SubscriptionKeys::new(server, &["accounting"]);
    let revoked = api.tokens(ALL_SCOPES);
    assert_eq!(api.sign_in.revoke(revoked.refresh()).status, 200);
    let narrow = api.tokens("openid SVC.ES.EquipoContex");
    let bearer = |token: &str| format!("Bearer {token}");
    let get = |path: &str| with_key(&api, &keys, path);
    let post = |path: &str| {
        api.request(Method::POST, path).header("ocp-apim-subscription-key", &keys.primary).body("x")
    };
    let other = r#"{"clientId":"other"}"#;
    let subscribe = "/accounting/api/customers/webhooks/subscribe";
    let cases = [
        (get(COMPANIES), 200, None),
        (get(COMPANIES).header("authorization", ""), 401, Some(Refusal::TokenMissing)),
        (get(COMPANIES).header("authorization", "Bearer x"), 401, Some(Refusal::TokenInvalid)),
        (get(COMPANIES).header("authorization", &bearer(revoked.access())), 401, Some(Refusal::TokenRevoked)),
        (get(COMPANIES).header("authorization", &bearer(narrow.access())), 403, Some(Refusal::ScopeMissing)),
        (get("/payroll/api/companies"), 401, Some(Refusal::KeyNotForProduct)),
        (get(ACCOUNTS), 400, Some(Refusal::CompanyHeaderMissing)),
        (get(ACCOUNTS).header("context", "x"), 400, Some(Refusal::CompanyHeaderInvalid)),
        (get(ACCOUNTS).header("context", other), 404, Some(Refusal::CompanyUnknown)),
        (
            get("/accounting/api/companies/one").header("context", other),
            400,
            Some(Refusal::CompanyHeaderMismatch),
        ),
        (get("/accounting/api/companies/one"), 404, Some(Refusal::ResourceUnknown)),
        (get("/accounting/api/companies?pageSize=0"), 400, Some(Refusal::ParameterInvalid)),
        (get("/accounting/api/customers/webhooks/events"), 200, None),
        (post(subscribe), 400, Some(Refusal::BodyInvalid)),
    ];
    let mut expected = Vec::new();
    for (number, (request, status, refusal)) in cases.into_iter().enumerate() {
        let id = format!("call-{number}");
        let response = request.header("x-request-id", &id).send();
        assert_eq!(response.status, status, "{refusal:?}: {response:?}");
        expected.push((id, status, refusal));
    }
    let mut calls = wait_for_calls(server, &keys.id, expected.len());
    calls.reverse();
    let found: Vec<_> =
        calls.iter().map(|call| (call.request_id.clone(), call.status, call.refusal)).collect();
    assert_eq!(found, expected);
    assert!(calls.iter().all(|call| call.subscription.as_str() == keys.id && call.latency_micros > 0));
    let first = &calls[0];
    assert_eq!((first.method.as_str(), first.route.as_str()), ("GET", COMPANIES));
    assert_eq!(first.client.as_ref().map(ClientId::as_str), Some(api.sign_in.app.id.as_str()));
    assert_eq!(first.tenant.as_ref().map(TenantId::as_str), Some(api.ingest.tenant.as_str()));
    assert_eq!(calls[1].client, None, "nothing is known of the caller");
    assert_eq!(calls[10].route, "/accounting/api/companies/{id}");
    assert_eq!((calls[13].method.as_str(), calls[13].route.as_str()), ("POST", subscribe));
}

#[test]
fn refusals_by_the_operator_are_recorded() {
    let (api, server) = (ApiFixture::new(), unlimited_server());
    let operator = OperatorApi(server);
    let (quota, suspended) =
        (SubscriptionKeys::new(server, &["accounting"]), SubscriptionKeys::new(server, &["accounting"]));
    operator.set_quota(&quota.id, &json!(1));
    assert_eq!(with_key(&api, &quota, COMPANIES).send().status, 200);
    assert_eq!(with_key(&api, &quota, COMPANIES).send().status, 403);
    let calls = wait_for_calls(server, &quota.id, 2);
    assert_eq!(calls[0].refusal, Some(Refusal::QuotaExceeded));

    assert_eq!(with_key(&api, &suspended, COMPANIES).send().status, 200);
    let path = format!("/subscriptions/{}", suspended.id);
    assert_eq!(operator.patch(&path, &json!({"standing": "suspended"})).status, 200);
    assert_eq!(with_key(&api, &suspended, COMPANIES).send().status, 401);
    let calls = wait_for_calls(server, &suspended.id, 2);
    assert_eq!(calls[0].refusal, Some(Refusal::SubscriptionSuspended));

    let team = operator.create("/teams", &json!({"name": "Panel"}))["id"].clone();
    let body = json!({"name": "Clave", "products": ["accounting"], "team": team});
    let made = operator.create("/subscriptions", &body);
    let text = |pointer: &str| made.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    let of_team = SubscriptionKeys {
        id: text("/subscription/id"),
        primary: text("/primaryKey"),
        secondary: text("/secondaryKey"),
    };
    assert_eq!(with_key(&api, &of_team, COMPANIES).send().status, 401);
    let [call] = wait_for_calls(server, &of_team.id, 1).try_into().unwrap();
    assert_eq!(call.refusal, Some(Refusal::KeyOfAnotherTeam));
    assert_eq!((call.client, call.tenant), (None, None), "the team learns nothing of another team's client");

    let client = format!("/clients/{}", api.sign_in.app.id);
    assert_eq!(operator.patch(&client, &json!({"team": team, "products": ["payroll"]})).status, 200);
    assert_eq!(with_key(&api, &of_team, COMPANIES).send().status, 403);
    let calls = wait_for_calls(server, &of_team.id, 2);
    assert_eq!(calls[0].refusal, Some(Refusal::ClientNotForProduct));
    assert_eq!(calls_of(server, "nobody-has-this-key"), []);
}

#[test]
fn expired_tokens_and_the_rate_limit_are_recorded() {
    let settings = ["identity.access_token_ttl=1s", "gateway.rate_per_minute=1"];
    let server = EmbeddedServer::start(Installation::new(), &settings);
    let keys = SubscriptionKeys::new(&server, &[]);
    let api = ApiFixture::on(&server, &keys);
    assert_eq!(api.get(COMPANIES).send().status, 200);
    assert_eq!(api.get(COMPANIES).send().status, 429);
    wait_for("the token to expire", || (api.get(COMPANIES).send().status == 401).then_some(()));
    let calls = wait_for("the calls to be recorded", || {
        let calls = calls_of(&server, &keys.id);
        (calls.first()?.refusal == Some(Refusal::TokenExpired)).then_some(calls)
    });
    assert_eq!(calls[calls.len() - 2].refusal, Some(Refusal::RateLimited));
    assert_eq!(calls[calls.len() - 1].refusal, None);
}

#[test]
fn pages_are_complete_after_concurrent_calls() {
    const CALLERS: usize = 8;
    const CALLS: usize = 15;
    let (api, server) = (ApiFixture::new(), unlimited_server());
    let [one, other] = [(); 2].map(|()| SubscriptionKeys::new(server, &["accounting"]));
    run_concurrently(CALLERS, |caller| {
        for number in 0..CALLS {
            let keys = if (caller + number) % 2 == 0 { &one } else { &other };
            let id = format!("{caller}-{number}");
            assert_eq!(with_key(&api, keys, COMPANIES).header("x-request-id", &id).send().status, 200);
        }
    });
    let [ones, others] = [&one, &other].map(|keys| wait_for_calls(server, &keys.id, CALLERS * CALLS / 2));
    let ids =
        |calls: &[CallRecord]| calls.iter().map(|call| call.request_id.clone()).collect::<BTreeSet<_>>();
    assert!(ids(&ones).is_disjoint(&ids(&others)));
    let subscriptions = [&one, &other].map(|keys| SubscriptionId::new(keys.id.as_str())).to_vec();
    let mut query = CallQuery { subscriptions, rows_max: 7, ..CallQuery::default() };
    let mut all: Vec<NumberedCall> = Vec::new();
    server.installation.in_store(async |store| {
        loop {
            let page = store.list_calls(&query).await.unwrap();
            all.extend(page.calls);
            query.before = page.next;
            if page.next.is_none() {
                break;
            }
        }
    });
    assert!(all.windows(2).all(|pair| pair[0].number > pair[1].number));
    assert_eq!(
        all.iter().map(|one| one.call.request_id.clone()).collect::<BTreeSet<_>>().len(),
        CALLERS * CALLS
    );
    assert_eq!(all.len(), CALLERS * CALLS);
}

/// What is recorded and counted is written when the service stops.
#[test]
fn calls_and_figures_are_written_at_the_latest_when_the_service_stops() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let keys = SubscriptionKeys::new(&server, &[]);
    let api = ApiFixture::on(&server, &keys);
    for path in [COMPANIES, COMPANIES, ACCOUNTS, "/payroll/api/companies"] {
        api.get(path).send();
    }
    assert_eq!(api.get(COMPANIES).header("ocp-apim-subscription-key", "nobody's").send().status, 401);
    let tenant = api.ingest.tenant.clone();
    drop(api);
    let installation = server.stop();
    let since = aldaba::BasePorts::system().clock.now().minus(std::time::Duration::from_secs(3600));
    let until = since + std::time::Duration::from_secs(7200);
    installation.in_store(async |store| {
        let subscription = SubscriptionId::new(keys.id.as_str());
        let query =
            CallQuery { subscriptions: vec![subscription.clone()], rows_max: 10, ..CallQuery::default() };
        let page = store.list_calls(&query).await.unwrap();
        assert_eq!(page.calls.len(), 4);
        assert!(
            page.calls.iter().all(|one| one.call.tenant.as_ref().is_some_and(|id| id.as_str() == tenant))
        );
        let sum = async |series: Series| {
            let mut sum = FigureCounts::default();
            for point in store.figures(&series, Resolution::Minute, since, until).await.unwrap() {
                sum.add(&point.counts);
            }
            sum
        };
        let own = sum(Series::SubscriptionCalls(subscription)).await;
        assert_eq!((own.of(Outcome::Succeeded), own.of(Outcome::Refused), own.total()), (3, 1, 4));
        assert_eq!(own.latencies.iter().sum::<u64>(), 4);
        let accounting = sum(Series::AreaCalls(Area::Accounting)).await;
        let payroll = sum(Series::AreaCalls(Area::Payroll)).await;
        // `companies` belongs to the area core.
        let core = sum(Series::AreaCalls(Area::Core)).await;
        assert_eq!(accounting.total() + core.total(), 4, "also the call without a valid key");
        assert_eq!(payroll.total(), 1);
        assert_eq!(sum(Series::SignIns).await.of(Outcome::Succeeded), 1);
    });
}
