//! A load generator that costs little: raw HTTP/1.1 over kept connections, on one thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Fallible;

/// Where requests go and what each of them starts with.
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

/// Requests answered with 200 a second, by `connections` that each wait for their answer; and how many.
pub(crate) async fn singles(
    target: &Target,
    connections: usize,
    span: Duration,
    line: impl Fn(u64) -> String + Clone,
) -> Fallible<(f64, u64)> {
    let next = AtomicU64::new(0);
    let answered = AtomicU64::new(0);
    let from = Instant::now();
    let work = (0..connections).map(|_| async {
        let mut stream = TcpStream::connect(&target.address).await?;
        stream.set_nodelay(true)?;
        let mut buffer = vec![0; 16 * 1024];
        while from.elapsed() < span {
            let body = line(next.fetch_add(1, Ordering::Relaxed));
            let request = target.head(&format!("content-length: {}", body.len())) + &body;
            stream.write_all(request.as_bytes()).await?;
            let answer = answer(&mut stream, &mut buffer).await?;
            if !answer.starts_with("HTTP/1.1 200") {
                return Err(answer.into());
            }
            answered.fetch_add(1, Ordering::Relaxed);
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    });
    for done in futures_util::future::join_all(work).await {
        done?;
    }
    let count = answered.load(Ordering::Relaxed);
    Ok((count as f64 / from.elapsed().as_secs_f64(), count))
}

/// Lines accepted a second through one streamed request, from its first byte to its answer.
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
    let answer = answer(&mut stream, &mut buffer).await?;
    let took = from.elapsed().as_secs_f64();
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let parsed: serde_json::Value = serde_json::from_str(body)?;
    if parsed["rejected"] != 0 {
        return Err(answer.into());
    }
    let accepted = parsed["accepted"].as_u64().ok_or("no count in the answer")?;
    Ok((accepted as f64 / took, accepted))
}

/// Reads one answer with a Content-Length.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Fallible<String> {
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
        let text = &buffer[..filled];
        if let Some(head) = text.windows(4).position(|four| four == b"\r\n\r\n") {
            let headers = std::str::from_utf8(&text[..head])?.to_ascii_lowercase();
            let length = headers
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(Ok(0), str::parse)?;
            if filled >= head + 4 + length {
                return Ok(String::from_utf8_lossy(&text[..head + 4 + length]).into_owned());
            }
        }
    }
}
