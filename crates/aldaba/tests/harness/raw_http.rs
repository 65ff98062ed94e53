//! HTTP over a plain socket, for slow, endless or malformed bodies.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use super::{HttpResponse, WAIT_MAX};

pub(crate) struct RawConnection(TcpStream);

impl RawConnection {
    /// Connects to the host of a URL and writes the head of a request.
    pub(crate) fn open(url: &str, head: &str) -> Self {
        let host = url.trim_start_matches("http://").split('/').next().unwrap();
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(WAIT_MAX)).unwrap();
        stream.set_write_timeout(Some(WAIT_MAX)).unwrap();
        let mut raw = Self(stream);
        raw.send(format!("{head}host: {host}\r\n\r\n").as_bytes());
        raw
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.try_send(bytes).unwrap();
    }

    pub(crate) fn try_send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Sends one chunk of a chunked body. An empty chunk ends the body.
    pub(crate) fn send_chunk(&mut self, bytes: &[u8]) {
        let mut piece = format!("{:x}\r\n", bytes.len()).into_bytes();
        piece.extend_from_slice(bytes);
        piece.extend_from_slice(b"\r\n");
        self.send(&piece);
    }

    /// Reads a response that does not end up to this text, and nothing beyond it; false if it ends before.
    pub(crate) fn read_until(&mut self, text: &str) -> bool {
        let (mut bytes, mut byte) = (Vec::new(), [0]);
        while !bytes.ends_with(text.as_bytes()) {
            match self.0.read(&mut byte) {
                Ok(count) if count > 0 => bytes.push(byte[0]),
                _ => return false,
            }
        }
        true
    }

    /// Closes the sending side only.
    pub(crate) fn half_close(&mut self) {
        self.0.shutdown(Shutdown::Write).unwrap();
    }

    /// The response, if one arrives before the connection ends.
    pub(crate) fn response(mut self) -> Option<HttpResponse> {
        let mut bytes = Vec::new();
        let mut piece = [0; 16 * 1024];
        loop {
            if let Some(response) = parse(&bytes) {
                return Some(response);
            }
            match self.0.read(&mut piece) {
                Ok(count) if count > 0 => bytes.extend_from_slice(&piece[..count]),
                _ => return None,
            }
        }
    }
}

/// Parses a response that is complete, by its length or by its last chunk.
fn parse(bytes: &[u8]) -> Option<HttpResponse> {
    let head_ends = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..head_ends]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().unwrap();
    let mut headers = HeaderMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_str(value).unwrap());
    }
    let rest = &bytes[head_ends + 4..];
    let length = headers.get("content-length").map(|value| value.to_str().unwrap().parse().unwrap());
    let body = match length {
        Some(length) => rest.get(..length)?.to_vec(),
        None => unchunked(rest)?,
    };
    Some(HttpResponse { status, headers, body: Bytes::from(body) })
}

fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line_ends = rest.windows(2).position(|window| window == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line_ends]).unwrap(), 16).unwrap();
        let piece = rest.get(line_ends + 2..line_ends + 2 + size)?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(piece);
        rest = rest.get(line_ends + 2 + size + 2..)?;
    }
}
