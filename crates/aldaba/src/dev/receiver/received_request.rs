//! What came to the receiver, and what is told of it: a line for people, an object for programs.

use std::collections::VecDeque;

use aldaba_client::receiver::{Event, Notification};
use axum::http::{HeaderMap, StatusCode};
use domain::Ticks;
use domain::signature::STANDARD_ID;
use serde::Serialize;
use serde_json::Value;

use super::signature_check::SignatureCheck;
use crate::dev::terminal_style::TerminalStyle;

/// How many are remembered.
const KEPT_MAX: usize = 100;
/// The columns of a line.
const EVENT_WIDTH: usize = 22;

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// An Acknowledge or an echo that was accepted.
    Handshake,
    Delivered,
    /// Either of them, answered with an error.
    Failed,
}

impl RequestKind {
    pub(super) const ALL: [Self; 3] = [Self::Handshake, Self::Delivered, Self::Failed];

    pub(super) fn counted_as(self) -> &'static str {
        match self {
            Self::Handshake => "handshakes",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug)]
pub(super) struct ReceivedRequest {
    at: Ticks,
    path: String,
    /// `Acknowledge`, `echo`, or the event's name.
    event: String,
    /// The record that changed.
    record: Option<String>,
    /// The same on every attempt.
    id: Option<String>,
    /// How often this id has come, with this one.
    time: usize,
    signature: SignatureCheck,
    is_handshake: bool,
    status: StatusCode,
    body: Value,
}

impl ReceivedRequest {
    pub(super) fn of_echo(at: Ticks, path: &str, status: StatusCode) -> Self {
        Self {
            at,
            path: path.to_owned(),
            event: "echo".into(),
            record: None,
            id: None,
            time: 1,
            signature: SignatureCheck::Missing,
            is_handshake: true,
            status,
            body: Value::Null,
        }
    }

    pub(super) fn of(at: Ticks, path: &str, headers: &HeaderMap, body: &[u8]) -> Self {
        let (event, record, is_handshake) = match Notification::read(headers, body) {
            Ok(Notification::Acknowledge { .. }) => ("Acknowledge".to_owned(), None, true),
            Ok(Notification::Event(event)) => (named(&event), Some(event.record_id().to_owned()), false),
            _ => ("no notification".to_owned(), None, false),
        };
        Self {
            event,
            record,
            id: headers.get(STANDARD_ID).and_then(|id| id.to_str().ok()).map(str::to_owned),
            is_handshake,
            body: serde_json::from_slice(body).unwrap_or_default(),
            ..Self::of_echo(at, path, StatusCode::OK)
        }
    }

    pub(super) fn answered(self, signature: SignatureCheck, status: StatusCode) -> Self {
        Self { signature, status, ..self }
    }

    fn kind(&self) -> RequestKind {
        match self.is_handshake {
            _ if !self.status.is_success() => RequestKind::Failed,
            true => RequestKind::Handshake,
            false => RequestKind::Delivered,
        }
    }

    /// The line that people see.
    pub(super) fn line(&self, style: TerminalStyle) -> String {
        let moment = self.at.iso_millis();
        let clock = moment.split('T').nth(1).unwrap_or(&moment).trim_end_matches('Z').to_owned();
        let signature = match &self.signature {
            SignatureCheck::Valid(headers) => {
                format!("{} ({})", style.good("signature valid"), headers.join(", "))
            }
            SignatureCheck::Missing => "not signed".to_owned(),
            SignatureCheck::Wrong(why) => format!("{}: {why}", style.bad("signature wrong")),
        };
        let answered = format!("answered {}", self.status.as_u16());
        let answered = if self.status.is_success() { answered } else { style.bad(&answered) };
        let again = if self.time > 1 { format!(", time {}", self.time) } else { String::new() };
        let record = self.record.as_deref().map(|record| format!("{record}  ")).unwrap_or_default();
        let event = format!("{:<EVENT_WIDTH$}", self.event);
        format!(
            "{}  receiver  {}  {record}{signature}  {answered}{again}",
            style.dim(&clock),
            style.bold(&event)
        )
    }

    fn told(&self) -> RequestJson<'_> {
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
            time: self.time,
            id: self.id.as_deref(),
            path: &self.path,
            body: &self.body,
        }
    }
}

/// What programs are told.
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

/// The last part of a semantic name; the entity of invoicing, whose notifications do not tell what befell it.
fn named(event: &Event) -> String {
    match event {
        Event::Accounting(change) => change.event.event_type(),
        Event::Invoicing(change) => change.entity.clone(),
    }
}

/// What came, the last of it in full.
#[derive(Debug, Default)]
pub(super) struct RequestHistory {
    kept: VecDeque<ReceivedRequest>,
    counts: [usize; RequestKind::ALL.len()],
}

impl RequestHistory {
    pub(super) fn add(&mut self, received_request: ReceivedRequest) -> &ReceivedRequest {
        let seen =
            self.kept.iter().filter(|kept| kept.id.is_some() && kept.id == received_request.id).count();
        self.counts[received_request.kind() as usize] += 1;
        if self.kept.len() == KEPT_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(ReceivedRequest { time: seen + 1, ..received_request });
        &self.kept[self.kept.len() - 1]
    }

    pub(super) fn count(&self, kind: RequestKind) -> usize {
        self.counts[kind as usize]
    }

    /// An array, one a line.
    pub(super) fn json(&self) -> String {
        let lines: Vec<String> = self
            .kept
            .iter()
            .filter_map(|received_request| serde_json::to_string(&received_request.told()).ok())
            .collect();
        format!("[{}]\n", lines.join(",\n "))
    }
}
