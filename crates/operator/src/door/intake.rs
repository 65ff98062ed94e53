//! Reads items into chunks, refuses what is no change, and passes over what an earlier request under the
//! same idempotency key has already brought in.

use aws_lc_rs::digest;
use domain::change::Change;
use domain::{FieldError, ProcessId};
use store::{BatchCounts, ChangeLine, IngestCheckpoint, IngestProgress};

use super::DoorError;
use super::made_ids::{MadeIds, made_id};
use super::split::{ITEM_BYTES_MAX, Item, SplitFault, Splitter};

/// How much of a fault's message, and of the field's name, is told.
const FAULT_CHARS_MAX: usize = 1000;

/// Something about the body as a whole is wrong.
#[derive(Debug)]
pub(super) enum BodyFault {
    Split(SplitFault),
    OtherBody,
}

impl BodyFault {
    pub(super) fn into_error(self, tally: BatchCounts) -> DoorError {
        let tally = Box::new(tally);
        match self {
            Self::OtherBody => DoorError::OtherBody(tally),
            Self::Split(SplitFault::AfterArray) => {
                DoorError::NotChanges("there is text after the end of the JSON array".into(), tally)
            }
            Self::Split(SplitFault::NotJson) => DoorError::NotChanges(
                "it is sent as application/json and begins neither an array nor an object".into(),
                tally,
            ),
            Self::Split(SplitFault::EmptyItem(number)) => DoorError::NotChanges(
                format!(
                    "the JSON array is broken before item {number}: one comma between two items, none after the last"
                ),
                tally,
            ),
        }
    }
}

/// What goes to the store together.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) lines: Vec<ChangeLine>,
    pub(super) refused: Vec<(u64, FieldError)>,
    pub(super) warnings: Vec<(u64, FieldError)>,
    pub(super) checkpoint: Option<IngestCheckpoint>,
}

pub(super) struct Intake {
    splitter: Splitter,
    reader: Reader,
}

/// The part that looks at items, apart from the part that finds them.
struct Reader {
    process: ProcessId,
    key: Option<String>,
    /// What was brought in before; its hash is checked when its last line has been seen.
    before: Option<IngestProgress>,
    resumed_after: u64,
    /// Rolls over all lines; only a key needs it.
    hash: Option<digest::Context>,
    /// The last line seen, and the last that was handed over.
    seen: u64,
    handed_over: u64,
    chunk: Chunk,
    bytes: usize,
    made_ids: MadeIds,
    other_body: bool,
}

impl Intake {
    pub(super) fn new(
        process: ProcessId,
        key: Option<String>,
        before: Option<IngestProgress>,
        is_json: bool,
    ) -> Self {
        let resumed_after = before.as_ref().map_or(0, |before| before.line);
        let reader = Reader {
            process,
            hash: key.is_some().then(|| digest::Context::new(&digest::SHA256)),
            key,
            before,
            resumed_after,
            seen: 0,
            handed_over: resumed_after,
            chunk: Chunk::default(),
            bytes: 0,
            made_ids: MadeIds::default(),
            other_body: false,
        };
        Self { splitter: Splitter::new(is_json), reader }
    }

    pub(super) fn start_tally(&self) -> BatchCounts {
        self.reader.before.as_ref().map(|before| before.counts.clone()).unwrap_or_default()
    }

    pub(super) fn was_resumed(&self) -> bool {
        self.reader.resumed_after > 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.reader.chunk.lines.is_empty() && self.reader.chunk.refused.is_empty()
    }

    pub(super) fn lines(&self) -> usize {
        self.reader.chunk.lines.len() + self.reader.chunk.refused.len()
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
        // A body that ends before what was brought in under its key is another body.
        self.reader.check_before(u64::MAX);
        if self.reader.other_body { Err(BodyFault::OtherBody) } else { Ok(()) }
    }

    pub(super) fn take_chunk(&mut self) -> Chunk {
        let reader = &mut self.reader;
        reader.bytes = 0;
        let mut chunk = std::mem::take(&mut reader.chunk);
        chunk.checkpoint = reader.key.clone().map(|key| {
            let hash = reader.hash_so_far();
            IngestCheckpoint { key, from_line: reader.handed_over, to_line: reader.seen, hash }
        });
        reader.handed_over = reader.seen;
        chunk
    }

    pub(super) fn into_made_ids(self) -> MadeIds {
        self.reader.made_ids
    }
}

/// A fault repeats what its line said; a thousand long lines must not make an answer of their length.
fn clipped(fault: FieldError) -> FieldError {
    let clip = |text: &str| text.chars().take(FAULT_CHARS_MAX).collect::<String>();
    FieldError { message: clip(&fault.message), field: fault.field.map(|field| clip(&field).into()), ..fault }
}

impl Reader {
    fn item(&mut self, item: &Item<'_>) {
        let (number, text) = match item {
            Item::Text(number, text) => (*number, *text),
            Item::TooLong(number) => (*number, b"too long".as_slice()),
            Item::Unfinished(number) => (*number, b"unfinished".as_slice()),
        };
        self.check_before(number);
        if self.other_body {
            return;
        }
        if let Some(hash) = &mut self.hash {
            hash.update(&number.to_be_bytes());
            hash.update(&(text.len() as u64).to_be_bytes());
            hash.update(text);
        }
        self.seen = number;
        let passed_over = number <= self.resumed_after;
        let read = match item {
            Item::Text(..) => Change::parse(text, || made_id(self.process, number)),
            Item::TooLong(_) => Err(FieldError::new(
                "line_too_long",
                format!("a change may have {ITEM_BYTES_MAX} bytes at most; this one was passed over"),
            )),
            Item::Unfinished(_) => {
                Err(FieldError::new("unfinished", "the body ends before the JSON array does"))
            }
        };
        match read {
            Ok(read) => {
                if read.id_was_generated {
                    self.made_ids.insert(number);
                }
                if !passed_over {
                    self.bytes += text.len();
                    self.chunk.warnings.extend(read.warnings.into_iter().map(|fault| (number, fault)));
                    self.chunk.lines.push(ChangeLine { number, change: read.change });
                }
            }
            Err(fault) if !passed_over => self.chunk.refused.push((number, clipped(fault))),
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

    /// Once a line past the earlier request's last one comes, what came before must be the same.
    fn check_before(&mut self, number: u64) {
        if self.before.as_ref().is_some_and(|before| number > before.line)
            && let Some(before) = self.before.take()
        {
            let same = self.hash_so_far() == before.hash;
            self.other_body = !same;
        }
    }
}
