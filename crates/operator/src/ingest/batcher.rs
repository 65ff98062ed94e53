//! Collects changes into chunks: rejects items that are not changes, and skips lines that an earlier request under the same
//! idempotency key already committed.

use aws_lc_rs::digest;
use domain::change::Change;
use domain::{ErrorCode, FieldError, ProcessId};
use store::{BatchCounts, ChangeLine, IngestCheckpoint, IngestProgress};

use super::IngestError;
use super::body_splitter::{BodySplitter, ITEM_BYTES_MAX, Item, SplitFault};
use super::generated_ids::{GeneratedIds, generated_id};

/// The longest message, and the longest field name, of a reported fault.
const FAULT_CHARS_MAX: usize = 1000;

/// A fault of the body as a whole.
#[derive(Debug)]
pub(super) enum BodyFault {
    Split(SplitFault),
    OtherBody,
}

impl BodyFault {
    pub(super) fn into_error(self, counts: BatchCounts) -> IngestError {
        let counts = Box::new(counts);
        match self {
            Self::OtherBody => IngestError::OtherBody(counts),
            Self::Split(SplitFault::AfterArray) => {
                IngestError::NotChanges("there is text after the end of the JSON array".into(), counts)
            }
            Self::Split(SplitFault::NotJson) => IngestError::NotChanges(
                "it is sent as application/json and begins neither an array nor an object".into(),
                counts,
            ),
            Self::Split(SplitFault::EmptyItem(number)) => IngestError::NotChanges(
                format!(
                    "the JSON array is broken before item {number}: one comma between two items, none after the last"
                ),
                counts,
            ),
        }
    }
}

/// Changes that go to the store together.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) lines: Vec<ChangeLine>,
    pub(super) rejected: Vec<(u64, FieldError)>,
    pub(super) warnings: Vec<(u64, FieldError)>,
    pub(super) checkpoint: Option<IngestCheckpoint>,
}

pub(super) struct Batcher {
    splitter: BodySplitter,
    reader: ItemReader,
}

/// Parses the items that the splitter finds.
struct ItemReader {
    process: ProcessId,
    key: Option<String>,
    /// What an earlier request committed; its hash is compared once its last line has been read.
    earlier: Option<IngestProgress>,
    resumed_after: u64,
    /// Rolling hash over all lines; only with an idempotency key.
    hash: Option<digest::Context>,
    last_read: u64,
    last_batched: u64,
    chunk: Chunk,
    bytes: usize,
    generated_ids: GeneratedIds,
    other_body: bool,
}

impl Batcher {
    pub(super) fn new(
        process: ProcessId,
        key: Option<String>,
        earlier: Option<IngestProgress>,
        is_json: bool,
    ) -> Self {
        let resumed_after = earlier.as_ref().map_or(0, |earlier| earlier.line);
        let reader = ItemReader {
            process,
            hash: key.is_some().then(|| digest::Context::new(&digest::SHA256)),
            key,
            earlier,
            resumed_after,
            last_read: 0,
            last_batched: resumed_after,
            chunk: Chunk::default(),
            bytes: 0,
            generated_ids: GeneratedIds::default(),
            other_body: false,
        };
        Self { splitter: BodySplitter::new(is_json), reader }
    }

    pub(super) fn initial_counts(&self) -> BatchCounts {
        self.reader.earlier.as_ref().map(|earlier| earlier.counts.clone()).unwrap_or_default()
    }

    pub(super) fn was_resumed(&self) -> bool {
        self.reader.resumed_after > 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.reader.chunk.lines.is_empty() && self.reader.chunk.rejected.is_empty()
    }

    pub(super) fn lines(&self) -> usize {
        self.reader.chunk.lines.len() + self.reader.chunk.rejected.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.reader.bytes
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), BodyFault> {
        let reader = &mut self.reader;
        self.splitter.feed(bytes, &mut |item| reader.item(&item)).map_err(BodyFault::Split)?;
        if self.reader.other_body { Err(BodyFault::OtherBody) } else { Ok(()) }
    }

    pub(super) fn end(&mut self) -> Result<(), BodyFault> {
        let reader = &mut self.reader;
        self.splitter.end(&mut |item| reader.item(&item));
        // A body shorter than what its key already committed is another body.
        self.reader.check_earlier(u64::MAX);
        if self.reader.other_body { Err(BodyFault::OtherBody) } else { Ok(()) }
    }

    pub(super) fn take_chunk(&mut self) -> Chunk {
        let reader = &mut self.reader;
        reader.bytes = 0;
        let mut chunk = std::mem::take(&mut reader.chunk);
        chunk.checkpoint = reader.key.clone().map(|key| {
            let hash = reader.hash_so_far();
            IngestCheckpoint { key, from_line: reader.last_batched, to_line: reader.last_read, hash }
        });
        reader.last_batched = reader.last_read;
        chunk
    }

    pub(super) fn into_generated_ids(self) -> GeneratedIds {
        self.reader.generated_ids
    }
}

/// A fault quotes its line; a thousand long lines must not make a response of their length.
fn clipped(fault: FieldError) -> FieldError {
    let clip = |text: &str| text.chars().take(FAULT_CHARS_MAX).collect::<String>();
    FieldError { message: clip(&fault.message), field: fault.field.map(|field| clip(&field).into()), ..fault }
}

impl ItemReader {
    fn item(&mut self, item: &Item<'_>) {
        let (number, text) = match item {
            Item::Text(number, text) => (*number, *text),
            Item::TooLong(number) => (*number, b"too long".as_slice()),
            Item::Unfinished(number) => (*number, b"unfinished".as_slice()),
        };
        self.check_earlier(number);
        if self.other_body {
            return;
        }
        if let Some(hash) = &mut self.hash {
            hash.update(&number.to_be_bytes());
            hash.update(&(text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        self.last_read = number;
        let is_skipped = number <= self.resumed_after;
        let read = match item {
            Item::Text(..) => Change::parse(text, || generated_id(self.process, number)),
            Item::TooLong(_) => Err(FieldError::new(
                ErrorCode::LineTooLong,
                format!("a change may have {ITEM_BYTES_MAX} bytes at most; this one was passed over"),
            )),
            Item::Unfinished(_) => {
                Err(FieldError::new(ErrorCode::Unfinished, "the body ends before the JSON array does"))
            }
        };
        match read {
            Ok(read) => {
                if read.id_was_generated {
                    self.generated_ids.insert(number);
                }
                if !is_skipped {
                    self.bytes += text.len();
                    self.chunk.warnings.extend(read.warnings.into_iter().map(|fault| (number, fault)));
                    self.chunk.lines.push(ChangeLine { number, change: read.change });
                }
            }
            Err(fault) if !is_skipped => self.chunk.rejected.push((number, clipped(fault))),
            Err(_) => {}
        }
    }

    fn hash_so_far(&self) -> [u8; 32] {
        let mut hash = [0; 32];
        if let Some(context) = &self.hash {
            hash.copy_from_slice(context.clone().finish().as_ref());
        }
        hash
    }

    /// Past the earlier request's last line, checks that both bodies were equal up to it.
    fn check_earlier(&mut self, number: u64) {
        if self.earlier.as_ref().is_some_and(|earlier| number > earlier.line)
            && let Some(earlier) = self.earlier.take()
        {
            self.other_body = self.hash_so_far() != earlier.hash;
        }
    }
}
