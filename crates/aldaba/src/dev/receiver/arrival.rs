//! What came to the receiver, and what is told of it: a line for people, an object for programs.

use std::collections::VecDeque;

use aldaba_client::receiver::{Event, Notification};
use axum::http::{HeaderMap, StatusCode};
use domain::Ticks;
use domain::signature::STANDARD_ID;
use serde::Serialize;
use serde_json::Value;

use super::check::Signature;
use crate::dev::paint::Paint;

/// How many are remembered.
const KEPT_MAX: usize = 100;
/// The columns of a line.
const EVENT_WIDTH: usize = 22;

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An Acknowledge or an echo that was accepted.
    Handshake,
    SuccessfulDelivery,
    /// Either of them, answered with an error.
    Failed,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Handshake, Self::SuccessfulDelivery, Self::Failed];

    pub(super) fn counted_as(self) -> &'static str {
        match self {
            Self::Handshake => "handshakes",
            Self::SuccessfulDelivery => "delivered",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug)]
pub(super) struct Arrival {
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
    signature: Signature,
    is_handshake: bool,
    status: StatusCode,
    body: Value,
}

impl Arrival {
    pub(super) fn of_echo(at: Ticks, path: &str, status: StatusCode) -> Self {
        Self {
            at,
            path: path.to_owned(),
            event: "echo".into(),
            record: None,
            id: None,
            time: 1,
            signature: Signature::Missing,
            is_handshake: true,
            status,
            body: Value::Null,
        }
    }

    pub(super) fn of(at: Ticks, path: &str, headers: &HeaderMap, body: &[u8]) -> Self {
        let (event, record, is_handshake) = match Notification::parse(headers, body) {
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

    pub(super) fn answered(self, signature: Signature, status: StatusCode) -> Self {
        Self { signature, status, ..self }
    }

    fn kind(&self) -> Kind {
        match self.is_handshake {
            _ if !self.status.is_success() => Kind::Failed,
            true => Kind::Handshake,
            false => Kind::SuccessfulDelivery,
        }
    }

    /// The line that people see.
    pub(super) fn line(&self, paint: Paint) -> String {
        let moment = self.at.iso_millis();
        let clock = moment.split('T').nth(1).unwrap_or(&moment).trim_end_matches('Z').to_owned();
        let signature = match &self.signature {
            Signature::Valid(headers) => {
                format!("{} ({})", paint.good("signature valid"), headers.join(", "))
            }
            Signature::Missing => "not signed".to_owned(),
            Signature::Wrong(why) => format!("{}: {why}", paint.bad("signature wrong")),
        };
        let answered = format!("answered {}", self.status.as_u16());
        let answered = if self.status.is_success() { answered } else { paint.bad(&answered) };
        let again = if self.time > 1 { format!(", time {}", self.time) } else { String::new() };
        let record = self.record.as_deref().map(|record| format!("{record}  ")).unwrap_or_default();
        let event = format!("{:<EVENT_WIDTH$}", self.event);
        format!(
            "{}  receiver  {}  {record}{signature}  {answered}{again}",
            paint.dim(&clock),
            paint.bold(&event)
        )
    }

    fn told(&self) -> Told<'_> {
        let (signature, verified) = match &self.signature {
            Signature::Valid(headers) => ("valid".to_owned(), &headers[..]),
            Signature::Missing => ("missing".to_owned(), &[][..]),
            Signature::Wrong(why) => (format!("wrong: {why}"), &[][..]),
        };
        Told {
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
struct Told<'a> {
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
pub(super) struct Arrivals {
    kept: VecDeque<Arrival>,
    counts: [usize; Kind::ALL.len()],
}

impl Arrivals {
    pub(super) fn add(&mut self, arrival: Arrival) -> &Arrival {
        let seen = self.kept.iter().filter(|kept| kept.id.is_some() && kept.id == arrival.id).count();
        self.counts[arrival.kind() as usize] += 1;
        if self.kept.len() == KEPT_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(Arrival { time: seen + 1, ..arrival });
        &self.kept[self.kept.len() - 1]
    }

    pub(super) fn count(&self, kind: Kind) -> usize {
        self.counts[kind as usize]
    }

    /// An array, one a line.
    pub(super) fn json(&self) -> String {
        let lines: Vec<String> =
            self.kept.iter().filter_map(|arrival| serde_json::to_string(&arrival.told()).ok()).collect();
        format!("[{}]\n", lines.join(",\n "))
    }
}
