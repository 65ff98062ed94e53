//! Memory is bounded, however long a body is and however wrong. A gibibyte is streamed, made on the fly; what the
//! server cannot write as fast as it comes must wait in the writer's socket, not in the server.

use crate::harness::{
    Database, HttpResponse, IngestClient, Installation, RawConnection, ServeProcess, company,
};

const MIB: usize = 1024 * 1024;
const GROWTH_KIB_MAX: u64 = 64 * 1024;
const LINE_BYTES: usize = 1024;
const LINES_PER_BLOCK: usize = MIB / LINE_BYTES;

struct StreamingFixture {
    server: ServeProcess,
    ingest: IngestClient,
}

impl StreamingFixture {
    fn new() -> Self {
        Self::on(Installation::new())
    }

    fn on(installation: Installation) -> Self {
        let server = ServeProcess::start(installation, &[]);
        let ingest = server.ingest_for_new_tenant();
        assert_eq!(ingest.send_lines(&[company("c")]).accepted, 1);
        Self { server, ingest }
    }

    /// Streams blocks of one mebibyte each and returns the answer.
    fn stream(&self, blocks: usize, block: &mut impl FnMut(usize) -> Vec<u8>) -> HttpResponse {
        let length = format!("content-type: application/x-ndjson\r\ncontent-length: {}\r\n", blocks * MIB);
        let mut raw: RawConnection = self.ingest.raw(&length);
        for number in 0..blocks {
            let block = block(number);
            assert_eq!(block.len(), MIB);
            raw.send(&block);
        }
        raw.response().unwrap()
    }

    /// Streams a few blocks to get warm, then many, and checks how much the server has grown at its largest.
    fn stays_small(&self, blocks: usize, mut block: impl FnMut(usize) -> Vec<u8>) -> HttpResponse {
        assert_eq!(self.stream(8, &mut block).status, 200);
        let before = self.server.process.memory_kib("VmHWM");
        let response = self.stream(blocks, &mut block);
        let growth = self.server.process.memory_kib("VmHWM").saturating_sub(before);
        assert!(growth < GROWTH_KIB_MAX, "it grew by {growth} KiB");
        assert_eq!(response.status, 200, "{:?}", &response.body[..response.body.len().min(1000)]);
        self.server.assert_healthy();
        response
    }
}

/// Fills a line up to its length, newline included.
fn padded(mut line: String, fill: char) -> Vec<u8> {
    let padding_length = LINE_BYTES - 1 - line.len();
    line.extend(std::iter::repeat_n(fill, padding_length));
    line.push('\n');
    line.into_bytes()
}

/// A block of cheap refusals, with `lines` spread among them.
fn mixed(lines: impl ExactSizeIterator<Item = String>) -> Vec<u8> {
    let refused = padded("\"no object, refused at its first byte ".to_owned(), 'x');
    let every = LINES_PER_BLOCK / lines.len();
    let mut block = Vec::with_capacity(MIB);
    for line in lines {
        block.extend(padded(line, ' '));
        for _ in 1..every {
            block.extend_from_slice(&refused);
        }
    }
    while block.len() < MIB {
        block.extend_from_slice(&refused);
    }
    block
}

/// An upsert of one of some charges; its content differs from round to round.
fn upsert(id: Option<usize>, round: usize) -> String {
    let id = id.map_or_else(String::new, |id| format!("\"correlationId\":\"p{id}\","));
    let text = "ñ".repeat(300);
    format!(
        "{{\"area\":\"accounting\",\"resource\":\"charges\",\"company\":\"c\",\"action\":\"upsert\",{id}\
         \"data\":{{\"round\":{round},\"text\":\"{text}\"}}}}"
    )
}

#[test]
fn a_gibibyte_of_lines() {
    let fixture = StreamingFixture::new();
    let (blocks, real) = (1024, 32);
    let response = fixture.stays_small(blocks, |number| {
        mixed((0..real).map(|at| upsert(Some((number * real + at) % 2000), number)))
    });
    let answer = response.json();
    assert_eq!(answer["accepted"], blocks * real);
    assert_eq!(answer["rejected"], blocks * (LINES_PER_BLOCK - real));
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1000);
}

/// Every line is written: the store is what is slow.
fn all_are_written(fixture: &StreamingFixture) {
    let response = fixture.stays_small(48, |number| {
        mixed((0..LINES_PER_BLOCK).map(|at| upsert(Some((number * LINES_PER_BLOCK + at) % 3000), number)))
    });
    assert_eq!(response.json()["accepted"], 48 * LINES_PER_BLOCK);
}

#[test]
fn lines_that_are_all_written() {
    all_are_written(&StreamingFixture::new());
}

#[test]
fn lines_that_are_all_written_to_postgres() {
    let database = Database::create();
    all_are_written(&StreamingFixture::on(Installation::with_store(&database.url())));
}

#[test]
fn lines_without_an_id() {
    let fixture = StreamingFixture::new();
    let (blocks, real) = (256, 64);
    let response = fixture.stays_small(blocks, |number| mixed((0..real).map(|_| upsert(None, number))));
    let answer = response.json();
    assert_eq!(answer["accepted"], blocks * real);
    assert_eq!(answer["ids"].as_array().unwrap().len(), blocks * real);
}

#[test]
fn one_endless_line() {
    let fixture = StreamingFixture::new();
    let response = fixture.stays_small(1024, |_| vec![b'x'; MIB]);
    assert_eq!(response.json()["errors"][0]["code"], "line_too_long");
}

#[test]
fn an_array_that_does_not_end() {
    let fixture = StreamingFixture::new();
    let item = format!("\"{}\",", "x".repeat(LINE_BYTES - 3));
    let block = item.repeat(LINES_PER_BLOCK).into_bytes();
    let response = fixture.stays_small(128, |number| {
        let mut block = block.clone();
        if number == 0 {
            block[0] = b'[';
            block[1] = b'"';
        }
        block
    });
    let answer = response.json();
    assert_eq!(answer["rejected"], 128 * LINES_PER_BLOCK + 1, "the last item is the end that does not come");
    assert_eq!(answer["errors"][0]["code"], "invalid_json");
}

#[test]
fn long_lines_that_are_wrong_in_a_long_way() {
    let fixture = StreamingFixture::new();
    let name = "x".repeat(MIB / 2 - 8);
    let line = format!("{{\"{name}\":1,\"{name}\":1}}\n\n\n\n\n");
    let response = fixture.stays_small(160, |_| line.clone().into_bytes());
    let answer = response.json();
    let told = answer["errors"][159]["message"].as_str().unwrap();
    assert!(told.starts_with("the member \"xxx"), "{told}");
    assert!(response.body.len() < MIB, "what is wrong is told in short: {} bytes", response.body.len());
}
