//! The receiver itself: answers handshakes, verifies, tells, and answers events as it was told to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aldaba_client::receiver::{BODY_BYTES_MAX, Event, Mismatch, Notification, Scheme, Verifier};
use aldaba_client::{Guid, HttpTransport, Transport as _, TransportFault};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderValue, SET_COOKIE, TRANSFER_ENCODING};
use axum::http::request::Parts;
use axum::http::{Method, Response, StatusCode, Uri};
use serde_json::{Value, json};

use super::printer::{Printer, Severity};
use super::state_file::ListenState;
use crate::commands::verify::reason_json;
use crate::output::say;

/// Past this, attempts are counted anew.
const COUNTED_IDS_MAX: usize = 10_000;

/// How events are answered.
pub(super) struct ResponseSettings {
    pub(super) forward: Option<(Uri, HttpTransport)>,
    pub(super) status: u16,
    pub(super) delay: Option<Duration>,
    pub(super) cookie: bool,
}

pub(super) struct Receiver {
    printer: Printer,
    verifier: Option<Verifier>,
    response_settings: ResponseSettings,
    state: Arc<ListenState>,
    attempts: Mutex<HashMap<Guid, u32>>,
}

type BytesResponse = Response<Bytes>;

impl Receiver {
    pub(super) fn new(
        printer: Printer,
        verifier: Option<Verifier>,
        response_settings: ResponseSettings,
        state: Arc<ListenState>,
    ) -> Arc<Self> {
        Arc::new(Self { printer, verifier, response_settings, state, attempts: Mutex::default() })
    }

    pub(super) fn router(self: Arc<Self>) -> Router {
        Router::new().fallback(receive).with_state(self)
    }

    async fn take(&self, request: Request) -> BytesResponse {
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
        match Notification::read(&parts.headers, &body) {
            Ok(Notification::Event(event)) => self.event(parts, body, &event, signature).await,
            Ok(Notification::Acknowledge { webhook_id }) => {
                let data =
                    json!({"webhookId": webhook_id, "signature": signature_json(signature), "answered": 200});
                let text = format!("200  webhook {webhook_id}  {}", signature_text(signature));
                self.printer.print_event("acknowledge", Severity::Success, data, &text);
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
    fn echo(&self, query: &str) -> BytesResponse {
        let asked = query.split('&').find_map(|pair| pair.strip_prefix("echo=")).and_then(Guid::parse);
        let Some(guid) = asked else {
            return plain(StatusCode::BAD_REQUEST, "A GET is answered only with the query echo=<GUID>.");
        };
        self.printer.print_event(
            "echo",
            Severity::Success,
            json!({"echo": guid, "answered": 200}),
            &format!("200  {guid}"),
        );
        plain(StatusCode::OK, &guid.to_string())
    }

    fn mismatch(&self, mismatch: &Mismatch, body: &[u8]) -> BytesResponse {
        let reasons: Vec<Value> = mismatch.reasons.iter().map(reason_json).collect();
        let data = json!({
            "signature": {"valid": false, "header": mismatch.scheme.header(), "reasons": reasons},
            "body": String::from_utf8_lossy(body),
        });
        self.refuse("refused", StatusCode::UNAUTHORIZED, data, &mismatch.to_string())
    }

    fn refuse(&self, what: &str, status: StatusCode, mut data: Value, why: &str) -> BytesResponse {
        data["answered"] = json!(status.as_u16());
        self.printer.print_event(what, Severity::Error, data, &format!("{}  {why}", status.as_u16()));
        plain(status, "It was refused.")
    }

    async fn event(
        &self,
        parts: Parts,
        body: Bytes,
        event: &Event,
        signature: Option<Scheme>,
    ) -> BytesResponse {
        let attempt = self.attempt(event);
        let text = String::from_utf8_lossy(&body).into_owned();
        let (answer, trouble) = self.answer(parts, body).await;
        let status = answer.status().as_u16();
        let mut data = event_json(event);
        data["attempt"] = json!(attempt);
        data["signature"] = signature_json(signature);
        data["answered"] = json!(status);
        data["body"] = json!(text);
        if let Some(trouble) = &trouble {
            data["trouble"] = json!(trouble);
        }
        let again = if attempt > 1 { format!("  attempt {attempt}") } else { String::new() };
        let trouble = trouble.map(|trouble| format!("  {trouble}")).unwrap_or_default();
        let severity = if answer.status().is_success() && !self.response_settings.cookie {
            Severity::Success
        } else {
            Severity::Warning
        };
        let line = format!("{status}  {}{again}  {}{trouble}", event_text(&data), signature_text(signature));
        self.printer.print_event("event", severity, data, &line);
        if attempt == 1
            && let Err(failure) = self.state.record_event(event)
        {
            say(&format!("aldaba: it cannot be remembered: {}", failure.message()));
        }
        answer
    }

    /// How often this event has come so far.
    fn attempt(&self, event: &Event) -> u32 {
        let Some(id) = event.outgoing_id() else { return 1 };
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        if attempts.len() > COUNTED_IDS_MAX {
            attempts.clear();
        }
        let count = attempts.entry(id).or_default();
        *count += 1;
        *count
    }

    async fn answer(&self, parts: Parts, body: Bytes) -> (BytesResponse, Option<String>) {
        if let Some(delay) = self.response_settings.delay {
            tokio::time::sleep(delay).await;
        }
        let (mut answer, trouble) = match &self.response_settings.forward {
            Some((to, transport)) => forward_request(to, transport, parts, body).await,
            None => (
                plain(StatusCode::from_u16(self.response_settings.status).unwrap_or(StatusCode::OK), ""),
                None,
            ),
        };
        if self.response_settings.cookie {
            answer.headers_mut().append(SET_COOKIE, HeaderValue::from_static("aldaba=listen"));
        }
        (answer, trouble)
    }
}

/// On its own, so that it is told to its end although the service hangs up.
async fn receive(State(receiver): State<Arc<Receiver>>, request: Request) -> Response<Body> {
    let taken = tokio::spawn(async move { receiver.take(request).await }).await;
    taken.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "")).map(Body::from)
}

/// What the target answers, or 502 and why.
async fn forward_request(
    to: &Uri,
    transport: &HttpTransport,
    parts: Parts,
    body: Bytes,
) -> (BytesResponse, Option<String>) {
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
                TransportFault::Unreachable(why) => why,
                TransportFault::TimedOut(after) => format!("no answer within {} s", after.as_secs()),
                TransportFault::TooLarge { bytes_max } => format!("an answer of more than {bytes_max} bytes"),
            };
            (plain(StatusCode::BAD_GATEWAY, ""), Some(format!("{to}: {why}")))
        }
    }
}

/// The members that an event has in common with what the feed tells.
fn event_json(event: &Event) -> Value {
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
pub(super) fn event_text(data: &Value) -> String {
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

fn signature_json(signature: Option<Scheme>) -> Value {
    signature.map_or(Value::Null, |scheme| json!({"valid": true, "header": scheme.header()}))
}

fn signature_text(signature: Option<Scheme>) -> &'static str {
    if signature.is_some() { "signature valid" } else { "signature not checked" }
}

fn plain(status: StatusCode, text: &str) -> BytesResponse {
    let mut answer = Response::new(Bytes::copy_from_slice(text.as_bytes()));
    *answer.status_mut() = status;
    answer
}
