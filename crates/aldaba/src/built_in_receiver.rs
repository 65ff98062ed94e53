//! The built-in receiver of sandboxes: a transport in process. It answers the webhooks of a sandbox tenant at the address of
//! that sandbox's receiver, and sends everything else out through the egress. Nothing is ever dialled at such an address.

use std::sync::Arc;

use aldaba_client::receiver::{Event, Notification};
use async_trait::async_trait;
use axum::http::{HeaderName, HeaderValue};
use domain::Clock;
use store::{AttemptTiming, ReceivedRequest, ReceiverMode, Sandbox, Store, Webhook};
use tokio::time::{Instant, sleep, timeout};
use webhooks::egress::{EgressError, Exchange, MaySend, OutboundRequest, Phase, ReceiverResponse};
use webhooks::engine::Transport;
use webhooks::{AddressedReceiver, ReceiverAddresses};

use crate::signature_check::{SignatureCheck, check_signature, secrets_of};

/// Longer bodies are cut where they are kept.
const BODY_CHARS_MAX: usize = 64 * 1024;

pub(crate) struct BuiltInReceiver<T> {
    pub(crate) outside: T,
    pub(crate) addresses: ReceiverAddresses,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Whether sandboxes are open.
    pub(crate) is_open: bool,
}

#[async_trait]
impl<T: Transport> Transport for BuiltInReceiver<T> {
    async fn send(&self, request: OutboundRequest, may_send: &MaySend<'_>) -> Exchange {
        let AddressedReceiver::BuiltIn(receiver) = self.addresses.receiver_of(&request.url) else {
            return self.outside.send(request, may_send).await;
        };
        if !may_send() {
            return Exchange::failed(EgressError::NotAllowed);
        }
        let started = Instant::now();
        let timed_out = Err(EgressError::TimedOut(Phase::Response));
        let result = timeout(request.timeout, self.receive(receiver, &request)).await.unwrap_or(timed_out);
        let total = started.elapsed();
        Exchange {
            result,
            timing: AttemptTiming { wait: total, total, ..AttemptTiming::default() },
            reused: false,
        }
    }
}

/// What the receiver makes of a request.
struct Verdict {
    event: String,
    signature: SignatureCheck,
    /// The text that an echo handshake wants back.
    echo: Option<String>,
}

impl<T: Transport> BuiltInReceiver<T> {
    async fn receive(
        &self,
        receiver: Option<domain::Guid>,
        request: &OutboundRequest,
    ) -> Result<ReceiverResponse, EgressError> {
        let internal = |error: store::StoreError| EgressError::Internal(error.to_string());
        let Some(webhook) = request.webhook else { return Err(foreign()) };
        let webhook = self.store.find_webhook(webhook).await.map_err(internal)?;
        let sandbox = match receiver.filter(|_| self.is_open) {
            Some(id) => self.store.find_sandbox_by_receiver(id).await.map_err(internal)?,
            None => None,
        };
        let is_own = |webhook: &Webhook, sandbox: &Sandbox| webhook.owner.tenant == sandbox.tenant;
        let (Some(webhook), Some(sandbox)) = (webhook, sandbox) else { return Err(foreign()) };
        if !is_own(&webhook, &sandbox) {
            return Err(foreign());
        }
        let verdict = self.judge(webhook, request);
        let status = match (sandbox.receiver_mode, &verdict.signature) {
            (ReceiverMode::Fail, _) => Some(500),
            (ReceiverMode::Hang, _) => None,
            (ReceiverMode::Refuse, _) => Some(410),
            (ReceiverMode::Accept, SignatureCheck::Wrong(_)) => Some(401),
            (ReceiverMode::Accept, _) => Some(200),
        };
        let body = verdict.echo.clone().filter(|_| status == Some(200)).unwrap_or_default();
        let kept = self.kept(request, verdict, status);
        self.store.add_received_request(&sandbox.team, &sandbox.tenant, &kept).await.map_err(internal)?;
        let Some(status) = status else {
            sleep(request.timeout).await;
            return Err(EgressError::TimedOut(Phase::Response));
        };
        Ok(ReceiverResponse { status, sets_cookie: false, retry_after: None, body: body.into() })
    }

    fn judge(&self, webhook: Webhook, request: &OutboundRequest) -> Verdict {
        let query = request.query.as_deref().unwrap_or_default();
        if let Some(echo) = query.strip_prefix("echo=").filter(|_| request.method == "GET") {
            // The GET of the echo handshake has no signature.
            return Verdict {
                event: "echo".into(),
                signature: SignatureCheck::Missing,
                echo: Some(echo.to_owned()),
            };
        }
        let now = self.clock.now();
        let signature = check_signature(&request.headers, &request.body, secrets_of(webhook, now), now);
        let signature = match signature {
            SignatureCheck::Missing => SignatureCheck::Wrong("the delivery has no signature".into()),
            other => other,
        };
        let event = match Notification::parse(&request.headers, &request.body) {
            Ok(Notification::Acknowledge { .. }) => "Acknowledge".to_owned(),
            Ok(Notification::Event(Event::Accounting(change))) => change.event.event_type(),
            Ok(Notification::Event(Event::Invoicing(change))) => change.entity.clone(),
            _ => "no notification".to_owned(),
        };
        Verdict { event, signature, echo: None }
    }

    fn kept(&self, request: &OutboundRequest, verdict: Verdict, status: Option<u16>) -> ReceivedRequest {
        let (verified, problem) = match verdict.signature {
            SignatureCheck::Valid(headers) => {
                (headers.into_iter().map(str::to_owned).collect(), String::new())
            }
            SignatureCheck::Missing => (Vec::new(), String::new()),
            SignatureCheck::Wrong(why) => (Vec::new(), why),
        };
        let header = |(name, value): (&HeaderName, &HeaderValue)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let path = request.url.path_and_query();
        let query = request.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        let body = String::from_utf8_lossy(&request.body);
        ReceivedRequest {
            number: 0,
            at: self.clock.now(),
            webhook: request.webhook,
            event: verdict.event,
            method: request.method.to_string(),
            target: format!("{path}{query}"),
            headers: request.headers.iter().map(header).collect(),
            body: body.chars().filter(|char| *char != '\0').take(BODY_CHARS_MAX).collect(),
            verified,
            problem,
            status,
        }
    }
}

/// A webhook of another tenant has the address of a built-in receiver.
fn foreign() -> EgressError {
    let why = "it is the address of the built-in receivers, and only webhooks of a sandbox can use the receiver of that sandbox";
    EgressError::InvalidUrl(why.into())
}
