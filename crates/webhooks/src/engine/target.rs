//! Where a delivery goes and what it says: the receiver's address, the secrets, and the parts of the body that never
//! change.

use std::sync::Arc;

use domain::envelope::EnvelopeContext;
use domain::event::EventKind;
use domain::log_entry::LogEntry;
use domain::outgoing_id::IdKey;
use domain::receiver_url::ReceiverUrl;
use domain::signature::Signer;
use domain::webhook::Family;
use domain::{Guid, Secret, Ticks, WebhookId};
use parking_lot::Mutex;
use store::{LogEvent, PreviousSecret, Webhook};

use super::judge::Wanted;

/// What an address is told, for as long as neither it nor the secret changes.
#[derive(Debug)]
pub struct Target {
    pub url: String,
    envelope_context: EnvelopeContext,
    secret: Secret,
    previous_secret: Option<PreviousSecret>,
    id_key: [u8; 32],
    /// Made when it is needed, and let go when the webhook rests, as most do most of the time.
    prepared: Mutex<Option<Arc<Prepared>>>,
}

#[derive(Debug)]
struct Prepared {
    /// The address as it is called; the error says why it cannot be.
    receiver: Result<Arc<ReceiverUrl>, String>,
    ids: IdKey,
    current: Signer,
    /// While the old secret counts.
    with_old: Option<Signer>,
}

/// One attempt: what is sent, and where.
#[derive(Clone, Debug)]
pub struct Knock {
    pub target: Arc<Target>,
    pub(crate) job: Job,
}

#[derive(Clone, Debug)]
pub(crate) enum Job {
    LogEvent(Arc<LogEvent>),
    Handshake {
        number: u32,
        at: Ticks,
    },
    /// An event that never happened, so that a receiver can be tried.
    Test {
        number: i64,
        at: Ticks,
    },
}

/// What goes over the wire.
#[derive(Clone, Debug)]
pub struct Letter {
    /// The query `echo=…` of a GET; none: a POST of the body.
    pub echo: Option<String>,
    pub id: String,
    pub timestamp: String,
    /// The contract's signature header, and Standard Webhooks' signatures.
    pub signature: (&'static str, String),
    pub standard_signature: String,
    pub body: String,
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
        }
    }

    pub fn webhook(&self) -> WebhookId {
        self.envelope_context.webhook
    }

    pub fn family(&self) -> Family {
        Family::of(self.envelope_context.resource)
    }

    fn prepared(&self) -> Arc<Prepared> {
        self.prepared.lock().get_or_insert_with(|| Arc::new(self.prepare())).clone()
    }

    fn prepare(&self) -> Prepared {
        Prepared {
            // Whether a loopback address may be called is the egress's to say.
            receiver: ReceiverUrl::parse(&self.url, true).map(Arc::new),
            ids: IdKey::new(&self.id_key),
            current: Signer::new(&self.secret, None),
            with_old: self.previous_secret.as_ref().map(|old| Signer::new(&self.secret, Some(&old.secret))),
        }
    }

    /// Nothing is to be sent for now.
    pub(crate) fn rest(&self) {
        *self.prepared.lock() = None;
    }

    pub(crate) fn receiver(&self) -> Result<Arc<ReceiverUrl>, String> {
        self.prepared().receiver.clone()
    }

    /// Both secrets sign until the old one's time is over.
    fn signer<'a>(&self, prepared: &'a Prepared, now: Ticks) -> &'a Signer {
        let old_counts = self.previous_secret.as_ref().is_some_and(|old| now < old.until);
        prepared.with_old.as_ref().filter(|_| old_counts).unwrap_or(&prepared.current)
    }

    fn made_up(&self, number: i64, at: Ticks) -> LogEntry {
        let resource = self.envelope_context.resource;
        let kind = resource.event_kinds().first().copied().unwrap_or(EventKind::Updated);
        let id = self.prepared().ids.handshake_id(u32::try_from(number).unwrap_or(u32::MAX), at);
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

impl Knock {
    /// The same for every attempt, but for the headers that carry its time.
    pub fn letter(&self, now: Ticks) -> Letter {
        let target = &*self.target;
        let prepared = target.prepared();
        let ids = &prepared.ids;
        let (id, body, echo) = match &self.job {
            Job::LogEvent(event) => {
                let id = ids.event_id(event.entry.sequence, event.entry.conversation);
                (id, target.envelope_context.notification(id, &event.entry), None)
            }
            Job::Handshake { number, at } => {
                let id = ids.handshake_id(*number, *at);
                match target.family() {
                    Family::Invoicing => (id, String::new(), Some(format!("echo={id}"))),
                    Family::Accounting => {
                        let conversation = ids.handshake_conversation_id(*number, *at);
                        (id, target.envelope_context.acknowledge(id, conversation, *at), None)
                    }
                }
            }
            Job::Test { number, at } => {
                let entry = target.made_up(*number, *at);
                (entry.conversation, target.envelope_context.notification(entry.conversation, &entry), None)
            }
        };
        let header = match target.family() {
            Family::Accounting => domain::signature::ACCOUNTING_HEADER,
            Family::Invoicing => domain::signature::INVOICING_HEADER,
        };
        let signer = target.signer(&prepared, now);
        let (id, timestamp) = (id.to_string(), now.unix_seconds().to_string());
        Letter {
            echo,
            signature: (header, signer.contract_signature(body.as_bytes())),
            standard_signature: signer.standard_signature(&id, &timestamp, body.as_bytes()),
            id,
            timestamp,
            body,
        }
    }

    /// The number of the event that it tells of; none for handshakes and tests.
    pub fn sequence(&self) -> Option<u64> {
        match &self.job {
            Job::LogEvent(event) => Some(event.entry.sequence),
            Job::Handshake { .. } | Job::Test { .. } => None,
        }
    }

    /// The number of the handshake that it is.
    pub fn handshake(&self) -> Option<u32> {
        match &self.job {
            Job::Handshake { number, .. } => Some(*number),
            Job::LogEvent(_) | Job::Test { .. } => None,
        }
    }

    /// What the answer has to be.
    pub(crate) fn wanted(&self) -> Wanted {
        match (&self.job, self.target.family()) {
            (Job::Handshake { .. }, Family::Accounting) => Wanted::Acknowledge,
            (Job::Handshake { number, at }, Family::Invoicing) => {
                Wanted::Echo(self.target.prepared().ids.handshake_id(*number, *at).to_string())
            }
            _ => Wanted::Delivery,
        }
    }
}
