//! One delivery attempt: what it sends and to which receiver. Builds and signs the request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use domain::envelope::EnvelopeContext;
use domain::event::EventKind;
use domain::log_entry::LogEntry;
use domain::outgoing_id::IdKey;
use domain::receiver_url::ReceiverUrl;
use domain::signature::{
    ACCOUNTING_HEADER, INVOICING_HEADER, STANDARD_ID, STANDARD_SIGNATURE, STANDARD_TIMESTAMP, Signer,
};
use domain::webhook::Family;
use domain::{Guid, Secret, Ticks, WebhookId};
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use parking_lot::Mutex;
use store::{LogEvent, PreviousSecret, Webhook};

use super::classify::Expected;
use crate::egress::{EgressError, OutboundRequest};

/// The headers of a signed request and those that the egress adds.
const HEADERS_MAX: usize = 12;

/// A receiver: its address, the secrets that sign for it, and the parts of the body that are the same in every delivery.
#[derive(Debug)]
pub struct Target {
    pub url: String,
    envelope_context: EnvelopeContext,
    secret: Secret,
    previous_secret: Option<PreviousSecret>,
    id_key: [u8; 32],
    /// Computed at the first attempt and dropped when the webhook has nothing in flight, which is most of the time.
    prepared: Mutex<Option<Arc<PreparedTarget>>>,
    /// How often attempts were withdrawn: those that were decided before are not sent any more.
    withdrawals: AtomicU64,
}

#[derive(Debug)]
struct PreparedTarget {
    /// The parsed address; the error says why it cannot be called.
    url: Result<Arc<ReceiverUrl>, String>,
    ids: IdKey,
    signer: Signer,
    /// Signs with both secrets while the old one is still valid.
    overlap_signer: Option<Signer>,
}

#[derive(Clone, Debug)]
pub struct Attempt {
    pub target: Arc<Target>,
    pub(crate) kind: AttemptKind,
    /// The target's withdrawals when it was decided.
    withdrawals: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum AttemptKind {
    Event(Arc<LogEvent>),
    Handshake {
        number: u32,
        at: Ticks,
    },
    /// A made-up event with which an owner tests the receiver.
    Test {
        number: i64,
        at: Ticks,
        kind: EventKind,
    },
}

impl Target {
    pub(crate) fn new(webhook: &Webhook, id_key: [u8; 32]) -> Self {
        Self {
            url: webhook.url.clone(),
            envelope_context: EnvelopeContext {
                webhook: webhook.id,
                tenant: webhook.owner.tenant.clone(),
                user: webhook.user.clone(),
                resource: webhook.resource,
            },
            secret: webhook.secret.clone(),
            previous_secret: webhook.previous_secret.clone(),
            id_key,
            prepared: Mutex::default(),
            withdrawals: AtomicU64::new(0),
        }
    }

    /// The webhook has changed, is suspended or is no longer this node's: attempts that were decided and not yet sent are not
    /// sent any more.
    pub(crate) fn withdraw(&self) {
        self.withdrawals.fetch_add(1, Ordering::AcqRel);
    }

    pub fn webhook(&self) -> WebhookId {
        self.envelope_context.webhook
    }

    pub fn family(&self) -> Family {
        Family::of(self.envelope_context.resource)
    }

    /// The receiver's host, with its port unless that is the default one.
    pub(crate) fn host(&self) -> Box<str> {
        self.prepared().url.as_ref().map_or_else(|_| self.url.as_str().into(), |url| url.authority().into())
    }

    fn prepared(&self) -> Arc<PreparedTarget> {
        self.prepared.lock().get_or_insert_with(|| Arc::new(self.prepare())).clone()
    }

    fn prepare(&self) -> PreparedTarget {
        PreparedTarget {
            // The egress decides whether a loopback address may be called.
            url: ReceiverUrl::parse(&self.url, true).map(Arc::new),
            ids: IdKey::new(&self.id_key),
            signer: Signer::new(&self.secret, None),
            overlap_signer: self
                .previous_secret
                .as_ref()
                .map(|old| Signer::new(&self.secret, Some(&old.secret))),
        }
    }

    pub(crate) fn release_prepared(&self) {
        *self.prepared.lock() = None;
    }

    /// The signer with both secrets until the old one expires.
    fn signer<'a>(&self, prepared: &'a PreparedTarget, now: Ticks) -> &'a Signer {
        let is_old_valid = self.previous_secret.as_ref().is_some_and(|old| now < old.until);
        prepared.overlap_signer.as_ref().filter(|_| is_old_valid).unwrap_or(&prepared.signer)
    }

    fn test_entry(&self, ids: &IdKey, number: i64, at: Ticks, kind: EventKind) -> LogEntry {
        let resource = self.envelope_context.resource;
        let id = ids.handshake_id(u32::try_from(number).unwrap_or(u32::MAX), at);
        LogEntry {
            sequence: 0,
            resource,
            kind,
            company: Guid::from_bytes([0; 16]).to_string().into(),
            correlation_id: Guid::from_bytes([0; 16]).to_string().into(),
            version: at,
            conversation: id,
            process: Guid::from_bytes([0; 16]),
            user: "test".into(),
            source_interface: "Aldaba".into(),
            source_action: "Test".into(),
            changes: None,
            envelope: domain::envelope::ENVELOPE_VERSION,
        }
    }
}

impl Attempt {
    pub(crate) fn new(target: &Arc<Target>, kind: AttemptKind) -> Self {
        Self { target: target.clone(), kind, withdrawals: target.withdrawals.load(Ordering::Acquire) }
    }

    /// Whether the webhook is as it was when the attempt was decided.
    pub(crate) fn is_current(&self) -> bool {
        self.withdrawals == self.target.withdrawals.load(Ordering::Acquire)
    }

    /// The signed request. Every attempt of the same event or handshake has the same body and id; only the headers that
    /// depend on `now` differ.
    pub fn sign(&self, now: Ticks, timeout: Duration) -> Result<OutboundRequest, EgressError> {
        let target = &*self.target;
        let prepared = target.prepared();
        let url = prepared.url.clone().map_err(EgressError::InvalidUrl)?;
        let ids = &prepared.ids;
        let (id, body) = match &self.kind {
            AttemptKind::Event(event) => {
                let id = ids.event_id(event.entry.sequence, event.entry.conversation);
                (id, target.envelope_context.notification(id, &event.entry))
            }
            AttemptKind::Handshake { number, at } => {
                let id = ids.handshake_id(*number, *at);
                if target.family() == Family::Invoicing {
                    return Ok(echo_request(target.webhook(), url, id, now, timeout));
                }
                let conversation = ids.handshake_conversation_id(*number, *at);
                (id, target.envelope_context.acknowledge(id, conversation, *at))
            }
            AttemptKind::Test { number, at, kind } => {
                let entry = target.test_entry(ids, *number, *at, *kind);
                (entry.conversation, target.envelope_context.notification(entry.conversation, &entry))
            }
        };
        let headers = signed_headers(target.family(), target.signer(&prepared, now), id, now, &body);
        let body = Bytes::from(body);
        let webhook = Some(target.webhook());
        Ok(OutboundRequest { webhook, url, method: Method::POST, query: None, headers, body, timeout, now })
    }

    /// The sequence number of the event that it delivers; `None` for handshakes and tests.
    pub fn sequence(&self) -> Option<u64> {
        match &self.kind {
            AttemptKind::Event(event) => Some(event.entry.sequence),
            AttemptKind::Handshake { .. } | AttemptKind::Test { .. } => None,
        }
    }

    /// The number of the handshake that it sends.
    pub fn handshake(&self) -> Option<u32> {
        match &self.kind {
            AttemptKind::Handshake { number, .. } => Some(*number),
            AttemptKind::Event(_) | AttemptKind::Test { .. } => None,
        }
    }

    /// Which response counts as success.
    pub(crate) fn expected(&self) -> Expected {
        match (&self.kind, self.target.family()) {
            (AttemptKind::Handshake { .. }, Family::Accounting) => Expected::Acknowledge,
            (AttemptKind::Handshake { number, at }, Family::Invoicing) => {
                Expected::Echo(self.target.prepared().ids.handshake_id(*number, *at).to_string())
            }
            _ => Expected::Delivery,
        }
    }
}

/// The handshake of the invoicing family: an unsigned GET whose query the receiver echoes.
fn echo_request(
    webhook: WebhookId,
    url: Arc<ReceiverUrl>,
    id: Guid,
    now: Ticks,
    timeout: Duration,
) -> OutboundRequest {
    OutboundRequest {
        webhook: Some(webhook),
        url,
        method: Method::GET,
        query: Some(format!("echo={id}")),
        headers: HeaderMap::with_capacity(HEADERS_MAX),
        body: Bytes::new(),
        timeout,
        now,
    }
}

/// The contract's signature header beside those of Standard Webhooks.
fn signed_headers(family: Family, signer: &Signer, id: Guid, now: Ticks, body: &str) -> HeaderMap {
    let contract_header = match family {
        Family::Accounting => ACCOUNTING_HEADER,
        Family::Invoicing => INVOICING_HEADER,
    };
    let (id, timestamp) = (id.to_string(), now.unix_seconds().to_string());
    let mut headers = HeaderMap::with_capacity(HEADERS_MAX);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    for (name, value) in [
        (contract_header, signer.contract_signature(body.as_bytes())),
        (STANDARD_SIGNATURE, signer.standard_signature(&id, &timestamp, body.as_bytes())),
        (STANDARD_ID, id),
        (STANDARD_TIMESTAMP, timestamp),
    ] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    headers
}
