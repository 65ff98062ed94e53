//! Memory use is bounded for bodies of any length and any content. The tests stream up to a gibibyte; when the store is
//! slower than the client, data must wait in the client's socket and not in the server.

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

    /// Streams blocks of one mebibyte each and returns the response.
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

    /// Streams a few blocks as warm-up, then many, and checks how much the server's peak memory has grown.
    fn expect_bounded_memory(&self, blocks: usize, mut block: impl FnMut(usize) -> Vec<u8>) -> HttpResponse {
        assert_eq!(self.stream(8, &mut block).status, 200);
        let before = self.server.process.memory_kib("VmHWM");
        let response = self.stream(blocks, &mut block);
        let growth = self.server.process.memory_kib("VmHWM").saturating_sub(before);
        assert!(growth < GROWTH_KIB_MAX, "memory grew by {growth} KiB");
        assert_eq!(response.status, 200, "{:?}", &response.body[..response.body.len().min(1000)]);
        self.server.assert_healthy();
        response
    }
}

/// Pads a line to its length, newline included.
fn padded(mut line: String, fill: char) -> Vec<u8> {
    let padding_length = LINE_BYTES - 1 - line.len();
    line.extend(std::iter::repeat_n(fill, padding_length));
    line.push('\n');
    line.into_bytes()
}

/// A block of lines that are cheap to reject, with `lines` spread among them.
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

/// An upsert of a charge whose content differs from round to round.
fn upsert(id: Option<usize>, round: usize) -> String {
    let id = id.map_or_else(String::new, |id| format!("\"correlationId\":\"p{id}\","));
    let text = "ñ".repeat(300);
    format!(
        "{{\"area\":\"accounting\",\"resource\":\"charges\",\"company\":\"c\",\"action\":\"upsert\",{id}\
         \"data\":{{\"round\":{round},\"text\":\"{text}\"}}}}"
    )
}

#[test]
fn memory_is_bounded_for_a_gibibyte_of_lines() {
    let fixture = StreamingFixture::new();
    let (blocks, real) = (1024, 32);
    let response = fixture.expect_bounded_memory(blocks, |number| {
        mixed((0..real).map(|at| upsert(Some((number * real + at) % 2000), number)))
    });
    let answer = response.json();
    assert_eq!(answer["accepted"], blocks * real);
    assert_eq!(answer["rejected"], blocks * (LINES_PER_BLOCK - real));
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1000);
}

/// Every line is written, so the store is the bottleneck.
fn all_are_written(fixture: &StreamingFixture) {
    let response = fixture.expect_bounded_memory(48, |number| {
        mixed((0..LINES_PER_BLOCK).map(|at| upsert(Some((number * LINES_PER_BLOCK + at) % 3000), number)))
    });
    assert_eq!(response.json()["accepted"], 48 * LINES_PER_BLOCK);
}

#[test]
fn memory_is_bounded_when_all_lines_are_written() {
    all_are_written(&StreamingFixture::new());
}

#[test]
fn memory_is_bounded_when_all_lines_are_written_to_postgres() {
    let database = Database::create();
    all_are_written(&StreamingFixture::on(Installation::with_store(&database.url())));
}

#[test]
fn memory_is_bounded_for_lines_without_an_id() {
    let fixture = StreamingFixture::new();
    let (blocks, real) = (256, 64);
    let response =
        fixture.expect_bounded_memory(blocks, |number| mixed((0..real).map(|_| upsert(None, number))));
    let answer = response.json();
    assert_eq!(answer["accepted"], blocks * real);
    assert_eq!(answer["ids"].as_array().unwrap().len(), blocks * real);
}

#[test]
fn memory_is_bounded_for_one_endless_line() {
    let fixture = StreamingFixture::new();
    let response = fixture.expect_bounded_memory(1024, |_| vec![b'x'; MIB]);
    assert_eq!(response.json()["errors"][0]["code"], "line_too_long");
}

#[test]
fn memory_is_bounded_for_an_endless_array() {
    let fixture = StreamingFixture::new();
    let item = format!("\"{}\",", "x".repeat(LINE_BYTES - 3));
    let block = item.repeat(LINES_PER_BLOCK).into_bytes();
    let response = fixture.expect_bounded_memory(128, |number| {
        let mut block = block.clone();
        if number == 0 {
            block[0] = b'[';
            block[1] = b'"';
        }
        block
    });
    let answer = response.json();
    assert_eq!(answer["rejected"], 128 * LINES_PER_BLOCK + 1, "the last item is the unterminated end");
    assert_eq!(answer["errors"][0]["code"], "invalid_json");
}

#[test]
fn memory_is_bounded_for_long_invalid_lines() {
    let fixture = StreamingFixture::new();
    let name = "x".repeat(MIB / 2 - 8);
    let line = format!("{{\"{name}\":1,\"{name}\":1}}\n\n\n\n\n");
    let response = fixture.expect_bounded_memory(160, |_| line.clone().into_bytes());
    let answer = response.json();
    let message = answer["errors"][159]["message"].as_str().unwrap();
    assert!(message.starts_with("the member \"xxx"), "{message}");
    assert!(response.body.len() < MIB, "the error message is short: {} bytes", response.body.len());
}
