//! The response of the ingest API. The list of generated ids can be long, so it is streamed.

use std::fmt::Write as _;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use domain::ProcessId;
use futures_util::stream;
use serde::Serialize;
use store::{BatchCounts, LineError};

use super::generated_ids::{GeneratedIds, generated_id};

const IDS_PER_PIECE: usize = 500;

#[derive(Debug)]
pub struct IngestResponse {
    pub process: ProcessId,
    pub counts: BatchCounts,
    generated_ids: GeneratedIds,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResponseHead<'a> {
    process_id: ProcessId,
    accepted: u64,
    rejected: u64,
    last_sequence_version: String,
    errors: &'a [LineError],
    #[serde(skip_serializing_if = "<[LineError]>::is_empty")]
    warnings: &'a [LineError],
}

impl IngestResponse {
    pub(super) fn new(process: ProcessId, counts: BatchCounts, generated_ids: GeneratedIds) -> Self {
        Self { process, counts, generated_ids }
    }

    /// The whole response as one JSON object.
    pub fn json(self) -> String {
        self.pieces().collect()
    }

    /// Everything except the ids.
    fn head(&self) -> String {
        let text = ResponseHead {
            process_id: self.process,
            accepted: self.counts.accepted,
            rejected: self.counts.rejected,
            last_sequence_version: self.counts.last_sequence.to_string(),
            errors: &self.counts.errors,
            warnings: &self.counts.warnings,
        };
        serde_json::to_string(&text).unwrap_or_default()
    }

    /// The whole response in pieces.
    fn pieces(self) -> impl Iterator<Item = String> + Send {
        let mut head = self.head();
        head.pop();
        head.push_str(",\"ids\":[");
        let process = self.process;
        let rejected: Vec<u64> = self.counts.errors.iter().map(|error| error.line).collect();
        let mut lines =
            self.generated_ids.lines().filter(move |line| rejected.binary_search(line).is_err()).peekable();
        let mut first = true;
        let ids = std::iter::from_fn(move || {
            lines.peek()?;
            let mut piece = String::new();
            for line in lines.by_ref().take(IDS_PER_PIECE) {
                let comma = if std::mem::take(&mut first) { "" } else { "," };
                let id = generated_id(process, line);
                let _ = write!(piece, "{comma}{{\"line\":{line},\"correlationId\":\"{id}\"}}");
            }
            Some(piece)
        });
        std::iter::once(head).chain(ids).chain(std::iter::once("]}".to_owned()))
    }
}

impl IntoResponse for IngestResponse {
    fn into_response(self) -> Response {
        if self.generated_ids.is_empty() {
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
