//! The gate in front of every API: it checks the subscription key, then the token, then whether the subscription opens for
//! the token's client, then the scope and the client's products, then the rate limit and the quota.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, Response};
use axum::response::IntoResponse as _;
use domain::problem::Problem;
use domain::subscription::Product;
use domain::{Area, Caller, Refusal, Scope, Ticks};
use web::{ErrorResponse, RequestContext, RequestId, Stopwatch};

use crate::call_recorder::RecordedCall;
use crate::meter::{Meter, QuotaStatus};
use crate::query::Query;
use crate::rate_limit::RateStatus;
use crate::subscription_keys::{ActiveKey, FoundKey};
use crate::{Gateway, TokenError, errors};

pub(crate) static KEY_HEADER: HeaderName = HeaderName::from_static("ocp-apim-subscription-key");
const BEARER: &[u8] = b"bearer ";
const KEY_QUERY: &str = "subscription-key";

/// The product that the subscription and the client must have, and the scopes that the token must have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requirements {
    product: Product,
    pub(crate) scope: Scope,
    additional_scope: Option<Scope>,
}

impl Requirements {
    pub(crate) fn of_area(area: Area) -> Self {
        let scope = area.scope().unwrap_or(Scope::Webhooks);
        Self { product: area.product(), scope, additional_scope: None }
    }

    /// The same and one more scope.
    pub(crate) fn and(self, scope: Scope) -> Self {
        Self { additional_scope: Some(scope), ..self }
    }

    fn scopes(self) -> impl Iterator<Item = Scope> {
        [self.scope].into_iter().chain(self.additional_scope)
    }
}

/// A call that has arrived.
pub(crate) struct Arrival {
    pub(crate) at: Ticks,
    area: Area,
    /// The index of its path among the counted paths.
    route: usize,
    watch: Stopwatch,
    method: Method,
    request_id: Option<RequestId>,
}

/// A call that has passed the gate.
pub(crate) struct Admission {
    pub(crate) caller: Arc<Caller>,
    key: Arc<ActiveKey>,
    rate: Option<RateStatus>,
}

/// A call that the gate refuses, and what is known of it.
pub(crate) struct Rejection {
    error: ErrorResponse,
    origin: Origin,
}

/// Where a call comes from, as far as the gate got.
#[derive(Default)]
struct Origin {
    /// Of the key's subscription.
    meter: Option<Arc<Meter>>,
    /// Only a caller that the subscription's team may know of.
    caller: Option<Arc<Caller>>,
}

impl Gateway {
    pub(crate) fn arrival(&self, area: Area, route: usize, request: &Parts) -> Arrival {
        Arrival {
            at: self.clock.now(),
            area,
            route,
            watch: Stopwatch::start(),
            method: request.method.clone(),
            request_id: request.extensions.get::<RequestContext>().map(|context| context.id),
        }
    }

    /// Counts and records an admitted call, and adds the rate limit's headers.
    pub(crate) fn finish(
        &self,
        arrival: Arrival,
        admission: Admission,
        mut response: Response<Body>,
    ) -> Response<Body> {
        let Admission { caller, key, rate } = admission;
        key.count(arrival.route, response.status().as_u16() >= 400, arrival.at);
        self.record(arrival, Some(&key.meter), Some(caller), &response);
        if let Some(rate) = rate {
            response.headers_mut().extend(errors::rate_headers(rate));
        }
        response
    }

    /// Records a refused call.
    pub(crate) fn reject(&self, arrival: Arrival, rejection: Rejection) -> Response<Body> {
        let Rejection { error, origin } = rejection;
        let response = error.into_response();
        self.record(arrival, origin.meter.as_ref(), origin.caller, &response);
        response
    }

    fn record(
        &self,
        arrival: Arrival,
        meter: Option<&Arc<Meter>>,
        caller: Option<Arc<Caller>>,
        response: &Response<Body>,
    ) {
        let Arrival { at, area, route, watch, method, request_id } = arrival;
        let (status, refusal) = (response.status(), refusal_of(response));
        let latency = watch.elapsed();
        let is_sandbox =
            caller.as_ref().is_some_and(|caller| self.calling_clients.is_sandbox(&caller.tenant));
        let area = (!is_sandbox).then_some(area);
        let call = RecordedCall { at, method, route, status, latency, request_id, caller, refusal };
        self.recorder.record(area, meter, call);
    }

    pub(crate) async fn admit(
        &self,
        requirements: Requirements,
        request: &Parts,
        now: Ticks,
    ) -> Result<Admission, Box<Rejection>> {
        let mut origin = Origin::default();
        let checked = self.check(requirements, request, now, &mut origin).await;
        checked.map_err(|error| Box::new(Rejection { error, origin }))
    }

    async fn check(
        &self,
        requirements: Requirements,
        request: &Parts,
        now: Ticks,
        origin: &mut Origin,
    ) -> Result<Admission, ErrorResponse> {
        let key = subscription_key(request)?.ok_or_else(errors::missing_key)?;
        let found = self.keys.find(&key, now).await.map_err(|error| errors::store(&error))?;
        let key = match found.ok_or_else(errors::invalid_key)? {
            FoundKey::Active(key) => key,
            FoundKey::Suspended(meter) => {
                origin.meter = Some(meter);
                return Err(errors::invalid_key().because(Refusal::SubscriptionSuspended));
            }
        };
        origin.meter = Some(key.meter.clone());
        if !key.subscription.products.contains(requirements.product) {
            return Err(errors::invalid_key().because(Refusal::KeyNotForProduct));
        }
        let token = bearer_token(&request.headers).ok_or_else(errors::missing_token)?;
        let caller = self.tokens.verify(&token).await.map_err(|error| match error {
            TokenError::Invalid => errors::invalid_token(Refusal::TokenInvalid),
            TokenError::Expired => errors::invalid_token(Refusal::TokenExpired),
            TokenError::Revoked => errors::invalid_token(Refusal::TokenRevoked),
            TokenError::Unavailable(error) => errors::store(&error),
        })?;
        let client = self.calling_clients.find(&caller.client, now).await;
        let client = client.map_err(|error| errors::store(&error))?;
        let is_opened = self.calling_clients.is_opened(&caller.tenant, &client, &key.subscription).await;
        if !is_opened.map_err(|error| errors::store(&error))? {
            let refusal = client.refusal_by(&key.subscription);
            return Err(errors::invalid_key().because(refusal));
        }
        origin.caller = Some(caller.clone());
        if let Some(missing) = requirements.scopes().find(|scope| !caller.scopes.has(*scope)) {
            return Err(errors::insufficient_scope(missing));
        }
        if !client.products.contains(requirements.product) {
            return Err(errors::missing_product(requirements.product));
        }
        let rate = self.limiter.take(&mut key.meter.bucket.lock(), now);
        if let Some(rate) = rate
            && let Some(seconds) = rate.retry_after_seconds
        {
            return Err(errors::rate_exceeded(rate, seconds));
        }
        self.take_quota(&key, now).await.map_err(|error| match rate {
            Some(rate) => errors::with_rate(error, rate),
            None => error,
        })?;
        Ok(Admission { caller, key, rate })
    }

    async fn take_quota(&self, key: &ActiveKey, now: Ticks) -> Result<(), ErrorResponse> {
        let Some(calls_max) = key.subscription.daily_quota.or(self.settings.quota_per_day) else {
            return Ok(());
        };
        let mut quota = key.meter.take_quota(calls_max, now);
        if quota == QuotaStatus::Unknown {
            let stored = self.store.calls_on_day(&key.subscription.id, now.day()).await;
            key.meter.set_stored_calls(stored.map_err(|error| errors::store(&error))?, now);
            quota = key.meter.take_quota(calls_max, now);
        }
        if quota == QuotaStatus::Within { Ok(()) } else { Err(errors::quota_used_up(now)) }
    }
}

/// Why a call got an error. What says no more than its problem is classified by it.
fn refusal_of(response: &Response<Body>) -> Option<Refusal> {
    let status = response.status().as_u16();
    if status < 400 {
        return None;
    }
    let extensions = response.extensions();
    let fault = extensions.get::<Problem>().and_then(|problem| problem.errors.first());
    let named = fault.and_then(|fault| match (fault.field.as_deref(), &*fault.code) {
        (Some("context"), _) if status == 400 => Some(Refusal::CompanyHeaderInvalid),
        (_, "invalid_parameter") => Some(Refusal::ParameterInvalid),
        _ => None,
    });
    extensions.get::<Refusal>().copied().or(named).or_else(|| Refusal::of_status(status))
}

/// The subscription key: from the header, or from the query if there is no such header.
pub(crate) fn subscription_key(request: &Parts) -> Result<Option<Cow<'_, str>>, ErrorResponse> {
    let key = match request.headers.get(&KEY_HEADER) {
        // A value that is not UTF-8 still counts as sent; no stored key equals its lossy text.
        Some(value) => Some(text(value.as_bytes())),
        None => Query::parse(&request.uri).single(KEY_QUERY)?.map(|key| Cow::Owned(key.to_owned())),
    };
    Ok(key.filter(|key| !key.is_empty()))
}

/// The bearer token, if the request has one.
pub(crate) fn bearer_token(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let line = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = line.split_at_checked(BEARER.len())?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(BEARER) && !token.is_empty()).then(|| text(token))
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
