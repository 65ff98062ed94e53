//! The gate: one layer that every call passes. Key, then token, then scope, then limit; what comes out is
//! a `Caller`, or a refusal.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use domain::subscription::Product;
use domain::{Area, Caller, Scope};
use web::Refusal;

use crate::limit::Rate;
use crate::query::Query;
use crate::{Gateway, TokenRefusal, refusal};

const KEY_HEADER: &str = "ocp-apim-subscription-key";
const BEARER: &[u8] = b"bearer ";
const KEY_QUERY: &str = "subscription-key";

/// What an area asks of who calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    product: Product,
    pub(crate) scope: Scope,
}

impl Need {
    pub(crate) fn of(area: Area) -> Self {
        let (product, scope) = match area {
            Area::Accounting | Area::Import => (Product::Accounting, Scope::Accounting),
            Area::Core => (Product::Accounting, Scope::Core),
            Area::Payroll => (Product::Payroll, Scope::Payroll),
            Area::Invoicing => (Product::Invoicing, Scope::Webhooks),
        };
        Self { product, scope }
    }
}

/// The layer. What is behind it finds a `Caller` in the request.
pub(crate) async fn gate(
    State((gateway, need)): State<(Arc<Gateway>, Need)>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let (caller, rate) = match gateway.admit(need, &parts).await {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal.into_response(),
    };
    parts.extensions.insert(caller);
    let mut response = next.run(Request::from_parts(parts, body)).await;
    if let Some(rate) = rate {
        response.headers_mut().extend(refusal::rate_headers(rate));
    }
    response
}

impl Gateway {
    async fn admit(&self, need: Need, request: &Parts) -> Result<(Caller, Option<Rate>), Refusal> {
        let now = self.clock.now();
        let key = key(request)?.ok_or_else(refusal::missing_key)?;
        let found = self.keys.find(&key, now).await.map_err(|error| refusal::store(&error))?;
        let opens = |products: domain::subscription::Products| products.contains(need.product);
        let subscription = found.filter(|one| opens(one.products)).ok_or_else(refusal::invalid_key)?;
        let token = bearer(&request.headers).ok_or_else(refusal::missing_token)?;
        let caller = self.tokens.caller(&token).await.map_err(|error| match error {
            TokenRefusal::Invalid => refusal::invalid_token(),
            TokenRefusal::Unknown(error) => refusal::store(&error),
        })?;
        if !caller.scopes.has(need.scope) {
            return Err(refusal::insufficient_scope(need.scope));
        }
        let rate = self.limiter.take(&subscription.id, now);
        if let Some(rate) = rate
            && let Some(seconds) = rate.retry_after_seconds
        {
            return Err(refusal::rate_exceeded(rate, seconds));
        }
        Ok((caller, rate))
    }
}

/// The subscription key: the header's, or the query's where there is no such header.
fn key(request: &Parts) -> Result<Option<String>, Refusal> {
    let given = match request.headers.get(KEY_HEADER) {
        // Bytes that are no text were sent all the same; as text they are nobody's key.
        Some(value) => Some(String::from_utf8_lossy(value.as_bytes()).into_owned()),
        None => Query::of(&request.uri).one(KEY_QUERY)?.map(ToOwned::to_owned),
    };
    Ok(given.filter(|key| !key.is_empty()))
}

/// The token, where something was sent that could be one.
fn bearer(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let line = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = line.split_at_checked(BEARER.len())?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(BEARER) && !token.is_empty()).then(|| String::from_utf8_lossy(token))
}
