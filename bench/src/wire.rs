//! A load generator with little overhead: raw HTTP/1.1 over persistent connections, on one thread.

use std::cell::Cell;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Fallible;

/// Where requests go, and the values of their head.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) address: String,
    pub(crate) path: String,
    pub(crate) token: String,
}

impl Target {
    fn head(&self, length: &str) -> String {
        format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/x-ndjson\r\n{length}\r\n\r\n",
            self.path, self.address, self.token
        )
    }
}

/// Complete requests of one line each, built beforehand so that building them is not measured.
pub(crate) fn requests(target: &Target, count: u64, line: impl Fn(u64) -> String) -> Vec<Vec<u8>> {
    let request = |number| {
        let body = line(number);
        (target.head(&format!("content-length: {}", body.len())) + &body).into_bytes()
    };
    (0..count).map(request).collect()
}

/// The rate and the number of 200 responses; each connection waits for its response before the next request.
pub(crate) async fn singles(
    target: &Target,
    connections: usize,
    span: Duration,
    requests: &[Vec<u8>],
) -> Fallible<(f64, u64)> {
    let next = Cell::new(0);
    let responses = Cell::new(0);
    let from = Instant::now();
    let work = (0..connections).map(|_| async {
        let mut stream = TcpStream::connect(&target.address).await?;
        stream.set_nodelay(true)?;
        let mut buffer = vec![0; 16 * 1024];
        while from.elapsed() < span
            && let Some(request) = requests.get(next.replace(next.get() + 1))
        {
            stream.write_all(request).await?;
            let response = response(&mut stream, &mut buffer).await?;
            if !response.starts_with(b"HTTP/1.1 200") {
                return Err(String::from_utf8_lossy(response).into());
            }
            responses.set(responses.get() + 1);
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    });
    for done in futures_util::future::join_all(work).await {
        done?;
    }
    let count: u64 = responses.get();
    Ok((count as f64 / from.elapsed().as_secs_f64(), count))
}

/// The rate and the number of lines accepted through one streamed request, from its first byte to its response.
pub(crate) async fn stream(target: &Target, span: Duration, pieces: &[Vec<u8>]) -> Fallible<(f64, u64)> {
    let mut stream = TcpStream::connect(&target.address).await?;
    stream.write_all(target.head("transfer-encoding: chunked").as_bytes()).await?;
    let from = Instant::now();
    for piece in pieces {
        if from.elapsed() > span {
            break;
        }
        stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
        stream.write_all(piece).await?;
        stream.write_all(b"\r\n").await?;
    }
    stream.write_all(b"0\r\n\r\n").await?;
    let mut buffer = vec![0; 64 * 1024];
    let response = response(&mut stream, &mut buffer).await?;
    let seconds = from.elapsed().as_secs_f64();
    let body = find(response, b"\r\n\r\n").map_or(response, |head| &response[head + 4..]);
    let parsed: serde_json::Value = serde_json::from_slice(body)?;
    if parsed["rejected"] != 0 {
        return Err(parsed.to_string().into());
    }
    let accepted = parsed["accepted"].as_u64().ok_or("no count in the response")?;
    Ok((accepted as f64 / seconds, accepted))
}

/// Reads one response with a Content-Length.
pub(crate) async fn response<'a>(stream: &mut TcpStream, buffer: &'a mut Vec<u8>) -> Fallible<&'a [u8]> {
    const LENGTH: &[u8] = b"content-length: ";
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            buffer.resize(filled * 2, 0);
        }
        let count = stream.read(&mut buffer[filled..]).await?;
        if count == 0 {
            return Err("the connection was closed".into());
        }
        filled += count;
        let Some(head) = find(&buffer[..filled], b"\r\n\r\n") else { continue };
        let length = find(&buffer[..head], LENGTH).ok_or("the response has no content-length")?;
        let digits = buffer[length + LENGTH.len()..].iter().take_while(|byte| byte.is_ascii_digit());
        let length = digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
        if filled >= head + 4 + length {
            return Ok(&buffer[..head + 4 + length]);
        }
    }
}

pub(crate) fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, what)
}
