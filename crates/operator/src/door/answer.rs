//! The door's answer. The list of made ids can be long, so it is written out as it is read.

use std::fmt::Write as _;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use domain::ProcessId;
use futures_util::stream;
use serde::Serialize;
use store::{BatchCounts, LineError};

use super::made_ids::{MadeIds, made_id};

const IDS_PER_PIECE: usize = 500;

#[derive(Debug)]
pub struct Answer {
    pub process: ProcessId,
    pub tally: BatchCounts,
    made_ids: MadeIds,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Text<'a> {
    process_id: ProcessId,
    accepted: u64,
    rejected: u64,
    last_sequence_version: String,
    errors: &'a [LineError],
    #[serde(skip_serializing_if = "<[LineError]>::is_empty")]
    warnings: &'a [LineError],
}

impl Answer {
    pub(super) fn new(process: ProcessId, tally: BatchCounts, made_ids: MadeIds) -> Self {
        Self { process, tally, made_ids }
    }

    /// The whole answer, as one JSON object.
    pub fn json(self) -> String {
        self.pieces().collect()
    }

    /// Everything but the ids.
    fn head(&self) -> String {
        let text = Text {
            process_id: self.process,
            accepted: self.tally.accepted,
            rejected: self.tally.rejected,
            last_sequence_version: self.tally.last_sequence.to_string(),
            errors: &self.tally.errors,
            warnings: &self.tally.warnings,
        };
        serde_json::to_string(&text).unwrap_or_default()
    }

    /// The whole answer in pieces.
    fn pieces(self) -> impl Iterator<Item = String> + Send {
        let mut head = self.head();
        head.pop();
        head.push_str(",\"ids\":[");
        let process = self.process;
        let refused: Vec<u64> = self.tally.errors.iter().map(|error| error.line).collect();
        let mut lines =
            self.made_ids.lines().filter(move |line| refused.binary_search(line).is_err()).peekable();
        let mut first = true;
        let ids = std::iter::from_fn(move || {
            lines.peek()?;
            let mut piece = String::new();
            for line in lines.by_ref().take(IDS_PER_PIECE) {
                let comma = if std::mem::take(&mut first) { "" } else { "," };
                let id = made_id(process, line);
                let _ = write!(piece, "{comma}{{\"line\":{line},\"correlationId\":\"{id}\"}}");
            }
            Some(piece)
        });
        std::iter::once(head).chain(ids).chain(std::iter::once("]}".to_owned()))
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        if self.made_ids.is_empty() {
            return with_type(Body::from(self.json()));
        }
        let pieces = self.pieces().map(|piece| Ok::<_, std::convert::Infallible>(Bytes::from(piece)));
        with_type(Body::from_stream(stream::iter(pieces)))
    }
}

fn with_type(body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
