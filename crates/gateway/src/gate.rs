//! The gate that every call passes: key, then token, then scope, then limit and quota. What comes out is a
//! `Caller`, or a refusal; what was answered is counted.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Response};
use axum::response::IntoResponse as _;
use domain::subscription::{Product, Products};
use domain::{Area, Caller, Scope, Ticks};
use web::ErrorResponse;

use crate::asked::Asked;
use crate::endpoint::Endpoint;
use crate::keys::Pass;
use crate::limit::Rate;
use crate::meter::Quota;
use crate::query::Query;
use crate::{Gateway, TokenRefusal, refusal};

pub(crate) static KEY_HEADER: HeaderName = HeaderName::from_static("ocp-apim-subscription-key");
const BEARER: &[u8] = b"bearer ";
const KEY_QUERY: &str = "subscription-key";

/// What an area asks of who calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    product: Product,
    pub(crate) scope: Scope,
    /// Besides.
    more: Option<Scope>,
}

impl Need {
    pub(crate) fn of(area: Area) -> Self {
        let (product, scope) = match area {
            Area::Accounting | Area::Import => (Product::Accounting, Scope::Accounting),
            Area::Core => (Product::Accounting, Scope::Core),
            Area::Payroll => (Product::Payroll, Scope::Payroll),
            Area::Invoicing => (Product::Invoicing, Scope::Webhooks),
        };
        Self { product, scope, more: None }
    }

    /// The same, and one scope more.
    pub(crate) fn and(self, scope: Scope) -> Self {
        Self { more: Some(scope), ..self }
    }

    fn scopes(self) -> impl Iterator<Item = Scope> {
        [self.scope].into_iter().chain(self.more)
    }
}

/// Who has passed.
pub(crate) struct Admitted {
    pub(crate) caller: Arc<Caller>,
    pass: Arc<Pass>,
    rate: Option<Rate>,
}

impl Admitted {
    /// Counts the call under its address, and tells how much of the limit is left.
    pub(crate) fn leave(self, place: usize, mut answer: Response<Body>, now: Ticks) -> Response<Body> {
        self.pass.count(place, answer.status().as_u16() >= 400, now);
        if let Some(rate) = self.rate {
            answer.headers_mut().extend(refusal::rate_headers(rate));
        }
        answer
    }
}

impl Gateway {
    /// One call, from the gate to its answer. The endpoint's place in the list is what it is counted under.
    pub(crate) async fn call(&self, endpoint: Endpoint, place: usize, request: Request) -> Response<Body> {
        let (parts, _) = request.into_parts();
        let now = self.clock.now();
        let admitted = match self.admit(Need::of(endpoint.area()), &parts, now).await {
            Ok(admitted) => admitted,
            Err(refusal) => return refusal.into_response(),
        };
        let asked = Asked { caller: admitted.caller.clone(), uri: parts.uri, headers: parts.headers, now };
        let response = match self.answer(endpoint, &asked).await {
            Ok(response) => response,
            Err(refusal) => refusal.into_response(),
        };
        admitted.leave(place, response, now)
    }

    pub(crate) async fn admit(
        &self,
        need: Need,
        request: &Parts,
        now: Ticks,
    ) -> Result<Admitted, ErrorResponse> {
        let key = key(request)?.ok_or_else(refusal::missing_key)?;
        let found = self.keys.find(&key, now).await.map_err(|error| refusal::store(&error))?;
        let opens = |products: Products| products.contains(need.product);
        let pass = found.filter(|pass| opens(pass.subscription.products)).ok_or_else(refusal::invalid_key)?;
        let token = bearer(&request.headers).ok_or_else(refusal::missing_token)?;
        let caller = self.tokens.caller(&token).await.map_err(|error| match error {
            TokenRefusal::Invalid => refusal::invalid_token(),
            TokenRefusal::Unknown(error) => refusal::store(&error),
        })?;
        if let Some(missing) = need.scopes().find(|scope| !caller.scopes.has(*scope)) {
            return Err(refusal::insufficient_scope(missing));
        }
        let rate = self.limiter.take(&mut pass.meter.bucket.lock(), now);
        if let Some(rate) = rate
            && let Some(seconds) = rate.retry_after_seconds
        {
            return Err(refusal::rate_exceeded(rate, seconds));
        }
        self.take_quota(&pass, now).await.map_err(|refused| match rate {
            Some(rate) => refusal::with_rate(refused, rate),
            None => refused,
        })?;
        Ok(Admitted { caller, pass, rate })
    }

    async fn take_quota(&self, pass: &Pass, now: Ticks) -> Result<(), ErrorResponse> {
        let Some(calls_max) = pass.subscription.daily_quota.or(self.settings.quota_per_day) else {
            return Ok(());
        };
        let mut quota = pass.meter.take_quota(calls_max, now);
        if quota == Quota::Unknown {
            let told = self.store.calls_on_day(&pass.subscription.id, now.day()).await;
            pass.meter.learn_quota(told.map_err(|error| refusal::store(&error))?, now);
            quota = pass.meter.take_quota(calls_max, now);
        }
        if quota == Quota::Within { Ok(()) } else { Err(refusal::quota_used_up(now)) }
    }
}

/// The subscription key: the header's, or the query's where there is no such header.
fn key(request: &Parts) -> Result<Option<Cow<'_, str>>, ErrorResponse> {
    let given = match request.headers.get(&KEY_HEADER) {
        // Bytes that are no text were sent all the same; as text they are nobody's key.
        Some(value) => Some(text(value.as_bytes())),
        None => Query::of(&request.uri).one(KEY_QUERY)?.map(|key| Cow::Owned(key.to_owned())),
    };
    Ok(given.filter(|key| !key.is_empty()))
}

/// The token, where something was sent that could be one.
fn bearer(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let line = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = line.split_at_checked(BEARER.len())?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(BEARER) && !token.is_empty()).then(|| text(token))
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
