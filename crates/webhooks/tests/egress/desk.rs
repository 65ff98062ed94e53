//! Who calls: an egress that may dial this machine, and names that mean what the story says.

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
use webhooks::egress::{Answer, Call, Egress, EgressSettings, Failure, Resolve, Sent};

/// Long enough for a slow machine; no story waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// For stories that are about time running out.
pub(crate) const SHORT: Duration = Duration::from_millis(200);

/// Answers in turn; the last one stays. A name without answers does not exist.
#[derive(Clone, Default)]
pub(crate) struct Script(Arc<Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>>);

impl Script {
    pub(crate) fn says(self, name: &str, addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.0.lock().entry(name.to_owned()).or_default().push_back(addresses);
        self
    }
}

#[async_trait]
impl Resolve for Script {
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

pub(crate) fn egress_with(script: Script) -> Egress {
    Egress::with_resolver(local(), Arc::new(script)).unwrap()
}

pub(crate) fn url(text: &str) -> Arc<ReceiverUrl> {
    Arc::new(ReceiverUrl::parse(text, true).unwrap())
}

/// A POST with a small body.
pub(crate) fn call(address: &str) -> Call {
    Call {
        url: url(address),
        method: Method::POST,
        query: None,
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{\"hello\":\"receiver\"}"),
        deadline: PATIENCE,
        now: Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
    }
}

/// A POST whose deadline is the story.
pub(crate) fn short_call(address: &str) -> Call {
    Call { deadline: SHORT, ..call(address) }
}

pub(crate) async fn answered(egress: &Egress, call: Call) -> Answer {
    let sent = egress.send(call).await;
    sent.result.unwrap_or_else(|failure| panic!("{failure}; {:?}", sent.timing))
}

pub(crate) async fn failed(egress: &Egress, call: Call) -> Failure {
    match egress.send(call).await {
        Sent { result: Err(failure), .. } => failure,
        Sent { result: Ok(answer), .. } => panic!("was answered: {answer:?}"),
    }
}
