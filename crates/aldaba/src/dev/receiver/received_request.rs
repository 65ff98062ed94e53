//! A request that the receiver got, as a line for people and as JSON, and the history of requests.

use std::collections::VecDeque;

use aldaba_client::receiver::{Event, Notification};
use axum::http::{HeaderMap, StatusCode};
use domain::Ticks;
use domain::signature::STANDARD_ID;
use serde::Serialize;
use serde_json::Value;

use crate::dev::terminal_style::TerminalStyle;
use crate::signature_check::SignatureCheck;

/// The number of requests in the history.
const REQUESTS_MAX: usize = 100;
/// The width of the event's column.
const EVENT_WIDTH: usize = 22;

/// The request's kind and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// An accepted Acknowledge or echo.
    Handshake,
    Delivered,
    /// A handshake or delivery with an error response.
    Failed,
}

impl RequestKind {
    pub(super) const ALL: [Self; 3] = [Self::Handshake, Self::Delivered, Self::Failed];

    pub(super) fn query_name(self) -> &'static str {
        match self {
            Self::Handshake => "handshakes",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug)]
pub(super) struct ReceivedRequest {
    pub(super) at: Ticks,
    pub(super) path: String,
    /// `Acknowledge`, `echo`, or the event's name.
    pub(super) event: String,
    /// The record that changed.
    pub(super) record: Option<String>,
    /// The same on every attempt.
    pub(super) id: Option<String>,
    /// How many requests with this id were received, including this one.
    pub(super) count: usize,
    pub(super) signature: SignatureCheck,
    is_handshake: bool,
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

impl ReceivedRequest {
    pub(super) fn echo(at: Ticks, path: &str, status: StatusCode) -> Self {
        Self {
            at,
            path: path.to_owned(),
            event: "echo".into(),
            record: None,
            id: None,
            count: 1,
            signature: SignatureCheck::Missing,
            is_handshake: true,
            status,
            body: Value::Null,
        }
    }

    pub(super) fn delivery(at: Ticks, path: &str, headers: &HeaderMap, body: &[u8]) -> Self {
        let (event, record, is_handshake) = match Notification::parse(headers, body) {
            Ok(Notification::Acknowledge { .. }) => ("Acknowledge".to_owned(), None, true),
            Ok(Notification::Event(event)) => (event_name(&event), Some(event.record_id().to_owned()), false),
            _ => ("no notification".to_owned(), None, false),
        };
        Self {
            event,
            record,
            id: headers.get(STANDARD_ID).and_then(|id| id.to_str().ok()).map(str::to_owned),
            is_handshake,
            body: serde_json::from_slice(body).unwrap_or_default(),
            ..Self::echo(at, path, StatusCode::OK)
        }
    }

    pub(super) fn with_response(self, signature: SignatureCheck, status: StatusCode) -> Self {
        Self { signature, status, ..self }
    }

    fn kind(&self) -> RequestKind {
        match self.is_handshake {
            _ if !self.status.is_success() => RequestKind::Failed,
            true => RequestKind::Handshake,
            false => RequestKind::Delivered,
        }
    }

    /// The request as text.
    pub(super) fn line(&self, style: TerminalStyle) -> String {
        let iso = self.at.iso_millis();
        let clock = iso.split('T').nth(1).unwrap_or(&iso).trim_end_matches('Z').to_owned();
        let signature = match &self.signature {
            SignatureCheck::Valid(headers) => {
                format!(
                    "{} ({})",
                    style.success("signature valid"),
                    TerminalStyle::plain(&headers.join(", "))
                )
            }
            SignatureCheck::Missing => "not signed".to_owned(),
            SignatureCheck::Wrong(why) => {
                format!("{}: {}", style.error("signature wrong"), TerminalStyle::plain(why))
            }
        };
        let response = format!("answered {}", self.status.as_u16());
        let response = if self.status.is_success() { response } else { style.error(&response) };
        let again = if self.count > 1 { format!(", time {}", self.count) } else { String::new() };
        let record = self
            .record
            .as_deref()
            .map(|record| format!("{}  ", TerminalStyle::plain(record)))
            .unwrap_or_default();
        let event = format!("{:<EVENT_WIDTH$}", self.event);
        format!(
            "{}  receiver  {}  {record}{signature}  {response}{again}",
            style.dim(&clock),
            style.bold(&event)
        )
    }

    fn to_json(&self) -> RequestJson<'_> {
        let (signature, verified) = match &self.signature {
            SignatureCheck::Valid(headers) => ("valid".to_owned(), &headers[..]),
            SignatureCheck::Missing => ("missing".to_owned(), &[][..]),
            SignatureCheck::Wrong(why) => (format!("wrong: {why}"), &[][..]),
        };
        RequestJson {
            at: self.at.iso(),
            event: &self.event,
            record: self.record.as_deref(),
            signature,
            verified,
            status: self.status.as_u16(),
            time: self.count,
            id: self.id.as_deref(),
            path: &self.path,
            body: &self.body,
        }
    }
}

/// The request as JSON.
#[derive(Serialize)]
struct RequestJson<'a> {
    at: String,
    event: &'a str,
    record: Option<&'a str>,
    signature: String,
    verified: &'a [&'static str],
    status: u16,
    time: usize,
    id: Option<&'a str>,
    path: &'a str,
    body: &'a Value,
}

/// The last part of a semantic name, or the entity of an invoicing notification, which has no event name.
fn event_name(event: &Event) -> String {
    match event {
        Event::Accounting(change) => change.event.event_type(),
        Event::Invoicing(change) => change.entity.clone(),
    }
}

/// The last requests, and the number of all requests by kind.
#[derive(Debug, Default)]
pub(super) struct RequestHistory {
    requests: VecDeque<ReceivedRequest>,
    counts: [usize; RequestKind::ALL.len()],
}

impl RequestHistory {
    pub(super) fn add(&mut self, request: ReceivedRequest) -> &ReceivedRequest {
        let seen =
            self.requests.iter().filter(|earlier| earlier.id.is_some() && earlier.id == request.id).count();
        self.counts[request.kind() as usize] += 1;
        if self.requests.len() == REQUESTS_MAX {
            self.requests.pop_front();
        }
        self.requests.push_back(ReceivedRequest { count: seen + 1, ..request });
        &self.requests[self.requests.len() - 1]
    }

    pub(super) fn count(&self, kind: RequestKind) -> usize {
        self.counts[kind as usize]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// The requests with their numbers, which count all that ever came.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = (usize, &ReceivedRequest)> {
        let all: usize = self.counts.iter().sum();
        (0..=all).rev().zip(self.requests.iter().rev())
    }

    /// A JSON array with one request per line.
    pub(super) fn json(&self) -> String {
        let lines: Vec<String> = self
            .requests
            .iter()
            .filter_map(|request| serde_json::to_string(&request.to_json()).ok())
            .collect();
        format!("[{}]\n", lines.join(",\n "))
    }
}
