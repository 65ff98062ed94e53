//! An egress that may dial loopback addresses, a scripted resolver, and requests to send.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use domain::Ticks;
use domain::egress::EgressPolicy;
use domain::receiver_url::ReceiverUrl;
use http::{HeaderMap, Method};
use parking_lot::Mutex;
use webhooks::egress::{
    Egress, EgressError, EgressSettings, Exchange, OutboundRequest, ReceiverResponse, Resolver,
};

/// Long enough for a slow machine; no test waits for it to end.
pub(crate) const LONG_TIMEOUT: Duration = Duration::from_secs(10);
/// For tests in which the timeout must end.
pub(crate) const SHORT_TIMEOUT: Duration = Duration::from_millis(200);

/// Returns the addresses of a name in turn; the last ones stay. A name without addresses does not exist.
#[derive(Clone, Default)]
pub(crate) struct ScriptedResolver(Arc<Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>>);

impl ScriptedResolver {
    pub(crate) fn with(self, name: &str, addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.0.lock().entry(name.to_owned()).or_default().push_back(addresses);
        self
    }
}

#[async_trait]
impl Resolver for ScriptedResolver {
    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, String> {
        let mut names = self.0.lock();
        let answers = names.get_mut(name).ok_or("there is no such name")?;
        Ok(if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() })
    }
}

pub(crate) fn local() -> EgressSettings {
    EgressSettings { policy: EgressPolicy { loopback: true, allow: Vec::new() }, ..EgressSettings::default() }
}

pub(crate) fn egress() -> Egress {
    Egress::new(local()).unwrap()
}

pub(crate) fn egress_with(script: ScriptedResolver) -> Egress {
    Egress::with_resolver(local(), Arc::new(script)).unwrap()
}

pub(crate) fn url(text: &str) -> Arc<ReceiverUrl> {
    Arc::new(ReceiverUrl::parse(text, true).unwrap())
}

/// A POST with a small body.
pub(crate) fn request(address: &str) -> OutboundRequest {
    OutboundRequest {
        webhook: Some(domain::Guid::from_bytes([0; 16])),
        url: url(address),
        method: Method::POST,
        query: None,
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{\"hello\":\"receiver\"}"),
        timeout: LONG_TIMEOUT,
        now: Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
    }
}

/// A POST that is expected to time out.
pub(crate) fn short_request(address: &str) -> OutboundRequest {
    OutboundRequest { timeout: SHORT_TIMEOUT, ..request(address) }
}

pub(crate) async fn response_to(egress: &Egress, request: OutboundRequest) -> ReceiverResponse {
    let exchange = egress.send(request).await;
    exchange.result.unwrap_or_else(|error| panic!("{error}; {:?}", exchange.timing))
}

pub(crate) async fn error_of(egress: &Egress, request: OutboundRequest) -> EgressError {
    match egress.send(request).await {
        Exchange { result: Err(error), .. } => error,
        Exchange { result: Ok(answer), .. } => panic!("was answered: {answer:?}"),
    }
}
