//! The HTTP receiver: responds to handshakes, verifies signatures, prints events and responds as configured.

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
use crate::output::print_message;

/// Above this number of ids, the attempt counters are reset.
const COUNTED_IDS_MAX: usize = 10_000;

/// The response to events.
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

    async fn handle(&self, request: Request) -> BytesResponse {
        let (parts, body) = request.into_parts();
        match parts.method {
            Method::GET => return self.echo(parts.uri.query().unwrap_or_default()),
            Method::POST => {}
            _ => return plain(StatusCode::METHOD_NOT_ALLOWED, "Only POST and GET are allowed here."),
        }
        let Ok(body) = axum::body::to_bytes(body, BODY_BYTES_MAX).await else {
            let why = format!("the body is incomplete or larger than {BODY_BYTES_MAX} bytes");
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
            Err(error) => {
                let data = json!({"reason": error.to_string(), "body": String::from_utf8_lossy(&body)});
                self.refuse("unreadable", StatusCode::BAD_REQUEST, data, &error.to_string())
            }
        }
    }

    /// Invoicing's handshake. Echoes only a GUID.
    fn echo(&self, query: &str) -> BytesResponse {
        let guid = query.split('&').find_map(|pair| pair.strip_prefix("echo=")).and_then(Guid::parse);
        let Some(guid) = guid else {
            return plain(StatusCode::BAD_REQUEST, "GET requires the query echo=<GUID>.");
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
        plain(status, "The delivery was refused.")
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
        let (response, trouble) = self.respond(parts, body).await;
        let status = response.status().as_u16();
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
        let severity = if response.status().is_success() && !self.response_settings.cookie {
            Severity::Success
        } else {
            Severity::Warning
        };
        let line = format!("{status}  {}{again}  {}{trouble}", event_text(&data), signature_text(signature));
        self.printer.print_event("event", severity, data, &line);
        if attempt == 1
            && let Err(failure) = self.state.record_event(event)
        {
            print_message(&format!("aldaba: cannot write the state file: {}", failure.message()));
        }
        response
    }

    /// How many times this event was received, including this time.
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

    async fn respond(&self, parts: Parts, body: Bytes) -> (BytesResponse, Option<String>) {
        if let Some(delay) = self.response_settings.delay {
            tokio::time::sleep(delay).await;
        }
        let (mut response, trouble) = match &self.response_settings.forward {
            Some((to, transport)) => forward_request(to, transport, parts, body).await,
            None => (
                plain(StatusCode::from_u16(self.response_settings.status).unwrap_or(StatusCode::OK), ""),
                None,
            ),
        };
        if self.response_settings.cookie {
            response.headers_mut().append(SET_COOKIE, HeaderValue::from_static("aldaba=listen"));
        }
        (response, trouble)
    }
}

/// Runs in its own task, so that the event is printed even if the service closes the connection.
async fn receive(State(receiver): State<Arc<Receiver>>, request: Request) -> Response<Body> {
    let response = tokio::spawn(async move { receiver.handle(request).await }).await;
    response.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "")).map(Body::from)
}

/// Forwards the request and returns the response, or 502 with the reason.
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
    for header in [HOST, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
        request.headers_mut().remove(header);
    }
    match transport.send(request).await {
        Ok(mut response) => {
            for header in [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
                response.headers_mut().remove(header);
            }
            (response, None)
        }
        Err(fault) => {
            let why = match fault {
                TransportFault::Unreachable(why) => why,
                TransportFault::TimedOut(after) => format!("no response within {} s", after.as_secs()),
                TransportFault::TooLarge { bytes_max } => {
                    format!("a response of more than {bytes_max} bytes")
                }
            };
            (plain(StatusCode::BAD_GATEWAY, ""), Some(format!("{to}: {why}")))
        }
    }
}

/// The event as JSON, with the member names of missed events of the feed.
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

/// The event as text.
pub(super) fn event_text(data: &Value) -> String {
    let text = |name: &str| data[name].as_str().filter(|text| !text.is_empty());
    let mut line = text("event").unwrap_or_default().to_owned();
    for (prefix, name) in [("record ", "record"), ("company ", "company"), ("#", "sequenceVersion")] {
        if let Some(value) = text(name) {
            line.push_str("  ");
            line.push_str(prefix);
            line.push_str(value);
        }
    }
    line
}

fn signature_json(signature: Option<Scheme>) -> Value {
    signature.map_or(Value::Null, |scheme| json!({"valid": true, "header": scheme.header()}))
}

fn signature_text(signature: Option<Scheme>) -> &'static str {
    if signature.is_some() { "signature valid" } else { "signature not checked" }
}

fn plain(status: StatusCode, text: &str) -> BytesResponse {
    let mut response = Response::new(Bytes::copy_from_slice(text.as_bytes()));
    *response.status_mut() = status;
    response
}
