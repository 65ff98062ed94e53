//! The receiver itself: answers handshakes, verifies, tells, and answers events as it was told to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aldaba_client::receiver::{
    BODY_BYTES_MAX, Event, Notification, SignatureMismatch, SignatureScheme, Verifier,
};
use aldaba_client::{Guid, HttpTransport, Transport as _, TransportError};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderValue, SET_COOKIE, TRANSFER_ENCODING};
use axum::http::request::Parts;
use axum::http::{Method, Response, StatusCode, Uri};
use serde_json::{Value, json};

use super::memory::Memory;
use super::printer::{Printer, Tone};
use crate::commands::verify::shown;
use crate::output::say;

/// Past this, attempts are counted anew.
const COUNTED_MAX: usize = 10_000;

/// How events are answered.
pub(super) struct Manner {
    pub(super) forward: Option<(Uri, HttpTransport)>,
    pub(super) status: u16,
    pub(super) delay: Option<Duration>,
    pub(super) cookie: bool,
}

pub(super) struct Desk {
    printer: Printer,
    verifier: Option<Verifier>,
    manner: Manner,
    memory: Arc<Memory>,
    attempts: Mutex<HashMap<Guid, u32>>,
}

type Answer = Response<Bytes>;

impl Desk {
    pub(super) fn new(
        printer: Printer,
        verifier: Option<Verifier>,
        manner: Manner,
        memory: Arc<Memory>,
    ) -> Arc<Self> {
        Arc::new(Self { printer, verifier, manner, memory, attempts: Mutex::default() })
    }

    pub(super) fn router(self: Arc<Self>) -> Router {
        Router::new().fallback(receive).with_state(self)
    }

    async fn take(&self, request: Request) -> Answer {
        let (parts, body) = request.into_parts();
        match parts.method {
            Method::GET => return self.echo(parts.uri.query().unwrap_or_default()),
            Method::POST => {}
            _ => return plain(StatusCode::METHOD_NOT_ALLOWED, "Deliveries are posted here."),
        }
        let Ok(body) = axum::body::to_bytes(body, BODY_BYTES_MAX).await else {
            let why = format!("a body that was cut off, or has more than {BODY_BYTES_MAX} bytes");
            return self.refuse("unreadable", StatusCode::PAYLOAD_TOO_LARGE, json!({"reason": why}), &why);
        };
        let signature = match self.verifier.as_ref().map(|verifier| verifier.verify(&parts.headers, &body)) {
            Some(Err(mismatch)) => return self.mismatch(&mismatch, &body),
            Some(Ok(scheme)) => Some(scheme),
            None => None,
        };
        match Notification::parse(&parts.headers, &body) {
            Ok(Notification::Event(event)) => self.event(parts, body, &event, signature).await,
            Ok(Notification::Acknowledge { webhook_id }) => {
                let data = json!({"webhookId": webhook_id, "signature": checked(signature), "answered": 200});
                let text = format!("200  webhook {webhook_id}  {}", said(signature));
                self.printer.tell("acknowledge", Tone::Good, data, &text);
                plain(StatusCode::OK, "")
            }
            Ok(_) => plain(StatusCode::OK, ""),
            Err(misread) => {
                let data = json!({"reason": misread.to_string(), "body": String::from_utf8_lossy(&body)});
                self.refuse("unreadable", StatusCode::BAD_REQUEST, data, &misread.to_string())
            }
        }
    }

    /// Invoicing's handshake. Nothing but a GUID is echoed.
    fn echo(&self, query: &str) -> Answer {
        let asked = query.split('&').find_map(|pair| pair.strip_prefix("echo=")).and_then(Guid::parse);
        let Some(guid) = asked else {
            return plain(StatusCode::BAD_REQUEST, "A GET is answered only with the query echo=<GUID>.");
        };
        self.printer.tell(
            "echo",
            Tone::Good,
            json!({"echo": guid, "answered": 200}),
            &format!("200  {guid}"),
        );
        plain(StatusCode::OK, &guid.to_string())
    }

    fn mismatch(&self, mismatch: &SignatureMismatch, body: &[u8]) -> Answer {
        let reasons: Vec<Value> = mismatch.reasons.iter().map(shown).collect();
        let data = json!({
            "signature": {"valid": false, "header": mismatch.scheme.header(), "reasons": reasons},
            "body": String::from_utf8_lossy(body),
        });
        self.refuse("refused", StatusCode::UNAUTHORIZED, data, &mismatch.to_string())
    }

    fn refuse(&self, what: &str, status: StatusCode, mut data: Value, why: &str) -> Answer {
        data["answered"] = json!(status.as_u16());
        self.printer.tell(what, Tone::Bad, data, &format!("{}  {why}", status.as_u16()));
        plain(status, "It was refused.")
    }

    async fn event(
        &self,
        parts: Parts,
        body: Bytes,
        event: &Event,
        signature: Option<SignatureScheme>,
    ) -> Answer {
        let attempt = self.attempt(event);
        let text = String::from_utf8_lossy(&body).into_owned();
        let (answer, trouble) = self.answer(parts, body).await;
        let status = answer.status().as_u16();
        let mut data = described(event);
        data["attempt"] = json!(attempt);
        data["signature"] = checked(signature);
        data["answered"] = json!(status);
        data["body"] = json!(text);
        if let Some(trouble) = &trouble {
            data["trouble"] = json!(trouble);
        }
        let again = if attempt > 1 { format!("  attempt {attempt}") } else { String::new() };
        let trouble = trouble.map(|trouble| format!("  {trouble}")).unwrap_or_default();
        let tone = if answer.status().is_success() && !self.manner.cookie { Tone::Good } else { Tone::Odd };
        let line = format!("{status}  {}{again}  {}{trouble}", sentence(&data), said(signature));
        self.printer.tell("event", tone, data, &line);
        if attempt == 1
            && let Err(failure) = self.memory.saw(event)
        {
            say(&format!("aldaba: it cannot be remembered: {}", failure.message()));
        }
        answer
    }

    /// How often this event has come so far.
    fn attempt(&self, event: &Event) -> u32 {
        let Some(id) = event.outgoing_id() else { return 1 };
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        if attempts.len() > COUNTED_MAX {
            attempts.clear();
        }
        let count = attempts.entry(id).or_default();
        *count += 1;
        *count
    }

    async fn answer(&self, parts: Parts, body: Bytes) -> (Answer, Option<String>) {
        if let Some(delay) = self.manner.delay {
            tokio::time::sleep(delay).await;
        }
        let (mut answer, trouble) = match &self.manner.forward {
            Some((to, transport)) => forwarded(to, transport, parts, body).await,
            None => (plain(StatusCode::from_u16(self.manner.status).unwrap_or(StatusCode::OK), ""), None),
        };
        if self.manner.cookie {
            answer.headers_mut().append(SET_COOKIE, HeaderValue::from_static("aldaba=listen"));
        }
        (answer, trouble)
    }
}

/// On its own, so that it is told to its end although the service hangs up.
async fn receive(State(desk): State<Arc<Desk>>, request: Request) -> Response<Body> {
    let taken = tokio::spawn(async move { desk.take(request).await }).await;
    taken.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "")).map(Body::from)
}

/// What the target answers, or 502 and why.
async fn forwarded(
    to: &Uri,
    transport: &HttpTransport,
    parts: Parts,
    body: Bytes,
) -> (Answer, Option<String>) {
    let mut request = axum::http::Request::new(body);
    *request.method_mut() = parts.method;
    *request.uri_mut() = to.clone();
    *request.headers_mut() = parts.headers;
    for of_the_hop in [HOST, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
        request.headers_mut().remove(of_the_hop);
    }
    match transport.send(request).await {
        Ok(mut answer) => {
            for of_the_hop in [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
                answer.headers_mut().remove(of_the_hop);
            }
            (answer, None)
        }
        Err(fault) => {
            let why = match fault {
                TransportError::Unreachable(why) => why,
                TransportError::TimedOut(after) => format!("no answer within {} s", after.as_secs()),
                TransportError::TooLarge { bytes_max } => format!("an answer of more than {bytes_max} bytes"),
            };
            (plain(StatusCode::BAD_GATEWAY, ""), Some(format!("{to}: {why}")))
        }
    }
}

/// The members that an event has in common with what the feed tells.
fn described(event: &Event) -> Value {
    match event {
        Event::Accounting(change) => json!({
            "event": change.event.semantic_name, "company": change.company, "record": change.correlation_id,
            "sequenceVersion": change.sequence_version.to_string(), "outgoingId": change.outgoing_id,
            "webhookId": change.webhook_id, "tenant": change.tenant_id, "user": change.user_name,
            "isTest": event.is_test(),
        }),
        Event::Invoicing(change) => json!({
            "event": change.entity, "record": change.entity_id, "outgoingId": change.outgoing_id,
            "tenant": change.tenant_id, "user": change.user, "isTest": event.is_test(),
        }),
    }
}

/// The same for people.
pub(super) fn sentence(data: &Value) -> String {
    let text = |name: &str| data[name].as_str().filter(|text| !text.is_empty());
    let mut words = text("event").unwrap_or_default().to_owned();
    for (before, name) in [("record ", "record"), ("company ", "company"), ("#", "sequenceVersion")] {
        if let Some(value) = text(name) {
            words.push_str("  ");
            words.push_str(before);
            words.push_str(value);
        }
    }
    words
}

fn checked(signature: Option<SignatureScheme>) -> Value {
    signature.map_or(Value::Null, |scheme| json!({"valid": true, "header": scheme.header()}))
}

fn said(signature: Option<SignatureScheme>) -> &'static str {
    if signature.is_some() { "signature valid" } else { "signature not checked" }
}

fn plain(status: StatusCode, text: &str) -> Answer {
    let mut answer = Response::new(Bytes::copy_from_slice(text.as_bytes()));
    *answer.status_mut() = status;
    answer
}
